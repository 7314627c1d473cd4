//! Runs that belong together, one after the other: what sweep, search, soak and A/B comparison share.
//!
//! Each run is stored before the next begins, so whatever ends a campaign, what was measured is kept.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use dyno_analyze::Conclusion;
use dyno_engine::data::mix;
use dyno_engine::{TargetError, TargetErrorKind};
use dyno_plan::{Length, Plan};
use dyno_record::{
    PartOf, Repository, RepositoryError, RunRecord, Setting, StartedSweep, Status, SweepKind, SweepState,
};

use super::ready::Ready;
use super::room::Loading;
use crate::exit::Exit;
use crate::hooks::HookError;
use crate::progress::RunProgress;
use crate::talk::Talk;

/// Failures in a row after which a campaign gives up: what failed so often fails again.
pub(super) const FAILURES_MAX: u32 = 3;

/// How often a pause looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(20);

/// Runs that belong together.
pub(super) struct Campaign<'a> {
    pub(super) ready: Ready,
    pub(super) id: String,
    kind: SweepKind,
    talk: &'a Talk,
    pace: Pace,
    failures_in_row: u32,
    worst: Exit,
}

/// One run of a campaign.
pub(super) struct Part<'a> {
    pub(super) plan: &'a Plan,
    pub(super) point: u32,
    pub(super) repeat: u32,
    pub(super) side: Option<&'a str>,
    pub(super) settings: &'a [(String, String)],
}

/// How a run of a campaign ended.
pub(super) enum Ended {
    /// With a record, which may be that of a failure.
    Stored(Box<RunRecord>),
    /// Before there was anything to record; says why.
    Failed(String),
    /// By the user.
    Interrupted(Option<Box<RunRecord>>),
}

impl<'a> Campaign<'a> {
    /// Begins one that `definition` describes; `runs_planned` where that is known.
    pub(super) fn begin(
        ready: Ready,
        kind: SweepKind,
        runs_planned: Option<u32>,
        definition: &serde_json::Value,
        talk: &'a Talk,
    ) -> anyhow::Result<Self> {
        let id = begin(&ready.repository, kind, &ready.targets.urls(), runs_planned, definition)?;
        Ok(Self::of(ready, id, kind, talk))
    }

    /// Goes on with one that was begun before.
    pub(super) fn resume(ready: Ready, id: String, kind: SweepKind, talk: &'a Talk) -> anyhow::Result<Self> {
        ready.repository.resume_sweep(&id)?;
        Ok(Self::of(ready, id, kind, talk))
    }

    fn of(ready: Ready, id: String, kind: SweepKind, talk: &'a Talk) -> Self {
        let pace = Pace::default();
        Self { ready, id, kind, talk, pace, failures_in_row: 0, worst: Exit::Done }
    }

    /// Does one run, at `place` among those that take `rest_s` after it.
    pub(super) fn run(
        &mut self,
        part: &Part<'_>,
        loading: &Loading<'_>,
        place: &str,
        rest_s: Option<f64>,
    ) -> anyhow::Result<Ended> {
        let began = Instant::now();
        let measured = self.try_run(part, loading, place, rest_s);
        self.pace.note(part.plan, began.elapsed());
        let ended = match measured {
            Ok((record, None)) if record.status == Status::Interrupted => Ended::Interrupted(Some(record)),
            Ok((record, hook)) => {
                let failed = record.status == Status::Failed || hook.is_some();
                self.note(failed, if hook.is_some() { Exit::Failed } else { record.status.into() });
                if let Some(error) = hook {
                    self.talk.error(&error.to_string(), "the run before it is stored and counts");
                }
                Ended::Stored(record)
            }
            Err(error) if self.ready.cancel.is_cancelled() || is_cancelled(&error) => {
                Ended::Interrupted(None)
            }
            // What cannot be stored now cannot be stored later.
            Err(error) if error.is::<RepositoryError>() => return Err(error),
            Err(error) => {
                self.note(true, Exit::Failed);
                Ended::Failed(words(&error))
            }
        };
        if matches!(ended, Ended::Interrupted(_)) {
            self.worst = Exit::Interrupted;
        }
        Ok(ended)
    }

    /// A run's record, and what its last hook failed with.
    fn try_run(
        &mut self,
        part: &Part<'_>,
        loading: &Loading<'_>,
        place: &str,
        rest_s: Option<f64>,
    ) -> anyhow::Result<(Box<RunRecord>, Option<anyhow::Error>)> {
        self.ready.turn_to(part.plan.clone(), loading, self.talk)?;
        let setting = |(key, value): &(String, String)| Setting { key: key.clone(), value: value.clone() };
        let part_of = PartOf {
            id: self.id.clone(),
            kind: self.kind,
            point: part.point,
            repeat: part.repeat,
            side: part.side.map(str::to_owned),
            settings: part.settings.iter().map(setting).collect(),
        };
        let progress = RunProgress::among(self.talk, place, rest_s);
        let record = self.ready.measure(Some(part_of), self.talk, &progress)?;
        let hook = self.ready.after_run(&record, self.talk).err();
        Ok((Box::new(record), hook))
    }

    fn note(&mut self, failed: bool, exit: Exit) {
        self.failures_in_row = if failed { self.failures_in_row + 1 } else { 0 };
        // Failure outweighs invalidity, and both a result.
        if exit as u8 > self.worst as u8 {
            self.worst = exit;
        }
    }

    /// Whether so many runs failed one after the other that there is no sense in going on.
    pub(super) fn is_hopeless(&self) -> bool {
        self.failures_in_row >= FAILURES_MAX
    }

    /// Rests for `pause`; false if the user does not want to go on.
    pub(super) fn rest(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        while !self.ready.cancel.is_cancelled() && Instant::now() < until {
            std::thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
        !self.ready.cancel.is_cancelled()
    }

    /// How long runs of these plans will take, s; `None` where nothing is known of one.
    pub(super) fn seconds<'p>(&self, plans: impl Iterator<Item = &'p Plan>, pause: Duration) -> Option<f64> {
        plans.map(|plan| Some(self.pace.seconds(plan)? + pause.as_secs_f64())).sum()
    }

    /// Stores what was concluded; a later conclusion takes the place of an earlier one.
    pub(super) fn conclude(&self, conclusion: &Conclusion) -> anyhow::Result<()> {
        Ok(self.ready.repository.conclude(&self.id, &serde_json::to_value(conclusion)?)?)
    }

    /// Ends it: `done` is for good, otherwise it can be resumed. Says how the program ends.
    pub(super) fn end(&self, done: bool) -> anyhow::Result<Exit> {
        let state = if done { SweepState::Done } else { SweepState::Interrupted };
        self.ready.repository.end_sweep(&self.id, state)?;
        if let Err(error) = self.ready.after_all(self.talk) {
            self.talk.error(&error.to_string(), "the runs before it are stored and count");
            return Ok(if self.worst == Exit::Done { Exit::Failed } else { self.worst });
        }
        Ok(self.worst)
    }

    /// The records of all its runs, in order of time; of several for one run the last.
    pub(super) fn records(&self) -> anyhow::Result<Vec<RunRecord>> {
        records(&self.ready.repository, &self.id)
    }
}

/// The records of a campaign's runs, in order of time; of several for one run of a point the last.
pub(super) fn records(repository: &Repository, id: &str) -> anyhow::Result<Vec<RunRecord>> {
    let mut records: Vec<RunRecord> = Vec::new();
    for run in repository.runs_of_sweep(id)? {
        let record = match repository.load(&run.id) {
            Err(RepositoryError::NoRecord { .. }) => continue,
            loaded => loaded?,
        };
        let same = |part: &PartOf| (part.point, part.repeat, part.side.clone());
        let place = record.part_of.as_ref().map(same);
        records.retain(|before| before.part_of.as_ref().map(same) != place);
        records.push(record);
    }
    Ok(records)
}

/// Draws names until one is free.
fn begin(
    repository: &Repository,
    kind: SweepKind,
    target: &str,
    runs_planned: Option<u32>,
    definition: &serde_json::Value,
) -> anyhow::Result<String> {
    let mut salt = u64::from(std::process::id());
    loop {
        let now = jiff::Timestamp::now();
        salt = mix(salt ^ now.as_nanosecond() as u64);
        let sweep = StartedSweep {
            id: dyno_record::new_sweep_id(kind, now, salt as u16),
            kind,
            started_at: dyno_record::rfc3339(now),
            target: target.to_owned(),
            runs_planned,
            definition: definition.clone(),
        };
        match repository.begin_sweep(&sweep) {
            Ok(()) => return Ok(sweep.id),
            Err(RepositoryError::Exists { .. }) => {}
            Err(error) => return Err(error).context("the sweep could not be noted"),
        }
    }
}

fn is_cancelled(error: &anyhow::Error) -> bool {
    let target = error.downcast_ref::<TargetError>().is_some_and(|e| e.kind == TargetErrorKind::Cancelled);
    target || error.downcast_ref::<HookError>().is_some_and(|hook| hook.interrupted)
}

/// An error with its way out, in one text.
fn words(error: &anyhow::Error) -> String {
    match error.downcast_ref::<TargetError>() {
        Some(target) if !target.hint.is_empty() => format!("{error}; hint: {}", target.hint),
        _ => format!("{error:#}"),
    }
}

/// How long runs take, learned from those that ended.
#[derive(Debug, Default)]
struct Pace {
    runs: u32,
    /// Time beside warm-up and window, over all runs with a length.
    beside_s: f64,
    whole_s: f64,
}

/// Warm-up and window, where the window has a length.
pub(super) fn nominal_s(plan: &Plan) -> Option<f64> {
    match plan.run.length() {
        Length::Time(time) => Some(plan.run.warmup.0.as_secs_f64() + time.0.as_secs_f64()),
        Length::Ops(_) => None,
    }
}

impl Pace {
    fn note(&mut self, plan: &Plan, took: Duration) {
        self.runs += 1;
        self.whole_s += took.as_secs_f64();
        self.beside_s += (took.as_secs_f64() - nominal_s(plan).unwrap_or_default()).max(0.0);
    }

    fn seconds(&self, plan: &Plan) -> Option<f64> {
        let runs = f64::from(self.runs.max(1));
        match nominal_s(plan) {
            Some(nominal_s) => Some(nominal_s + self.beside_s / runs),
            None => (self.runs > 0).then(|| self.whole_s / runs),
        }
    }
}
