//! Tests campaigns without a command line, on the embedded engine in a temporary folder.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Mutex;

use dyno_campaign::sweep::{SweepCampaign, sweep};
use dyno_campaign::{
    CampaignContext, CampaignControl, CampaignEvent, Consent, Error, ErrorKind, Listener, LoadEvent,
    RunEnded, RunLabels,
};
use dyno_engine::{Cancel, EngineRegistry, Secret};
use dyno_plan::{Plan, PlanSource, TargetUrl};
use dyno_record::{Repository, RunRecord, Status, SweepKind};

const ENGINES: EngineRegistry = dyno_engine::registry![dyno_sqlite::ENGINE];

/// A sweep whose runs take a moment, because their windows end after a number of operations.
const SWEEP: [&str; 3] = ["run.ops_per_session=20", "sweep.sessions=1,2", "sweep.repeats=2"];

/// Records all events, and cancels the campaign at the event that it waits for.
struct RecordingListener {
    folder: tempfile::TempDir,
    events: Mutex<Vec<CampaignEvent>>,
    cancel: Cancel,
    steer: CampaignControl,
    stop_at: fn(&CampaignEvent) -> bool,
    /// Called for each event, with the campaign's control.
    on_event: fn(&CampaignControl, &CampaignEvent),
    consent_requests: Mutex<Vec<String>>,
}

impl RecordingListener {
    fn new(stop_at: fn(&CampaignEvent) -> bool) -> Self {
        let (events, consent_requests, steer, cancel) = Default::default();
        Self {
            folder: tempfile::tempdir().unwrap(),
            events,
            cancel,
            steer,
            stop_at,
            on_event: |_, _| (),
            consent_requests,
        }
    }

    fn context(&self) -> CampaignContext<'_> {
        CampaignContext {
            engines: ENGINES,
            repository: Some(self.folder.path().join("runs.sqlite3")),
            marks: RunLabels { variant: Some("here".to_owned()), ..RunLabels::default() },
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

    fn take_events(&self) -> Vec<CampaignEvent> {
        std::mem::take(&mut self.events.lock().unwrap())
    }
}

impl Listener for RecordingListener {
    fn event(&self, event: CampaignEvent) {
        if (self.stop_at)(&event) {
            self.cancel.cancel();
        }
        (self.on_event)(&self.steer, &event);
        self.events.lock().unwrap().push(event);
    }

    fn password(&self, _: &TargetUrl) -> Result<Option<Secret>, Error> {
        Ok(None)
    }

    fn allows(&self, commands: &[(&str, &str)]) -> Result<bool, Error> {
        self.consent_requests
            .lock()
            .unwrap()
            .extend(commands.iter().map(|(name, command)| format!("{name}: {command}")));
        Ok(false)
    }

    fn allows_writes(&self, url: &str, ways: &[String]) -> Result<bool, Error> {
        self.consent_requests.lock().unwrap().extend(ways.iter().map(|way| format!("{url}: {way}")));
        Ok(false)
    }
}

fn never_stop(_: &CampaignEvent) -> bool {
    false
}

/// Returns number, point and repeat of the ended runs; each must have a record that counts.
fn counted_runs(events: &[CampaignEvent]) -> Vec<(u32, u32, u32)> {
    let counted_run = |event: &CampaignEvent| match event {
        CampaignEvent::Ended(RunEnded { number, part, record, failed, skipped: false }) => {
            assert!(failed.is_none());
            assert!(record.as_ref().is_some_and(|record| record.status.counts()));
            Some((*number, part.point, part.repeat))
        }
        _ => None,
    };
    events.iter().filter_map(counted_run).collect()
}

/// Returns the name of an event whose position among the others is checked.
fn event_name(event: &CampaignEvent) -> Option<&'static str> {
    match event {
        CampaignEvent::Reached => Some("reached"),
        CampaignEvent::Load(LoadEvent::Done(_)) => Some("loaded"),
        CampaignEvent::Begun(begun) => {
            assert_eq!(
                (begun.kind, begun.axes.as_slice()),
                (SweepKind::Sweep, &[("sessions".to_owned(), 1)][..])
            );
            Some("begun")
        }
        CampaignEvent::Next(next) => {
            assert_eq!(next.total, Some(4));
            Some("next")
        }
        CampaignEvent::RunBegun { .. } => Some("run"),
        CampaignEvent::Phase(dyno_drive::RunEvent::Window { .. }) => Some("window"),
        CampaignEvent::RunOver => Some("over"),
        CampaignEvent::Stored(_) => Some("stored"),
        CampaignEvent::Ended(_) => Some("ended"),
        _ => None,
    }
}

#[test]
fn sweep_emits_events_from_start_to_conclusion() {
    let ear = RecordingListener::new(never_stop);
    let plan = ear.plan(&SWEEP);
    let order = SweepCampaign::new(plan, ENGINES.specs, false, ear.context().marks).unwrap();
    assert_eq!((order.left().len(), order.points()), (4, 2));
    let swept = sweep(&ear.context(), order).unwrap().unwrap();

    let events = ear.take_events();
    let words: Vec<_> = events.iter().filter_map(event_name).collect();
    let of_run = ["next", "run", "window", "over", "stored", "ended"];
    let all: Vec<_> = ["reached", "loaded", "begun"].into_iter().chain([of_run; 4].concat()).collect();
    assert_eq!(words, all);
    let runs = counted_runs(&events);
    assert_eq!(runs.iter().map(|run| run.0).collect::<Vec<_>>(), [1, 2, 3, 4]);

    assert!(swept.done);
    assert!(swept.stopped.is_none());
    assert!(swept.failed == 0);
    let places: Vec<_> = swept.records.iter().map(|record| record.part_of.clone().unwrap()).collect();
    assert_eq!(
        places.iter().map(|part| (part.point, part.repeat)).collect::<Vec<_>>(),
        runs.iter().map(|(_, point, repeat)| (*point, *repeat)).collect::<Vec<_>>()
    );
    assert!(swept.records.iter().all(|record| record.variant.as_deref() == Some("here")));
    // The conclusion is stored with the runs.
    let stored = ear.repository().conclusion(&swept.id).unwrap().unwrap();
    assert_eq!(stored["line"], swept.conclusion.unwrap().line);
}

#[test]
fn stopped_sweep_keeps_its_runs_and_resumes_with_the_rest() {
    let ear =
        RecordingListener::new(|event| matches!(event, CampaignEvent::Ended(ended) if ended.number == 2));
    let plan = ear.plan(&SWEEP);
    let order = SweepCampaign::new(plan, ENGINES.specs, false, ear.context().marks).unwrap();
    let swept = sweep(&ear.context(), order).unwrap().unwrap();
    assert_eq!((swept.done, swept.worst, swept.records.len()), (false, Status::Interrupted, 2));
    assert_eq!(swept.stopped.as_deref(), Some("stopped"));
    let first = counted_runs(&ear.take_events());
    assert_eq!(first.len(), 2);

    let other = RecordingListener { folder: ear.folder, ..RecordingListener::new(never_stop) };
    let order = SweepCampaign::resumed(&other.repository(), None, ENGINES.specs, false).unwrap();
    assert_eq!(order.left().len(), 2);
    let rest = sweep(&other.context(), order).unwrap().unwrap();
    assert!(rest.done);
    assert!(rest.id == swept.id);
    assert!(rest.records.len() == 4);
    let all = counted_runs(&other.take_events());
    assert_eq!(all[..2], first, "what was measured before is heard again, and first");
    assert_eq!(all.iter().map(|run| run.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
    let left = SweepCampaign::resumed(&other.repository(), Some(&rest.id), ENGINES.specs, false).unwrap();
    assert!(sweep(&other.context(), left).unwrap().is_none(), "nothing is left");
}

#[test]
fn skipped_points_stay_pending_and_paused_sweep_resumes() {
    let steers = |steer: &CampaignControl, event: &CampaignEvent| match event {
        CampaignEvent::Phase(dyno_drive::RunEvent::Interval(_)) => steer.skip(),
        CampaignEvent::Ended(ended) if ended.number == 1 => steer.pause(true),
        CampaignEvent::Paused(true) => steer.pause(false),
        _ => {}
    };
    let ear = RecordingListener { on_event: steers, ..RecordingListener::new(never_stop) };
    let plan = ear.plan(&["run.time=1h", "observe.interval=100ms", "sweep.sessions=1,2", "sweep.repeats=3"]);
    let order = SweepCampaign::new(plan, ENGINES.specs, false, ear.context().marks).unwrap();
    let swept = sweep(&ear.context(), order).unwrap().unwrap();
    assert_eq!((swept.done, swept.skipped, swept.failed), (false, 2, 0));
    assert_eq!((swept.worst, swept.stopped), (Status::Valid, None));
    // Runs of the skipped point are stored, but do not count.
    assert!(swept.records.iter().all(|record| record.status == Status::Interrupted));
    let events = ear.take_events();
    let is = |event: &CampaignEvent| match event {
        CampaignEvent::Ended(ended) => ended.skipped.then_some("skipped"),
        CampaignEvent::Begun(begun) => (begun.skips && begun.points.len() == 2).then_some("begun"),
        CampaignEvent::Paused(paused) => Some(if *paused { "paused" } else { "on" }),
        _ => None,
    };
    let words: Vec<_> = events.iter().filter_map(is).collect();
    assert_eq!(words, ["begun", "skipped", "paused", "on", "skipped"]);
    let left = SweepCampaign::resumed(&ear.repository(), Some(&swept.id), ENGINES.specs, false).unwrap();
    assert_eq!(left.left().len(), 6);
}

#[test]
fn complete_interval_events_match_the_record() {
    let ear = RecordingListener::new(never_stop);
    let plan = ear.plan(&["run.time=1s", "observe.interval=100ms", "workload.update_pct=40"]);
    dyno_campaign::load(&ear.context(), &plan, false).unwrap();
    let record = dyno_campaign::run(&ear.context(), plan).unwrap();
    let (mut points, mut whole, mut last) = (0, None, 0);
    for event in ear.take_events() {
        match event {
            CampaignEvent::Phase(dyno_drive::RunEvent::Complete(complete)) => {
                let at = (complete.point.at_s / 0.1).round() as usize;
                let of_record = &record.series.points[at];
                assert_eq!(
                    (complete.point.at_s, &complete.point.metrics),
                    (of_record.at_s, &of_record.metrics)
                );
                // A session that was not scheduled for a while reports late.
                assert!(complete.point.ops <= of_record.ops);
                assert!(complete.so_far.ops >= last);
                assert_eq!(complete.latency.count(), complete.point.ops);
                assert_eq!(complete.latency.quantiles_us([0.5]), [complete.point.p50_us]);
                assert!(complete.snapshot_count > 0);
                assert!(complete.changes.is_empty());
                assert!(complete.counters.len() == 1);
                (points, last) = (points + 1, complete.so_far.ops);
            }
            CampaignEvent::Phase(dyno_drive::RunEvent::Whole(so_far)) => whole = Some(so_far),
            _ => {}
        }
    }
    let whole = whole.unwrap();
    assert!(points > 0);
    assert!(whole.ops >= last);
    assert_eq!((whole.ops, whole.latency.count()), (record.ops["all"].count, record.ops["all"].count));
    let of_record = |(name, ops): &(String, u64)| record.ops[name].count == *ops;
    assert!(whole.classes.iter().all(of_record), "{:?} {:?}", whole.classes, record.ops.keys());
    assert_eq!(whole.classes.iter().map(|(_, ops)| ops).sum::<u64>(), whole.ops);
}

#[test]
fn run_stopped_in_its_window_is_stored() {
    let ear = RecordingListener::new(|event| {
        matches!(event, CampaignEvent::Phase(dyno_drive::RunEvent::Interval(_)))
    });
    let plan = ear.plan(&["run.time=1h", "observe.interval=100ms"]);
    dyno_campaign::load(&ear.context(), &plan, false).unwrap();
    let record = dyno_campaign::run(&ear.context(), plan).unwrap();
    assert_eq!(record.status, Status::Interrupted);
    let stored = ear.repository().load(&record.id).unwrap();
    let count = |record: &RunRecord| record.ops["all"].count;
    assert_eq!((stored.status, count(&stored)), (Status::Interrupted, count(&record)));
    assert!(matches!(ear.take_events().last(), Some(CampaignEvent::Stored(last)) if last.id == record.id));
}

#[test]
fn hook_commands_need_consent_before_they_run() {
    let ear = RecordingListener::new(never_stop);
    let plan = ear.plan(&["hooks.pre=touch ran"]);
    let error = dyno_campaign::run(&ear.context(), plan).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(*ear.consent_requests.lock().unwrap(), ["hooks.pre: touch ran"]);
    assert!(ear.take_events().is_empty(), "nothing was begun");
}

#[test]
fn campaign_errors_have_kind_and_hint() {
    let ear = RecordingListener::new(never_stop);
    let no_data_error = dyno_campaign::run(&ear.context(), ear.plan(&[])).unwrap_err();
    assert!(no_data_error.kind() == ErrorKind::Failed, "{no_data_error:?}");
    assert!(no_data_error.hint().contains("dyno load"), "{no_data_error:?}");
    let still =
        SweepCampaign::new(ear.plan(&[]), ENGINES.specs, false, RunLabels::default()).map(drop).unwrap_err();
    assert!(still.kind() == ErrorKind::Usage, "{still:?}");
    assert!(still.hint().contains("[sweep]"), "{still:?}");
}
