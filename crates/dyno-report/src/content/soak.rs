//! A long run by minute.

use dyno_analyze::minutes::Minute;
use dyno_analyze::number::{span_s, time_coarse_us};

use crate::chart::bars::bar;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::Style;

const BAR: usize = 18;

/// One line per minute; in a terminal each with a bar of its throughput.
pub(crate) fn minute_grid(minutes: &[Minute]) -> Grid {
    let p99 = |of: &str| {
        GridHead::figures(&format!("p99 {of}"), "").explained("over its intervals").short("p99", of)
    };
    let mut grid = Grid::new(vec![
        GridHead::figures("from", ""),
        GridHead::figures("ops", "/s"),
        GridHead::text("").at_least(BAR).only_in_terminal().spare(1),
        p99("median"),
        p99("worst"),
        GridHead::figures("longest", ""),
        GridHead::figures("redo", "MB/s").spare(2),
        GridHead::figures("errors", ""),
        GridHead::figures("stalls", ""),
        GridHead::figures("checkpoints", "").short("", "chkpts"),
    ]);
    let most = minutes.iter().map(|minute| minute.ops_per_s).fold(0.0, f64::max);
    let time = |us: Option<f64>| GridCell::shown(us, time_coarse_us).with_own_unit("µs");
    let events = |times: u32| GridCell::count(u64::from(times)).toned(if times > 0 { "warn" } else { "" });
    for minute in minutes {
        let share = if most > 0.0 { minute.ops_per_s / most } else { 0.0 };
        grid.row([
            GridCell::shown(minute.at_s, span_s).with_own_unit("s"),
            GridCell::compact(minute.ops_per_s),
            bar(share, BAR).into(),
            time(minute.p99_us.map(|(median, _)| median)),
            time(minute.p99_us.map(|(_, worst)| worst)),
            time(minute.max_us),
            GridCell::fixed(minute.redo_mb_per_s, 1),
            GridCell::count(minute.errors),
            events(minute.stalls),
            events(minute.checkpoints),
        ]);
    }
    grid
}

/// The minutes as text for a terminal.
pub fn minute_table(minutes: &[Minute], style: &Style) -> String {
    minute_grid(minutes).render(style)
}
