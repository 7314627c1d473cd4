//! Checks the window itself: all sessions present, started together, ended together, and no process
//! suspended.

use dyno_plan::Length;
use dyno_record::{CheckStatus, Fleet, Host, Window};

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, Skip, conclude, skip};
use crate::number::{count, fixed, percent, time_us};

/// Skew of the first operations that needs no explanation, µs: a few wake-ups of threads.
const SKEW_FREE_US: f64 = 2_000.0;

/// Time that a thread may wait in the scheduler for each other thread on the same processor, µs:
/// one time slice of Linux.
const SLICE_US: f64 = 4_000.0;

/// Share of the window below which neither skew nor boundaries nor snapshots can change a rate
/// visibly.
const SHARE_FREE: f64 = 0.001;

/// Share of the window above which its boundaries are too blurred to ignore: one session's rate may
/// be off by as much as repeated runs differ.
const SHARE_BLURRED: f64 = 0.02;

/// Share of the window's operations that the counters must hold; below it they say little about the
/// window.
const SHARE_HELD_MIN: f64 = 0.1;

/// Share of the planned length by which the window may differ, and seconds that are always allowed.
const LENGTH_SHARE: f64 = 0.05;
const LENGTH_FREE_S: f64 = 0.25;

/// Stall above which the check warns, µs, and stall above which nothing is a measurement any more:
/// a suspended machine or a stopped process. A starved virtual machine lies between them.
const STALL_WARN_US: f64 = 500_000.0;
const STALL_FAIL_US: f64 = 2_000_000.0;

/// Share of the window in which a driving process may stand still, %: above the first limit the
/// check warns. Above the second, as time suspended, the figures describe the stalls; repeated runs
/// differ by less than that. In short windows both must also be as long as a stall that warns.
const STALL_SHARE_WARN_PCT: f64 = 2.0;
const STALL_SHARE_FAIL_PCT: f64 = 10.0;

/// Seconds by which the wall clock may disagree with the monotonic one, and the share of the window
/// by which it may. Time servers make it run up to 0.05 % faster or slower to correct it
/// (`adjtimex(2)`).
const WALL_FREE_S: f64 = 0.5;
const WALL_SHARE: f64 = 0.000_5;

/// Whether every session of the plan was present.
pub(super) fn sessions(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let (planned, there) = (facts.planned_sessions, facts.sessions());
    let words = format!("{} planned, {} started", count(planned.into()), count(there.into()));
    let status = if planned == there { CheckStatus::Pass } else { CheckStatus::Fail };
    conclude(status, count(planned.into()), count(there.into()), words)
}

/// Whether the window is as long as planned.
pub(super) fn length(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    // `Run::length` would panic on a handwritten plan that has neither.
    if facts.record.plan.run.time.is_none() && facts.record.plan.run.ops_per_session.is_none() {
        return skip("the plan gives no length");
    }
    if let Some(loaded) = facts.record.workload.as_ref().and_then(|own| own.loaded.as_ref())
        && loaded.is_whole()
    {
        let detail = format!("{} s until all rows were loaded", fixed(window.seconds, 2));
        return conclude(CheckStatus::Pass, format!("{} rows", count(loaded.wanted)), detail.clone(), detail);
    }
    let planned_s = match facts.record.plan.run.length() {
        Length::Time(span) => span.0.as_secs_f64(),
        Length::Ops(ops) => {
            let detail = format!(
                "{} s until each session had done {} operations",
                fixed(window.seconds, 2),
                count(ops)
            );
            return conclude(CheckStatus::Pass, format!("{} operations", count(ops)), detail.clone(), detail);
        }
    };
    let (expected, observed) =
        (format!("{} s", fixed(planned_s, 2)), format!("{} s", fixed(window.seconds, 2)));
    let words = format!("{expected} planned, {observed} measured");
    if LENGTH_FREE_S >= planned_s {
        return skip(format!("{words}: a window this short may differ by as much"));
    }
    let gap_s = (window.seconds - planned_s).abs();
    if gap_s <= planned_s * LENGTH_SHARE + LENGTH_FREE_S {
        return conclude(CheckStatus::Pass, expected, observed, words);
    }
    let detail = format!("{words}: the window ended at another time; rates divide by the measured length");
    conclude(CheckStatus::Warn, expected, observed, detail)
}

/// How sharp the ends of the window are: whether the counters hold the work of its operations, and
/// of no others.
pub(super) fn edges(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    let (late_begin, late_end) = window.edge_late;
    let (expected, observed) = ("0 late".to_owned(), format!("{late_begin} and {late_end} late"));
    if late_begin > 0 || late_end > 0 {
        let detail = format!(
            "sessions that were in one operation until long after the counters were read: {late_begin} at the \
             window's begin, {late_end} at its end; the share of their work in the counters is unknown; \
             lengthen run.time or run.drain"
        );
        return conclude(CheckStatus::Fail, expected, observed, detail);
    }
    if facts.record.counters.portable.values().all(|counter| counter.delta().is_none()) {
        return skip("no counters were read at the window's ends");
    }
    if facts.op_count() == 0 && window.counted.as_ref().is_none_or(|counted| counted.operations() == 0) {
        return skip("no operation completed without error, so there is none at its ends");
    }
    let (held, missing, excess) = held_share(facts, window);
    let words = match missing {
        0 if excess > 0 && held < 1.0 - SHARE_BLURRED => format!(
            "the counters hold {} operations, {} more than the window has: they were done at its end, before all sessions had reached it",
            count(facts.op_count().saturating_add(excess)),
            count(excess)
        ),
        0 => format!(
            "the counters hold the window's work, except up to {} at its begin and end",
            apart(window)
        ),
        missing => format!(
            "the counters hold {} % of the window's operations; {} were in progress at its begin, or done \
             before all sessions had reached it",
            percent(held * 100.0),
            count(missing)
        ),
    };
    if held < SHARE_HELD_MIN {
        let part = if excess > 0 { "more than the window" } else { "a part of the window only" };
        let detail = format!("{words}: their rates describe {part}; a longer run.time is more precise");
        return conclude(CheckStatus::Fail, expected, observed, detail);
    }
    let unsure = window.unsure_share();
    if unsure > Window::UNSURE_SHARE_MAX {
        let detail = format!(
            "{words}; {} % of the work was done while these were read, so rates of the database's counters \
             are left out: a longer run.time is more precise",
            percent(unsure * 100.0)
        );
        // Where not even the whole run can be compared, nothing proves anything.
        let status = if facts.compared().is_ok() { CheckStatus::Warn } else { CheckStatus::Fail };
        return conclude(status, expected, observed, detail);
    }
    if held < 1.0 - SHARE_BLURRED {
        let detail = format!("{words}: their rates follow from their content and from the window's own rate");
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    blurred(window, &words).unwrap_or_else(|| conclude(CheckStatus::Pass, expected, observed, words))
}

/// How well the window's operations agree with those in its counters, 0..=1; operations that the
/// counters lack; operations that they hold beyond the window's.
fn held_share(facts: &AuditFacts<'_>, window: &Window) -> (f64, u64, u64) {
    let all = facts.op_count();
    match &window.counted {
        Some(counted) => {
            let held = counted.operations();
            let (missing, excess) = (all.saturating_sub(held), held.saturating_sub(all));
            (all.min(held) as f64 / all.max(held).max(1) as f64, missing, excess)
        }
        None => (1.0, 0, 0),
    }
}

/// How far the counters' moments are from the snapshots.
fn apart(window: &Window) -> String {
    format!("{} and {}", time_us(window.edge_us_max.0), time_us(window.edge_us_max.1))
}

/// A warning where reading, or waiting for sessions, took a noticeable share of the window.
fn blurred(window: &Window, words: &str) -> Option<AuditCheckResult> {
    let window_us = window.seconds * 1e6;
    let snapshot_us = window.snapshot_us.0.max(window.snapshot_us.1).max(0.0);
    let apart_s = (window.work_seconds() - window.seconds).abs();
    let edge_us = window.edge_us_max.0.max(0.0) + window.edge_us_max.1.max(0.0);
    let detail = if apart_s > window.seconds * SHARE_BLURRED {
        format!(
            "{words}: sessions worked {} s on average and the snapshots are {} s apart. Rates divide by the \
             time that their own counts cover, but host and sessions were measured over different times; a \
             longer run.time is more precise",
            fixed(window.work_seconds(), 2),
            fixed(window.seconds, 2)
        )
    } else if edge_us > window_us * SHARE_BLURRED && (window.counted.is_none() || window.unsure.is_some()) {
        format!("{words}: more than 2 % of the window; a longer run.time is more precise")
    } else if snapshot_us > window_us * SHARE_BLURRED {
        format!(
            "{words}; reading the counters took {}: more than 2 % of the window; a longer run.time is more \
             precise",
            time_us(snapshot_us)
        )
    } else {
        return None;
    };
    Some(conclude(CheckStatus::Warn, "0 late", "0 and 0 late", detail))
}

/// How far apart the sessions' first operations were.
pub(super) fn gate_skew(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let skew_us = facts.record.gate.skew_us_max;
    if !skew_us.is_finite() {
        return skip("the skew is not known");
    }
    if facts.record.fleet.as_ref().is_some_and(Fleet::has_unknown_clocks) {
        return skip("sessions ran on hosts whose clocks are unknown because the controller was lost");
    }
    let window_us = facts.window().map_or(0.0, |window| window.seconds * 1e6);
    let on = |host: &Host, sessions: u32| {
        let cpus = f64::from(if host.cpus_allowed > 0 { host.cpus_allowed } else { host.cpus }.max(1));
        (f64::from(sessions) / cpus - 1.0).max(0.0) * SLICE_US
    };
    let mut words = format!("sessions' first operations began within {}", time_us(skew_us));
    let queue_us = match &facts.record.fleet {
        None => on(facts.record.driver(), facts.sessions()),
        Some(fleet) => {
            words = format!(
                "{words} of each other on {} hosts, known to {}",
                fleet.hosts.len(),
                time_us(fleet.bound_us())
            );
            fleet.hosts.iter().map(|host| on(&host.host, host.sessions)).fold(0.0, f64::max)
        }
    };
    let free_us = (SKEW_FREE_US + queue_us).max(window_us * SHARE_FREE);
    // No allowance exceeds the length of the window.
    let free_us = if window_us > 0.0 { free_us.min(window_us) } else { free_us };
    let (expected, observed) = (format!("≤ {}", time_us(free_us)), time_us(skew_us));
    if skew_us <= free_us {
        return conclude(CheckStatus::Pass, expected, observed, words);
    }
    let warmup = facts.record.plan.run.warmup.0;
    let detail = if warmup.as_secs_f64() * 1e6 > skew_us {
        format!("{words}: the client is short of processors; the warm-up keeps it out of the window")
    } else {
        format!("{words}: the client is short of processors; a longer run.warmup keeps it out of the window")
    };
    conclude(CheckStatus::Warn, expected, observed, detail)
}

/// Stalls of one driving process.
struct Stalled<'a> {
    /// The driver host, where there are several.
    host: Option<&'a str>,
    longest_us: f64,
    /// Share of the window, %; absent where only the longest stall was measured.
    share_pct: Option<f64>,
    /// Share of the window in which the process was suspended, %.
    suspended_pct: f64,
    /// Length of the window, s.
    seconds: f64,
}

impl Stalled<'_> {
    fn status(&self) -> CheckStatus {
        let is_long = |share_pct: f64| share_pct / 100.0 * self.seconds * 1e6 > STALL_WARN_US;
        let share_pct = self.share_pct.unwrap_or(0.0);
        let is_suspended = self.suspended_pct > STALL_SHARE_FAIL_PCT && is_long(self.suspended_pct);
        if self.longest_us > STALL_FAIL_US || is_suspended {
            CheckStatus::Fail
        } else if self.longest_us > STALL_WARN_US || (share_pct > STALL_SHARE_WARN_PCT && is_long(share_pct))
        {
            CheckStatus::Warn
        } else {
            CheckStatus::Pass
        }
    }

    fn words(&self) -> String {
        let host = self.host.map_or_else(String::new, |host| format!(" on driver host {host}"));
        let share = match self.share_pct {
            Some(share_pct) => format!(", and stalls took {} % of the window", percent(share_pct)),
            None => String::new(),
        };
        format!("the longest stall of the client{host} was {}{share}", time_us(self.longest_us))
    }
}

/// Whether every driving process ran through the window: the longest stall, and the sum of all.
pub(super) fn stalls(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    let seconds = window.seconds;
    let share = |stall_s: Option<f64>| {
        stall_s.filter(|s| s.is_finite() && seconds > 0.0).map(|s| (100.0 * s / seconds).min(100.0))
    };
    let leader = Stalled {
        host: None,
        longest_us: window.stall_us_max,
        share_pct: share(window.stall_s),
        suspended_pct: share(window.suspended_s).unwrap_or(0.0),
        seconds,
    };
    let hosts = facts.record.fleet.iter().flat_map(|fleet| &fleet.hosts);
    let (measured, unmeasured): (Vec<_>, Vec<_>) = hosts.partition(|host| host.stall_us_max.is_some());
    let agents = measured.iter().map(|host| Stalled {
        host: Some(&host.name),
        longest_us: host.stall_us_max.unwrap_or(0.0),
        share_pct: share(host.stall_s),
        suspended_pct: share(host.suspended_s).unwrap_or(0.0),
        seconds,
    });
    let all: Vec<Stalled<'_>> = std::iter::once(leader).chain(agents).collect();
    let rank = |a: &&Stalled<'_>, b: &&Stalled<'_>| {
        let severity = |stalled: &Stalled<'_>| {
            (stalled.longest_us / STALL_FAIL_US).max(stalled.share_pct.unwrap_or(0.0) / STALL_SHARE_FAIL_PCT)
        };
        a.status().cmp(&b.status()).then(severity(a).total_cmp(&severity(b)))
    };
    let Some(worst) = all.iter().max_by(rank) else { return skip("no stall was measured") };
    let expected = format!("≤ {}, ≤ {} %", time_us(STALL_WARN_US), percent(STALL_SHARE_WARN_PCT));
    let observed = match worst.share_pct {
        Some(share_pct) => format!("{}, {} %", time_us(worst.longest_us), percent(share_pct)),
        None => time_us(worst.longest_us),
    };
    let words = worst.words();
    let status = worst.status();
    if status == CheckStatus::Pass && !unmeasured.is_empty() {
        let names: Vec<&str> = unmeasured.iter().map(|host| host.name.as_str()).collect();
        return skip(format!("{words}; stalls of {} are not known", names.join(", ")));
    }
    if status == CheckStatus::Pass && seconds * 1e6 <= STALL_WARN_US {
        return skip(format!("{words}; the window is shorter than a stall worth reporting"));
    }
    let detail = match status {
        CheckStatus::Fail => {
            format!("{words}: the machine or the process was suspended, so the figures describe the stalls")
        }
        CheckStatus::Warn => format!("{words}: the machine is starved of processor or memory"),
        _ => words,
    };
    conclude(status, expected, observed, detail)
}

/// Whether the wall clock advanced as time did. Everything is measured by the monotonic clock, so
/// this cannot invalidate a figure. But the record's begin and end are by the wall clock, and are
/// compared with other logs.
pub(super) fn wall_clock(facts: &AuditFacts<'_>) -> AuditCheckResult {
    facts.window_interval()?;
    let window = facts.window()?;
    let moment = |text: &str| {
        let at = text.parse::<jiff::Timestamp>();
        at.map_err(|_| Skip(format!("{text:?} is no time of day")))
    };
    let wall_s = moment(&window.end)?.duration_since(moment(&window.begin)?).as_secs_f64();
    // Each is noted after its snapshot has been read.
    let reading_s = (window.snapshot_us.0.max(0.0) + window.snapshot_us.1.max(0.0)) / 1e6;
    let apart_s = wall_s - window.seconds;
    let (expected, observed) = (format!("{} s", fixed(window.seconds, 2)), format!("{} s", fixed(wall_s, 2)));
    let words = format!("{expected} by the monotonic clock, {observed} by the wall clock");
    let free_s = WALL_FREE_S + reading_s + window.seconds * WALL_SHARE;
    if apart_s.abs() <= free_s && free_s >= window.seconds {
        return skip(format!("{words}: a window this short may differ by as much"));
    }
    if apart_s.abs() <= free_s {
        return conclude(CheckStatus::Pass, expected, observed, words);
    }
    let detail = format!(
        "{words}: the clock was set during the run, or the machine slept; durations and rates come from the \
         monotonic clock, and only the times of day of begin and end are uncertain"
    );
    conclude(CheckStatus::Warn, expected, observed, detail)
}
