//! Finds the highest point within a latency limit: the knee for users with a latency target.

use crate::load::LoadPoint;

/// The point that a latency limit selects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Within {
    /// The point with the highest throughput that keeps the limit.
    Highest(usize),
    /// No point keeps it; this is the index of the nearest one.
    None(usize),
    /// No point has a latency.
    Unknown,
}

/// The point of `loads` with the highest throughput whose latency is at most `limit_us`.
pub(super) fn within_limit(loads: &[LoadPoint], limit_us: f64) -> Within {
    let timed = || loads.iter().enumerate().filter_map(|(i, load)| load.latency_us.map(|us| (i, load, us)));
    let holds = timed().filter(|(.., us)| *us <= limit_us);
    if let Some((best, ..)) = holds.max_by(|(_, a, _), (_, b, _)| a.throughput.total_cmp(&b.throughput)) {
        return Within::Highest(best);
    }
    timed()
        .min_by(|(.., a), (.., b)| a.total_cmp(b))
        .map_or(Within::Unknown, |(nearest, ..)| Within::None(nearest))
}
