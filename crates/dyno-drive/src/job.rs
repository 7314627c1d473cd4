//! What a run is given, and how it can end.

use std::path::PathBuf;
use std::sync::Arc;

use dyno_engine::{Cancel, Clock, Instance, Target, WorkloadNeeds};
use dyno_plan::{DataSpec, OnLost, Plan};
use dyno_record::Identity;
use dyno_workload::own::Own;
use dyno_workload::{Classes, blocks, needs};

use crate::far::FarHost;
use crate::witness::Book;

/// Everything a run needs.
pub struct Job<'a> {
    /// The run's name.
    pub run_id: String,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// A number unique to this run on this target, part of every update value.
    pub run_stamp: u64,
    /// The plan.
    pub plan: &'a Plan,
    /// The databases, in the order of the plan; at least one.
    pub targets: Vec<Aim>,
    /// The workloads of the user's own that sessions run, in the order of the plan's [`sides`](Plan::sides); none for the classic
    /// method.
    pub owns: Vec<Arc<Own>>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The user's wish to stop.
    pub cancel: Cancel,
    /// The program's version.
    pub dyno_version: String,
    /// Points that a series of the record has at most: [`OVERVIEW_POINTS_MAX`](dyno_record::OVERVIEW_POINTS_MAX), and fewer
    /// in tests of what lies beyond.
    pub series_points_max: usize,
}

/// One database of a run.
#[derive(Clone)]
pub struct Aim {
    /// The database.
    pub target: Arc<dyn Target>,
    /// What it is.
    pub identity: Identity,
    /// The data that it holds.
    pub spec: DataSpec,
    /// Named places on this host whose devices matter: `data`, `redo`.
    pub host_paths: Vec<(String, PathBuf)>,
    /// Its machine, where that is looked at and is not this one. It is read by one run.
    pub far: Option<Arc<FarHost>>,
    /// Why its sessions only read, if they do.
    pub reads_only: Option<String>,
    /// What its counters count; unknown where it is the only one, or the engine cannot tell.
    pub instance: Option<Instance>,
    /// Where it is noted what its sessions are told; only where that is to be proved.
    pub book: Option<Arc<Book>>,
}

impl Aim {
    /// A database of which nothing else is known.
    pub fn new(target: Arc<dyn Target>, identity: Identity, spec: DataSpec) -> Self {
        Self {
            target,
            identity,
            spec,
            host_paths: Vec::new(),
            far: None,
            reads_only: None,
            instance: None,
            book: None,
        }
    }
}

impl Job<'_> {
    /// The classes of its operations.
    pub(crate) fn classes(&self) -> Classes {
        if self.owns.is_empty() {
            return blocks::classes(&self.plan.workload, &self.targets[0].spec);
        }
        Classes::beside_each_other(self.owns.iter().map(|own| own.classes()))
    }

    /// Whether sessions run workloads of the user's own.
    pub(crate) fn is_own(&self) -> bool {
        !self.owns.is_empty()
    }

    /// Whether sessions load a table: then they wait until the window's begin is read, and are done when all of it is there.
    pub(crate) fn loads(&self) -> bool {
        self.owns.iter().any(|own| own.bulk().is_some())
    }

    /// What sessions do and need on `aim`.
    pub(crate) fn needs(&self, aim: &Aim) -> WorkloadNeeds {
        let needs = needs(self.plan, &self.owns, aim.target.engine(), aim.target.dialect());
        match aim.reads_only {
            Some(_) => needs.on_read_only_target(),
            None => needs,
        }
    }

    /// Whether sessions insert rows into test tables on `aim`, some of which they leave.
    pub(crate) fn inserts_test_rows(&self, aim: &Aim) -> bool {
        let needs = self.needs(aim);
        needs.inserts && needs.uses_test_tables()
    }

    /// Whether sessions and observers try to connect again until the run ends, and outages are measured.
    pub(crate) fn reconnects(&self) -> bool {
        self.plan.run.on_lost == OnLost::Reconnect
    }

    /// Whether there are several databases.
    pub(crate) fn is_several(&self) -> bool {
        self.targets.len() > 1
    }

    /// Spacing of the series in seconds, and the most points of it.
    pub(crate) fn series(&self) -> (f64, usize) {
        (self.plan.observe.interval.0.as_secs_f64(), self.series_points_max)
    }

    /// The database at `at` in words that stand before what went wrong with it; nothing where there is only one.
    pub(crate) fn label(&self, at: usize) -> String {
        match self.is_several() {
            true => format!("target {} ({}): ", at + 1, self.targets[at].target.url()),
            false => String::new(),
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Interrupted,
    Failed(String),
}
