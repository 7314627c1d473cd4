//! Describes and executes one run on a scripted database.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dyno_drive::{AckLedger, DriveJob, RunEvent, RunListener, TargetContext, run};
use dyno_engine::{BlockOp, Cancel, Clock, MonotonicClock, Target, TargetError};
use dyno_plan::engine::{EngineSpec, UrlForm};
use dyno_plan::{DataSpec, Engines, Plan, PlanSource};
use dyno_record::RunRecord;

use crate::scripted::{
    Act, Ledger, LedgerSpan, NOTICED_NS, OperationScript, Pass, ScriptedClock, ScriptedTarget,
};

/// The engine of every scene.
const ENGINES: Engines = Engines(&[EngineSpec::plain(
    "scripted",
    UrlForm::File { write: "write scripted:NAME" },
    "scripted:NAME",
)]);

/// The spec of its data.
pub(crate) const SPEC: DataSpec = DataSpec {
    schemas: 1,
    rows: 1_000,
    scan_rows: 100,
    block_size: 8192,
    compressible: 0,
    seed: 1,
    secondary: false,
    copied: false,
};
/// The plan keys of every scene: no warm-up, no sampling.
const SETS: [&str; 4] =
    ["data.scale=1000 blocks", "workload.work_unit=8", "run.warmup=0s", "observe.waits=off"];
/// The length of a window that does not end by operations.
const TIME: &str = "run.time=1s";
/// The most runs of a scene until its result is unambiguous. On a machine whose processors are full, a run of
/// one second rarely keeps its processors all the time.
const ATTEMPTS_MAX: u32 = 40;
/// Longest time in µs in which no part of the client ran; beyond it, the scene was not the scripted one.
const STARVED_US: f64 = NOTICED_NS as f64 / 1e3;
/// Shortest operation on the machine's clock, ns: the window then rarely begins between two operations.
const OPERATION_NS: u64 = 300_000;

/// The result of a scene.
pub(crate) struct SceneRun {
    pub(crate) record: RunRecord,
    pub(crate) ledger: Ledger,
    /// The window, as the run reported it.
    pub(crate) span: LedgerSpan,
    /// Whether the window's begin reached the sessions late, because the coordinator lost its processor: the
    /// operations of that time do not count, and the record reports it as a stall.
    is_late: bool,
}

impl SceneRun {
    /// Whether record and script have the same number of operations in the window.
    fn agrees(&self) -> bool {
        let recorded = self.record.ops.get("all").map_or(0, |all| all.count);
        recorded == self.ledger.window(self.span).all().count
    }
}

/// Notes when the window begins and ends.
#[derive(Default)]
struct Moments {
    begin_ns: AtomicU64,
    end_ns: AtomicU64,
    late_ns: AtomicU64,
}

impl RunListener for Moments {
    fn event(&self, event: &RunEvent) {
        match event {
            RunEvent::Window { at_ns, late_ns } => {
                self.begin_ns.store(*at_ns, Ordering::Release);
                self.late_ns.store(*late_ns, Ordering::Release);
            }
            RunEvent::Closing { at_ns } => self.end_ns.store(*at_ns, Ordering::Release),
            _ => {}
        }
    }

    fn connected(&self) -> Result<(), String> {
        Ok(())
    }

    fn window_begins(&self) {}

    fn window_ended(&self) {}

    fn drained(&self) -> Result<(), String> {
        Ok(())
    }
}

pub(crate) struct Scene {
    sets: Vec<String>,
    script: Arc<dyn Fn() -> Arc<OperationScript> + Send + Sync>,
    scripted_time: bool,
    duplex: bool,
    live: bool,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self {
            sets: SETS.map(str::to_owned).to_vec(),
            script: Arc::new(|| Arc::new(|_, _, _| Act::Take(0))),
            scripted_time: false,
            duplex: false,
            live: false,
        }
    }

    /// Lets sessions share a thread.
    pub(crate) fn duplex(mut self) -> Self {
        self.duplex = true;
        self.set("run.threads=1")
    }

    /// Lets the database's counters show work at once.
    pub(crate) fn live(mut self) -> Self {
        self.live = true;
        self
    }

    /// Sets a key of the plan.
    pub(crate) fn set(mut self, key_and_value: &str) -> Self {
        self.sets.push(key_and_value.to_owned());
        self
    }

    /// Sets what each operation does, by session, number and operation.
    pub(crate) fn script(self, script: impl Fn(u32, u64, BlockOp) -> Act + Send + Sync + 'static) -> Self {
        let script: Arc<OperationScript> = Arc::new(script);
        self.script_anew(move || Arc::clone(&script))
    }

    /// As [`Scene::script`], with a new script for each run.
    pub(crate) fn script_anew(
        mut self,
        make: impl Fn() -> Arc<OperationScript> + Send + Sync + 'static,
    ) -> Self {
        self.script = Arc::new(make);
        self
    }

    /// Lets operations take exactly the scripted time, on a clock that nothing else moves; for one session.
    pub(crate) fn scripted_time(mut self) -> Self {
        self.scripted_time = true;
        self
    }

    /// The plan. Its keys come from this program, so an error in it is a bug.
    fn plan(&self) -> Plan {
        let mut sets = self.sets.clone();
        if !sets.iter().any(|set| set.starts_with("run.ops_per_session")) {
            sets.push(TIME.to_owned());
        }
        let source =
            PlanSource { sets, target: Some("scripted:scene".to_owned()), ..PlanSource::of(ENGINES) };
        dyno_plan::read(&source).expect("the scenes' plans are constants, and a test runs each")
    }

    /// Runs the scene: returns the record, and the scripted database's own account.
    ///
    /// The result is ambiguous if both differ and the window begins just after an operation of a session: the
    /// session itself may have seen that end on either side. It is also ambiguous if the machine gave the
    /// client no processor, which the record reports. Neither proves anything, so the scene is run again.
    pub(crate) fn run(&self) -> Result<SceneRun, TargetError> {
        for _ in 1..ATTEMPTS_MAX {
            let ran = self.run_once(None)?;
            // A clock that only operations move jumps by whole operations, which is no starvation.
            let in_time = ran.record.window.as_ref().is_some_and(|window| {
                window.edge_late == (0, 0) && (self.scripted_time || window.stall_us_max < STARVED_US)
            });
            let is_ambiguous = ran.is_late || (!self.scripted_time && ran.ledger.is_ambiguous(ran.span));
            if in_time && (ran.agrees() || !is_ambiguous) {
                return Ok(ran);
            }
        }
        self.run_once(None)
    }

    /// Runs it once; `ack_ledger` notes what the database acknowledges to the sessions.
    pub(crate) fn run_once(&self, ack_ledger: Option<Arc<AckLedger>>) -> Result<SceneRun, TargetError> {
        let plan = self.plan();
        let (clock, pass): (Arc<dyn Clock>, Arc<Pass>) = match self.scripted_time {
            true => {
                let clock = Arc::new(ScriptedClock::default());
                (Arc::clone(&clock) as Arc<dyn Clock>, Arc::new(move |ns| clock.advance(ns)))
            }
            false => (
                Arc::new(MonotonicClock::default()),
                Arc::new(|ns| std::thread::sleep(Duration::from_nanos(ns.max(OPERATION_NS)))),
            ),
        };
        let target = ScriptedTarget::new((self.script)(), pass);
        let target = if self.duplex { target.duplex() } else { target };
        let target = Arc::new(if self.live { target.live() } else { target });
        let context = TargetContext::new(Arc::clone(&target) as Arc<dyn Target>, target.identify()?, SPEC);
        let job = DriveJob {
            run_id: "proof".into(),
            started_at: dyno_record::now_rfc3339(),
            run_stamp: 1,
            plan: &plan,
            custom_workloads: Vec::new(),
            targets: vec![TargetContext { ack_ledger, ..context }],
            clock,
            cancel: Cancel::default(),
            dyno_version: env!("CARGO_PKG_VERSION").into(),
            series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
        };
        let moments = Moments::default();
        let (record, _) = run(&job, &moments)?;
        let span = LedgerSpan {
            begin_ns: moments.begin_ns.load(Ordering::Acquire),
            end_ns: moments.end_ns.load(Ordering::Acquire),
        };
        let late = moments.late_ns.load(Ordering::Acquire) > 0;
        Ok(SceneRun { record, ledger: target.ledger(), span, is_late: late })
    }
}
