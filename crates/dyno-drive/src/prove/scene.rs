//! One run on a scripted database, described the way one would say it.

use std::sync::Arc;

use dyno_plan::{DataSpec, Plan, PlanSource};
use dyno_record::RunRecord;
use dyno_target::{Cancel, Clock, MonotonicClock, Op, Target, TargetError};

use crate::run::{Aim, Job, run};
use crate::scripted::{Act, Ledger, Pass, Script, ScriptedClock, ScriptedTarget};
use crate::watch::Unwatched;

/// What every scene's plan has: no warm-up, nothing sampled.
const SETS: [&str; 4] =
    ["data.scale=1000 blocks", "workload.work_unit=8", "run.warmup=0s", "observe.waits=off"];
/// How long a window is that does not end by operations.
const TIME: &str = "run.time=1s";
/// Runs of a scene on a machine that lets sessions starve.
const ATTEMPTS_MAX: u32 = 5;

/// A scene being set.
pub(super) struct Scene {
    sets: Vec<String>,
    script: Arc<Script>,
    scripted_time: bool,
}

impl Scene {
    pub(super) fn new() -> Self {
        Self {
            sets: SETS.map(str::to_owned).to_vec(),
            script: Arc::new(|_, _, _| Act::Take(0)),
            scripted_time: false,
        }
    }

    /// Any key of the plan.
    pub(super) fn set(mut self, key_and_value: &str) -> Self {
        self.sets.push(key_and_value.to_owned());
        self
    }

    /// What each operation does: session, number and operation come in.
    pub(super) fn script(mut self, script: impl Fn(u32, u64, Op) -> Act + Send + Sync + 'static) -> Self {
        self.script = Arc::new(script);
        self
    }

    /// Operations take exactly the scripted time, on a clock that nothing else moves; for one session.
    pub(super) fn scripted_time(mut self) -> Self {
        self.scripted_time = true;
        self
    }

    /// The plan; its keys are this program's own, so an error in it is a fault of this program.
    fn plan(&self) -> Plan {
        let mut sets = self.sets.clone();
        if !sets.iter().any(|set| set.starts_with("run.ops_per_session")) {
            sets.push(TIME.to_owned());
        }
        let source = PlanSource {
            file: None,
            sets,
            target: Some("sqlite::memory:".to_owned()),
            ..PlanSource::default()
        };
        dyno_plan::read(&source).expect("the scenes' plans are constants, and a test runs each")
    }

    /// Runs it: the record, and what the scripted database knows.
    ///
    /// Where the machine let a session starve at an edge of the window, the snapshot was taken without it, and the record
    /// says so itself; that proves nothing either way, so the scene is run again.
    pub(super) fn run(&self) -> Result<(RunRecord, Ledger), TargetError> {
        for _ in 1..ATTEMPTS_MAX {
            let (record, ledger) = self.run_behind(|target, _| target)?;
            if record.window.as_ref().is_some_and(|window| window.edge_late == (0, 0)) {
                return Ok((record, ledger));
            }
        }
        self.run_behind(|target, _| target)
    }

    /// Runs it once, with what `stand` puts before the scripted database.
    pub(super) fn run_behind(
        &self,
        stand: impl FnOnce(Arc<dyn Target>, &DataSpec) -> Arc<dyn Target>,
    ) -> Result<(RunRecord, Ledger), TargetError> {
        let plan = self.plan();
        let (clock, pass): (Arc<dyn Clock>, Arc<Pass>) = match self.scripted_time {
            true => {
                let clock = Arc::new(ScriptedClock::default());
                (Arc::clone(&clock) as Arc<dyn Clock>, Arc::new(move |ns| clock.advance(ns)))
            }
            // Some time must pass in every operation, or a scene would count millions.
            false => (Arc::new(MonotonicClock::default()), Arc::new(|_| std::thread::yield_now())),
        };
        let target = Arc::new(ScriptedTarget::new(Arc::clone(&self.script), pass));
        let spec = DataSpec {
            schemas: 1,
            rows: 1_000,
            scan_rows: 100,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: false,
        };
        let job = Job {
            run_id: "proof".into(),
            started_at: dyno_record::now_rfc3339(),
            run_stamp: 1,
            plan: &plan,
            targets: vec![Aim {
                identity: target.identify()?,
                target: stand(Arc::clone(&target) as Arc<dyn Target>, &spec),
                spec,
                host_paths: Vec::new(),
                reads_only: None,
                instance: None,
            }],
            clock,
            cancel: Cancel::default(),
            dyno_version: env!("CARGO_PKG_VERSION").into(),
        };
        let record = run(&job, &Unwatched)?;
        Ok((record, target.ledger()))
    }
}
