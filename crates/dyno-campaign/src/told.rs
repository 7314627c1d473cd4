//! Events of a campaign as lines of a file that another program follows, such as the server whose page shows a run.
//!
//! The file is a contract between programs of one version, so it says less than the events do: phases, intervals that are
//! over, steps of a sweep, and how it ended. What is not here is words, which the program's stderr has.

use std::collections::BTreeMap;

use dyno_drive::Complete;
use dyno_drive::present::Seen;
use dyno_record::{
    AuditCheck, CheckStatus, Chunk, PartOf, RunId, RunRecord, SeriesPoint, Status, SweepKind, Waits,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{Begun, Ended, Event, LoadEvent, Next, StudyEvent};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Told {
    /// Every target was reached: from now on a signal ends the campaign in good order.
    Reached,
    /// Something begins that has a name and maybe a length: `connect`, `warm-up`, `window`, `drain`, `tidy`, a phase of a load.
    Phase {
        /// Its name.
        phase: String,
        /// How long it takes, s, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
        /// Rows that a phase of a load handles, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<u64>,
    },
    /// A load has handled so many rows of its phase.
    Loaded {
        /// Rows.
        rows: u64,
    },
    /// How far a window is.
    Progress {
        /// Seconds since it began.
        elapsed_s: f64,
        /// Its length, s; absent when it ends by operations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total_s: Option<f64>,
        /// Share of it that is done, 0–1.
        done: f64,
        /// Failed operations since it began.
        errors: u64,
    },
    /// An interval is over, with the figures that the record will have of it.
    Interval(Box<IntervalTold>),
    /// What is known up to the end of the last complete interval, beside its point.
    Complete(Box<CompleteTold>),
    /// An interval of a database that is only looked at is over.
    Watched(Box<WatchedTold>),
    /// The database that is looked at does not answer, or is there again.
    Away {
        /// Why it is away; absent once it is back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// No run begins, or the next one does after all.
    Paused {
        /// Whether none begins.
        paused: bool,
    },
    /// A session that was in a long operation reports more of an interval that was told before.
    Late {
        /// The interval's begin, seconds after the window began.
        at_s: f64,
        /// Operations to be added.
        ops: u64,
        /// Failed ones.
        errors: u64,
        /// Their longest response time, µs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_us: Option<f64>,
    },
    /// A run has a name.
    Run {
        /// Its name.
        id: RunId,
        /// Its targets, with product and version.
        targets: String,
    },
    /// Runs that belong together begin.
    Begun {
        /// The name they share.
        id: String,
        /// What they are: `sweep`.
        kind: String,
        /// What sets them apart.
        axes: Vec<String>,
        /// Whether a point may be left out.
        skips: bool,
    },
    /// The next run of several.
    Next {
        /// Its place.
        step: Step,
        /// How many there will be, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<u32>,
        /// How long it and all after it will take, s, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        all_s: Option<f64>,
    },
    /// A run of several has ended.
    Ended {
        /// Its place.
        step: Step,
        /// What it came to; absent where nothing was measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Box<RunTold>>,
        /// Why there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    },
    /// A run is judged and stored.
    Stored(Box<RunTold>),
    /// The program ends with this exit code.
    End {
        /// The code.
        exit: i32,
    },
}

/// The place of a run among several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Its number, from 1.
    pub number: u32,
    /// Its settings: key and value.
    pub settings: Vec<(String, String)>,
    /// Number of this run among those of its point, from 1.
    pub repeat: u32,
    /// The side of a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
}

/// An interval of all targets together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalTold {
    /// Its begin, seconds after the window began.
    pub at_s: f64,
    /// Its length, s.
    pub seconds: f64,
    /// Operations that ended in it.
    pub ops: u64,
    /// Operations that failed in it.
    pub errors: u64,
    /// Median response time, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<f64>,
    /// 99th percentile of response time, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// Largest response time, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_us: Option<f64>,
    /// Rates of counters of database and host, by metric name.
    pub metrics: BTreeMap<String, f64>,
}

/// An interval of a database that is only looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedTold {
    /// Its begin, seconds after the watch began.
    pub at_s: f64,
    /// Its length, s.
    pub seconds: f64,
    /// Rates of counters of database and host, by metric name.
    pub metrics: BTreeMap<String, f64>,
    /// Sessions in each class of waits on average, most first; absent where they are not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Vec<(String, f64)>>,
}

/// What is known up to the end of an interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompleteTold {
    /// The begin of the interval, seconds after the window began.
    pub at_s: f64,
    /// Response times in it: the least number of each class, in powers of the square root of 2 ns, and how many are in it.
    pub heat: Vec<(u32, u64)>,
    /// Samples of waits since the window began.
    pub samples: u64,
    /// Sessions in each class of waits, on average over these samples, most first.
    pub waits: Vec<(String, f64)>,
    /// Snapshots that were held against the one before.
    pub looks: u64,
    /// What they found: settings that changed, counters that fell.
    pub found: Vec<String>,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunTold {
    /// Its name.
    pub id: RunId,
    /// How it ended: `valid`.
    pub status: Status,
    /// Why it is not valid.
    pub reasons: Vec<String>,
    /// Operations per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops_per_s: Option<f64>,
    /// 99th percentile of service time, µs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// Checks of its audit that did not pass.
    pub doubts: Vec<AuditCheck>,
    /// How many passed.
    pub passed: u32,
}

impl Told {
    /// What is told of `event`.
    pub fn of(event: &Event) -> Vec<Self> {
        match event {
            Event::Reached => vec![Self::Reached],
            Event::LookingAtData => vec![phase("look at the data")],
            Event::WaitingForData => vec![phase("wait for the data")],
            Event::CheckingDeeply => vec![phase("deep check")],
            Event::AcceptanceStep(number, title) => {
                vec![phase(&format!("acceptance step {number}: {title}"))]
            }
            Event::AskingInvariants => vec![phase("ask what must stay true")],
            Event::Learning => vec![phase("learn")],
            Event::Tidying => vec![phase("tidy")],
            Event::Load(LoadEvent::Phase(name, rows)) => vec![Self::Phase {
                phase: format!("load {name}"),
                seconds: None,
                rows: Some(*rows).filter(|rows| *rows > 0),
            }],
            Event::RunBegun { id, targets, .. } => {
                vec![Self::Run { id: id.clone(), targets: targets.clone() }]
            }
            Event::Phase(event) => of_drive(event),
            Event::Seen(seen) => of_watch(seen),
            Event::Study(event) => of_study(event),
            Event::Stored(record) => vec![Self::Stored(Box::new(RunTold::of(record)))],
            Event::Begun(begun) => vec![of_begun(begun)],
            Event::Next(next) => vec![of_next(next)],
            Event::Ended(ended) => vec![of_ended(ended)],
            Event::Paused(paused) => vec![Self::Paused { paused: *paused }],
            _ => Vec::new(),
        }
    }
}

fn phase(name: &str) -> Told {
    Told::Phase { phase: name.to_owned(), seconds: None, rows: None }
}

fn of_drive(event: &dyno_drive::Event) -> Vec<Told> {
    use dyno_drive::Event as Drive;
    match event {
        Drive::Awaiting { .. } => vec![phase("driver hosts")],
        Drive::Connecting { .. } => vec![phase("connect")],
        Drive::Warmup { seconds } => {
            vec![Told::Phase { phase: "warm-up".into(), seconds: Some(*seconds), rows: None }]
        }
        Drive::Window { .. } => vec![phase("window")],
        Drive::Interval(live) => vec![Told::Progress {
            elapsed_s: live.elapsed_s,
            total_s: live.total_s,
            done: live.done,
            errors: live.errors,
        }],
        // Part 0 is all targets together.
        Drive::Late(chunk) if chunk.part == 0 => late(chunk),
        Drive::Complete(complete) => {
            vec![interval(&complete.point), Told::Complete(Box::new(CompleteTold::of(complete)))]
        }
        Drive::Draining => vec![phase("drain")],
        Drive::Closing { .. } | Drive::Whole(_) | Drive::Final(_) | Drive::Late(_) => Vec::new(),
    }
}

/// A database that is only looked at.
fn of_watch(seen: &Seen) -> Vec<Told> {
    match seen {
        Seen::Begun(_) => vec![phase("watch")],
        Seen::Interval(moment) => {
            let done = if moment.total_s > 0.0 { (moment.elapsed_s / moment.total_s).min(1.0) } else { 0.0 };
            let (elapsed_s, total_s) = (moment.elapsed_s, Some(moment.total_s));
            let mut told = vec![Told::Progress { elapsed_s, total_s, done, errors: 0 }];
            told.extend(moment.point.as_ref().map(|point| {
                Told::Watched(Box::new(WatchedTold {
                    at_s: point.at_s,
                    seconds: point.seconds,
                    metrics: point.metrics.clone(),
                    waits: moment.classes.clone(),
                }))
            }));
            told
        }
        Seen::Lost(why) => vec![Told::Away { why: Some(why.clone()) }],
        Seen::Back(_) => vec![Told::Away { why: None }],
        Seen::Anew(_) | Seen::Final(_) => Vec::new(),
    }
}

/// A study: its legs, and what is done beside measuring.
fn of_study(event: &StudyEvent) -> Vec<Told> {
    match event {
        StudyEvent::Begun { id, .. } => vec![Told::Begun {
            id: id.clone(),
            kind: SweepKind::Study.name().to_owned(),
            axes: vec!["variant".to_owned()],
            skips: false,
        }],
        StudyEvent::Leg { number, of, variant, repeat, left_s } => {
            let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let settings = vec![("variant".to_owned(), variant.clone())];
            let step = Step { number: small(*number), settings, repeat: *repeat, side: None };
            vec![Told::Next { step, of: Some(small(*of)), all_s: *left_s }]
        }
        StudyEvent::Command(when, _) => vec![phase(when)],
        StudyEvent::Resetting(task) => vec![phase(&format!("data of {task}"))],
        StudyEvent::Reverting(what, _) => vec![phase(&format!("put back {what}"))],
        _ => Vec::new(),
    }
}

fn interval(point: &SeriesPoint) -> Told {
    Told::Interval(Box::new(IntervalTold {
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

fn late(chunk: &Chunk) -> Vec<Told> {
    let told = |point: &SeriesPoint| Told::Late {
        at_s: point.at_s,
        ops: point.ops,
        errors: point.errors,
        max_us: point.max_us,
    };
    chunk.points.iter().map(told).collect()
}

fn of_begun(begun: &Begun) -> Told {
    Told::Begun {
        id: begun.id.clone(),
        kind: begun.kind.name().to_owned(),
        axes: begun.axes.iter().map(|(name, _)| name.clone()).collect(),
        skips: begun.skips,
    }
}

fn of_next(next: &Next) -> Told {
    Told::Next { step: Step::of(next.number, &next.part), of: next.of, all_s: next.all_s }
}

fn of_ended(ended: &Ended) -> Told {
    Told::Ended {
        step: Step::of(ended.number, &ended.part),
        run: ended.record.as_deref().map(|record| Box::new(RunTold::of(record))),
        failed: ended.failed.clone(),
    }
}

impl CompleteTold {
    fn of(complete: &Complete) -> Self {
        let mut heat: BTreeMap<u32, u64> = BTreeMap::new();
        for (ns, count) in complete.latency.buckets() {
            *heat.entry((2.0 * (ns.max(1) as f64).log2()).floor() as u32).or_default() += count;
        }
        let (samples, waits) = by_class(&complete.waits);
        let changes = complete.changes.iter().map(|change| format!("{} changed", change.name));
        let falls = complete.falls.iter().map(|fall| format!("{} went backwards", fall.name));
        Self {
            at_s: complete.point.at_s,
            heat: heat.into_iter().collect(),
            samples,
            waits,
            looks: complete.looks,
            found: changes.chain(falls).collect(),
        }
    }
}

/// Samples, and sessions in each class of waits.
fn by_class(waits: &Waits) -> (u64, Vec<(String, f64)>) {
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

impl Step {
    fn of(number: u32, part: &PartOf) -> Self {
        let settings = part.settings.iter().map(|setting| (setting.key.clone(), setting.value.clone()));
        Self { number, settings: settings.collect(), repeat: part.repeat, side: part.side.clone() }
    }
}

impl RunTold {
    /// What is told of the run of `record`.
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
    fn a_line_is_read_as_it_was_written() {
        let metrics = BTreeMap::from([("cpu_busy_pct".to_owned(), 5.5)]);
        let point = SeriesPoint { at_s: 3.0, seconds: 1.0, ops: 7, metrics, ..SeriesPoint::default() };
        let told = interval(&point);
        let line = serde_json::to_string(&told).unwrap();
        assert!(line.starts_with("{\"event\":\"interval\",\"at_s\":3.0"), "{line}");
        assert_eq!(serde_json::from_str::<Told>(&line).unwrap(), told);
        let late = |part| dyno_drive::Event::Late(Chunk { part, first: 3, points: vec![point.clone()] });
        assert_eq!(Told::of(&Event::Phase(late(0))).len(), 1);
        assert!(Told::of(&Event::Phase(late(1))).is_empty(), "part 1 is one target of several");
    }

    #[test]
    fn what_did_not_pass_is_told_with_a_run() {
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
        let told = RunTold::of(&record);
        assert_eq!((told.passed, told.doubts.len()), (1, 1));
        assert_eq!(told.ops_per_s, None, "what was not measured is absent");
    }
}
