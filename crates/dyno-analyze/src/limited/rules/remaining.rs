//! Limits that remain when nothing is full and no wait dominates.

use super::super::evidence::BottleneckInputs;
use super::super::finding::BottleneckFinding;
use super::super::parts::{CLEARLY_PCT, CPU_FULL_PCT, MOSTLY_PCT, THROTTLED_PCT};
use super::super::words;

/// The limit is a single writer: sessions that write inside this process while processors are free.
/// The time in which they neither compute nor read nor sync is waiting, because only one may write
/// at a time.
pub(super) fn one_writer(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    if !inputs.in_process
        || inputs.sessions < 2.0
        || !inputs.are_sessions_busy()
        || !inputs.has_free_processors()
    {
        return None;
    }
    let of_writers = |class: &dyno_record::Class| {
        let ops = inputs.record.ops.get(&class.name).filter(|_| class.commits > 0)?;
        Some(ops.count as f64 * ops.service_us.mean? / 1e6)
    };
    let window_s = inputs.record.window.as_ref()?.work_seconds();
    let writers_s: f64 = inputs.record.classes.iter().filter_map(of_writers).sum();
    let writing_pct = 100.0 * writers_s / (inputs.busy_sessions * window_s);
    let syncing_pct = inputs.shares.syncing.unwrap_or(0.0) / inputs.sessions;
    let known_pct = inputs.shares.cpu? + syncing_pct + inputs.shares.device.unwrap_or(0.0);
    let turn_pct = 100.0 - known_pct;
    (writing_pct >= CLEARLY_PCT && turn_pct >= MOSTLY_PCT).then(|| words::one_writer(inputs, turn_pct))
}

/// The limit is the round trip: sessions neither work in the database nor wait there.
pub(super) fn round_trips(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    let outside = inputs.shares.outside.filter(|pct| *pct >= MOSTLY_PCT)?;
    // The database regards a session as idle until its process has a processor.
    let rested = inputs.has_free_processors();
    // Where both are on this host, processor time and waits must leave as much unexplained.
    let idle = inputs.shares.cpu.is_none_or(|cpu| cpu <= 100.0 - MOSTLY_PCT);
    // The same holds while a quota throttles it.
    let throttled = inputs.server_quota.is_some_and(|quota| quota.throttled_pct >= THROTTLED_PCT);
    (rested && !throttled && inputs.are_sessions_busy() && (idle || !inputs.same_host))
        .then(|| words::round_trips(inputs, outside))
}

/// The limit is the number of sessions: they work without a pause, and processors are free.
pub(super) fn few_sessions(inputs: &BottleneckInputs<'_>) -> Option<BottleneckFinding> {
    const AT_WORK_PCT: f64 = 70.0;
    let cpu = inputs.shares.cpu.filter(|pct| *pct >= AT_WORK_PCT)?;
    let free = inputs.are_sessions_busy()
        && inputs.busy_sessions < inputs.cpus
        && inputs.full_pct()? < CPU_FULL_PCT
        && inputs.confined.is_none();
    free.then(|| words::few_sessions(inputs, cpu))
}
