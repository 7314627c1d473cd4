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
/// Share of the host's processors, %, from which the platform itself fills them.
pub(super) const PLATFORM_FULL_PCT: f64 = 75.0;
/// The same while its sessions mostly wait for something else.
pub(super) const PLATFORM_FULL_WAITING_PCT: f64 = 85.0;
/// Share of the time in which a device had requests, %, above which it counts as busy.
pub(super) const DEVICE_FULL_PCT: f64 = 95.0;
/// Share of the sessions' time, %, above which an activity dominates.
pub(super) const MOSTLY_PCT: f64 = 50.0;
/// Share of the sessions' time, %, above which no other activity matters.
pub(super) const CLEARLY_PCT: f64 = 60.0;
/// Share of the sessions' time, %, that the largest activity needs where only several together
/// dominate.
pub(super) const PART_PCT: f64 = 25.0;
/// Share of the sessions' time, %, from which waits for locks are the limit where nothing in the database takes
/// longer. A session that holds a lock keeps it while it is outside, too.
pub(super) const LOCKS_PCT: f64 = 20.0;
/// Share of the sessions' time, %, from which the second largest activity is in the sentence.
const SECOND_PCT: f64 = 10.0;

/// An activity that the sessions spend their time in.
#[derive(Debug, Clone)]
pub(super) struct SessionTimePart {
    pub(super) component: Component,
    /// The activity in words: `commits (WalSync)`.
    pub(super) label: String,
    /// Share of the sessions' time, %.
    pub(super) pct: f64,
}

/// The activities other than work, the largest first.
pub(super) fn time_parts(inputs: &BottleneckInputs<'_>) -> Vec<SessionTimePart> {
    let shares = &inputs.shares;
    let [commit, device, lock, latch, other] = &shares.events;
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
        part(Component::Waits, named("waits", other), shares.other_waits),
        part(Component::Connections, Component::Connections.word().to_owned(), shares.connect),
    ];
    let mut parts: Vec<SessionTimePart> = all.into_iter().flatten().filter(|part| part.pct > 0.0).collect();
    parts.sort_by(|a, b| b.pct.total_cmp(&a.pct));
    parts
}

/// Share of the sessions' time in waits inside the database, %. Opening a connection is work.
pub(super) fn waiting_pct(inputs: &BottleneckInputs<'_>) -> f64 {
    let waits = time_parts(inputs).into_iter().filter(|part| part.component != Component::Connections);
    waits.map(|part| part.pct).sum::<f64>().min(100.0)
}

/// Whether the sessions mostly wait inside the database. Samples that show them at work, or waiting
/// for a processor, outweigh the client's clock: commits take longer on busy processors, too.
pub(super) fn are_mostly_waiting(inputs: &BottleneckInputs<'_>) -> bool {
    let is_at_work = inputs.shares.sampled_cpu.is_some_and(|pct| pct >= MOSTLY_PCT);
    !is_at_work && waiting_pct(inputs) >= MOSTLY_PCT
}

/// The second largest part of the sessions' time after `first`, work included.
pub(super) fn second_part(inputs: &BottleneckInputs<'_>, first: Component) -> Option<(String, f64)> {
    let waits = time_parts(inputs).into_iter().filter(|part| part.component != first);
    let parts = waits.map(|part| (part.label, part.pct));
    // Processor time also has the work of commits, so only the rest bounds it.
    let most_pct = 100.0 - time_parts(inputs).iter().map(|part| part.pct).sum::<f64>();
    let at_most = inputs.shares.cpu.map(|pct| match pct <= most_pct {
        true => ("work on a processor".to_owned(), pct),
        false => ("work on a processor, at most".to_owned(), most_pct),
    });
    let cpu = inputs.shares.work.map(|pct| ("work on a processor".to_owned(), pct)).or(at_most);
    parts.chain(cpu).filter(|(_, pct)| *pct >= SECOND_PCT).max_by(|a, b| a.1.total_cmp(&b.1))
}
