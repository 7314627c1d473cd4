//! The progress line of a run.

use dyno_analyze::number::{ABSENT, compact, count, span_s, time_coarse_us};

use crate::style::{Paint, Style};
use crate::text::{clean, truncate};

/// State of a run in progress.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LiveFigures<'a> {
    /// The current phase if it is not the window: `warm-up`, `drain`; empty in the window.
    pub phase: &'a str,
    /// Seconds since the phase began.
    pub elapsed_s: f64,
    /// Length of the phase in seconds; absent if it is given in operations.
    pub length_s: Option<f64>,
    /// End of the interval that the figures describe, in seconds since the phase began.
    pub until_s: Option<f64>,
    /// Operations per second of that interval.
    pub ops_per_s: Option<f64>,
    /// Median response time of that interval, µs.
    pub p50_us: Option<f64>,
    /// 99th percentile of response time of that interval, µs.
    pub p99_us: Option<f64>,
    /// Errors since the run began.
    pub errors: u64,
    /// Seconds that remain; absent if unknown.
    pub remaining_s: Option<f64>,
}

/// `12 s / 60 s  at 11 s: ops/s 31,204  p50 61 µs  p99 210 µs  errors 0  ETA 48 s`, without a newline.
pub fn live_line(live: &LiveFigures<'_>, style: &Style) -> String {
    let whole = |seconds: f64| span_s(if seconds < 10.0 { seconds.max(0.0).floor() } else { seconds });
    let mut parts = Vec::new();
    if !live.phase.is_empty() {
        parts.push(clean(live.phase));
    }
    parts.push(match live.length_s {
        Some(length) => format!("{} / {}", whole(live.elapsed_s), span_s(length)),
        None => whole(live.elapsed_s),
    });
    let absent = || ABSENT.to_owned();
    let rate = live
        .ops_per_s
        .map(|rate| if rate < 999_999.5 { count(rate.max(0.0).round() as u64) } else { compact(rate) });
    let at = live.until_s.map_or(String::new(), |until_s| format!("at {}: ", span_s(until_s)));
    parts.push(format!("{at}ops/s {}", rate.unwrap_or_else(absent)));
    parts.push(format!("p50 {}", live.p50_us.map_or_else(absent, time_coarse_us)));
    parts.push(format!("p99 {}", live.p99_us.map_or_else(absent, time_coarse_us)));
    parts.push(format!("errors {}", count(live.errors)));
    if let Some(remaining) = live.remaining_s {
        parts.push(format!("ETA {}", whole(remaining)));
    }
    let line = truncate(&format!("  {}", parts.join("  ")), style.columns());
    if live.errors > 0 { style.paint(Paint::Warn, &line) } else { line }
}
