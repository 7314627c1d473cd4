//! Progress lines of a watch.

use dyno_analyze::number::{ABSENT, compact, percent, span_s};
use dyno_record::SeriesPoint;

use crate::style::Style;
use crate::text::{clean, truncate};

/// State of a watch in progress.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WatchLive<'a> {
    /// Seconds since the watch began.
    pub elapsed_s: f64,
    /// Total length of the watch, s.
    pub length_s: f64,
    /// The last interval; absent if unknown.
    pub point: Option<&'a SeriesPoint>,
    /// What sessions waited for in it, with the mean number of sessions, largest first.
    pub waits: &'a [(String, f64)],
}

/// A figure of the lines: its metric, and the text before and after its value.
type LiveFigure = (&'static str, &'static str, &'static str);

/// Three lines of figures; unknown ones are left out.
const LINES: [&[LiveFigure]; 3] = [
    &[
        ("commits_per_s", "commits", "/s"),
        ("executions_per_s", "statements", "/s"),
        ("rows_read_per_s", "rows read", "/s"),
        ("rows_written_per_s", "rows written", "/s"),
    ],
    &[
        ("logical_reads_per_s", "logical reads", "/s"),
        ("physical_reads_per_s", "physical reads", "/s"),
        ("physical_read_mb_per_s", "read", " MB/s"),
        ("physical_write_mb_per_s", "written", " MB/s"),
        ("redo_mb_per_s", "redo", " MB/s"),
    ],
    &[
        ("cpu_busy_pct", "CPU", " %"),
        ("cpu_iowait_pct", "waiting for I/O", " %"),
        ("device_util_pct", "device", " %"),
        ("average_active_sessions", "active sessions", ""),
    ],
];

/// `12 s / 10 min  ETA 588 s`, and below it the figures of the last interval and the waits, each line within
/// the width.
pub fn watch_lines(live: &WatchLive<'_>, style: &Style) -> Vec<String> {
    let whole = |seconds: f64| span_s(seconds.max(0.0).round());
    let left = whole(live.length_s - live.elapsed_s);
    let mut lines = vec![format!("{} / {}  ETA {left}", whole(live.elapsed_s), whole(live.length_s))];
    let Some(point) = live.point else {
        lines.push("no data: the database does not answer".to_owned());
        return fit_lines(&lines, style);
    };
    for figures in LINES {
        let figure_words = |(metric, what, unit): &LiveFigure| {
            let value = *point.metrics.get(*metric)?;
            let value = if *unit == " %" { percent(value) } else { compact(value) };
            Some(format!("{what} {value}{unit}"))
        };
        let parts: Vec<String> = figures.iter().filter_map(figure_words).collect();
        if !parts.is_empty() {
            lines.push(parts.join("  "));
        }
    }
    if lines.len() == 1 {
        lines.push(format!("figures {ABSENT}: counters were reset"));
    }
    if !live.waits.is_empty() {
        let waits =
            live.waits.iter().map(|(name, sessions)| format!("{} {}", clean(name), compact(*sessions)));
        lines.push(format!("in {}", waits.collect::<Vec<_>>().join(", ")));
    }
    fit_lines(&lines, style)
}

fn fit_lines(lines: &[String], style: &Style) -> Vec<String> {
    lines.iter().map(|line| truncate(&format!("  {line}"), style.columns())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn live_lines_omit_unknown_values_and_unreachable_server() {
        let metrics = BTreeMap::from([("commits_per_s".to_owned(), 12.0), ("cpu_busy_pct".to_owned(), 34.5)]);
        let point = SeriesPoint { seconds: 1.0, metrics, ..SeriesPoint::default() };
        let waits = [("IO:WalSync".to_owned(), 1.5)];
        let live = WatchLive { elapsed_s: 12.0, length_s: 600.0, point: Some(&point), waits: &waits };
        let style = Style { color: false, width: 100 };
        let lines = watch_lines(&live, &style);
        assert_eq!(lines[1..], ["  commits 12.0/s", "  CPU 34.5 %", "  in IO:WalSync 1.50"], "{lines:?}");
        let away = watch_lines(&WatchLive { point: None, ..live }, &style);
        assert!(away.len() == 2, "{away:?}");
        assert!(away[1].contains("does not answer"), "{away:?}");
    }
}
