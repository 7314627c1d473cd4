//! Facts of a run as names and values, and those that differ between runs without being varied on purpose.

use std::collections::{BTreeMap, BTreeSet};

use dyno_analyze::differences;
use dyno_analyze::points::{SESSIONS, SettingAxis};
use dyno_plan::keys;
use dyno_record::{Host, RecordKind, RunRecord};

use crate::content::role;

/// A fact that differs between runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactDifference {
    /// Name of the fact: `setting shared_buffers`.
    pub name: String,
    /// Each value with its number of runs, most frequent first.
    pub values: Vec<(String, usize)>,
}

/// All facts of a run: plan, database, host.
pub(crate) fn facts(record: &RunRecord) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut add = |name: String, value: &str| {
        facts.insert(name, value.to_owned());
    };
    for key in keys::all().filter(|key| record.knows(key.path)) {
        if let Some(value) = key.get(&record.plan) {
            add(format!("plan {}", key.path), &value);
        }
    }
    for (i, target) in record.targets.iter().enumerate() {
        let prefix = if record.targets.len() > 1 { format!("target {} ", i + 1) } else { String::new() };
        let database = format!("{} {}", target.identity.product, target.identity.version);
        if !database.trim().is_empty() {
            add(format!("{prefix}database"), &database);
        }
        for (name, value) in &target.identity.settings {
            add(format!("{prefix}setting {name}"), value);
        }
    }
    for host in
        std::iter::once(record.host()).chain(record.hosts.iter().filter(|host| is_beside(record, host)))
    {
        of_host(record, host, &mut add);
    }
    if record.kind == RecordKind::Run {
        add("dyno".into(), &record.dyno_version);
    }
    facts
}

/// Whether a host is shown besides the first one.
pub(crate) fn is_beside(record: &RunRecord, host: &Host) -> bool {
    host.observed.is_some() && !std::ptr::eq(host, record.host())
}

/// The facts of one host; names of other hosts' facts include the host.
fn of_host(record: &RunRecord, host: &Host, add: &mut dyn FnMut(String, &str)) {
    let beside = match &host.observed {
        Some(observed) if is_beside(record, host) => {
            let numbers: Vec<String> = observed.targets.iter().map(usize::to_string).collect();
            format!("of the database {} ", numbers.join(" ")).replace("database 1 ", "database ")
        }
        _ => String::new(),
    };
    let mut add = |name: String, value: &str| {
        let (kind, rest) = name.split_once(' ').unwrap_or((name.as_str(), ""));
        add(format!("{kind} {beside}{rest}"), value);
    };
    let role = role::of(record, host);
    let named = [
        ("kernel", &host.kernel),
        ("os", &host.os),
        ("cpu", &host.cpu_model),
        ("name", &host.name),
        ("role", &role),
    ];
    for (name, value) in named.into_iter().filter(|(_, value)| !value.is_empty()) {
        add(format!("host {name}"), value);
    }
    if host.cpus > 0 {
        let allowed =
            if host.cpus_allowed > 0 { format!("{} of ", host.cpus_allowed) } else { String::new() };
        add("host cpus".into(), &format!("{allowed}{}", host.cpus));
    }
    for (name, value) in &host.facts {
        add(format!("host {name}"), value);
    }
    for (path, value) in &host.mounts {
        add(format!("mount {path}"), value);
    }
}

/// Whether a difference in fact `name` may reflect what was measured.
fn is_relevant(name: &str) -> bool {
    match name.split_once(' ') {
        Some(("plan", key)) => differences::has_effect(key),
        Some(("host", fact)) => !differences::is_noise(fact.rsplit(' ').next().unwrap_or(fact)),
        _ => true,
    }
}

/// The facts of all runs, collected run by run.
#[derive(Debug, Default)]
pub struct FactCounts {
    runs: usize,
    /// Number of runs for each value of each fact.
    value_counts: BTreeMap<String, BTreeMap<String, usize>>,
}

impl FactCounts {
    pub fn add_run(&mut self, record: &RunRecord) {
        self.runs += 1;
        for (name, value) in facts(record).into_iter().filter(|(name, _)| is_relevant(name)) {
            *self.value_counts.entry(name).or_default().entry(value).or_insert(0) += 1;
        }
    }

    /// The facts in which the runs differ, without the settings varied on purpose.
    pub fn differences(&self, varied: &[SettingAxis]) -> Vec<FactDifference> {
        let key = |axis: &SettingAxis| match axis.path.as_str() {
            SESSIONS => "plan run.sessions_per_schema".to_owned(),
            path => format!("plan {path}"),
        };
        let varied: BTreeSet<String> = varied.iter().map(key).collect();
        let mut differences = Vec::new();
        for (name, values) in self.value_counts.iter().filter(|(name, _)| !varied.contains(*name)) {
            let mut values: Vec<(String, usize)> =
                values.iter().map(|(value, runs)| (value.clone(), *runs)).collect();
            let runs_with_fact: usize = values.iter().map(|(_, runs)| runs).sum();
            if runs_with_fact < self.runs {
                values.push(("not told".into(), self.runs - runs_with_fact));
            }
            values.sort_by_key(|(_, runs)| std::cmp::Reverse(*runs));
            if values.len() > 1 {
                differences.push(FactDifference { name: name.clone(), values });
            }
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use dyno_analyze::{fixture, points};

    use super::*;

    #[test]
    fn varied_settings_are_no_difference_but_others_are() {
        let mut other = fixture::postgres();
        other.plan.run.sessions_per_schema = 9;
        other.hosts[0].kernel = "Linux 9".into();
        other.hosts[0].facts.insert("sysctl.x".into(), "1".into());
        other.hosts[0].facts.insert("boot_id".into(), "another".into());
        other.plan.workload.seed = Some(99);
        let records = [fixture::postgres(), other];
        let mut facts = FactCounts::default();
        records.iter().for_each(|record| facts.add_run(record));
        let differences = facts.differences(&points(&records).axes);
        let names: Vec<String> = differences.into_iter().map(|d| d.name).collect();
        assert!(names.contains(&"host sysctl.x".to_owned()), "{names:?}");
        assert!(names.contains(&"host kernel".to_owned()), "{names:?}");
        for alike in ["plan run.sessions_per_schema", "plan workload.seed", "host boot_id"] {
            assert!(!names.contains(&alike.to_owned()), "{alike} in {names:?}");
        }
    }
}
