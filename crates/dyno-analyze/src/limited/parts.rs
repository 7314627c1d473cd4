//! From which figure on something is used up, and what the sessions spend their time in.

use super::Component;
use super::seen::Seen;

/// Share of processors in use, %, from which they are called used up: the last few percent are lost between two sessions.
pub(super) const CPU_FULL_PCT: f64 = 90.0;
/// The same of what this program's threads may use: they sleep for moments while answers are under way.
pub(super) const CLIENT_FULL_PCT: f64 = 85.0;
/// Share of its periods in which a quota was used up, %, from which it holds back.
pub(super) const THROTTLED_PCT: f64 = 50.0;
/// Share of a quota, %, that is used where it holds back all the time.
pub(super) const QUOTA_FULL_PCT: f64 = 80.0;
/// A quota that throttles in nearly all periods is used up in each, though not all of it was worked with: what is handed out to a
/// processor that has nothing to do expires there. So much of it is then enough, %.
pub(super) const ALWAYS_THROTTLED: (f64, f64) = (90.0, 50.0);
/// Share of the window, %, in which the log was being synced, from which it is called used up: syncs come one after the other.
pub(super) const LOG_FULL_PCT: f64 = 85.0;
/// Share of the time in which a device had something to do, %, from which it is called busy.
pub(super) const DEVICE_FULL_PCT: f64 = 95.0;
/// Share of the sessions' time, %, from which it is what they mostly do.
pub(super) const MOSTLY_PCT: f64 = 50.0;
/// Share of the sessions' time, %, that leaves no room for anything else of weight.
pub(super) const CLEARLY_PCT: f64 = 60.0;
/// Something that the sessions spend their time in.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) by: Component,
    /// `commits (WalSync)`.
    pub(super) what: String,
    /// Share of the sessions' time, %.
    pub(super) pct: f64,
}

/// What the sessions spend most of their time in, of all that is no work.
pub(super) fn strongest(seen: &Seen<'_>) -> Option<Part> {
    let shares = &seen.shares;
    let [commit, device, lock, latch] = &shares.events;
    let named = |word: &str, event: &Option<String>| match event {
        Some(event) => format!("{word} ({event})"),
        None => word.to_owned(),
    };
    let locks = shares.row_lock.unwrap_or(0.0).max(0.0) + shares.lock.unwrap_or(0.0);
    let lock_word = if shares.row_lock >= shares.lock { "row locks" } else { "locks" };
    let any_lock = shares.row_lock.or(shares.lock).map(|_| locks.min(100.0));
    let part = |by, what, pct: Option<f64>| pct.map(|pct| Part { by, what, pct });
    let all = [
        part(Component::Commits, named("commits", commit), shares.commit),
        part(Component::Device, named("device", device), shares.device),
        part(Component::Locks, named(lock_word, lock), any_lock),
        part(Component::Latches, named("latches", latch), shares.latch),
    ];
    all.into_iter().flatten().max_by(|a, b| a.pct.total_cmp(&b.pct))
}
