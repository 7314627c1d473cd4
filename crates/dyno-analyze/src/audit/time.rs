//! Compares times with each other: sessions, throughput and response time (Little's law), the
//! database's own clock, samples.

use dyno_record::{CheckStatus, Counter, OpStats, RunRecord, Waits, Window};

use super::facts::{AuditFacts, unknown_share};
use super::finding::{AuditCheckResult, conclude, skip};
use crate::number::{self, count, figure, fixed, percent, time_us};

/// Share of the time that sessions of a closed loop should spend in operations; the client used the
/// rest itself.
const BUSY_SHARE_MIN: f64 = 0.90;

/// Share above which sessions would have been busy longer than there was time: a fault of clocks or
/// counts.
const BUSY_SHARE_MAX: f64 = 1.01;

/// Share by which mean × count may differ from the time measured around the operations. A histogram
/// of three digits is off by 0.1 % at most.
const SUM_SLIP_WARN: f64 = 0.02;
const SUM_SLIP_FAIL: f64 = 0.20;

/// Fewest operations for which the sum of their times is compared.
const OPS_MIN: u64 = 20;

/// Database time per wall clock × sessions above which it includes other sessions. The observer and
/// the sampler are allowed one session each in addition.
const DB_TIME_SHARE_MAX: f64 = 1.05;
const OBSERVING_SESSIONS: f64 = 2.0;

/// Samples below which their average says little: its standard error is then above a tenth of a
/// session.
const SAMPLES_MIN: u64 = 30;

/// Share of the planned samples below which the sampler was delayed.
const SAMPLES_SHARE_MIN: f64 = 0.5;

/// Share of the sessions' waiting that samples must see to be representative. On a saturated
/// processor they see less than a tenth. The database regards a session as idle until its server
/// process runs and accepts the call.
const SEEN_SHARE_MIN: f64 = 0.5;

/// The operations whose times were measured: slices where the loop runs inside the database.
fn timed<'a>(facts: &AuditFacts<'a>) -> Option<&'a OpStats> {
    let name = if facts.server_drive() { "slice" } else { "all" };
    facts.record.ops.get(name).filter(|ops| ops.service_us.count > 0)
}

/// Sessions ≈ throughput × response time: the share of the time that sessions were busy.
pub(super) fn littles_law(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    let sessions = f64::from(facts.sessions());
    if sessions == 0.0 {
        return skip("no session worked");
    }
    if !window.busy_s.is_finite() {
        return skip("the time spent in operations is not known");
    }
    // With think time Z the law is sessions = throughput × (R + Z): planned sleeps are accounted
    // for.
    let slept_s = window.think.map_or(0.0, |think| think.seconds);
    if !slept_s.is_finite() {
        return skip("the time slept is not known");
    }
    let busy_sessions = window.busy_s / window.work_seconds();
    let asleep_sessions = slept_s / window.work_seconds();
    let closing_sessions = window.closing_s / window.work_seconds();
    let polling_sessions = window.polling_s / window.work_seconds();
    let accounted = busy_sessions + asleep_sessions + closing_sessions + polling_sessions;
    let share = accounted / sessions;
    let mut words = format!(
        "{} of {} busy on average ({} % of the time)",
        fixed(busy_sessions, 2),
        number::sessions(sessions),
        percent(busy_sessions / sessions * 100.0)
    );
    if window.think.is_some() {
        words.push_str(&format!(
            ", {} in think time ({} %)",
            fixed(asleep_sessions, 2),
            percent(asleep_sessions / sessions * 100.0)
        ));
    }
    if window.closing_s > 0.0 {
        words.push_str(&format!(
            ", {} closing connections ({} %)",
            fixed(closing_sessions, 2),
            percent(closing_sessions / sessions * 100.0)
        ));
    }
    if window.polling_s > 0.0 {
        words.push_str(&format!(
            ", {} in polls that found nothing ({} %)",
            fixed(polling_sessions, 2),
            percent(polling_sessions / sessions * 100.0)
        ));
    }
    let (expected, observed) = (fixed(sessions, 0), fixed(accounted, 2));
    if share > BUSY_SHARE_MAX + unknown_share(window) {
        // A session in a long operation at a window boundary includes time outside the window.
        let late = window.edge_late.0 > 0 || window.edge_late.1 > 0;
        let status = if late { CheckStatus::Warn } else { CheckStatus::Fail };
        return conclude(status, expected, observed, format!("{words}: more than there was time for"));
    }
    if facts.record.plan.has_rate() {
        let detail = format!("{words}; at a requested rate, sessions wait between operations");
        return conclude(CheckStatus::Pass, expected, observed, detail);
    }
    if share < BUSY_SHARE_MIN {
        let detail = format!("{words}: {}", idle_words(facts, window, sessions));
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    conclude(CheckStatus::Pass, expected, observed, words)
}

/// What uses the time between operations.
fn idle_words(facts: &AuditFacts<'_>, window: &Window, sessions: f64) -> String {
    let slept_s = window.think.map_or(0.0, |think| think.seconds);
    let told_s = window.busy_s + slept_s + window.closing_s + window.polling_s;
    let idle_s = (window.work_seconds() * sessions - told_s).max(0.0);
    let reconnects = facts.record.errors.iter().fold(0u64, |sum, tally| sum.saturating_add(tally.reconnects));
    if reconnects > 0 {
        return format!("lost connections ({}) and the waits before reconnecting", count(reconnects));
    }
    match facts.op_count() {
        0 => "no operation completed in it".into(),
        ops => format!(
            "{} between two operations go to the client itself, to waiting for a processor, or to Dyno's own \
             requests, which may wait for catalog locks",
            time_us(idle_s * 1e6 / ops as f64)
        ),
    }
}

/// Whether the recorded times add up to the time spent.
pub(super) fn service_time(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    let Some(ops) = timed(facts) else {
        return skip("no operation was timed");
    };
    let (Some(mean_us), true) = (ops.service_us.mean, ops.service_us.count >= OPS_MIN) else {
        return skip(format!("{} timed operations are too few to tell", count(ops.service_us.count)));
    };
    if facts.error_count() > 0 {
        return skip("failed operations took time that is in no histogram");
    }
    // An operation in progress at the window's begin counts with its full time, but only the rest
    // of it was in the window.
    let sum_s = mean_us * ops.service_us.count as f64 / 1e6 - window.before_s;
    let gap = (sum_s - window.busy_s).abs() / window.busy_s.max(1e-9);
    let words = format!(
        "{} × {} on average = {} s, time spent in operations {} s",
        count(ops.service_us.count),
        time_us(mean_us),
        fixed(sum_s, 2),
        fixed(window.busy_s, 2)
    );
    let late = window.edge_late.0 > 0 || window.edge_late.1 > 0;
    let status = match gap {
        gap if gap <= SUM_SLIP_WARN => CheckStatus::Pass,
        gap if gap > SUM_SLIP_FAIL && !late => CheckStatus::Fail,
        _ => CheckStatus::Warn,
    };
    let detail = match status {
        CheckStatus::Pass => words,
        _ => format!("{words}: {} % apart, operations are missing or counted twice", percent(gap * 100.0)),
    };
    conclude(status, format!("{} s", fixed(window.busy_s, 2)), format!("{} s", fixed(sum_s, 2)), detail)
}

/// What the server's processes used of the processors, where that is more than its DB time, with the reason; `None`
/// where one of them is unknown, or where DB time is larger.
pub fn cpu_beyond_db_time(record: &RunRecord) -> Option<String> {
    let counting = &record.targets.first().filter(|_| record.targets.len() == 1)?.identity.counting;
    let db_s = record.counters.get(Counter::DbTime).ok().filter(|us| *us > 0)? as f64 / 1e6;
    let used_s = *record.driver().counters.get("server.cpu_s").filter(|_| !counting.in_process)?;
    let excluded =
        counting.outside_db_time.as_deref().unwrap_or("what its sessions do not spend in statements");
    (used_s > db_s).then(|| {
        format!(
            "the server's processes used {} s of processor time, more than the {} s of DB time, which excludes {excluded}",
            fixed(used_s, 2),
            fixed(db_s, 2)
        )
    })
}

/// Compares the database's own time with wall clock × sessions.
pub(super) fn db_time(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let interval = facts.window_interval()?;
    let window = facts.window()?;
    let db_s = interval.counter(Counter::DbTime)? as f64 / 1e6;
    if db_s == 0.0 {
        return skip("the database counted no time in sessions");
    }
    let sessions = f64::from(facts.sessions());
    let wall_s = window.work_seconds() * sessions;
    let most = wall_s * (DB_TIME_SHARE_MAX + interval.blur + unknown_share(window))
        + window.seconds * OBSERVING_SESSIONS;
    let share = if window.busy_s > 0.0 { db_s / window.busy_s * 100.0 } else { 0.0 };
    let words =
        format!("{} s in the database, {} s of wall clock × sessions", fixed(db_s, 2), fixed(wall_s, 2));
    let beyond = cpu_beyond_db_time(facts.record).map_or_else(String::new, |beyond| format!("; {beyond}"));
    let (expected, observed) = (format!("≤ {} s", fixed(wall_s, 2)), format!("{} s", fixed(db_s, 2)));
    let least = most - window.seconds * OBSERVING_SESSIONS;
    if db_s > least && db_s <= most && sessions <= OBSERVING_SESSIONS {
        return skip(format!("{words}: observer and sampler may have used as much as the run's sessions"));
    }
    if db_s > most {
        let detail = format!("{words}: it includes other sessions or parallel workers{beyond}");
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    let detail = format!("{words}; {} % of the time that sessions waited for it{beyond}", percent(share));
    conclude(CheckStatus::Pass, expected, observed, detail)
}

/// What [`samples_miss_most`] means, in words for the reader.
pub const SEEN_LITTLE: &str = "samples see less than half of it; the other part is outside the database: the \
    network, and calls that wait until their server process has a processor";

/// Whether database samples cover little of the sessions' waiting: they saw `active` sessions, and
/// the client `busy` ones.
pub fn samples_miss_most(active: f64, busy: f64) -> bool {
    active < busy * SEEN_SHARE_MIN
}

/// Compares the sampled active sessions with the number of sessions and the time they were busy.
pub(super) fn active_sessions(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    let (samples, asked_per_s, active) = match &facts.record.waits {
        Waits::Absent { absent } => return skip(format!("waits were not sampled: {absent}")),
        Waits::Sampled { samples, asked_per_s, average_active_sessions, .. } => {
            (*samples, *asked_per_s, *average_active_sessions)
        }
    };
    let sessions = f64::from(facts.sessions());
    let busy = window.busy_sessions().unwrap_or(0.0);
    let words = format!(
        "{} active in {} samples, {} busy as seen by the client",
        figure(active),
        count(samples),
        figure(busy)
    );
    let (expected, observed) = (format!("≤ {}", figure(busy)), figure(active));
    if samples < SAMPLES_MIN {
        return skip(format!("{} samples are too few to tell", count(samples)));
    }
    if active > sessions * BUSY_SHARE_MAX {
        let detail = format!("{words}: more than the {} sessions there were", fixed(sessions, 0));
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    let due = asked_per_s * window.seconds;
    if (samples as f64) < due * SAMPLES_SHARE_MIN {
        let detail =
            format!("{words}: {} samples were requested; the database answered too slowly", fixed(due, 0));
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    let detail = if samples_miss_most(active, busy) { format!("{words}: {SEEN_LITTLE}") } else { words };
    conclude(CheckStatus::Pass, expected, observed, detail)
}
