//! Runs that belong together, one after the other: what sweep, search, soak and A/B comparison share.
//!
//! Each run is stored before the next begins, so whatever ends a campaign, what was measured is kept.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_analyze::Conclusion;
use dyno_plan::{Length, Plan};
use dyno_record::{
    PartOf, Repository, RepositoryError, RunRecord, Setting, StartedSweep, Status, SweepId, SweepKind,
    SweepState,
};

use crate::error::{Error, ErrorKind};
use crate::event::{Begun, Ended, Event, HookEvent, Next};
use crate::names;
use crate::ready::Ready;

/// Failures in a row after which a campaign gives up where it does not say: what failed so often fails again.
const FAILURES_MAX: u32 = 3;

/// How often a pause looks for a stop.
const LOOK: Duration = Duration::from_millis(20);

/// What a campaign is, before its first run.
pub(crate) struct Frame {
    /// What the runs are made for.
    pub(crate) kind: SweepKind,
    /// What is stored of it, for those who go on with it or ask what it was.
    pub(crate) definition: serde_json::Value,
    /// How many runs there will be, where that is known.
    pub(crate) planned: Option<u32>,
    /// What sets its runs apart, each with the length of its longest value.
    pub(crate) axes: Vec<(String, usize)>,
    /// The sides of a comparison, and the words for each.
    pub(crate) sides: Vec<(&'static str, String)>,
    /// The points, each with its settings, where they are known from the beginning.
    pub(crate) points: Vec<(u32, Vec<Setting>)>,
    /// The pause before every run but the first.
    pub(crate) pause: Duration,
    /// The campaign that is gone on with, and its runs that count.
    pub(crate) resumed: Option<(SweepId, Vec<RunRecord>)>,
    /// Failures in a row after which it gives up.
    pub(crate) failures_max: u32,
}

/// Which run comes next, and what comes of all of them.
pub(crate) trait Course {
    /// The next run; nothing at the end.
    fn next(&mut self) -> Result<Option<Turn>, Error>;

    /// The plans of the runs that are left, the next one first, where that is known.
    fn left(&self) -> Option<Vec<&Plan>>;

    /// Learns from a run that has ended, with or without a record; returns what is to be told of it. An error ends the
    /// campaign with its words.
    fn learn(&mut self, turn: &Turn, ended: &Ended) -> Result<Option<Event>, String>;

    /// Whether a point may be left out.
    fn skips(&self) -> bool;

    /// Leaves out what there is of the point of a turn.
    fn skip(&mut self, turn: &Turn);

    /// Concludes from its runs, and says whether it came to its end.
    fn conclude(&mut self, ended: &Concluded) -> (bool, Option<Conclusion>);
}

/// One run of a campaign.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) plan: Plan,
    pub(crate) point: u32,
    pub(crate) repeat: u32,
    pub(crate) side: Option<&'static str>,
    pub(crate) settings: Vec<Setting>,
}

/// How a campaign ended.
#[derive(Debug, Clone)]
pub struct Concluded {
    /// The name that its runs share.
    pub id: SweepId,
    /// Whether it is done for good.
    pub done: bool,
    /// Why it ended before its end.
    pub stopped: Option<String>,
    /// Runs that failed.
    pub failed: u32,
    /// Points that were left out.
    pub skipped: u32,
    /// The worst that came of it; valid where nothing did.
    pub worst: Status,
    /// The records of all its runs, in order of time; of several for one run the last.
    pub records: Vec<RunRecord>,
    /// What was concluded; nothing where nothing was measured.
    pub conclusion: Option<Conclusion>,
}

/// A campaign under way.
struct Campaign<'a> {
    ready: Ready<'a>,
    pace: Pace,
    failures_in_row: u32,
    so_far: Concluded,
}

impl Frame {
    /// A campaign for `kind` of which nothing else is known yet.
    pub(crate) fn new(kind: SweepKind, definition: serde_json::Value) -> Self {
        let (axes, sides, points, pause) = (Vec::new(), Vec::new(), Vec::new(), Duration::ZERO);
        let failures_max = FAILURES_MAX;
        Self { kind, definition, planned: None, axes, sides, points, pause, resumed: None, failures_max }
    }
}

/// Follows `course` to its end, or until it is stopped.
///
/// # Errors
/// The repository fails; a run that fails ends its point and no other.
pub(crate) fn follow(ready: Ready<'_>, frame: Frame, course: &mut dyn Course) -> Result<Concluded, Error> {
    let id = match &frame.resumed {
        Some((id, _)) => ready.repository.resume_sweep(id).map(|()| id.clone())?,
        None => begin(&ready, &frame)?,
    };
    let (stopped, worst, conclusion) = (None, Status::Valid, None);
    let (failed, skipped, records) = (0, 0, Vec::new());
    let so_far = Concluded { id, done: false, stopped, failed, skipped, worst, records, conclusion };
    let mut campaign = Campaign { ready, pace: Pace::default(), failures_in_row: 0, so_far };
    campaign.so_far.stopped = campaign.drive(frame, course)?;
    campaign.conclude(course)
}

impl Campaign<'_> {
    /// Does the runs; says why it ended before the last.
    fn drive(&mut self, frame: Frame, course: &mut dyn Course) -> Result<Option<String>, Error> {
        let Frame { kind, axes, sides, points, pause, resumed, failures_max, .. } = frame;
        let (lead, id, plan) = (self.ready.lead, self.so_far.id.clone(), self.ready.plan.clone());
        let skips = course.skips();
        lead.tell(Event::Begun(Box::new(Begun { id, kind, plan, axes, sides, points, skips })));
        let mut number = 0;
        for record in resumed.map(|(_, earlier)| earlier).unwrap_or_default() {
            let Some(part) = record.part_of.clone() else { continue };
            number += 1;
            let record = Some(Arc::new(record));
            lead.tell(Event::Ended(Ended { number, part, record, failed: None, skipped: false }));
        }
        let earlier = number;
        while let Some(turn) = course.next()? {
            if self.failures_in_row >= failures_max {
                let failures = dyno_analyze::number::count(failures_max.into());
                return Ok(Some(format!("given up after {failures} failures in a row")));
            }
            if !self.paused() || !self.rest(if number > earlier { pause } else { Duration::ZERO }) {
                self.so_far.worst = worse(self.so_far.worst, Status::Interrupted);
                return Ok(Some("stopped".to_owned()));
            }
            let part = self.part(kind, &turn);
            let left = course.left();
            let seconds = |from: usize| self.pace.seconds(left.as_deref()?.get(from..)?, pause);
            let (all_s, rest_s) = (seconds(0), seconds(1));
            let of = left.as_ref().map(|left| number + left.len() as u32);
            number += 1;
            lead.tell(Event::Next(Next { number, of, part: part.clone(), all_s, rest_s }));
            lead.steer.begin();
            let mut ended = self.run(number, &turn.plan, part)?;
            ended.skipped = skips && lead.steer.is_skipping() && !lead.cancel.is_cancelled();
            lead.tell(Event::Ended(ended.clone()));
            let learnt = match ended.is_stopped() {
                true => Err("stopped".to_owned()),
                false => course.learn(&turn, &ended),
            };
            if ended.skipped {
                self.so_far.skipped += 1;
                course.skip(&turn);
            }
            match learnt {
                Ok(event) => event.into_iter().for_each(|event| lead.tell(event)),
                Err(why) => return Ok(Some(why)),
            }
        }
        Ok(None)
    }

    fn part(&self, kind: SweepKind, turn: &Turn) -> PartOf {
        PartOf {
            id: self.so_far.id.clone(),
            kind,
            point: turn.point,
            repeat: turn.repeat,
            side: turn.side.map(str::to_owned),
            settings: turn.settings.clone(),
        }
    }

    fn run(&mut self, number: u32, plan: &Plan, part: PartOf) -> Result<Ended, Error> {
        let began = Instant::now();
        let ready = &mut self.ready;
        let measured = ready.turn_to(plan.clone()).and_then(|()| ready.measure(Some(&part)));
        let measured = measured.map(|record| {
            let hook = ready.after_run(&record).err();
            (record, hook)
        });
        self.pace.note(plan, began.elapsed());
        let mut ended = Ended { number, part, record: None, failed: None, skipped: false };
        let came_to = match measured {
            Ok((record, hook)) => {
                let status = record.status;
                ended.record = Some(record);
                hook.map_or(status, |error| {
                    ready.lead.tell(Event::Hook(HookEvent::FailedAfterRun(error.to_string())));
                    Status::Failed
                })
            }
            Err(error) if ready.lead.cancel.is_cancelled() || error.kind() == ErrorKind::Interrupted => {
                Status::Interrupted
            }
            // What cannot be stored now cannot be stored later.
            Err(error @ Error::Repository(_)) => return Err(error),
            Err(error) => {
                ended.failed = Some(error.words());
                Status::Failed
            }
        };
        let came_to = match came_to {
            // Somebody wanted it, and goes on.
            Status::Interrupted if !ready.lead.cancel.is_cancelled() && ready.lead.steer.is_skipping() => {
                Status::Valid
            }
            came_to => came_to,
        };
        let is_failure = ended.record.as_ref().map_or(came_to, |record| record.status) == Status::Failed;
        self.so_far.failed += u32::from(is_failure);
        self.failures_in_row = if came_to == Status::Failed { self.failures_in_row + 1 } else { 0 };
        self.so_far.worst = worse(self.so_far.worst, came_to);
        Ok(ended)
    }

    /// Rests while somebody wants no run to begin; false if the campaign is to stop.
    fn paused(&self) -> bool {
        let lead = self.ready.lead;
        if lead.steer.is_paused() && !lead.cancel.is_cancelled() {
            lead.tell(Event::Paused(true));
            while lead.steer.is_paused() && !lead.cancel.is_cancelled() {
                std::thread::sleep(LOOK);
            }
            lead.tell(Event::Paused(false));
        }
        !lead.cancel.is_cancelled()
    }

    /// Rests for `pause`; false if the campaign is to stop.
    fn rest(&self, pause: Duration) -> bool {
        let (until, cancel) = (Instant::now() + pause, &self.ready.lead.cancel);
        while !cancel.is_cancelled() && Instant::now() < until {
            std::thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
        !cancel.is_cancelled()
    }

    /// Stores what is concluded, and runs the command after all runs. What is not done can be resumed.
    fn conclude(self, course: &mut dyn Course) -> Result<Concluded, Error> {
        let Self { ready, so_far: mut ended, .. } = self;
        ended.records = records(&ready.repository, &ended.id)?;
        (ended.done, ended.conclusion) = course.conclude(&ended);
        ended.done &= ended.skipped == 0;
        if let Some(conclusion) = &ended.conclusion {
            ready.repository.conclude(&ended.id, &serde_json::to_value(conclusion)?)?;
        }
        let state = if ended.done { SweepState::Done } else { SweepState::Interrupted };
        ready.repository.end_sweep(&ended.id, state)?;
        if let Err(error) = ready.after_all() {
            ready.lead.tell(Event::Hook(HookEvent::FailedAtEnd(error.to_string())));
            if ended.worst == Status::Valid {
                ended.worst = Status::Failed;
            }
        }
        Ok(ended)
    }
}

/// The records of a campaign's runs, in order of time; of several for one run of a point the last.
pub(crate) fn records(repository: &Repository, id: &str) -> Result<Vec<RunRecord>, Error> {
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

/// Notes a campaign under a name of its own.
fn begin(ready: &Ready<'_>, frame: &Frame) -> Result<SweepId, Error> {
    let begun = names::drawn(|now, random| {
        let sweep = StartedSweep {
            id: dyno_record::new_sweep_id(frame.kind, now, random),
            kind: frame.kind,
            started_at: dyno_record::rfc3339(now),
            target: ready.targets.urls(),
            runs_planned: frame.planned,
            definition: frame.definition.clone(),
        };
        ready.repository.begin_sweep(&sweep).map(|()| sweep.id)
    });
    begun.map_err(|error| Error::because("the sweep could not be noted", error))
}

/// The worse of two: a stop outweighs failure, failure invalidity, and all of them a result.
fn worse(a: Status, b: Status) -> Status {
    let weight = |status: &Status| match status {
        Status::Valid | Status::Imported => 0,
        Status::Invalid => 1,
        Status::Failed => 2,
        Status::Interrupted => 3,
    };
    std::cmp::max_by_key(b, a, weight)
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
pub(crate) fn nominal_s(plan: &Plan) -> Option<f64> {
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

    /// How long runs of these plans will take, each with a pause; nothing where nothing is known of one.
    fn seconds(&self, plans: &[&Plan], pause: Duration) -> Option<f64> {
        let runs = f64::from(self.runs.max(1));
        let one = |plan| match nominal_s(plan) {
            Some(nominal_s) => Some(nominal_s + self.beside_s / runs),
            None => (self.runs > 0).then(|| self.whole_s / runs),
        };
        plans.iter().map(|plan| Some(one(plan)? + pause.as_secs_f64())).sum()
    }
}
