//! Thresholds above which a component counts as exhausted, and the activities that sessions spend
//! their time in.

use super::Component;
use super::evidence::BottleneckInputs;

/// Utilization of processors, %, above which they count as exhausted: the last few percent are lost
/// when sessions switch.
pub(super) const CPU_FULL_PCT: f64 = 90.0;
/// The same for what this program's threads may use: they sleep for moments while waiting for
/// answers.
pub(super) const CLIENT_FULL_PCT: f64 = 85.0;
/// Share of its periods in which a quota was exhausted, %, above which it limits.
pub(super) const THROTTLED_PCT: f64 = 50.0;
/// Utilization of a quota, %, that it reaches when it limits all the time.
pub(super) const QUOTA_FULL_PCT: f64 = 80.0;
/// A quota that throttles in nearly all periods is exhausted in each, even if part of it was not
/// used. Time that is assigned to an idle processor expires there. This pair of shares is then
/// sufficient, %: throttled periods, and used quota.
pub(super) const ALWAYS_THROTTLED: (f64, f64) = (90.0, 50.0);
/// Share of the window, %, in which the log was being synced, above which it counts as exhausted:
/// syncs are sequential.
pub(super) const LOG_FULL_PCT: f64 = 85.0;
/// Share of the time in which a device had requests, %, above which it counts as busy.
pub(super) const DEVICE_FULL_PCT: f64 = 95.0;
/// Share of the sessions' time, %, above which an activity dominates.
pub(super) const MOSTLY_PCT: f64 = 50.0;
/// Share of the sessions' time, %, above which no other activity matters.
pub(super) const CLEARLY_PCT: f64 = 60.0;
/// An activity that the sessions spend their time in.
#[derive(Debug, Clone)]
pub(super) struct SessionTimePart {
    pub(super) component: Component,
    /// The activity in words: `commits (WalSync)`.
    pub(super) label: String,
    /// Share of the sessions' time, %.
    pub(super) pct: f64,
}

/// The activity other than work that takes most of the sessions' time.
pub(super) fn largest_time_part(inputs: &BottleneckInputs<'_>) -> Option<SessionTimePart> {
    let shares = &inputs.shares;
    let [commit, device, lock, latch] = &shares.events;
    let named = |word: &str, event: &Option<String>| match event {
        Some(event) => format!("{word} ({event})"),
        None => word.to_owned(),
    };
    let locks = shares.row_lock.unwrap_or(0.0).max(0.0) + shares.lock.unwrap_or(0.0);
    let lock_word = if shares.row_lock >= shares.lock { "row locks" } else { "locks" };
    let any_lock = shares.row_lock.or(shares.lock).map(|_| locks.min(100.0));
    let part =
        |by, what, pct: Option<f64>| pct.map(|pct| SessionTimePart { component: by, label: what, pct });
    let all = [
        part(Component::Commits, named("commits", commit), shares.commit),
        part(Component::Device, named("device", device), shares.device),
        part(Component::Locks, named(lock_word, lock), any_lock),
        part(Component::Latches, named("latches", latch), shares.latch),
    ];
    all.into_iter().flatten().max_by(|a, b| a.pct.total_cmp(&b.pct))
}
