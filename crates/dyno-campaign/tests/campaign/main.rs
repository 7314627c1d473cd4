//! Campaigns without a command line: led on the embedded engine in a temporary folder, by somebody who only listens.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Mutex;

use dyno_campaign::sweep::{Order, sweep};
use dyno_campaign::{Consent, Ended, Error, ErrorKind, Event, Lead, Listener, LoadEvent, Marks, Steer};
use dyno_engine::{Cancel, Registry, Secret};
use dyno_plan::{Plan, PlanSource, TargetUrl};
use dyno_record::{Repository, RunRecord, Status, SweepKind};

const ENGINES: Registry = dyno_engine::registry![dyno_sqlite::ENGINE];

/// A sweep whose runs take a moment: windows end by operations.
const SWEEP: [&str; 3] = ["run.ops_per_session=20", "sweep.sessions=1,2", "sweep.repeats=2"];

/// Hears everything, and stops the campaign at the event that it waits for.
struct Ear {
    folder: tempfile::TempDir,
    heard: Mutex<Vec<Event>>,
    cancel: Cancel,
    steer: Steer,
    stop_at: fn(&Event) -> bool,
    /// What is asked of the campaign at an event, beside the wish to stop.
    steers: fn(&Steer, &Event),
    asked: Mutex<Vec<String>>,
}

impl Ear {
    fn new(stop_at: fn(&Event) -> bool) -> Self {
        let (heard, asked, steer, cancel) = Default::default();
        Self { folder: tempfile::tempdir().unwrap(), heard, cancel, steer, stop_at, steers: |_, _| (), asked }
    }

    fn lead(&self) -> Lead<'_> {
        Lead {
            engines: ENGINES,
            repository: Some(self.folder.path().join("runs.sqlite3")),
            marks: Marks { variant: Some("here".to_owned()), tag: Vec::new() },
            consent: Consent::default(),
            cancel: self.cancel.clone(),
            steer: self.steer.clone(),
            fleet: None,
            agents: None,
            listener: self,
        }
    }

    fn plan(&self, sets: &[&str]) -> Plan {
        let target = format!("sqlite:{}", self.folder.path().join("bench.db").display());
        let quick = ["data.scale=300 blocks", "workload.work_unit=8", "run.warmup=0s"];
        let sets = quick.iter().chain(sets).map(|set| (*set).to_owned()).collect();
        dyno_plan::read(&PlanSource { sets, target: Some(target), ..PlanSource::of(ENGINES.specs) }).unwrap()
    }

    fn repository(&self) -> Repository {
        Repository::open_read_only(&self.folder.path().join("runs.sqlite3")).unwrap()
    }

    fn heard(&self) -> Vec<Event> {
        std::mem::take(&mut self.heard.lock().unwrap())
    }
}

impl Listener for Ear {
    fn event(&self, event: Event) {
        if (self.stop_at)(&event) {
            self.cancel.cancel();
        }
        (self.steers)(&self.steer, &event);
        self.heard.lock().unwrap().push(event);
    }

    fn password(&self, _: &TargetUrl) -> Result<Option<Secret>, Error> {
        Ok(None)
    }

    fn allows(&self, commands: &[(&str, &str)]) -> Result<bool, Error> {
        self.asked
            .lock()
            .unwrap()
            .extend(commands.iter().map(|(name, command)| format!("{name}: {command}")));
        Ok(false)
    }

    fn allows_writes(&self, url: &str, ways: &[String]) -> Result<bool, Error> {
        self.asked.lock().unwrap().extend(ways.iter().map(|way| format!("{url}: {way}")));
        Ok(false)
    }
}

fn never(_: &Event) -> bool {
    false
}

/// The runs that have ended, each with its number, point and repeat; each has a record that counts.
fn ended(heard: &[Event]) -> Vec<(u32, u32, u32)> {
    let one = |event: &Event| match event {
        Event::Ended(Ended { number, part, record, failed, skipped: false }) => {
            assert!(failed.is_none() && record.as_ref().is_some_and(|record| record.status.counts()));
            Some((*number, part.point, part.repeat))
        }
        _ => None,
    };
    heard.iter().filter_map(one).collect()
}

/// The word for an event, where its place among the others is to be told.
fn word(event: &Event) -> Option<&'static str> {
    match event {
        Event::Reached => Some("reached"),
        Event::Load(LoadEvent::Done(_)) => Some("loaded"),
        Event::Begun(begun) => {
            assert_eq!(
                (begun.kind, begun.axes.as_slice()),
                (SweepKind::Sweep, &[("sessions".to_owned(), 1)][..])
            );
            Some("begun")
        }
        Event::Next(next) => {
            assert_eq!(next.of, Some(4));
            Some("next")
        }
        Event::RunBegun { .. } => Some("run"),
        Event::Phase(dyno_drive::Event::Window { .. }) => Some("window"),
        Event::RunOver => Some("over"),
        Event::Stored(_) => Some("stored"),
        Event::Ended(_) => Some("ended"),
        _ => None,
    }
}

#[test]
fn a_sweep_is_heard_from_its_first_event_to_its_conclusion() {
    let ear = Ear::new(never);
    let plan = ear.plan(&SWEEP);
    let order = Order::new(plan, ENGINES.specs, false, ear.lead().marks).unwrap();
    assert_eq!((order.left().len(), order.points()), (4, 2));
    let swept = sweep(&ear.lead(), order).unwrap().unwrap();

    let heard = ear.heard();
    let words: Vec<_> = heard.iter().filter_map(word).collect();
    let of_run = ["next", "run", "window", "over", "stored", "ended"];
    let all: Vec<_> = ["reached", "loaded", "begun"].into_iter().chain([of_run; 4].concat()).collect();
    assert_eq!(words, all);
    let runs = ended(&heard);
    assert_eq!(runs.iter().map(|run| run.0).collect::<Vec<_>>(), [1, 2, 3, 4]);

    assert!(swept.done && swept.stopped.is_none() && swept.failed == 0);
    let places: Vec<_> = swept.records.iter().map(|record| record.part_of.clone().unwrap()).collect();
    assert_eq!(
        places.iter().map(|part| (part.point, part.repeat)).collect::<Vec<_>>(),
        runs.iter().map(|(_, point, repeat)| (*point, *repeat)).collect::<Vec<_>>()
    );
    assert!(swept.records.iter().all(|record| record.variant.as_deref() == Some("here")));
    // What was concluded is stored with the runs.
    let stored = ear.repository().conclusion(&swept.id).unwrap().unwrap();
    assert_eq!(stored["line"], swept.conclusion.unwrap().line);
}

#[test]
fn a_sweep_that_is_stopped_keeps_its_runs_and_goes_on_with_the_rest() {
    let ear = Ear::new(|event| matches!(event, Event::Ended(ended) if ended.number == 2));
    let plan = ear.plan(&SWEEP);
    let order = Order::new(plan, ENGINES.specs, false, ear.lead().marks).unwrap();
    let swept = sweep(&ear.lead(), order).unwrap().unwrap();
    assert_eq!((swept.done, swept.worst, swept.records.len()), (false, Status::Interrupted, 2));
    assert_eq!(swept.stopped.as_deref(), Some("stopped"));
    let first = ended(&ear.heard());
    assert_eq!(first.len(), 2);

    let other = Ear { folder: ear.folder, ..Ear::new(never) };
    let order = Order::resumed(&other.repository(), None, ENGINES.specs, false).unwrap();
    assert_eq!(order.left().len(), 2);
    let rest = sweep(&other.lead(), order).unwrap().unwrap();
    assert!(rest.done && rest.id == swept.id && rest.records.len() == 4);
    let all = ended(&other.heard());
    assert_eq!(all[..2], first, "what was measured before is heard again, and first");
    assert_eq!(all.iter().map(|run| run.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let left = Order::resumed(&other.repository(), Some(&rest.id), ENGINES.specs, false).unwrap();
    assert!(sweep(&other.lead(), left).unwrap().is_none(), "nothing is left");
}

#[test]
fn points_that_are_skipped_are_left_for_later_and_a_pause_ends() {
    let steers = |steer: &Steer, event: &Event| match event {
        Event::Phase(dyno_drive::Event::Interval(_)) => steer.skip(),
        Event::Ended(ended) if ended.number == 1 => steer.pause(true),
        Event::Paused(true) => steer.pause(false),
        _ => {}
    };
    let ear = Ear { steers, ..Ear::new(never) };
    let plan = ear.plan(&["run.time=1h", "observe.interval=100ms", "sweep.sessions=1,2", "sweep.repeats=3"]);
    let order = Order::new(plan, ENGINES.specs, false, ear.lead().marks).unwrap();
    let swept = sweep(&ear.lead(), order).unwrap().unwrap();
    assert_eq!((swept.done, swept.skipped, swept.failed), (false, 2, 0));
    assert_eq!((swept.worst, swept.stopped), (Status::Valid, None));
    // What was measured of a point until it was skipped is stored, and does not count.
    assert!(swept.records.iter().all(|record| record.status == Status::Interrupted));
    let heard = ear.heard();
    let is = |event: &Event| match event {
        Event::Ended(ended) => ended.skipped.then_some("skipped"),
        Event::Begun(begun) => (begun.skips && begun.points.len() == 2).then_some("begun"),
        Event::Paused(paused) => Some(if *paused { "paused" } else { "on" }),
        _ => None,
    };
    let words: Vec<_> = heard.iter().filter_map(is).collect();
    assert_eq!(words, ["begun", "skipped", "paused", "on", "skipped"]);
    let left = Order::resumed(&ear.repository(), Some(&swept.id), ENGINES.specs, false).unwrap();
    assert_eq!(left.left().len(), 6);
}

#[test]
fn what_is_told_of_complete_intervals_is_what_the_record_has() {
    let ear = Ear::new(never);
    let plan = ear.plan(&["run.time=1s", "observe.interval=100ms", "workload.update_pct=40"]);
    dyno_campaign::load(&ear.lead(), &plan, false).unwrap();
    let record = dyno_campaign::run(&ear.lead(), plan).unwrap();
    let (mut points, mut whole, mut last) = (0, None, 0);
    for event in ear.heard() {
        match event {
            Event::Phase(dyno_drive::Event::Complete(complete)) => {
                let at = (complete.point.at_s / 0.1).round() as usize;
                let of_record = &record.series.points[at];
                assert_eq!(
                    (complete.point.at_s, &complete.point.metrics),
                    (of_record.at_s, &of_record.metrics)
                );
                // A session that had no processor for a while reports late.
                assert!(complete.point.ops <= of_record.ops && complete.so_far.ops >= last);
                assert_eq!(complete.latency.count(), complete.point.ops);
                assert_eq!(complete.latency.quantiles_us([0.5]), [complete.point.p50_us]);
                assert!(complete.looks > 0 && complete.changes.is_empty() && complete.counters.len() == 1);
                (points, last) = (points + 1, complete.so_far.ops);
            }
            Event::Phase(dyno_drive::Event::Whole(so_far)) => whole = Some(so_far),
            _ => {}
        }
    }
    let whole = whole.unwrap();
    assert!(points > 0 && whole.ops >= last);
    assert_eq!((whole.ops, whole.latency.count()), (record.ops["all"].count, record.ops["all"].count));
    let of_record = |(name, ops): &(String, u64)| record.ops[name].count == *ops;
    assert!(whole.classes.iter().all(of_record), "{:?} {:?}", whole.classes, record.ops.keys());
    assert_eq!(whole.classes.iter().map(|(_, ops)| ops).sum::<u64>(), whole.ops);
}

#[test]
fn a_run_that_is_stopped_in_its_window_is_stored() {
    let ear = Ear::new(|event| matches!(event, Event::Phase(dyno_drive::Event::Interval(_))));
    let plan = ear.plan(&["run.time=1h", "observe.interval=100ms"]);
    dyno_campaign::load(&ear.lead(), &plan, false).unwrap();
    let record = dyno_campaign::run(&ear.lead(), plan).unwrap();
    assert_eq!(record.status, Status::Interrupted);
    let stored = ear.repository().load(&record.id).unwrap();
    let count = |record: &RunRecord| record.ops["all"].count;
    assert_eq!((stored.status, count(&stored)), (Status::Interrupted, count(&record)));
    assert!(matches!(ear.heard().last(), Some(Event::Stored(last)) if last.id == record.id));
}

#[test]
fn a_strangers_commands_are_asked_about_and_not_run() {
    let ear = Ear::new(never);
    let plan = ear.plan(&["hooks.pre=touch ran"]);
    let error = dyno_campaign::run(&ear.lead(), plan).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(*ear.asked.lock().unwrap(), ["hooks.pre: touch ran"]);
    assert!(ear.heard().is_empty(), "nothing was begun");
}

#[test]
fn errors_have_a_kind_and_a_way_out() {
    let ear = Ear::new(never);
    let none = dyno_campaign::run(&ear.lead(), ear.plan(&[])).unwrap_err();
    assert!(none.kind() == ErrorKind::Failed && none.hint().contains("dyno load"), "{none:?}");
    let still = Order::new(ear.plan(&[]), ENGINES.specs, false, Marks::default()).map(drop).unwrap_err();
    assert!(still.kind() == ErrorKind::Usage && still.hint().contains("[sweep]"), "{still:?}");
}
