//! Builds and executes short runs on a scripted database.

use std::sync::Arc;
use std::time::Duration;

use dyno_drive::{DriveJob, NoopRunListener, RunListener, TargetContext, run};
use dyno_engine::{BlockOp, Cancel, Clock, MonotonicClock, Target};
use dyno_plan::{DataSpec, Plan};
use dyno_prove::scripted::{Act, OperationScript, ScriptedClock, ScriptedTarget};
use dyno_record::RunRecord;

/// A short run on a scripted database.
pub struct Scene {
    pub plan: Plan,
    pub script: Arc<OperationScript>,
    pub clock: Arc<dyn Clock>,
    pub pass: Arc<dyn Fn(u64) + Send + Sync>,
    pub cancel: Cancel,
    pub reading: Arc<dyn Fn() + Send + Sync>,
    pub shown: Arc<dyn Fn() + Send + Sync>,
    pub duplex: bool,
    /// Readings of the counters after which the sessions' last work appears.
    pub late: u32,
    /// The session that panics when it is opened, and the one that panics when it is closed.
    pub panics: (Option<u32>, Option<u32>),
}

impl Scene {
    /// One session, closed loop, operations without duration on the machine's clock.
    pub fn new() -> Self {
        let plan = serde_json::from_value(serde_json::json!({
            "version": 1,
            "target": { "url": "sqlite::memory:", "connect_timeout": "1s" },
            "data": { "schemas": 1, "scale": "1000 blocks", "scan_scale": "0 blocks", "compressible": 0, "seed": 42,
                      "load_parallel": 1 },
            "workload": { "update_pct": 0, "scan_pct": 0, "lookup_pct": 0, "work_unit": 8, "redo": "lite",
                          "drive": "client", "arrivals": "constant", "seed": 1 },
            "run": { "sessions_per_schema": 1, "warmup": "0s", "time": "200ms", "drain": "500ms" },
            "observe": { "interval": "50ms" }
        }))
        .unwrap();
        Self {
            plan,
            script: Arc::new(|_, _, _| Act::Take(0)),
            clock: Arc::new(MonotonicClock::default()),
            pass: Arc::new(|_| spin_briefly()),
            cancel: Cancel::default(),
            reading: Arc::new(|| ()),
            shown: Arc::new(|| ()),
            duplex: false,
            late: 0,
            panics: (None, None),
        }
    }

    /// Lets sessions share a thread.
    pub fn duplex(mut self) -> Self {
        self.duplex = true;
        self.plan.run.threads = Some(1);
        self
    }

    pub fn late(mut self, looks: u32) -> Self {
        self.late = looks;
        self
    }

    pub fn panics(mut self, opened: Option<u32>, closed: Option<u32>) -> Self {
        self.panics = (opened, closed);
        self
    }

    pub fn sessions(mut self, sessions: u32) -> Self {
        self.plan.run.sessions_per_schema = sessions;
        self
    }

    pub fn updates(mut self, pct: u32) -> Self {
        self.plan.workload.update_pct = pct;
        self
    }

    pub fn script(mut self, script: impl Fn(u32, u64, BlockOp) -> Act + Send + Sync + 'static) -> Self {
        self.script = Arc::new(script);
        self
    }

    /// Lets operations take exactly the scripted time, on a clock that nothing else moves.
    pub fn scripted_time(mut self) -> Self {
        let clock = Arc::new(ScriptedClock::default());
        self.clock = Arc::clone(&clock) as Arc<dyn Clock>;
        self.pass = Arc::new(move |ns| clock.advance(ns));
        self
    }

    pub fn plan(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(&mut self.plan);
        self
    }

    pub fn run(&self) -> RunRecord {
        self.run_watched(&NoopRunListener)
    }

    pub fn run_watched(&self, watch: &dyn RunListener) -> RunRecord {
        let target = ScriptedTarget::new(Arc::clone(&self.script), Arc::clone(&self.pass))
            .reading(Arc::clone(&self.reading))
            .shown(Arc::clone(&self.shown))
            .late(self.late)
            .panicking(self.panics.0, self.panics.1);
        let target = if self.duplex { target.duplex() } else { target };
        let job = DriveJob {
            run_id: "test".into(),
            started_at: "2026-01-01T00:00:00Z".into(),
            run_stamp: 7,
            plan: &self.plan,
            custom_workloads: Vec::new(),
            targets: vec![TargetContext {
                identity: target.identify().unwrap(),
                target: Arc::new(target),
                spec: DataSpec {
                    schemas: 1,
                    rows: 1_000,
                    scan_rows: 10,
                    block_size: 8192,
                    compressible: 0,
                    seed: 42,
                    secondary: false,
                    copied: false,
                },
                host_paths: Vec::new(),
                remote_host: None,
                reads_only: None,
                instance: None,
                ack_ledger: None,
            }],
            clock: Arc::clone(&self.clock),
            cancel: self.cancel.clone(),
            dyno_version: "test".into(),
            series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
        };
        run(&job, watch).unwrap().0
    }
}

/// The work of an operation whose time is not scripted; a test would count millions without it. It uses only
/// the processor, so that a session gets its fair share on a busy machine, and not one operation per wake-up.
pub fn spin_briefly() {
    let until = std::time::Instant::now() + Duration::from_micros(20);
    while std::time::Instant::now() < until {
        std::hint::spin_loop();
    }
}
