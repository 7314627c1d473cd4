//! Defines the input of a run, and how it can end.

use std::path::PathBuf;
use std::sync::Arc;

use dyno_engine::{Cancel, Clock, CounterScope, Target, WorkloadNeeds};
use dyno_observe::RemoteHost;
use dyno_plan::{DataSpec, OnLost, Plan};
use dyno_record::Identity;
use dyno_workload::custom::CustomWorkload;
use dyno_workload::{Classes, blocks, needs};

use crate::ack_recorder::AckLedger;

/// Everything that a run needs to start.
pub struct DriveJob<'a> {
    /// The run's ID in the repository.
    pub run_id: String,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// A number unique to this run on this target, part of every update value.
    pub run_stamp: u64,
    /// The validated plan of the run.
    pub plan: &'a Plan,
    /// The targets, in the order of the plan; at least one.
    pub targets: Vec<TargetContext>,
    /// The custom workloads of the sessions, in the order of [`Plan::workload_shares`]; empty for the block
    /// workload.
    pub custom_workloads: Vec<Arc<CustomWorkload>>,
    /// The monotonic clock of all measured times.
    pub clock: Arc<dyn Clock>,
    /// The user's request to stop.
    pub cancel: Cancel,
    /// The version of Dyno, for the record.
    pub dyno_version: String,
    /// The most points of a series in the record: [`OVERVIEW_POINTS_MAX`](dyno_record::OVERVIEW_POINTS_MAX),
    /// or fewer in tests.
    pub series_points_max: usize,
}

/// One target of a run, with what is known about it.
#[derive(Clone)]
pub struct TargetContext {
    pub target: Arc<dyn Target>,
    /// The server's product, version and settings.
    pub identity: Identity,
    /// The spec of the data that it holds.
    pub spec: DataSpec,
    /// Named places on this host whose devices are observed: `data`, `redo`.
    pub host_paths: Vec<(String, PathBuf)>,
    /// Its machine, if that is observed and is not this one. Only one run reads it.
    pub remote_host: Option<Arc<RemoteHost>>,
    /// Why its sessions only read; absent if they may write.
    pub reads_only: Option<String>,
    /// What its counters cover; unknown if it is the only target, or the engine does not report it.
    pub instance: Option<CounterScope>,
    /// Notes what the database acknowledged to its sessions; only in durability proofs.
    pub ack_ledger: Option<Arc<AckLedger>>,
}

impl TargetContext {
    /// A target about which nothing else is known.
    pub fn new(target: Arc<dyn Target>, identity: Identity, spec: DataSpec) -> Self {
        Self {
            target,
            identity,
            spec,
            host_paths: Vec::new(),
            remote_host: None,
            reads_only: None,
            instance: None,
            ack_ledger: None,
        }
    }
}

impl DriveJob<'_> {
    /// The classes of the run's operations.
    pub(crate) fn classes(&self) -> Classes {
        if self.custom_workloads.is_empty() {
            return blocks::classes(&self.plan.workload, &self.targets[0].spec);
        }
        Classes::beside_each_other(self.custom_workloads.iter().map(|own| own.classes()))
    }

    /// Whether sessions run custom workloads.
    pub(crate) fn is_custom(&self) -> bool {
        !self.custom_workloads.is_empty()
    }

    /// Whether sessions load a table in bulk. They then wait until the begin counters are read, and end when
    /// the table is complete.
    pub(crate) fn loads_data(&self) -> bool {
        self.custom_workloads.iter().any(|own| own.bulk().is_some())
    }

    /// What sessions do and need on `context`.
    pub(crate) fn needs(&self, context: &TargetContext) -> WorkloadNeeds {
        let needs =
            needs(self.plan, &self.custom_workloads, context.target.engine(), context.target.dialect());
        match context.reads_only {
            Some(_) => needs.on_read_only_target(),
            None => needs,
        }
    }

    /// Whether sessions insert rows into the test tables of `context` and may leave some.
    pub(crate) fn inserts_test_rows(&self, context: &TargetContext) -> bool {
        let needs = self.needs(context);
        needs.inserts && needs.uses_test_tables()
    }

    /// Whether sessions and observers try to reconnect until the run ends, and outages are measured.
    pub(crate) fn reconnects(&self) -> bool {
        self.plan.run.on_lost == OnLost::Reconnect
    }

    pub(crate) fn has_several_targets(&self) -> bool {
        self.targets.len() > 1
    }

    /// Spacing of the series in seconds, and its most points.
    pub(crate) fn series(&self) -> (f64, usize) {
        (self.plan.observe.interval.0.as_secs_f64(), self.series_points_max)
    }

    /// The prefix of errors about the target at `at`; empty if there is only one target.
    pub(crate) fn label(&self, at: usize) -> String {
        match self.has_several_targets() {
            true => format!("target {} ({}): ", at + 1, self.targets[at].target.url()),
            false => String::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DriveOutcome {
    Done,
    Interrupted,
    Failed(String),
}
