//! Turns events of a campaign into progress events.

use std::collections::BTreeMap;

use dyno_analyze::limited::WaitClass;
use dyno_drive::CompletedInterval;
use dyno_drive::{LiveProgress, RunEvent};
use dyno_record::{AuditCheck, CheckStatus, PartOf, RunRecord, SeriesChunk, SeriesPoint, SweepKind, Waits};
use dyno_watch::ObservationEvent;

use super::event::{
    CampaignStep, CompleteInterval, IntervalProgress, ProgressEvent, RunResult, WatchProgress,
};
use super::phase::RunPhase;
use crate::event::{CampaignBegun, CampaignEvent, HookEvent, LoadEvent, NextRun, RunEnded, StudyEvent};

impl ProgressEvent {
    /// Returns the progress in `event`; most events have none or one.
    pub fn of(event: &CampaignEvent) -> Vec<Self> {
        let phase = |phase| vec![Self::phase(phase)];
        match event {
            CampaignEvent::Reached => vec![Self::Reached],
            CampaignEvent::LookingAtData => phase(RunPhase::CheckingData),
            CampaignEvent::WaitingForData => phase(RunPhase::WaitingForData),
            CampaignEvent::DroppingData => phase(RunPhase::DroppingData),
            CampaignEvent::CheckingDeeply => phase(RunPhase::CheckingDeeply),
            CampaignEvent::AcceptanceStep(number, title) => {
                phase(RunPhase::Other(format!("acceptance step {number}: {title}")))
            }
            CampaignEvent::AskingInvariants => phase(RunPhase::CheckingInvariants),
            CampaignEvent::Learning => phase(RunPhase::Learning),
            CampaignEvent::RunOver => phase(RunPhase::Storing),
            CampaignEvent::Tidying => phase(RunPhase::Tidying),
            CampaignEvent::Hook(HookEvent::Started(name, _)) => phase(RunPhase::Hook((*name).to_owned())),
            CampaignEvent::Load(LoadEvent::Phase(name, rows)) => vec![Self::Phase {
                phase: RunPhase::Loading(name.clone()),
                seconds: None,
                rows: Some(*rows).filter(|rows| *rows > 0),
            }],
            CampaignEvent::Load(LoadEvent::Over) => phase(RunPhase::None),
            CampaignEvent::RunBegun { id, targets, .. } => {
                vec![Self::Run { id: id.clone(), targets: targets.clone() }, Self::phase(RunPhase::Starting)]
            }
            CampaignEvent::Phase(event) => drive_events(event),
            CampaignEvent::Seen(seen) => watch_events(seen),
            CampaignEvent::Study(event) => study_events(event),
            CampaignEvent::Stored(record) => vec![Self::Stored(Box::new(RunResult::of(record)))],
            CampaignEvent::Begun(begun) => vec![begun_event(begun)],
            CampaignEvent::Next(next) => vec![next_event(next), Self::phase(RunPhase::Preparing)],
            CampaignEvent::Ended(ended) => {
                let phase = if ended.skipped { RunPhase::Skipped } else { RunPhase::BetweenRuns };
                vec![ended_event(ended), Self::phase(phase)]
            }
            CampaignEvent::Paused(paused) => vec![Self::Paused { paused: *paused }],
            _ => Vec::new(),
        }
    }

    /// The begin of a phase of unknown length.
    pub fn phase(phase: RunPhase) -> Self {
        Self::Phase { phase, seconds: None, rows: None }
    }

    /// Whether the lines of `--events` contain this event.
    pub fn is_written(&self) -> bool {
        !matches!(self, Self::Phase { phase, .. } if !phase.is_written())
    }
}

fn drive_events(event: &RunEvent) -> Vec<ProgressEvent> {
    let phase = |phase| vec![ProgressEvent::phase(phase)];
    match event {
        RunEvent::Awaiting { there, of } => phase(RunPhase::AwaitingHosts(*there, *of)),
        RunEvent::Connecting { ready, of } => phase(RunPhase::Connecting(*ready, *of)),
        RunEvent::Warmup { seconds } => {
            vec![ProgressEvent::Phase { phase: RunPhase::Warmup, seconds: Some(*seconds), rows: None }]
        }
        RunEvent::Window { .. } => phase(RunPhase::Window),
        RunEvent::Interval(live) => vec![ProgressEvent::Progress(*live)],
        // Part 0 contains all targets together.
        RunEvent::Late(chunk) if chunk.part == 0 => late_events(chunk),
        RunEvent::Complete(complete) => vec![
            interval_event(&complete.point),
            ProgressEvent::Complete(Box::new(CompleteInterval::of(complete))),
        ],
        RunEvent::Draining => phase(RunPhase::Draining),
        RunEvent::Closing { .. } | RunEvent::Whole(_) | RunEvent::Final(_) | RunEvent::Late(_) => Vec::new(),
    }
}

/// Returns the lines for an event of `dyno watch`.
fn watch_events(event: &ObservationEvent) -> Vec<ProgressEvent> {
    match event {
        ObservationEvent::Begun(_) => vec![ProgressEvent::phase(RunPhase::Watching)],
        ObservationEvent::Interval(moment) => {
            let done = if moment.total_s > 0.0 { (moment.elapsed_s / moment.total_s).min(1.0) } else { 0.0 };
            let (elapsed_s, total_s) = (moment.elapsed_s, Some(moment.total_s));
            let live = LiveProgress { elapsed_s, total_s, done, ..LiveProgress::default() };
            let mut events = vec![ProgressEvent::Progress(live)];
            events.extend(moment.point.as_ref().map(|point| {
                ProgressEvent::Watched(Box::new(WatchProgress {
                    at_s: point.at_s,
                    seconds: point.seconds,
                    metrics: point.metrics.clone(),
                    waits: moment.events.as_ref().map(|events| {
                        by_class(
                            events.iter().map(|(class, event, mean)| (class.as_str(), event.as_str(), *mean)),
                        )
                    }),
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
    let other = |name| vec![ProgressEvent::phase(RunPhase::Other(name))];
    match event {
        StudyEvent::Begun { id, .. } => vec![ProgressEvent::Begun {
            id: id.clone(),
            kind: SweepKind::Study.name().to_owned(),
            axes: vec!["variant".to_owned()],
            skips: false,
            points: Vec::new(),
        }],
        StudyEvent::Leg { number, of, variant, repeat, left_s } => {
            let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let settings = vec![("variant".to_owned(), variant.clone())];
            let step =
                CampaignStep { number: small(*number), settings, repeat: *repeat, ..CampaignStep::default() };
            vec![ProgressEvent::Next { step, of: Some(small(*of)), all_s: *left_s, rest_s: None }]
        }
        StudyEvent::Command(when, _) => other((*when).to_owned()),
        StudyEvent::Resetting(task) => other(format!("data of {task}")),
        StudyEvent::Reverting(what, _) => other(format!("revert {what}")),
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
        points: campaign.points.clone(),
    }
}

fn next_event(next: &NextRun) -> ProgressEvent {
    ProgressEvent::Next {
        step: CampaignStep::of(next.number, &next.part),
        of: next.total,
        all_s: next.all_s,
        rest_s: next.rest_s,
    }
}

fn ended_event(finished_run: &RunEnded) -> ProgressEvent {
    ProgressEvent::Ended {
        step: CampaignStep::of(finished_run.number, &finished_run.part),
        run: finished_run.record.as_deref().map(|record| Box::new(RunResult::of(record))),
        failed: finished_run.failed.clone(),
        skipped: finished_run.skipped,
    }
}

impl CompleteInterval {
    fn of(complete: &CompletedInterval) -> Self {
        let (samples, waits) = waits_by_class(&complete.waits);
        let changes = complete.changes.iter().map(|change| format!("{} changed", change.name));
        let falls = complete.resets.iter().map(|fall| format!("{} went backwards", fall.name));
        Self {
            at_s: complete.point.at_s,
            heat: complete.point.bands.clone(),
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
    let waits = events.iter().map(|wait| (wait.class.as_str(), wait.event.as_str(), wait.average_sessions));
    (*samples, by_class(waits))
}

/// The sessions in each wait class of reports, largest first. A wait is its class and event in the engine's words,
/// and its average sessions.
fn by_class<'w>(waits: impl Iterator<Item = (&'w str, &'w str, f64)>) -> Vec<(String, f64)> {
    let mut classes: BTreeMap<&str, f64> = BTreeMap::new();
    for (class, event, sessions) in waits {
        *classes.entry(WaitClass::of(class, event).name()).or_default() += sessions;
    }
    let mut classes: Vec<(String, f64)> =
        classes.into_iter().map(|(class, sessions)| (class.to_owned(), sessions)).collect();
    classes.sort_by(|a, b| b.1.total_cmp(&a.1));
    classes
}

impl CampaignStep {
    fn of(number: u32, part: &PartOf) -> Self {
        let settings = part.settings.iter().map(|setting| (setting.key.clone(), setting.value.clone()));
        Self {
            number,
            settings: settings.collect(),
            repeat: part.repeat,
            side: part.side.clone(),
            point: part.point,
        }
    }
}

impl RunResult {
    /// Summarizes the run of `record`.
    pub fn of(record: &RunRecord) -> Self {
        let figure = |measure: &str| dyno_analyze::points::figure(record, measure).map(|(value, _)| value);
        let is_doubt = |check: &&AuditCheck| matches!(check.status, CheckStatus::Warn | CheckStatus::Fail);
        let with_status = |status| {
            let count = record.audit.iter().filter(|check| check.status == status).count();
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        Self {
            id: record.id.clone(),
            status: record.status,
            reasons: record.reasons.clone(),
            ops_per_s: figure("ops_per_s"),
            p99_us: figure("service_p99_us"),
            doubts: record.audit.iter().filter(is_doubt).cloned().collect(),
            passed: with_status(CheckStatus::Pass),
            skipped: with_status(CheckStatus::Skipped),
            response_p99_us: record.leading_ops().and_then(|ops| ops.response_us.p99),
        }
    }
}
