//! Steps after a watch: a longer one, and the measurement that decides what its sessions waited for.

use dyno_record::{LockBlocker, Metric, RunRecord, Waits, WatchSummary};

use super::suite_rerun::with_command;
use super::{FoundStep, NextRule, NextStep, chosen};
use crate::limited::WaitClass;
use crate::number::{count, percent, sessions, span_s};

/// A watch of less than this says little about peaks, s.
const LENGTH_MIN_S: f64 = 600.0;
/// Samples that make shares of waits significant.
const SAMPLES_MIN: u64 = 20;
/// Share of the active time from which a kind of wait dominates, %.
const DOMINATES_PCT: f64 = 50.0;
/// Mean number of active sessions below which a database has next to nothing to wait for.
const ACTIVE_MIN: f64 = 0.1;
/// Utilization of the processors in the busiest minute from which they are short, %.
const BUSY_PCT: f64 = 80.0;
/// Readings at which a session blocked others, from which that is no chance.
const READINGS_MIN: u64 = 2;
/// Share of the readings between its first and its last at which a lasting blocker blocks.
const LASTING_SHARE: f64 = 0.7;
/// Share of the time that gaps may have, %.
const GAPS_PCT: f64 = 10.0;

/// Where a load may run: what is watched is in use.
const QUIET: &str = "on a copy of the platform or while nobody uses it";
const STORAGE: &str = "dyno suite --group storage";
const COMMITS: &str = "dyno suite --test storage-redo-commit --test storage-redo-group";
const PROCESSORS: &str = "dyno suite --group cpu";
const SERVER: &str = "dyno suite --group cpu --group server";
/// The suites that rules name.
#[cfg(test)]
pub(super) const SUITES: [&str; 4] = [STORAGE, COMMITS, PROCESSORS, SERVER];

const WATCH: &str = "docs/guides/watch.md";
const CAPACITY: &str = "docs/guides/capacity.md";

/// A watch and its record.
pub(super) struct WatchEvidence<'r> {
    record: &'r RunRecord,
    watched: &'r WatchSummary,
}

type WatchRule = NextRule<fn(&WatchEvidence<'_>) -> Option<FoundStep>>;

pub(super) const RULES: &[WatchRule] = &[
    NextRule {
        name: "watch_gaps",
        evidence: "counters are missing for over 10 % of a watch",
        source: WATCH,
        find: gaps,
    },
    NextRule {
        name: "watch_blocker",
        evidence: "one session blocked others at two readings or more",
        source: WATCH,
        find: blocker,
    },
    NextRule {
        name: "watch_dominant_wait",
        evidence: "waits for storage, commits or processors have half of the active time in 20 samples or more",
        source: "docs/concepts/analysis.md#what-limits",
        find: dominant_wait,
    },
    NextRule {
        name: "watch_unseen_locks",
        evidence: "waits for locks have half of the active time, and no reading met a session that blocked others",
        source: WATCH,
        find: unseen_locks,
    },
    NextRule {
        name: "watch_busy_processors",
        evidence: "the processors were over 80 % busy in the busiest minute",
        source: CAPACITY,
        find: busy_processors,
    },
    NextRule {
        name: "watch_short",
        evidence: "a watch covers less than ten minutes",
        source: WATCH,
        find: short,
    },
];

/// The steps after the watch of `record`; none for a record of another kind.
pub fn after_watch(record: &RunRecord) -> Vec<NextStep> {
    let Some(watched) = &record.watched else { return Vec::new() };
    let evidence = WatchEvidence { record, watched };
    let steps = RULES.iter().filter_map(|rule| rule.step((rule.find)(&evidence)));
    chosen(&[steps.map(|step| step.completed(&record.options)).collect()])
}

impl WatchEvidence<'_> {
    /// The share of these classes in the active time, %; absent where samples are too few or nothing was active.
    fn share_of(&self, classes: &[WaitClass]) -> Option<f64> {
        let Waits::Sampled { samples, average_active_sessions, events, .. } = &self.record.waits else {
            return None;
        };
        let waits = events.iter().filter(|wait| classes.contains(&WaitClass::of(&wait.class, &wait.event)));
        (*samples >= SAMPLES_MIN && *average_active_sessions >= ACTIVE_MIN)
            .then(|| waits.map(|wait| wait.share_pct).sum())
    }

    fn interval(&self) -> String {
        let seconds = self.record.series.interval_s.max(0.001);
        dyno_plan::TimeSpan(std::time::Duration::from_secs_f64(seconds)).to_string()
    }
}

fn gaps(watch: &WatchEvidence<'_>) -> Option<FoundStep> {
    let window_s = watch.record.window.as_ref()?.seconds;
    let missing_s = window_s - watch.watched.known_s;
    let why = &watch.watched.gaps.first()?.why;
    (100.0 * missing_s > GAPS_PCT * window_s).then(|| {
        let why = why.trim_end_matches('.');
        (format!("{} of the watch have no counters; remove the cause first ({why})", span_s(missing_s)), None)
    })
}

/// Only a session that blocked others at most of the readings in between: one that blocks again and again for a moment
/// has no long transaction to shorten.
fn blocker(watch: &WatchEvidence<'_>) -> Option<FoundStep> {
    let interval_s = watch.record.series.interval_s.max(0.001);
    let lasts = |blocker: &&LockBlocker| {
        let readings = (blocker.until_s - blocker.from_s) / interval_s;
        blocker.readings >= READINGS_MIN && blocker.readings as f64 >= LASTING_SHARE * readings
    };
    let blocker = watch.watched.blockers.iter().find(lasts)?;
    let state = if blocker.state.is_empty() { String::new() } else { format!(", {}", blocker.state) };
    let sentence = format!(
        "session {} ({}{state}) blocked up to {} at {} readings from {} to {}; shorten its transactions",
        blocker.session,
        blocker.name,
        sessions(blocker.waiting_max as f64),
        count(blocker.readings),
        span_s(blocker.from_s),
        span_s(blocker.until_s)
    );
    Some((sentence, None))
}

fn dominant_wait(watch: &WatchEvidence<'_>) -> Option<FoundStep> {
    let (share_pct, [what, more, command]) = [
        (WaitClass::Device, ["data files", "measure what storage can do", STORAGE]),
        (WaitClass::Commit, ["the log of commits", "measure what the log can do", COMMITS]),
        (WaitClass::Cpu, ["processors", "measure what they can do", PROCESSORS]),
    ]
    .into_iter()
    .find_map(|(class, words)| {
        Some((watch.share_of(&[class])?, words)).filter(|(share_pct, _)| *share_pct >= DOMINATES_PCT)
    })?;
    let sentence = format!("{} % of the active time was for {what}; {more}, {QUIET}", percent(share_pct));
    with_command(sentence, command.to_owned())
}

fn unseen_locks(watch: &WatchEvidence<'_>) -> Option<FoundStep> {
    let share_pct = watch.share_of(&[WaitClass::RowLock, WaitClass::Lock])?;
    (share_pct >= DOMINATES_PCT && watch.watched.blockers.is_empty()).then(|| {
        let sentence = format!(
            "{} % of the active time was for locks, and no reading met their holders; read more often",
            percent(share_pct)
        );
        (sentence, Some("dyno watch --time 10m --interval 200ms".to_owned()))
    })
}

fn busy_processors(watch: &WatchEvidence<'_>) -> Option<FoundStep> {
    let busy_pct = watch.watched.spreads.get("cpu_busy_pct")?.busiest_minute?;
    matches!(watch.record.metrics.get("cpu_busy_pct"), Some(Metric::Value { .. }))
        .then_some(busy_pct)
        .filter(|busy_pct| *busy_pct > BUSY_PCT)?;
    let sentence = format!(
        "the processors were {} % busy in the busiest minute; measure how much more work they can do, {QUIET}",
        percent(busy_pct)
    );
    with_command(sentence, SERVER.to_owned())
}

fn short(watch: &WatchEvidence<'_>) -> Option<FoundStep> {
    let known_s = watch.watched.known_s;
    (known_s < LENGTH_MIN_S).then(|| {
        let sentence = format!("{} may miss the peak; watch through the busiest hours", span_s(known_s));
        (sentence, Some(format!("dyno watch --time 2h --interval {}", watch.interval())))
    })
}
