//! The run record: one window at one setting, and everything known about it.

use std::collections::BTreeMap;

use dyno_plan::{Commit, Plan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit::AuditCheck;
use crate::calibration::Calibration;
use crate::class::{ALL, COMMIT, CONNECT, Class, SLICE};
use crate::counter::Counters;
use crate::fleet::Fleet;
use crate::host::{Host, Role, UNKNOWN};
use crate::id::RunId;
use crate::imported::Imported;
use crate::imported_metric::ImportedMetric;
use crate::kind::Kind;
use crate::membership::PartOf;
use crate::metric::Metric;
use crate::ops::{ErrorTally, OpStats};
use crate::outage::Outage;
use crate::phase::PhaseStats;
use crate::platform::TargetFacts;
use crate::profile::Profile;
use crate::series::{Series, SeriesPoint};
use crate::waits::Waits;
use crate::watched::Watched;
use crate::whose::Whose;
use crate::window::{Gate, Whole, Window};
use crate::workload::OwnWorkload;

/// The version of the record format that this program writes.
pub const SCHEMA_VERSION: u32 = 2;

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Done, and the audit found nothing against it.
    Valid,
    /// Taken over from another source: nobody here measured or audited it.
    Imported,
    /// Done, but its numbers cannot be trusted; `reasons` say why. Never shown as a result.
    Invalid,
    /// Stopped before its end; what was measured is kept.
    Interrupted,
    /// The target or the host failed; what was measured is kept.
    Failed,
}

/// Outages that are named where a run is shown in short.
const OUTAGES_NAMED: usize = 4;

impl RunRecord {
    /// Whether the plan's key `path` is a fact of this run; in an imported record most are not, where sessions ran
    /// transactions of the user's own those of the classic method's operations and data, and where a database was only looked at
    /// none.
    pub fn knows(&self, path: &str) -> bool {
        if self.kind == Kind::Watch {
            return false;
        }
        let is_of_method = || dyno_plan::is_of_method(path);
        self.imported.as_ref().is_none_or(|imported| imported.knows(path))
            && !(self.workload.is_some() && is_of_method())
            && self.kind != Kind::Component
    }

    /// The mean rate that an open loop asks for, operations per second; nothing in a closed loop.
    pub fn asked_per_s(&self) -> Option<f64> {
        let fixed = self.plan.workload.rate.map(|rate| rate.0);
        fixed.or_else(|| PhaseStats::mean_asked_per_s(&self.phases))
    }

    /// Operations of the window that were due before its first phase or behind its last one; 0 where there are no phases.
    pub fn out_of_phases(&self) -> u64 {
        let all = |ops: &BTreeMap<String, OpStats>| ops.get(ALL).map_or(0, |all| all.count);
        match self.phases.is_empty() {
            true => 0,
            false => all(&self.ops).saturating_sub(self.phases.iter().map(|phase| all(&phase.ops)).sum()),
        }
    }

    /// The phase in which the middle of this interval of the series lies; nothing where there are no phases.
    pub fn phase_of(&self, point: &SeriesPoint) -> Option<&PhaseStats> {
        let middle_s = point.at_s + point.seconds / 2.0;
        self.phases.iter().rev().find(|phase| phase.begin_s <= middle_s)
    }

    /// The workloads of the user's own that sessions ran, in the order of the plan; none for the classic method.
    pub fn workloads(&self) -> impl Iterator<Item = &OwnWorkload> {
        self.workload.iter().chain(&self.beside)
    }

    /// Whether its sessions could change rows: as the plan of the block workload says, or as its custom workloads do.
    pub fn may_write(&self) -> bool {
        match &self.workload {
            None => self.plan.workload.writes(),
            Some(_) => self.workloads().any(|own| own.writes),
        }
    }

    /// What its workloads want to have said wherever its figures are shown: `orders: derived from …`.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let own = self.workloads().filter(|own| !own.note.is_empty());
        own.map(|own| format!("{}: {}", own.name, own.note)).chain(self.outage_sentences())
    }

    /// Its outages, each in a sentence: of many the longest.
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

    /// Settings with which commits were not durable, each in a sentence: they make a platform look faster than it is. None where
    /// sessions committed no writes.
    pub fn durability_caveats(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let counted = self.window.as_ref().and_then(|window| window.counted.as_ref());
        if counted.is_some_and(|counted| counted.commits == 0) {
            return all;
        }
        if self.plan.workload.commit != Commit::Wait {
            all.push(
                "commits do not wait for the log (workload.commit), and a crash loses the last ones"
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

    /// The same, to be changed.
    pub fn workloads_mut(&mut self) -> impl Iterator<Item = &mut OwnWorkload> {
        self.workload.iter_mut().chain(&mut self.beside)
    }

    /// Which workloads of the user's own ran: the same for the same texts. None for the classic method.
    pub fn workload_version(&self) -> Option<String> {
        let versions: Vec<String> = self.workloads().map(OwnWorkload::version).collect();
        (!versions.is_empty()).then(|| versions.join(" + "))
    }

    /// What the run's figures of operations are about: all of them; where workloads ran beside the first, those of the first.
    pub fn leading_ops(&self) -> Option<&OpStats> {
        let first = self.workload.as_ref().filter(|_| !self.beside.is_empty());
        let share = first.and_then(|own| own.share.as_ref()?.ops.as_deref());
        share.or_else(|| self.ops.get(ALL))
    }

    /// Whether `started_at` tells when it was measured. A source of imported figures need not tell; then it is the moment
    /// of the import, which only keeps the order.
    pub fn is_dated(&self) -> bool {
        self.imported.as_ref().is_none_or(|imported| !imported.undated)
    }

    /// Product and version of the databases, each once: `PostgreSQL 16.2`. Empty where nobody tells.
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

    /// The host that drove the run; one of which nothing is known where nobody here drove it.
    pub fn driver(&self) -> &Host {
        self.hosts.iter().find(|host| host.roles.contains(&Role::Driver)).unwrap_or(&UNKNOWN)
    }

    /// The host to show for the run: the one that drove it, else the first that its source tells of.
    pub fn host(&self) -> &Host {
        let driver = self.hosts.iter().find(|host| host.roles.contains(&Role::Driver));
        driver.or(self.hosts.first()).unwrap_or(&UNKNOWN)
    }

    /// The host on which the database of the target with this number (from 1) works, as far as anybody looked at it: one that was
    /// looked at for it, or the one that drove the run, if the database is there, too.
    pub fn host_of_target(&self, number: usize) -> Option<&Host> {
        let observed = self.hosts.iter().find(|host| host.observed.is_some() && host.is_of_target(number));
        observed.or_else(|| {
            let here = self.targets.get(number - 1).is_none_or(|target| target.identity.same_host);
            self.hosts.iter().find(|host| {
                host.observed.is_none()
                    && host.is_of_target(number)
                    && (here || !host.roles.contains(&Role::Driver))
            })
        })
    }

    /// The database's host, as far as anybody looked at it; of several targets only where all are on one.
    pub fn database_host(&self) -> Option<&Host> {
        let first = self.host_of_target(1)?;
        let is_it = |number| self.host_of_target(number).is_some_and(|host| std::ptr::eq(host, first));
        (2..=self.targets.len()).all(is_it).then_some(first)
    }

    /// Whether the database's host was looked at and is not the one that drove the run.
    pub fn is_observed_elsewhere(&self) -> bool {
        self.database_host().is_some_and(|host| host.observed.is_some())
    }

    /// Names of the metrics in which others had part, or that cannot be excluded.
    pub fn marked(&self) -> Vec<&str> {
        let marked = self.whose.iter().filter(|(_, whose)| whose.marked);
        marked.map(|(name, _)| name.as_str()).collect()
    }

    /// What was done by class, in the order of reports: all operations, each class, and what is none.
    pub fn by_class(&self) -> impl Iterator<Item = (&str, &OpStats)> {
        let classes = self.classes.iter().map(|class| class.name.as_str());
        let names = [ALL].into_iter().chain(classes).chain([COMMIT, SLICE, CONNECT]);
        names.filter_map(|name| self.ops.get_key_value(name)).map(|(name, ops)| (name.as_str(), ops))
    }

    /// Sessions that worked, or else the planned ones; 0 where the source of imported figures does not tell.
    pub fn sessions(&self) -> u32 {
        match (self.gate.sessions, self.kind) {
            (0, Kind::Run) => self.plan.sessions(),
            (sessions, _) => sessions,
        }
    }
}

dyno_plan::names! {
    /// The word in records: `valid`.
    Status {
        Valid = "valid", Imported = "imported", Invalid = "invalid", Interrupted = "interrupted",
        Failed = "failed"
    }
}

impl Status {
    /// Whether the figures count as a result: those of a valid run, and imported ones, which nobody here audited.
    pub fn counts(self) -> bool {
        matches!(self, Self::Valid | Self::Imported)
    }

    /// The status where there is room for what it means: `imported, not audited`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Imported => "imported, not audited",
            other => other.name(),
        }
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// The version of this format.
    pub schema_version: u32,
    /// What it is of.
    pub kind: Kind,
    /// The run's name.
    pub id: RunId,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// When its record was made, RFC 3339 in UTC.
    pub ended_at: String,
    /// The version of the program that made it.
    pub dyno_version: String,
    /// What it came to.
    pub status: Status,
    /// Why it is not `valid`; empty when it is.
    pub reasons: Vec<String>,
    /// The variant of the platform that it stands for in comparisons: `ext4`, `19c`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Marks that its author gave it, to find it again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The run over several targets of which this record is one target's own part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_target_of: Option<RunId>,
    /// Where its figures come from, when they were not measured by this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// What others measured meanwhile, such as a cloud's metrics of the database; shown beside, and never used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported_metrics: Vec<ImportedMetric>,
    /// Limits of a component, where it is a record of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Box<Calibration>>,
    /// How a database was looked at that did its own work; only in a record of that kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<Watched>,
    /// The plan it followed.
    pub plan: Plan,
    /// Its place in a sweep, search, soak or A/B comparison; absent for a run of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<PartOf>,
    /// The databases.
    pub targets: Vec<TargetFacts>,
    /// The machines: the one that drove it, and those of its databases as far as they are known.
    pub hosts: Vec<Host>,
    /// The driver hosts, where sessions were led from several that have agents; absent where this program led all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Fleet>,
    /// The common start.
    pub gate: Gate,
    /// The measured interval; absent when the run ended before one began.
    pub window: Option<Window>,
    /// The workload of the user's own that its sessions ran; absent where they ran the classic method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<OwnWorkload>,
    /// Workloads that ran beside it, each in sessions of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<OwnWorkload>,
    /// What its workload calls its operations, in the order of reports; empty where the source of imported figures does not
    /// tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    /// Operations inside the window by class; with them `commit` (a part of operations that write), `slice` (a bundle of
    /// operations), and `all` operations together.
    pub ops: BTreeMap<String, OpStats>,
    /// Figures of the window.
    pub metrics: BTreeMap<String, Metric>,
    /// Database counters over the window.
    pub counters: Counters,
    /// Database counters over the sessions' whole life, from before the first connected until after the last had gone,
    /// and what the sessions did in it; every operation is in both, so they can be compared to the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Whole>,
    /// What sessions waited for.
    pub waits: Waits,
    /// Where the processors' time went; absent where the plan did not ask (`observe.perf`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// The window interval by interval.
    pub series: Series,
    /// What was done in each phase of the plan's schedule, one after the other; empty where it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseStats>,
    /// Errors by code, warm-up and drain included.
    pub errors: Vec<ErrorTally>,
    /// Outages of its databases, which are measured where the plan says so (`run.on_lost = "reconnect"`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Whose work the figures in `metrics` tell; one that is not here is the run's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub whose: BTreeMap<String, Whose>,
    /// Whether the numbers agree.
    pub audit: Vec<AuditCheck>,
}

impl RunRecord {
    /// A record of a run by `plan` that tells nothing yet but what it came to.
    pub fn blank(status: Status, plan: Plan) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            kind: Kind::Run,
            id: RunId::new(),
            started_at: String::new(),
            ended_at: String::new(),
            dyno_version: String::new(),
            status,
            reasons: Vec::new(),
            variant: None,
            tags: Vec::new(),
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
            gate: Gate::default(),
            window: None,
            workload: None,
            beside: Vec::new(),
            classes: Vec::new(),
            ops: BTreeMap::new(),
            metrics: BTreeMap::new(),
            counters: Counters::default(),
            whole: None,
            waits: Waits::Absent { absent: "the source does not tell".into() },
            profile: None,
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
    fn the_driver_is_found_among_any_number_of_hosts() {
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
