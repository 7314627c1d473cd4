//! Panel of response times in the last complete interval, in bands of 1, 2, 5, 10 …

use dyno_report::number::percent;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, interval, pad_left};
use crate::screen::state::ScreenState;

/// Upper ends of bands in µs, from one microsecond to two minutes.
const ENDS_US: [u64; 25] = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let block = look.frame(&format!("latency · {}", interval(state)), area);
    let inner = block.inner(area);
    let Some(complete) = state.progress.complete.as_deref() else {
        frame.render_widget(block, area);
        return;
    };
    let bands = bands(complete.latency.buckets(), usize::from(inner.height));
    let all: u64 = bands.iter().map(|band| band.1).sum();
    if all == 0 {
        let words = Line::styled(" no operation with a time of its own", look.dim());
        frame.render_widget(Paragraph::new(words).block(block), area);
        return;
    }
    let columns = usize::from(inner.width).saturating_sub(20);
    let line = |(end_us, count): &(Option<u64>, u64)| {
        let share = *count as f64 / all as f64;
        let share_words = match 100.0 * share {
            share if *count > 0 && share < 0.05 => "<0.1".to_owned(),
            share => percent(share),
        };
        Line::from(vec![
            Span::raw(format!(
                " {} {} % ",
                pad_left(&end_words(*end_us, look), 9),
                pad_left(&share_words, 5)
            )),
            Span::styled(look.bar(share, columns), look.accent()),
        ])
    };
    frame.render_widget(Paragraph::new(bands.iter().map(line).collect::<Vec<_>>()).block(block), area);
}

fn end_words(end_us: Option<u64>, look: &ScreenStyle) -> String {
    let sign = if look.ascii { "<=" } else { "≤" };
    match end_us {
        Some(us) if us < 1_000 => format!("{sign} {us} µs"),
        Some(us) if us < 1_000_000 => format!("{sign} {} ms", us / 1_000),
        Some(us) => format!("{sign} {} s", us / 1_000_000),
        None => "longer".to_owned(),
    }
}

/// Bands from the shortest to the longest time, at most `rows`, each with its upper end and count. If there
/// are more, neighbors with low counts are merged.
fn bands(buckets: impl Iterator<Item = (u64, u64)>, rows: usize) -> Vec<(Option<u64>, u64)> {
    let mut counts = [0u64; ENDS_US.len() + 1];
    for (ns, count) in buckets {
        let at = ENDS_US.iter().position(|end_us| ns <= end_us * 1_000).unwrap_or(ENDS_US.len());
        counts[at] += count;
    }
    let Some(first) = counts.iter().position(|count| *count > 0) else { return Vec::new() };
    let last = counts.iter().rposition(|count| *count > 0).unwrap_or(first);
    let mut bands: Vec<(Option<u64>, u64)> =
        (first..=last).map(|at| (ENDS_US.get(at).copied(), counts[at])).collect();
    while bands.len() > rows.max(1) {
        let pair_count = |at: usize| bands[at].1 + bands[at + 1].1;
        let least = (0..bands.len() - 1).min_by_key(|at| pair_count(*at)).unwrap_or(0);
        let before = bands.remove(least).1;
        bands[least].1 += before;
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_latency_bands_cover_every_operation() {
        let times = [(900, 3), (1_000, 2), (150_000, 90), (4_000_000, 4), (200_000_000_000, 1)];
        let all = bands(times.into_iter(), 40);
        assert_eq!((all[0], all[7]), ((Some(1), 5), (Some(200), 90)));
        assert_eq!(all.last(), Some(&(None, 1)));
        let few = bands(times.into_iter(), 5);
        assert_eq!((few.len(), few.iter().map(|band| band.1).sum::<u64>()), (5, 100));
        assert!(few.contains(&(Some(200), 90)) && few[4] == (None, 1), "{few:?}");
        assert!(bands(std::iter::empty(), 5).is_empty());
    }
}
