//! One run on a scripted database, described the way one would say it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dyno_engine::{Cancel, Clock, MonotonicClock, Op, Target, TargetError};
use dyno_plan::engine::{EngineSpec, Form};
use dyno_plan::{DataSpec, Engines, Plan, PlanSource};
use dyno_record::RunRecord;

use crate::job::{Aim, Job};
use crate::run::run;
use crate::scripted::{Act, Ledger, NOTICED_NS, Pass, Script, ScriptedClock, ScriptedTarget, Span};
use crate::watch::{Event, Watch};
use crate::witness::Book;

/// The database of every scene.
const ENGINES: Engines =
    Engines(&[EngineSpec::plain("scripted", Form::File { write: "write scripted:NAME" }, "scripted:NAME")]);

/// Its data.
pub(super) const SPEC: DataSpec = DataSpec {
    schemas: 1,
    rows: 1_000,
    scan_rows: 100,
    block_size: 8192,
    compressible: 0,
    seed: 1,
    secondary: false,
};
/// What every scene's plan has: no warm-up, nothing sampled.
const SETS: [&str; 4] =
    ["data.scale=1000 blocks", "workload.work_unit=8", "run.warmup=0s", "observe.waits=off"];
/// How long a window is that does not end by operations.
const TIME: &str = "run.time=1s";
/// Runs of a scene until nothing about it is open.
const ATTEMPTS_MAX: u32 = 10;
/// A time in which nothing of the client ran, µs, after which the scene was not the scripted one.
const STARVED_US: f64 = NOTICED_NS as f64 / 1e3;
/// How long an operation takes on the machine's clock at least: a begin between two operations is then rare.
const OPERATION_NS: u64 = 300_000;

/// A scene that was run.
pub(super) struct Ran {
    pub(super) record: RunRecord,
    pub(super) ledger: Ledger,
    /// The window, as the run told it.
    pub(super) span: Span,
    /// Whether sessions heard of its begin when it had passed: on a clock that only they move, a millisecond is an operation.
    late: bool,
}

impl Ran {
    /// Whether both sides have as many operations in the window.
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

impl Watch for Moments {
    fn event(&self, event: &Event) {
        match event {
            Event::Window { at_ns, late_ns } => {
                self.begin_ns.store(*at_ns, Ordering::Release);
                self.late_ns.store(*late_ns, Ordering::Release);
            }
            Event::Closing { at_ns } => self.end_ns.store(*at_ns, Ordering::Release),
            _ => {}
        }
    }

    fn connected(&self) -> Result<(), String> {
        Ok(())
    }

    fn drained(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A scene being set.
pub(super) struct Scene {
    sets: Vec<String>,
    script: Arc<dyn Fn() -> Arc<Script> + Send + Sync>,
    scripted_time: bool,
    duplex: bool,
    live: bool,
}

impl Scene {
    pub(super) fn new() -> Self {
        Self {
            sets: SETS.map(str::to_owned).to_vec(),
            script: Arc::new(|| Arc::new(|_, _, _| Act::Take(0))),
            scripted_time: false,
            duplex: false,
            live: false,
        }
    }

    /// Sessions share a thread.
    pub(super) fn duplex(mut self) -> Self {
        self.duplex = true;
        self.set("run.threads=1")
    }

    /// The database's counters show at once what sessions do.
    pub(super) fn live(mut self) -> Self {
        self.live = true;
        self
    }

    /// Any key of the plan.
    pub(super) fn set(mut self, key_and_value: &str) -> Self {
        self.sets.push(key_and_value.to_owned());
        self
    }

    /// What each operation does: session, number and operation come in.
    pub(super) fn script(self, script: impl Fn(u32, u64, Op) -> Act + Send + Sync + 'static) -> Self {
        let script: Arc<Script> = Arc::new(script);
        self.script_anew(move || Arc::clone(&script))
    }

    /// The same, made anew for each run.
    pub(super) fn script_anew(mut self, make: impl Fn() -> Arc<Script> + Send + Sync + 'static) -> Self {
        self.script = Arc::new(make);
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
        let source =
            PlanSource { sets, target: Some("scripted:scene".to_owned()), ..PlanSource::of(ENGINES) };
        dyno_plan::read(&source).expect("the scenes' plans are constants, and a test runs each")
    }

    /// Runs it: the record, and what the scripted database knows.
    ///
    /// Where they differ, and the window begins just behind an operation of a session, nobody can say on which side of it the
    /// session itself saw that operation end; and where the machine let a session starve, the record says so. Neither proves anything, so the
    /// scene is run again.
    pub(super) fn run(&self) -> Result<Ran, TargetError> {
        for _ in 1..ATTEMPTS_MAX {
            let ran = self.run_once(None)?;
            // A clock that only operations move jumps by whole ones, which is no starving.
            let in_time = ran.record.window.as_ref().is_some_and(|window| {
                window.edge_late == (0, 0) && (self.scripted_time || window.stall_us_max < STARVED_US)
            });
            let open = !ran.agrees()
                && match self.scripted_time {
                    true => ran.late,
                    false => ran.ledger.is_ambiguous(ran.span),
                };
            if in_time && !open {
                return Ok(ran);
            }
        }
        self.run_once(None)
    }

    /// Runs it once; what sessions are told is noted in `book`.
    pub(super) fn run_once(&self, book: Option<Arc<Book>>) -> Result<Ran, TargetError> {
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
        let aim = Aim::new(Arc::clone(&target) as Arc<dyn Target>, target.identify()?, SPEC);
        let job = Job {
            run_id: "proof".into(),
            started_at: dyno_record::now_rfc3339(),
            run_stamp: 1,
            plan: &plan,
            owns: Vec::new(),
            targets: vec![Aim { book, ..aim }],
            clock,
            cancel: Cancel::default(),
            dyno_version: env!("CARGO_PKG_VERSION").into(),
            series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
        };
        let moments = Moments::default();
        let (record, _) = run(&job, &moments)?;
        let span = Span {
            begin_ns: moments.begin_ns.load(Ordering::Acquire),
            end_ns: moments.end_ns.load(Ordering::Acquire),
        };
        let late = moments.late_ns.load(Ordering::Acquire) > 0;
        Ok(Ran { record, ledger: target.ledger(), span, late })
    }
}
