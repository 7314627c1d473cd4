//! Lists what else differs between two sets of runs: settings, kernel, mounts, versions and plan
//! keys.
//!
//! A difference in speed can only be explained if all changes are known. Facts that always differ
//! without a meaning (process numbers, times, free memory, temporary paths) are left out. The
//! others are sorted by how likely they are to matter.

use std::collections::{BTreeMap, BTreeSet};

use dyno_plan::keys;
use dyno_record::{Host, RecordKind, RunRecord, TargetFacts};
use serde::{Deserialize, Serialize};

/// The area of a difference; the order is that of likely relevance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Product, version, engine, block size of the database.
    Database,
    /// The plan: which load on which data.
    Plan,
    /// The data that was loaded for the runs.
    Data,
    /// A database setting that differs from the product's default on one side.
    Setting,
    /// Version of kernel and operating system.
    Kernel,
    /// Where the data is stored: mounts and file systems.
    Mount,
    /// Models and sizes of CPU, memory and devices.
    Hardware,
    /// Settings and limits of the kernel.
    KernelSetting,
    /// A database setting that is a default on both sides.
    DefaultSetting,
    /// Where the figures come from, and the program that made the records.
    Source,
}

impl Area {
    /// The area as shown in tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Plan => "plan",
            Self::Data => "data",
            Self::Setting => "setting",
            Self::Kernel => "kernel",
            Self::Mount => "mount",
            Self::Hardware => "hardware",
            Self::KernelSetting => "kernel setting",
            Self::DefaultSetting => "default setting",
            Self::Source => "source",
        }
    }
}

/// One setting or fact that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigDifference {
    pub area: Area,
    /// Its name, for example `shared_buffers` or `workload.work_unit`.
    pub name: String,
    /// Its values in the first side's runs, sorted; empty where no run has it.
    pub a: Vec<String>,
    /// Its values in the second side's runs.
    pub b: Vec<String>,
}

impl ConfigDifference {
    /// The change in words: `shared_buffers 128MB → 1GB`.
    pub fn change_words(&self) -> String {
        let values = |values: &[String]| if values.is_empty() { "–".to_owned() } else { values.join(", ") };
        format!("{} {} → {}", self.name, values(&self.a), values(&self.b))
    }
}

/// Host facts that differ at any two moments, or identify an instance without describing it.
const NOISE: [&str; 4] = ["boot_id", "huge_pages.free", "sysctl.fs.aio-nr", "kernel.version"];

/// Plan keys that do not affect what is measured. Runs with different seeds are repeats of each
/// other.
const KEYS_WITHOUT_EFFECT: [&str; 6] = [
    "version",
    "target.password_env",
    "target.password_file",
    "target.connect_timeout",
    "data.load_parallel",
    "workload.seed",
];

/// Whether a plan key affects what is measured.
pub fn has_effect(key: &str) -> bool {
    !KEYS_WITHOUT_EFFECT.contains(&key)
}

/// Whether a host fact always differs without a meaning.
pub fn is_noise(fact: &str) -> bool {
    NOISE.contains(&fact) || fact.starts_with("net.veth")
}

/// Everything in which `a` and `b` differ, the most relevant first.
///
/// The sides agree in a setting if it has the same set of values on both. So a setting that both
/// sides vary in the same way (the axes of a sweep) is no difference.
pub fn differ(a: &[&RunRecord], b: &[&RunRecord]) -> Vec<ConfigDifference> {
    survey(a, b, |of_a, of_b| of_a != of_b)
}

/// Every setting and fact in which `a` and `b` agree, in the same order. Each has equal values.
pub fn equal(a: &[&RunRecord], b: &[&RunRecord]) -> Vec<ConfigDifference> {
    survey(a, b, |of_a, of_b| of_a == of_b)
}

fn survey(
    a: &[&RunRecord],
    b: &[&RunRecord],
    is_kept: fn(&BTreeSet<String>, &BTreeSet<String>) -> bool,
) -> Vec<ConfigDifference> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let (facts_a, facts_b) = (facts(a), facts(b));
    let names: BTreeSet<&(Area, String)> = facts_a.keys().chain(facts_b.keys()).collect();
    let empty = BTreeSet::new();
    let mut kept: Vec<ConfigDifference> = names
        .into_iter()
        .filter_map(|key| {
            let (of_a, of_b) = (facts_a.get(key).unwrap_or(&empty), facts_b.get(key).unwrap_or(&empty));
            let list = |values: &BTreeSet<String>| values.iter().cloned().collect();
            let (area, name) = key.clone();
            is_kept(of_a, of_b).then(|| ConfigDifference { area, name, a: list(of_a), b: list(of_b) })
        })
        .collect();
    let non_default: BTreeSet<&String> =
        a.iter().chain(b).flat_map(|record| &record.targets).flat_map(|t| &t.identity.non_default).collect();
    for difference in &mut kept {
        if difference.area == Area::Setting && !non_default.contains(&difference.name) {
            difference.area = Area::DefaultSetting;
        }
    }
    kept.sort_by(|x, y| x.area.cmp(&y.area).then_with(|| x.name.cmp(&y.name)));
    kept
}

type Facts = BTreeMap<(Area, String), BTreeSet<String>>;

/// Every fact of a side, with all its values.
fn facts(records: &[&RunRecord]) -> Facts {
    let mut facts = Facts::new();
    for record in records {
        let mut put = |area: Area, name: &str, value: String| {
            if !value.is_empty() {
                facts.entry((area, name.to_owned())).or_default().insert(value);
            }
        };
        for target in &record.targets {
            put_target_facts(target, record.kind == RecordKind::Run, &mut put);
        }
        put_plan_facts(record, &mut put);
        put_hosts_facts(record, &mut put);
        // For imported figures, the program only stored them.
        if record.kind == RecordKind::Run {
            put(Area::Source, "dyno", record.dyno_version.clone());
        }
        if let Some(from) = &record.imported {
            put(Area::Source, "file", from.file.clone());
        }
    }
    facts
}

type PutFact<'p> = &'p mut dyn FnMut(Area, &str, String);

fn put_target_facts(target: &TargetFacts, measured: bool, put: PutFact<'_>) {
    let identity = &target.identity;
    put(Area::Database, "product", identity.product.clone());
    put(Area::Database, "version", identity.version.clone());
    if measured {
        put(Area::Database, "engine", target.engine.clone());
        let same = if identity.same_host { "the driving host" } else { "another host" };
        put(Area::Database, "runs on", same.to_owned());
    }
    if identity.block_size > 0 {
        put(Area::Database, "block size", identity.block_size.to_string());
    }
    for (name, value) in &identity.settings {
        if !is_place(name, value) {
            put(Area::Setting, name, value.clone());
        }
    }
    if let Some(data) = &target.data {
        let figures = [
            ("schemas", u64::from(data.schemas)),
            ("rows per schema", data.rows),
            ("scan rows per schema", data.scan_rows),
            ("block size", data.block_size),
            ("compressible %", u64::from(data.compressible)),
            ("seed", data.seed),
        ];
        for (name, value) in figures {
            put(Area::Data, name, value.to_string());
        }
    }
}

/// Whether a setting is a path or address, which differs between any two instances.
fn is_place(name: &str, value: &str) -> bool {
    const NAMES: [&str; 7] =
        ["port", "_file", "_directory", "_directories", "_name", "external_pid", "listen_addresses"];
    let temporary = ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|start| value.starts_with(start));
    temporary || NAMES.iter().any(|end| name.ends_with(end))
}

fn put_plan_facts(record: &RunRecord, put: PutFact<'_>) {
    if let Some(version) = record.workload_version() {
        put(Area::Plan, "workload.version", version);
    }
    for key in keys::all().filter(|key| has_effect(key.path) && record.knows(key.path)) {
        let value = key.get(&record.plan).unwrap_or_else(|| "–".to_owned());
        // The URL is an address and not the kind of database; a temporary one says nothing.
        if key.path != "target.url" || !value.contains("/tmp/") {
            put(Area::Plan, key.path, value);
        }
    }
}

fn put_hosts_facts(record: &RunRecord, put: PutFact<'_>) {
    put_host_facts(record.host(), "", put);
    if let Some(host) = record.database_host().filter(|host| host.observed.is_some()) {
        put_host_facts(host, "database's ", put);
    }
}

/// The facts of one host; `whose` precedes their names.
fn put_host_facts(host: &Host, prefix: &str, put: PutFact<'_>) {
    let put: PutFact<'_> = &mut |area, name, value| put(area, &format!("{prefix}{name}"), value);
    put(Area::Kernel, "kernel", host.kernel.clone());
    put(Area::Kernel, "operating system", host.os.clone());
    put(Area::Hardware, "host", host.name.clone());
    put(Area::Hardware, "CPU", host.cpu_model.clone());
    for (name, value) in [
        ("CPUs", u64::from(host.cpus)),
        ("CPUs allowed", u64::from(host.cpus_allowed)),
        ("NUMA nodes", u64::from(host.numa_nodes)),
        ("memory bytes", host.memory_bytes),
    ] {
        if value > 0 {
            put(Area::Hardware, name, value.to_string());
        }
    }
    for (place, mount) in &host.mounts {
        put(Area::Mount, place, mount.clone());
    }
    for (name, value) in &host.facts {
        if is_noise(name) {
            continue;
        }
        let area = match name.split('.').next().unwrap_or_default() {
            "place" | "nfs" => Area::Mount,
            "device" | "cpu" | "net" | "virtualisation" | "clocksource" => Area::Hardware,
            _ => Area::KernelSetting,
        };
        put(area, name, value.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_without_effect_are_valid_plan_keys() {
        for path in KEYS_WITHOUT_EFFECT {
            assert!(keys::find(path).is_some(), "{path}");
        }
    }

    use crate::fixture;

    fn names(differences: &[ConfigDifference]) -> Vec<&str> {
        differences.iter().map(|difference| difference.name.as_str()).collect()
    }

    #[test]
    fn facts_that_change_with_time_are_no_difference_between_runs() {
        let a = fixture::postgres();
        let mut b = a.clone();
        b.id = "20260322-142501-7f3a".into();
        b.started_at = "2026-03-22T14:25:01Z".into();
        b.hosts[0].facts.insert("boot_id".into(), "another".into());
        b.hosts[0].facts.insert("huge_pages.free".into(), "17".into());
        b.targets[0].identity.settings.insert("data_directory".into(), "/tmp/x/1".into());
        b.targets[0].identity.settings.insert("stats_temp".into(), "/tmp/x/2".into());
        assert_eq!(differ(&[&a], &[&b]), []);
    }

    #[test]
    fn differences_are_ordered_by_suspicion() {
        let a = fixture::postgres();
        let mut b = a.clone();
        b.targets[0].identity.version = "16.2".into();
        b.targets[0].identity.settings.insert("shared_buffers".into(), "4GB".into());
        b.targets[0].identity.settings.insert("fsync".into(), "off".into());
        b.plan.workload.work_unit = 128;
        b.hosts[0].kernel = "Linux 6.8.0 x86_64".into();
        b.hosts[0].mounts.insert("/data".into(), "/dev/vda1 xfs rw,noatime".into());
        b.hosts[0].facts.insert("sysctl.vm.swappiness".into(), "1".into());
        let differences = differ(&[&a], &[&b]);
        assert_eq!(
            names(&differences),
            [
                "version",
                "workload.work_unit",
                "shared_buffers",
                "kernel",
                "/data",
                "sysctl.vm.swappiness",
                "fsync"
            ]
        );
        assert_eq!((&differences[2].a[0], &differences[2].b[0]), (&"128MB".to_owned(), &"4GB".to_owned()));
        assert_eq!(differences[6].area, Area::DefaultSetting);
    }

    #[test]
    fn settings_varied_on_both_sides_are_no_difference() {
        let a = fixture::postgres();
        let mut more = a.clone();
        more.plan.run.sessions_per_schema = 8;
        assert_eq!(differ(&[&a, &more], &[&more, &a]), []);
        assert_eq!(names(&differ(&[&a], &[&more])), ["run.sessions_per_schema"]);
    }

    #[test]
    fn imported_records_differ_only_in_known_settings() {
        let mut a = fixture::postgres();
        a.kind = RecordKind::Import;
        a.imported = Some(dyno_record::ImportSource {
            known: vec!["workload.work_unit".into()],
            ..Default::default()
        });
        let mut b = a.clone();
        b.plan.workload.update_pct = 77;
        assert_eq!(differ(&[&a], &[&b]), []);
        b.plan.workload.work_unit = 1;
        assert_eq!(names(&differ(&[&a], &[&b])), ["workload.work_unit"]);
    }
}
