//! The limit is what the plan requests.

use super::super::evidence::BottleneckInputs;
use super::super::finding::BottleneckFinding;
use super::super::words;
use super::caveats::overdue;
use crate::limit::RATE_KEPT_MIN;

/// Share of the sessions in an operation, below which the others wait for an arrival.
const WAITING_SHARE: f64 = 0.8;
/// Share of the time spent in think time, %, above which think time is the limit.
const THINK_PCT: f64 = 50.0;

/// The limit is the plan: a rate that was reached, or think time.
pub(super) fn pacing(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let rate = inputs.record.asked_per_s().filter(|rate| inputs.record.beside.is_empty() && *rate > 0.0);
    if let Some(rate) = rate {
        let achieved_per_s = inputs.record.leading_ops()?.rate_per_s;
        let waits = inputs.busy_sessions < inputs.sessions * WAITING_SHARE;
        // Sessions that work off a backlog of the warm-up without a pause are not limited by the
        // rate.
        let works_off = !waits && overdue(inputs.record).is_some();
        // Arrivals vary by chance, too: sessions that wait for them have no other limit.
        if achieved_per_s >= rate * RATE_KEPT_MIN && !works_off || waits {
            return Some(words::rate(rate, achieved_per_s));
        }
    }
    let think_pct = inputs.metric("think_pct").filter(|pct| *pct >= THINK_PCT)?;
    Some(words::think(think_pct))
}
