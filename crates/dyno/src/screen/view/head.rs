//! The first two lines: command, position and remaining time.

use dyno_campaign::{RunPhase, RunProgress};
use dyno_report::number::{count, span_s};
use ratatui::text::{Line, Span};

use super::style::{ScreenStyle, pad_right, truncate_clean};
use crate::screen::grid::describe_step;
use crate::screen::state::{ScreenState, activity_words};

/// Fewest and most columns of a phase's progress bar.
const BAR: (usize, usize) = (10, 20);

/// Columns of the phase line of a window besides its bar and its details.
const WINDOW_USED: usize = " window  ".len() + "  42 %  ".len();

pub(super) fn lines(state: &ScreenState, look: &ScreenStyle, now_s: f64, width: u16) -> Vec<Line<'static>> {
    vec![title(state, look, usize::from(width)), phase(state, look, now_s, usize::from(width))]
}

fn title(state: &ScreenState, look: &ScreenStyle, width: usize) -> Line<'static> {
    let name = format!(" dyno {} ", state.command);
    let mut parts = Vec::new();
    let progress = &state.progress;
    if let Some(campaign) = &progress.sweep {
        parts.push(campaign.clone());
        if let Some(begun) = progress.begun.as_ref().filter(|_| state.is_several()) {
            let of = progress.of.map_or_else(String::new, |of| format!(" of {}", count(of.into())));
            let what = describe_step(&begun.settings, begun.repeat, begun.side.as_deref());
            parts.push(format!("run {}{of}: {what}", count(begun.number.into())));
        }
    } else if let Some(run) = &progress.run {
        parts.push(run.clone());
    }
    if !progress.targets.is_empty() {
        parts.push(progress.targets.clone());
    }
    let room = width.saturating_sub(name.chars().count());
    Line::from(vec![
        Span::styled(name, look.bold().patch(look.accent())),
        Span::raw(truncate_clean(&parts.join(" · "), room)),
    ])
}

fn phase(state: &ScreenState, look: &ScreenStyle, now_s: f64, width: usize) -> Line<'static> {
    let progress = &state.progress;
    let since_s = (now_s - progress.since_s).max(0.0);
    if progress.paused {
        let words = format!(" paused for {}: p continues", span_s(since_s.floor()));
        return Line::styled(pad_right(&words, width), look.warn());
    }
    let bar = (width / 8).clamp(BAR.0, BAR.1);
    let (name, done, details) = match &progress.phase {
        RunPhase::Connecting(ready, of) => {
            let share = f64::from(*ready) / f64::from((*of).max(1));
            ("connecting".to_owned(), Some(share), format!("{ready} of {of} sessions"))
        }
        RunPhase::Warmup => {
            let seconds = progress.phase_s.unwrap_or(0.0);
            let left_s = (seconds - since_s).max(0.0);
            let share = if seconds > 0.0 { since_s / seconds } else { 1.0 };
            ("warm-up".to_owned(), Some(share), format!("{} left", span_s(left_s.ceil())))
        }
        RunPhase::Window => {
            let share = progress.window_share(now_s).unwrap_or(0.0);
            (
                "window".to_owned(),
                Some(share),
                window(progress, now_s, width.saturating_sub(WINDOW_USED + bar)),
            )
        }
        RunPhase::Draining => ("draining".to_owned(), None, span_s(since_s.floor())),
        other => match activity_words(other) {
            Some(words) => (words, None, span_s(since_s.floor())),
            None => (String::new(), None, String::new()),
        },
    };
    let bar = done.map_or_else(String::new, |done| format!("  {}", pad_right(&look.bar(done, bar), bar)));
    let percent = done.map_or_else(String::new, |done| format!(" {:>3.0} %", 100.0 * done.clamp(0.0, 1.0)));
    let style = if progress.phase == RunPhase::Window { look.good() } else { look.accent() };
    let name = format!(" {name}");
    let used = [&name, &bar, &percent].iter().map(|part| part.chars().count()).sum::<usize>();
    let details = truncate_clean(&details, width.saturating_sub(used + 2));
    Line::from(vec![
        Span::styled(name, look.bold()),
        Span::styled(bar, style),
        Span::raw(percent),
        Span::raw(format!("  {details}")),
    ])
}

/// Text such as `31 s of 60 s, ends in 29 s, all in about 12 min 20 s`. In fewer than `room` columns, the end of
/// the window is left out: its length and its time so far say it.
fn window(progress: &RunProgress, now_s: f64, room: usize) -> String {
    let Some((live, elapsed_s)) = progress.live.zip(progress.window_elapsed_s(now_s)) else {
        return "no complete interval yet".to_owned();
    };
    let total_s = live.0.total_s;
    let elapsed = match total_s {
        Some(total_s) => format!("{} of {}", span_s(elapsed_s.min(total_s).floor()), span_s(total_s)),
        None => format!("{} so far", span_s(elapsed_s.floor())),
    };
    let about = if total_s.is_none() { "about " } else { "" };
    let end = progress.window_left_s(now_s).map(|left_s| format!("ends in {about}{}", span_s(left_s.ceil())));
    let has_more = progress.rest_s.is_some_and(|rest_s| rest_s > 0.0);
    let all = progress.all_left_s(now_s).filter(|_| has_more);
    let all = all.map(|all_s| format!("all in about {}", span_s(all_s.ceil())));
    let full: Vec<String> = [Some(elapsed.clone()), end, all.clone()].into_iter().flatten().collect();
    let full = full.join(", ");
    match all {
        Some(all) if full.chars().count() > room => format!("{elapsed}, {all}"),
        _ => full,
    }
}
