//! The window itself: all sessions there, started together, ended together, and nobody asleep.

use dyno_plan::Length;
use dyno_record::{CheckStatus, Fleet, Host, Window};

use super::facts::Facts;
use super::finding::{Skip, Verdict, found, skip};
use crate::number::{count, fixed, percent, time_us};

/// Distance between first operations that needs no explanation, µs: a few wake-ups of threads.
const SKEW_FREE_US: f64 = 2_000.0;

/// Time for which the scheduler of the operating system may keep a thread waiting behind each other one on the same
/// processor, µs: one time slice of Linux.
const SLICE_US: f64 = 4_000.0;

/// Share of the window below which neither skew nor edges nor snapshots can move a rate visibly.
const SHARE_FREE: f64 = 0.001;

/// Share of the window above which its ends are blurred enough to say so: above it one session's rate may be off by as
/// much as repeated runs differ.
const SHARE_BLURRED: f64 = 0.02;

/// Share of the window's operations that the counters must hold: what they hold less of, they say little about.
const SHARE_HELD_MIN: f64 = 0.1;

/// Share of the planned length by which the window may differ, and seconds that it always may.
const LENGTH_SHARE: f64 = 0.05;
const LENGTH_FREE_S: f64 = 0.25;

/// A stall that is worth a word, µs, and one with which nothing is a measurement any more: a suspended machine or a
/// process that was stopped. Between them lies what a starved virtual machine does.
const STALL_WARN_US: f64 = 500_000.0;
const STALL_FAIL_US: f64 = 2_000_000.0;

/// Seconds by which the wall clock may disagree with the monotonic one, and the share of the window by which it may: time
/// servers make it run up to 0.05 % faster or slower to correct it (`adjtimex(2)`).
const WALL_FREE_S: f64 = 0.5;
const WALL_SHARE: f64 = 0.000_5;

/// Whether every session of the plan was there.
pub(super) fn sessions(facts: &Facts<'_>) -> Verdict {
    let (planned, there) = (facts.planned, facts.sessions());
    let words = format!("{} planned, {} passed the gate", count(planned.into()), count(there.into()));
    let status = if planned == there { CheckStatus::Pass } else { CheckStatus::Fail };
    found(status, count(planned.into()), count(there.into()), words)
}

/// Whether the window is as long as planned.
pub(super) fn length(facts: &Facts<'_>) -> Verdict {
    let window = facts.window()?;
    // `Run::length` would panic on a hand-made plan that has neither.
    if facts.record.plan.run.time.is_none() && facts.record.plan.run.ops_per_session.is_none() {
        return skip("the plan gives no length");
    }
    if let Some(loaded) = facts.record.workload.as_ref().and_then(|own| own.loaded.as_ref())
        && loaded.is_whole()
    {
        let detail = format!("{} s until all rows were there", fixed(window.seconds, 2));
        return found(CheckStatus::Pass, format!("{} rows", count(loaded.wanted)), detail.clone(), detail);
    }
    let planned_s = match facts.record.plan.run.length() {
        Length::Time(span) => span.0.as_secs_f64(),
        Length::Ops(ops) => {
            let detail = format!(
                "{} s until each session had done {} operations",
                fixed(window.seconds, 2),
                count(ops)
            );
            return found(CheckStatus::Pass, format!("{} operations", count(ops)), detail.clone(), detail);
        }
    };
    let (expected, observed) =
        (format!("{} s", fixed(planned_s, 2)), format!("{} s", fixed(window.seconds, 2)));
    let words = format!("{expected} planned, {observed} measured");
    let gap_s = (window.seconds - planned_s).abs();
    if gap_s <= planned_s * LENGTH_SHARE + LENGTH_FREE_S {
        return found(CheckStatus::Pass, expected, observed, words);
    }
    let detail = format!("{words}: the end came at another time; rates divide by what was measured");
    found(CheckStatus::Warn, expected, observed, detail)
}

/// How sharp the ends of the window are: whether the counters hold the work of its operations, and of no others.
pub(super) fn edges(facts: &Facts<'_>) -> Verdict {
    let window = facts.window()?;
    let (late_begin, late_end) = window.edge_late;
    let (expected, observed) = ("0 late".to_owned(), format!("{late_begin} and {late_end} late"));
    if late_begin > 0 || late_end > 0 {
        let detail = format!(
            "{late_begin} sessions at the begin and {late_end} at the end were in one operation until long after the counters were \
             read, so nobody knows how much of their work these hold; a longer run.time, or a longer run.drain, lets them arrive"
        );
        return found(CheckStatus::Fail, expected, observed, detail);
    }
    let (held, missing) = held_share(facts, window);
    let words = match missing {
        0 => format!("the counters hold the window's work up to {} of its begin and end", apart(window)),
        missing => format!(
            "the counters hold {} % of the window's operations; {} were under way at its begin, or done before all sessions had \
             reached it",
            percent(held * 100.0),
            count(missing)
        ),
    };
    if held < SHARE_HELD_MIN {
        let detail =
            format!("{words}: their rates speak of a part of the window only; a longer run.time is sharper");
        return found(CheckStatus::Fail, expected, observed, detail);
    }
    let unsure = window.unsure_share();
    if unsure > Window::UNSURE_SHARE_MAX {
        let detail = format!(
            "{words}; {} % of the work was done while these were read, so rates of the database's counters are left out: a longer \
             run.time is sharper",
            percent(unsure * 100.0)
        );
        // Where not even the whole run can be compared, nothing proves anything.
        let status = if facts.compared().is_ok() { CheckStatus::Warn } else { CheckStatus::Fail };
        return found(status, expected, observed, detail);
    }
    if held < 1.0 - SHARE_BLURRED {
        let detail =
            format!("{words}: their rates follow from what they hold and from the window's own rate");
        return found(CheckStatus::Warn, expected, observed, detail);
    }
    blurred(window, &words).unwrap_or_else(|| found(CheckStatus::Pass, expected, observed, words))
}

/// Share of the window's operations that its counters hold, and how many they do not.
fn held_share(facts: &Facts<'_>, window: &Window) -> (f64, u64) {
    let all = facts.op_count();
    match &window.counted {
        Some(counted) if all > 0 => {
            let missing = all.saturating_sub(counted.operations());
            (1.0 - missing as f64 / all as f64, missing)
        }
        _ => (1.0, 0),
    }
}

/// How far the counters' moments are from the snapshots.
fn apart(window: &Window) -> String {
    format!("{} and {}", time_us(window.edge_us_max.0), time_us(window.edge_us_max.1))
}

/// A word where reading, or waiting for sessions, took a share of the window that can be seen.
fn blurred(window: &Window, words: &str) -> Option<Verdict> {
    let window_us = window.seconds * 1e6;
    let snapshot_us = window.snapshot_us.0.max(window.snapshot_us.1).max(0.0);
    let apart_s = (window.work_seconds() - window.seconds).abs();
    let edge_us = window.edge_us_max.0.max(0.0) + window.edge_us_max.1.max(0.0);
    let detail = if apart_s > window.seconds * SHARE_BLURRED {
        format!(
            "{words}: sessions worked {} s on average and the snapshots are {} s apart. Rates divide by the time that their own \
             counts cover, but host and sessions were measured over different times; a longer run.time is sharper",
            fixed(window.work_seconds(), 2),
            fixed(window.seconds, 2)
        )
    } else if edge_us > window_us * SHARE_BLURRED && (window.counted.is_none() || window.unsure.is_some()) {
        format!("{words}: more than 2 % of the window, a longer run.time is sharper")
    } else if snapshot_us > window_us * SHARE_BLURRED {
        format!(
            "{words}; reading the counters took {}: more than 2 % of the window, a longer run.time is sharper",
            time_us(snapshot_us)
        )
    } else {
        return None;
    };
    Some(found(CheckStatus::Warn, "0 late", "0 and 0 late", detail))
}

/// How far apart the sessions' first operations were.
pub(super) fn gate_skew(facts: &Facts<'_>) -> Verdict {
    let skew_us = facts.record.gate.skew_us_max;
    if !skew_us.is_finite() {
        return skip("the skew is not known");
    }
    if facts.record.fleet.as_ref().is_some_and(Fleet::has_unknown_clocks) {
        return skip("sessions were on hosts whose clocks nobody knows any more: their leader was lost");
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
    let (expected, observed) = (format!("≤ {}", time_us(free_us)), time_us(skew_us));
    if skew_us <= free_us {
        return found(CheckStatus::Pass, expected, observed, words);
    }
    let warmup = facts.record.plan.run.warmup.0;
    let detail = if warmup.as_secs_f64() * 1e6 > skew_us {
        format!("{words}: the client is short of processors; the warm-up keeps it out of the window")
    } else {
        format!("{words}: the client is short of processors; a longer run.warmup keeps it out of the window")
    };
    found(CheckStatus::Warn, expected, observed, detail)
}

/// Whether time passed for everybody.
pub(super) fn stalls(facts: &Facts<'_>) -> Verdict {
    let window = facts.window()?;
    let stall_us = window.stall_us_max;
    let words = format!("the longest time in which nothing of the client ran was {}", time_us(stall_us));
    let (expected, observed) = (format!("≤ {}", time_us(STALL_WARN_US)), time_us(stall_us));
    let (status, detail) = match stall_us {
        us if us > STALL_FAIL_US => {
            (CheckStatus::Fail, format!("{words}: the machine or the process was suspended"))
        }
        us if us > STALL_WARN_US => {
            (CheckStatus::Warn, format!("{words}: the machine is starved of processor or memory"))
        }
        _ => (CheckStatus::Pass, words),
    };
    found(status, expected, observed, detail)
}

/// Whether the time of day went on as time did. Everything is measured by the monotonic clock, so this can spoil no
/// figure; but begin and end of the record are by the wall clock, and are what logs of others are held against.
pub(super) fn wall_clock(facts: &Facts<'_>) -> Verdict {
    facts.window_interval()?;
    let window = facts.window()?;
    let moment = |text: &str| {
        let at = text.parse::<jiff::Timestamp>();
        at.map_err(|_| Skip(format!("{text:?} is no time of day")))
    };
    let wall_s = moment(&window.end)?.duration_since(moment(&window.begin)?).as_secs_f64();
    // Each is noted when its snapshot has been read.
    let reading_s = (window.snapshot_us.0.max(0.0) + window.snapshot_us.1.max(0.0)) / 1e6;
    let apart_s = wall_s - window.seconds;
    let (expected, observed) = (format!("{} s", fixed(window.seconds, 2)), format!("{} s", fixed(wall_s, 2)));
    let words = format!("{expected} by the monotonic clock, {observed} by the wall clock");
    if apart_s.abs() <= WALL_FREE_S + reading_s + window.seconds * WALL_SHARE {
        return found(CheckStatus::Pass, expected, observed, words);
    }
    let detail = format!(
        "{words}: it was set while the run went on, or the machine slept; durations and rates come from the monotonic clock, \
         and only the times of day of begin and end are in doubt"
    );
    found(CheckStatus::Warn, expected, observed, detail)
}
