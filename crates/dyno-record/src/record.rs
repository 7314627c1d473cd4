//! The run record: one window at one setting, with everything known about it.

use std::collections::BTreeMap;

use dyno_plan::{Commit, Plan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attribution::Attribution;
use crate::audit::AuditCheck;
use crate::calibration::Calibration;
use crate::class::{ALL, COMMIT, CONNECT, Class, SLICE};
use crate::counter::Counters;
use crate::database_report::DatabaseReport;
use crate::fleet::Fleet;
use crate::host::{Host, Role, UNKNOWN};
use crate::id::RunId;
use crate::imported::ImportSource;
use crate::imported_metric::ImportedMetric;
use crate::kind::RecordKind;
use crate::membership::PartOf;
use crate::metric::Metric;
use crate::ops::{ErrorTally, OpStats};
use crate::outage::Outage;
use crate::phase::PhaseStats;
use crate::platform::TargetFacts;
use crate::profile::Profile;
use crate::reported::Reported;
use crate::series::{Series, SeriesPoint};
use crate::table_activity::TableActivity;
use crate::top_statements::TopStatements;
use crate::waits::Waits;
use crate::watched::WatchSummary;
use crate::window::{LifetimeTotals, StartGate, Window};
use crate::workload::WorkloadFacts;

/// The version of the record format that this program writes.
pub const SCHEMA_VERSION: u32 = 2;

/// The outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The run completed, and the audit found no contradiction.
    Valid,
    /// The record was imported; Dyno neither measured nor audited it.
    Imported,
    /// The run completed, but its figures are not reliable; `reasons` say why. Never shown as a result.
    Invalid,
    /// The run stopped early; the measured part is stored.
    Interrupted,
    /// The target or the host failed; the measured part is stored.
    Failed,
}

/// Number of outages that a short display lists.
const OUTAGES_NAMED: usize = 4;

impl RunRecord {
    /// Whether the plan's key `path` is a fact of this run. An imported record lacks most keys. A run of a custom workload lacks
    /// the keys of the block workload, and the observation of a database lacks all of them.
    pub fn knows(&self, path: &str) -> bool {
        if self.kind == RecordKind::Watch {
            return false;
        }
        let is_of_method = || dyno_plan::is_of_method(path);
        self.imported.as_ref().is_none_or(|imported| imported.knows(path))
            && !(self.workload.is_some() && is_of_method())
            && self.kind != RecordKind::Component
    }

    /// The scheduled mean rate of an open loop, in operations per second; `None` for a closed loop.
    pub fn asked_per_s(&self) -> Option<f64> {
        let fixed = self.plan.workload.rate.map(|rate| rate.0);
        fixed.or_else(|| PhaseStats::mean_asked_per_s(&self.phases))
    }

    /// Operations of the window that were due before its first phase or after its last one; 0 without phases.
    pub fn out_of_phases(&self) -> u64 {
        let all = |ops: &BTreeMap<String, OpStats>| ops.get(ALL).map_or(0, |all| all.count);
        match self.phases.is_empty() {
            true => 0,
            false => all(&self.ops).saturating_sub(self.phases.iter().map(|phase| all(&phase.ops)).sum()),
        }
    }

    /// The phase at the middle of this interval of the series; `None` without phases.
    pub fn phase_of(&self, point: &SeriesPoint) -> Option<&PhaseStats> {
        let middle_s = point.at_s + point.seconds / 2.0;
        self.phases.iter().rev().find(|phase| phase.begin_s <= middle_s)
    }

    /// The parts of a database's own report: of an imported one, or of the one about this run's window.
    pub fn reported(&self) -> Option<&Reported> {
        let imported = self.imported.as_ref().and_then(|imported| imported.reported.as_ref());
        imported.or_else(|| self.database_report.as_deref().map(|report| &report.reported))
    }

    /// The custom workloads of the run, in the order of the plan; empty for the block workload.
    pub fn workloads(&self) -> impl Iterator<Item = &WorkloadFacts> {
        self.workload.iter().chain(&self.beside)
    }

    /// Whether its sessions could change rows: as the plan of the block workload says, or as its custom workloads do.
    pub fn may_write(&self) -> bool {
        match &self.workload {
            None => self.plan.workload.writes(),
            Some(_) => self.workloads().any(|own| own.writes),
        }
    }

    /// Notes that must accompany the figures, from the workloads and outages: `orders: derived from …`.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let noted_workloads = self.workloads().filter(|own| !own.note.is_empty());
        noted_workloads.map(|own| format!("{}: {}", own.name, own.note)).chain(self.outage_sentences())
    }

    /// One sentence for each outage; of many, the longest.
    pub fn outage_sentences(&self) -> Vec<String> {
        let length_s = |outage: &Outage| outage.longest().map_or(0.0, |silence| silence.length_s);
        let mut outages: Vec<&Outage> = self.outages.iter().collect();
        outages.sort_by(|one, other| length_s(other).total_cmp(&length_s(one)));
        outages.truncate(OUTAGES_NAMED);
        outages.sort_by(|one, other| one.lost_s.total_cmp(&other.lost_s));
        let mut sentences: Vec<String> = outages.into_iter().map(Outage::sentence).collect();
        if let Some(more @ 1..) = self.outages.len().checked_sub(OUTAGES_NAMED) {
            sentences.push(format!("{more} more outages are shorter than these"));
        }
        sentences
    }

    /// One sentence for each setting that made commits not durable, which makes a platform look faster than it is. Empty if the
    /// sessions committed no writes.
    pub fn durability_caveats(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let counted = self.window.as_ref().and_then(|window| window.counted.as_ref());
        if counted.is_some_and(|counted| counted.commits == 0) {
            return all;
        }
        if self.plan.workload.commit != Commit::Wait {
            all.push(
                "commits do not wait for the log (workload.commit), so a crash loses the latest commits"
                    .to_owned(),
            );
        }
        for setting in self.targets.iter().flat_map(|target| &target.identity.not_durable) {
            let words = format!("commits are not durable ({setting})");
            if !all.contains(&words) {
                all.push(words);
            }
        }
        all
    }

    /// The same workloads, mutable.
    pub fn workloads_mut(&mut self) -> impl Iterator<Item = &mut WorkloadFacts> {
        self.workload.iter_mut().chain(&mut self.beside)
    }

    /// Identifies the custom workloads; equal for equal files. `None` for the block workload.
    pub fn workload_version(&self) -> Option<String> {
        let versions: Vec<String> = self.workloads().map(WorkloadFacts::version).collect();
        (!versions.is_empty()).then(|| versions.join(" + "))
    }

    /// The operations that the run's figures describe: all, or those of the first workload if background workloads ran.
    pub fn leading_ops(&self) -> Option<&OpStats> {
        let first = self.workload.as_ref().filter(|_| !self.beside.is_empty());
        let share = first.and_then(|own| own.share.as_ref()?.ops.as_deref());
        share.or_else(|| self.ops.get(ALL))
    }

    /// Whether `started_at` is the time of the measurement. Imported figures may have no time; then it is the time of the import,
    /// which only keeps the order.
    pub fn is_dated(&self) -> bool {
        self.imported.as_ref().is_none_or(|imported| !imported.undated)
    }

    /// Product and version of the databases without duplicates: `PostgreSQL 16.2`. Empty if unknown.
    pub fn databases(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for target in &self.targets {
            let name = format!("{} {}", target.identity.product, target.identity.version).trim().to_owned();
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    }

    /// The driver host; an unknown host if Dyno did not drive the run.
    pub fn driver(&self) -> &Host {
        self.hosts.iter().find(|host| host.roles.contains(&Role::Driver)).unwrap_or(&UNKNOWN)
    }

    /// The host to show for the run: the driver host, otherwise the first host of the source.
    pub fn host(&self) -> &Host {
        let driver = self.hosts.iter().find(|host| host.roles.contains(&Role::Driver));
        driver.or(self.hosts.first()).unwrap_or(&UNKNOWN)
    }

    /// The host of the database of the target with this number (from 1): the host observed for it, or the driver host if the
    /// database runs there. `None` if unknown.
    pub fn host_of_target(&self, number: usize) -> Option<&Host> {
        let observed = self.hosts.iter().find(|host| host.observed.is_some() && host.is_of_target(number));
        observed.or_else(|| {
            let is_local = self.targets.get(number - 1).is_none_or(|target| target.identity.same_host);
            self.hosts.iter().find(|host| {
                host.observed.is_none()
                    && host.is_of_target(number)
                    && (is_local || !host.roles.contains(&Role::Driver))
            })
        })
    }

    /// The database's host; `None` if unknown, or if several targets have different hosts.
    pub fn database_host(&self) -> Option<&Host> {
        let first = self.host_of_target(1)?;
        let is_it = |number| self.host_of_target(number).is_some_and(|host| std::ptr::eq(host, first));
        (2..=self.targets.len()).all(is_it).then_some(first)
    }

    /// Whether Dyno observed the database's host and it is not the driver host.
    pub fn is_observed_elsewhere(&self) -> bool {
        self.database_host().is_some_and(|host| host.observed.is_some())
    }

    /// Names of the metrics that include, or may include, background activity.
    pub fn marked(&self) -> Vec<&str> {
        let marked = self.whose.iter().filter(|(_, whose)| whose.marked);
        marked.map(|(name, _)| name.as_str()).collect()
    }

    /// Operations by class in the order of reports: all operations, each class, then parts and groups of operations.
    pub fn by_class(&self) -> impl Iterator<Item = (&str, &OpStats)> {
        let classes = self.classes.iter().map(|class| class.name.as_str());
        let names = [ALL].into_iter().chain(classes).chain([COMMIT, SLICE, CONNECT]);
        names.filter_map(|name| self.ops.get_key_value(name)).map(|(name, ops)| (name.as_str(), ops))
    }

    /// Number of sessions in the run, or else in the plan; 0 if an imported source does not say.
    pub fn sessions(&self) -> u32 {
        match (self.gate.sessions, self.kind) {
            (0, RecordKind::Run) => self.plan.sessions(),
            (sessions, _) => sessions,
        }
    }
}

dyno_plan::names! {
    /// The name in records: `valid`.
    Status {
        Valid = "valid", Imported = "imported", Invalid = "invalid", Interrupted = "interrupted",
        Failed = "failed"
    }
}

impl Status {
    /// Whether the figures count as a result: valid runs and imported figures, which Dyno did not audit.
    pub fn counts(self) -> bool {
        matches!(self, Self::Valid | Self::Imported)
    }

    /// The status with its meaning, for places with enough room: `imported, not audited`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Imported => "imported, not audited",
            other => other.name(),
        }
    }
}

/// One run with all its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// Version of the record format.
    pub schema_version: u32,
    /// The kind of the record.
    pub kind: RecordKind,
    /// Name of the run, unique in a repository.
    pub id: RunId,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// When its record was created, RFC 3339 in UTC.
    pub ended_at: String,
    /// Version of the Dyno that created it.
    pub dyno_version: String,
    /// The outcome of the run.
    pub status: Status,
    /// Why it is not `valid`; empty if it is.
    pub reasons: Vec<String>,
    /// The variant of the platform in comparisons: `ext4`, `19c`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Tags that its author chose, for finding the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Words of the command line that name the plan, its targets and settings, and the repository, for commands
    /// that repeat the run: `--set`, `data.scale=1G`. Empty if there were none, and in records of versions
    /// that did not keep them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Name of the run over several targets, if this record is the part of one target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_target_of: Option<RunId>,
    /// The source of figures that Dyno did not measure itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportSource>,
    /// Metrics that another system measured during the run, such as a cloud's metrics of the database; shown, but never used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported_metrics: Vec<ImportedMetric>,
    /// Raw limits of a component; only in a record of that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Box<Calibration>>,
    /// How Dyno observed a database without load; only in a record of that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<WatchSummary>,
    /// The plan of the run.
    pub plan: Plan,
    /// Its position in a campaign; absent for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<PartOf>,
    /// The databases of the run.
    pub targets: Vec<TargetFacts>,
    /// The hosts of the run: the driver host, and the database hosts that are known.
    pub hosts: Vec<Host>,
    /// The driver hosts with agents in a distributed run; absent if this process ran all sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Fleet>,
    /// The common start of the sessions.
    pub gate: StartGate,
    /// The measured interval; absent if the run ended before it began.
    pub window: Option<Window>,
    /// The custom workload of the run; absent for the block workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadFacts>,
    /// Background workloads, each with its own sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<WorkloadFacts>,
    /// The classes of operations, in the order of reports; empty if an imported source does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    /// Operations inside the window by class. Further keys are `commit` (part of a writing operation), `slice` (a group of
    /// operations), and `all` (the sum of operations).
    pub ops: BTreeMap<String, OpStats>,
    /// Metrics of the window by name.
    pub metrics: BTreeMap<String, Metric>,
    /// Database counters over the window.
    pub counters: Counters,
    /// Database counters over the whole lifetime of the sessions, from before the first connected until after the last closed, and
    /// what the sessions did in that time. Every operation is in both, so they must agree exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<LifetimeTotals>,
    /// Wait events of the sessions over the window.
    pub waits: Waits,
    /// The statements that used the server's time in the window; absent if a run has several targets, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statements: Option<TopStatements>,
    /// What happened to tables and indexes in the window; absent if a run has several targets, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<TableActivity>,
    /// CPU profile of the window; absent if the plan did not request it (`observe.perf`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// What the database's own report says of the window; absent if the plan did not request one (`observe.awr`), if it could
    /// not be read, or if the run has several targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_report: Option<Box<DatabaseReport>>,
    /// The series of intervals over the window.
    pub series: Series,
    /// Results of each phase of the plan's schedule, in order; empty without a schedule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseStats>,
    /// Errors by code, including warm-up and drain.
    pub errors: Vec<ErrorTally>,
    /// Outages of its databases, measured if the plan requests it (`run.on_lost = "reconnect"`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Attribution of the figures in `metrics`; a figure that is not listed is the run's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whose: BTreeMap<String, Attribution>,
    /// Checks that the figures agree with each other.
    pub audit: Vec<AuditCheck>,
}

impl RunRecord {
    /// A record of a run with `plan` that contains only its status.
    pub fn blank(status: Status, plan: Plan) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            kind: RecordKind::Run,
            id: RunId::new(),
            started_at: String::new(),
            ended_at: String::new(),
            dyno_version: String::new(),
            status,
            reasons: Vec::new(),
            variant: None,
            tags: Vec::new(),
            options: Vec::new(),
            one_target_of: None,
            imported: None,
            imported_metrics: Vec::new(),
            calibration: None,
            watched: None,
            plan,
            part_of: None,
            targets: Vec::new(),
            hosts: Vec::new(),
            fleet: None,
            gate: StartGate::default(),
            window: None,
            workload: None,
            beside: Vec::new(),
            classes: Vec::new(),
            ops: BTreeMap::new(),
            metrics: BTreeMap::new(),
            counters: Counters::default(),
            whole: None,
            waits: Waits::Absent { absent: "the source does not tell".into() },
            statements: None,
            tables: None,
            profile: None,
            database_report: None,
            series: Series::default(),
            phases: Vec::new(),
            errors: Vec::new(),
            outages: Vec::new(),
            whose: BTreeMap::new(),
            audit: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn driver_host_is_found_among_several_hosts() {
        let mut record = sample::full();
        let database =
            Host { name: "db2".into(), roles: [Role::Database].into(), cpus: 64, ..Host::default() };
        record.hosts.insert(0, database);
        assert_eq!((record.driver().name.as_str(), record.host().name.as_str()), ("db1", "db1"));
        let read = RunRecord::from_json(&record.to_json().unwrap()).unwrap();
        assert_eq!(read, record, "both hosts are kept");
        record.hosts.pop();
        assert_eq!(record.driver(), &Host::default(), "a database's host did not drive the run");
        assert_eq!(record.host().name, "db2");
        record.hosts.clear();
        assert_eq!(record.host(), &Host::default());
    }
}
