//! Writes events of a campaign as lines of a file that another program reads, such as the server whose page
//! shows a run.
//!
//! The file is a contract between programs of the same version, so it contains less than the events. It has
//! phases, completed intervals, steps of a campaign, and the outcome. Messages are not part of it; the
//! program writes them to stderr.

use std::collections::BTreeMap;

use dyno_drive::CompletedInterval;
use dyno_drive::present::ObservationEvent;
use dyno_record::{
    AuditCheck, CheckStatus, PartOf, RunId, RunRecord, SeriesChunk, SeriesPoint, Status, SweepKind, Waits,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{CampaignBegun, CampaignEvent, LoadEvent, NextRun, RunEnded, StudyEvent};

/// One line of the progress file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ProgressEvent {
    /// Every target was reached; from now on a signal ends the campaign in an orderly way.
    Reached,
    /// A phase begins: `connect`, `warm-up`, `window`, `drain`, `tidy`, or a phase of a load.
    Phase {
        /// Name of the phase that begins.
        phase: String,
        /// Expected duration, s; absent if it is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
        /// Rows that a phase of a load handles; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<u64>,
    },
    /// A load has handled more rows of its phase.
    Loaded {
        /// Number of rows handled since the last such line.
        rows: u64,
    },
    /// The progress of a window.
    Progress {
        /// Seconds since the window began.
        elapsed_s: f64,
        /// Length of the window, s; absent if it ends after a number of operations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_s: Option<f64>,
        /// Completed share of the window, 0–1.
        done: f64,
        /// Failed operations since the window began.
        errors: u64,
    },
    /// A completed interval, with the values that the record will contain.
    Interval(Box<IntervalProgress>),
    /// Further values up to the end of the last complete interval.
    Complete(Box<CompleteInterval>),
    /// A completed interval of a database that `dyno watch` observes.
    Watched(Box<WatchProgress>),
    /// The observed database stopped answering, or answers again.
    Away {
        /// Why the database does not answer; absent once it answers again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The campaign is paused, or continues.
    Paused {
        /// Whether the campaign is paused before its next run.
        paused: bool,
    },
    /// Operations that belong to an earlier interval: their session was in a long operation when that
    /// interval was reported.
    Late {
        /// The interval's begin, seconds after the window began.
        at_s: f64,
        /// Number of operations to add to the interval.
        ops: u64,
        /// Number of failed operations to add.
        errors: u64,
        /// Their longest response time, µs; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_us: Option<f64>,
    },
    /// A run has been given a name.
    Run {
        /// Name of the run that starts.
        id: RunId,
        /// The run's targets, with product and version.
        targets: String,
    },
    /// A campaign of several runs begins.
    Begun {
        /// The campaign's name, which all its runs share.
        id: String,
        /// The kind of campaign, such as `sweep`.
        kind: String,
        /// Names of the settings that vary between the runs.
        axes: Vec<String>,
        /// Whether points of the campaign can be skipped.
        skips: bool,
    },
    /// The next run of a campaign begins.
    Next {
        /// Number, settings, repeat and side of the run.
        step: CampaignStep,
        /// Total number of runs; absent if it is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<u32>,
        /// Estimated time for this run and all later ones, s; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        all_s: Option<f64>,
    },
    /// A run of a campaign has ended.
    Ended {
        /// Number, settings, repeat and side of the run.
        step: CampaignStep,
        /// The result of the run; absent if nothing was measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Box<RunResult>>,
        /// Why there is no result; absent if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    },
    /// A run was audited and stored.
    Stored(Box<RunResult>),
    /// The program ends with this exit code.
    End {
        /// Exit code of the program, as documented for `dyno`.
        exit: i32,
    },
}

/// The place of a run in its campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CampaignStep {
    /// Number of the run, counted from 1.
    pub number: u32,
    /// The run's settings as pairs of key and value.
    pub settings: Vec<(String, String)>,
    /// Number of this run among those of its point, from 1.
    pub repeat: u32,
    /// The side of an A/B test; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
}

/// An interval of all targets together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalProgress {
    /// The interval's begin, seconds after the window began.
    pub at_s: f64,
    /// Length of the interval, s.
    pub seconds: f64,
    /// Operations that ended in the interval.
    pub ops: u64,
    /// Operations that failed in the interval.
    pub errors: u64,
    /// Median response time, µs; absent if none was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<f64>,
    /// 99th percentile of response time, µs; absent if none was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// Longest response time, µs; absent if none was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_us: Option<f64>,
    /// Rates of counters of database and host, by metric name.
    pub metrics: BTreeMap<String, f64>,
}

/// An interval of a database that `dyno watch` observes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchProgress {
    /// The interval's begin, seconds after the watch began.
    pub at_s: f64,
    /// Length of the interval, s.
    pub seconds: f64,
    /// Rates of counters of database and host, by metric name.
    pub metrics: BTreeMap<String, f64>,
    /// Average number of sessions in each wait class, largest first; absent if waits are not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Vec<(String, f64)>>,
}

/// Values known up to the end of a complete interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompleteInterval {
    /// The interval's begin, seconds after the window began.
    pub at_s: f64,
    /// Histogram of response times in the interval. Each bucket has its lower bound, as an exponent of the
    /// square root of 2 ns, and its count.
    pub heat: Vec<(u32, u64)>,
    /// Number of wait samples since the window began.
    pub samples: u64,
    /// Average number of sessions in each wait class over these samples, largest first.
    pub waits: Vec<(String, f64)>,
    /// Number of snapshots that were compared with the previous one.
    pub looks: u64,
    /// What these comparisons found: changed settings, and counters that fell.
    pub found: Vec<String>,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Name of the finished run.
    pub id: RunId,
    /// How the run ended, such as `valid`.
    pub status: Status,
    /// Why the run is not valid; empty if it is.
    pub reasons: Vec<String>,
    /// Operations per second in the window; absent if nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops_per_s: Option<f64>,
    /// 99th percentile of service time, µs; absent if nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// The audit checks that did not pass.
    pub doubts: Vec<AuditCheck>,
    /// Number of audit checks that passed.
    pub passed: u32,
}

impl ProgressEvent {
    /// Returns the lines for `event`; most events give none or one.
    pub fn of(event: &CampaignEvent) -> Vec<Self> {
        match event {
            CampaignEvent::Reached => vec![Self::Reached],
            CampaignEvent::LookingAtData => vec![phase_event("check the data")],
            CampaignEvent::WaitingForData => vec![phase_event("wait for the data")],
            CampaignEvent::CheckingDeeply => vec![phase_event("deep check")],
            CampaignEvent::AcceptanceStep(number, title) => {
                vec![phase_event(&format!("acceptance step {number}: {title}"))]
            }
            CampaignEvent::AskingInvariants => vec![phase_event("check invariants")],
            CampaignEvent::Learning => vec![phase_event("learn")],
            CampaignEvent::Tidying => vec![phase_event("tidy")],
            CampaignEvent::Load(LoadEvent::Phase(name, rows)) => vec![Self::Phase {
                phase: format!("load {name}"),
                seconds: None,
                rows: Some(*rows).filter(|rows| *rows > 0),
            }],
            CampaignEvent::RunBegun { id, targets, .. } => {
                vec![Self::Run { id: id.clone(), targets: targets.clone() }]
            }
            CampaignEvent::Phase(event) => drive_events(event),
            CampaignEvent::Seen(seen) => watch_events(seen),
            CampaignEvent::Study(event) => study_events(event),
            CampaignEvent::Stored(record) => vec![Self::Stored(Box::new(RunResult::of(record)))],
            CampaignEvent::Begun(begun) => vec![begun_event(begun)],
            CampaignEvent::Next(next) => vec![next_event(next)],
            CampaignEvent::Ended(ended) => vec![ended_event(ended)],
            CampaignEvent::Paused(paused) => vec![Self::Paused { paused: *paused }],
            _ => Vec::new(),
        }
    }
}

fn phase_event(name: &str) -> ProgressEvent {
    ProgressEvent::Phase { phase: name.to_owned(), seconds: None, rows: None }
}

fn drive_events(event: &dyno_drive::RunEvent) -> Vec<ProgressEvent> {
    use dyno_drive::RunEvent as Drive;
    match event {
        Drive::Awaiting { .. } => vec![phase_event("driver hosts")],
        Drive::Connecting { .. } => vec![phase_event("connect")],
        Drive::Warmup { seconds } => {
            vec![ProgressEvent::Phase { phase: "warm-up".into(), seconds: Some(*seconds), rows: None }]
        }
        Drive::Window { .. } => vec![phase_event("window")],
        Drive::Interval(live) => vec![ProgressEvent::Progress {
            elapsed_s: live.elapsed_s,
            total_s: live.total_s,
            done: live.done,
            errors: live.errors,
        }],
        // Part 0 contains all targets together.
        Drive::Late(chunk) if chunk.part == 0 => late_events(chunk),
        Drive::Complete(complete) => {
            vec![
                interval_event(&complete.point),
                ProgressEvent::Complete(Box::new(CompleteInterval::of(complete))),
            ]
        }
        Drive::Draining => vec![phase_event("drain")],
        Drive::Closing { .. } | Drive::Whole(_) | Drive::Final(_) | Drive::Late(_) => Vec::new(),
    }
}

/// Returns the lines for an event of `dyno watch`.
fn watch_events(event: &ObservationEvent) -> Vec<ProgressEvent> {
    match event {
        ObservationEvent::Begun(_) => vec![phase_event("watch")],
        ObservationEvent::Interval(moment) => {
            let done_share =
                if moment.total_s > 0.0 { (moment.elapsed_s / moment.total_s).min(1.0) } else { 0.0 };
            let (elapsed_s, total_s) = (moment.elapsed_s, Some(moment.total_s));
            let mut events =
                vec![ProgressEvent::Progress { elapsed_s, total_s, done: done_share, errors: 0 }];
            events.extend(moment.point.as_ref().map(|point| {
                ProgressEvent::Watched(Box::new(WatchProgress {
                    at_s: point.at_s,
                    seconds: point.seconds,
                    metrics: point.metrics.clone(),
                    waits: moment.classes.clone(),
                }))
            }));
            events
        }
        ObservationEvent::Lost(why) => vec![ProgressEvent::Away { why: Some(why.clone()) }],
        ObservationEvent::Back(_) => vec![ProgressEvent::Away { why: None }],
        ObservationEvent::Anew(_) | ObservationEvent::Final(_) => Vec::new(),
    }
}

/// Returns the lines for an event of a study.
fn study_events(event: &StudyEvent) -> Vec<ProgressEvent> {
    match event {
        StudyEvent::Begun { id, .. } => vec![ProgressEvent::Begun {
            id: id.clone(),
            kind: SweepKind::Study.name().to_owned(),
            axes: vec!["variant".to_owned()],
            skips: false,
        }],
        StudyEvent::Leg { number, of, variant, repeat, left_s } => {
            let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let settings = vec![("variant".to_owned(), variant.clone())];
            let step = CampaignStep { number: small(*number), settings, repeat: *repeat, side: None };
            vec![ProgressEvent::Next { step, of: Some(small(*of)), all_s: *left_s }]
        }
        StudyEvent::Command(when, _) => vec![phase_event(when)],
        StudyEvent::Resetting(task) => vec![phase_event(&format!("data of {task}"))],
        StudyEvent::Reverting(what, _) => vec![phase_event(&format!("revert {what}"))],
        _ => Vec::new(),
    }
}

fn interval_event(point: &SeriesPoint) -> ProgressEvent {
    ProgressEvent::Interval(Box::new(IntervalProgress {
        at_s: point.at_s,
        seconds: point.seconds,
        ops: point.ops,
        errors: point.errors,
        p50_us: point.p50_us,
        p99_us: point.p99_us,
        max_us: point.max_us,
        metrics: point.metrics.clone(),
    }))
}

fn late_events(chunk: &SeriesChunk) -> Vec<ProgressEvent> {
    let late_event = |point: &SeriesPoint| ProgressEvent::Late {
        at_s: point.at_s,
        ops: point.ops,
        errors: point.errors,
        max_us: point.max_us,
    };
    chunk.points.iter().map(late_event).collect()
}

fn begun_event(campaign: &CampaignBegun) -> ProgressEvent {
    ProgressEvent::Begun {
        id: campaign.id.clone(),
        kind: campaign.kind.name().to_owned(),
        axes: campaign.axes.iter().map(|(name, _)| name.clone()).collect(),
        skips: campaign.skips,
    }
}

fn next_event(next: &NextRun) -> ProgressEvent {
    ProgressEvent::Next { step: CampaignStep::of(next.number, &next.part), of: next.total, all_s: next.all_s }
}

fn ended_event(finished_run: &RunEnded) -> ProgressEvent {
    ProgressEvent::Ended {
        step: CampaignStep::of(finished_run.number, &finished_run.part),
        run: finished_run.record.as_deref().map(|record| Box::new(RunResult::of(record))),
        failed: finished_run.failed.clone(),
    }
}

impl CompleteInterval {
    fn of(complete: &CompletedInterval) -> Self {
        let mut heat: BTreeMap<u32, u64> = BTreeMap::new();
        for (ns, count) in complete.latency.buckets() {
            *heat.entry((2.0 * (ns.max(1) as f64).log2()).floor() as u32).or_default() += count;
        }
        let (samples, waits) = waits_by_class(&complete.waits);
        let changes = complete.changes.iter().map(|change| format!("{} changed", change.name));
        let falls = complete.resets.iter().map(|fall| format!("{} went backwards", fall.name));
        Self {
            at_s: complete.point.at_s,
            heat: heat.into_iter().collect(),
            samples,
            waits,
            looks: complete.snapshot_count,
            found: changes.chain(falls).collect(),
        }
    }
}

/// Returns the number of samples, and the sessions in each wait class.
fn waits_by_class(waits: &Waits) -> (u64, Vec<(String, f64)>) {
    let Waits::Sampled { samples, events, .. } = waits else { return (0, Vec::new()) };
    let mut classes: BTreeMap<&str, f64> = BTreeMap::new();
    for event in events {
        *classes.entry(&event.class).or_default() += event.average_sessions;
    }
    let mut classes: Vec<(String, f64)> =
        classes.into_iter().map(|(class, sessions)| (class.to_owned(), sessions)).collect();
    classes.sort_by(|a, b| b.1.total_cmp(&a.1));
    (*samples, classes)
}

impl CampaignStep {
    fn of(number: u32, part: &PartOf) -> Self {
        let settings = part.settings.iter().map(|setting| (setting.key.clone(), setting.value.clone()));
        Self { number, settings: settings.collect(), repeat: part.repeat, side: part.side.clone() }
    }
}

impl RunResult {
    /// Summarizes the run of `record`.
    pub fn of(record: &RunRecord) -> Self {
        let figure = |measure: &str| dyno_analyze::points::figure(record, measure).map(|(value, _)| value);
        let is_doubt = |check: &&AuditCheck| matches!(check.status, CheckStatus::Warn | CheckStatus::Fail);
        let passed = record.audit.iter().filter(|check| check.status == CheckStatus::Pass).count();
        Self {
            id: record.id.clone(),
            status: record.status,
            reasons: record.reasons.clone(),
            ops_per_s: figure("ops_per_s"),
            p99_us: figure("service_p99_us"),
            doubts: record.audit.iter().filter(is_doubt).cloned().collect(),
            passed: u32::try_from(passed).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_log_line_round_trip_is_lossless() {
        let metrics = BTreeMap::from([("cpu_busy_pct".to_owned(), 5.5)]);
        let point = SeriesPoint { at_s: 3.0, seconds: 1.0, ops: 7, metrics, ..SeriesPoint::default() };
        let progress_event = interval_event(&point);
        let line = serde_json::to_string(&progress_event).unwrap();
        assert!(line.starts_with("{\"event\":\"interval\",\"at_s\":3.0"), "{line}");
        assert_eq!(serde_json::from_str::<ProgressEvent>(&line).unwrap(), progress_event);
        let late =
            |part| dyno_drive::RunEvent::Late(SeriesChunk { part, first: 3, points: vec![point.clone()] });
        assert_eq!(ProgressEvent::of(&CampaignEvent::Phase(late(0))).len(), 1);
        assert!(
            ProgressEvent::of(&CampaignEvent::Phase(late(1))).is_empty(),
            "part 1 is one target of several"
        );
    }

    #[test]
    fn run_result_contains_failed_audit_checks() {
        let check = |status| AuditCheck {
            check: "commits".into(),
            status,
            expected: "1".into(),
            observed: "2".into(),
            detail: "d".into(),
        };
        let engines = dyno_engine::registry![dyno_sqlite::ENGINE].specs;
        let target = Some("sqlite::memory:".to_owned());
        let plan =
            dyno_plan::read(&dyno_plan::PlanSource { target, ..dyno_plan::PlanSource::of(engines) }).unwrap();
        let mut record = RunRecord::blank(Status::Invalid, plan);
        record.audit = vec![check(CheckStatus::Pass), check(CheckStatus::Skipped), check(CheckStatus::Fail)];
        let summary = RunResult::of(&record);
        assert_eq!((summary.passed, summary.doubts.len()), (1, 1));
        assert_eq!(summary.ops_per_s, None, "what was not measured is absent");
    }
}
