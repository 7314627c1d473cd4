//! Several targets in one run: the record has the totals and the part of each target, which can become its own record.
//!
//! The record's own figures are totals over all targets, and each target stores its own figures. Code that displays or
//! analyzes one run can therefore also handle the part of one target.

use std::collections::BTreeMap;

use crate::host::{Host, Role};
use crate::platform::TargetFacts;
use crate::record::RunRecord;
use crate::target_results::TargetFigures;

/// The name for the data directory of the target with this number (from 1) in facts of the host: `target_2.data`.
pub fn place_of_target(number: usize, place: &str) -> String {
    format!("target_{number}.{place}")
}

impl RunRecord {
    /// Whether the record has totals and figures of several targets.
    pub fn is_total(&self) -> bool {
        self.targets.iter().any(|target| target.own.is_some())
    }

    /// The part of each target as a record, named after this one (`20260321-142501-7f3a/1`). Empty for a single target, or if the
    /// parts are unknown.
    ///
    /// The plan is that of all targets, except for the URL and for writes that the target did not receive.
    pub fn parts(&self) -> Vec<Self> {
        (0..self.targets.len()).filter_map(|at| self.part(at)).collect()
    }

    fn part(&self, at: usize) -> Option<Self> {
        let facts = self.targets.get(at)?;
        let target_part = facts.own.as_deref()?;
        let mut target = facts.clone();
        target.own = None;
        let (mut plan, mut classes) = (self.plan.of_target(at), self.classes.clone());
        // A custom workload runs on such a target only if it writes nothing, so its shares stay as requested.
        if target_part.reads_only.is_some() && self.workload.is_none() {
            plan.workload = plan.workload.reads_only();
            classes
                .iter_mut()
                .filter(|class| !class.share.of_reads)
                .for_each(|class| class.share.percent = Some(0));
        }
        let is_its =
            |host: &&Host| host.observed.as_ref().is_none_or(|seen| seen.targets.contains(&(at + 1)));
        let its = self.hosts.iter().filter(is_its);
        let hosts = its.map(|host| host_for_target(host, at + 1, &target, target_part)).collect();
        Some(Self {
            schema_version: self.schema_version,
            kind: self.kind,
            id: format!("{}/{}", self.id, at + 1),
            started_at: self.started_at.clone(),
            ended_at: self.ended_at.clone(),
            dyno_version: self.dyno_version.clone(),
            status: self.status,
            reasons: self.reasons.clone(),
            variant: self.variant.clone(),
            tags: self.tags.clone(),
            options: self.options.clone(),
            one_target_of: Some(self.id.clone()),
            imported: self.imported.clone(),
            // As far as known, these describe all targets together.
            imported_metrics: Vec::new(),
            calibration: None,
            watched: None,
            plan,
            part_of: self.part_of.clone(),
            targets: vec![target],
            fleet: self.fleet.clone(),
            hosts,
            gate: target_part.gate.clone(),
            window: target_part.window.clone(),
            workload: self.workload.clone(),
            beside: self.beside.clone(),
            classes,
            ops: target_part.ops.clone(),
            metrics: target_part.metrics.clone(),
            counters: target_part.counters.clone(),
            whole: target_part.whole.clone(),
            waits: target_part.waits.clone(),
            statements: target_part.statements.clone(),
            tables: target_part.tables.clone(),
            // It describes the host, and so all targets together.
            profile: None,
            database_report: None,
            series: target_part.series.clone(),
            phases: Vec::new(),
            errors: target_part.errors.clone(),
            outages: self.outages.iter().filter(|outage| outage.target == Some(at + 1)).cloned().collect(),
            whose: target_part.whose.clone(),
            audit: target_part.audit.clone(),
        })
    }
}

/// The host as if the target with this number were the only one: only the facts and counters of its directories.
fn host_for_target(host: &Host, number: usize, target: &TargetFacts, target_part: &TargetFigures) -> Host {
    let mut target_host = host.clone();
    target_host.facts = facts_of_target(host, number);
    if let Some(observed) = &mut target_host.observed {
        // On its own host, everything belongs to this target except what belongs to other targets, too.
        observed.targets = [1].into();
        return target_host;
    }
    target_host.counters.clear();
    if host.roles.contains(&Role::Driver) {
        target_host.counters.clone_from(&target_part.host_counters);
        if !target.identity.same_host {
            target_host.roles.remove(&Role::Database);
        }
    }
    target_host
}

fn facts_of_target(host: &Host, number: usize) -> BTreeMap<String, String> {
    let prefix = format!("place.{}", place_of_target(number, ""));
    let facts = host.facts.iter().filter_map(|(name, value)| {
        let name = match name.strip_prefix(&prefix) {
            Some(rest) => format!("place.{rest}"),
            None if name.starts_with("place.target_") => return None,
            None => name.clone(),
        };
        Some((name, value.clone()))
    });
    facts.collect()
}

#[cfg(test)]
mod tests {
    use crate::sample;

    #[test]
    fn each_target_has_its_own_record() {
        let whole = sample::several();
        let parts = whole.parts();
        assert!(whole.is_total());
        assert!(parts.iter().all(|part| !part.is_total() && part.parts().is_empty()));
        let ids: Vec<_> = parts.iter().map(|part| part.id.as_str()).collect();
        assert_eq!(ids, ["20260321-142501-7f3a/1", "20260321-142501-7f3a/2"]);
        assert_eq!(parts[1].one_target_of.as_deref(), Some("20260321-142501-7f3a"));
        assert_eq!((parts[0].plan.workload.update_pct, parts[1].plan.workload.update_pct), (20, 0));
        assert_eq!(parts[1].plan.target.all(), ["postgres://dyno@db2/bench".parse().unwrap()]);
        let devices: Vec<_> =
            parts.iter().map(|part| part.driver().facts["place.data.device"].as_str()).collect();
        assert_eq!(devices, ["vda", "vdb"]);
        assert_eq!(parts[1].driver().facts.len(), 2, "other targets' places are not its own");
        let counters: Vec<_> = parts.iter().flat_map(|part| part.driver().counters.keys()).collect();
        assert_eq!(counters, ["device.vda.reads"; 2], "the machine's processors are all targets'");
    }

    #[test]
    fn custom_workload_shares_are_kept_on_replica() {
        let shares = |record: &crate::RunRecord| {
            record.classes.iter().map(|class| class.share.percent).collect::<Vec<_>>()
        };
        let mut block = sample::several();
        block.classes = vec![crate::Class {
            name: "look".into(),
            plural: "look".into(),
            rows: crate::RowEffect::Read,
            mixed: false,
            rows_per_op: None,
            scans: false,
            commits: 0,
            share: crate::ClassShare { percent: Some(100), of_reads: false, turned: 0 },
            workload: 0,
        }];
        assert_ne!(shares(&block.parts()[1]), shares(&block), "a replica gets no updates");
        let mut custom = block;
        custom.workload = Some(crate::WorkloadFacts { name: "look".into(), ..Default::default() });
        for part in custom.parts() {
            assert_eq!(shares(&part), shares(&custom), "its transactions only read, on each target");
            assert_eq!(part.plan.workload, custom.plan.workload);
        }
    }

    #[test]
    fn target_host_is_the_one_observed_for_it() {
        let mut whole = sample::several();
        let far = |name: &str, target: usize| crate::Host {
            name: name.into(),
            roles: [crate::Role::Database].into(),
            facts: [(format!("place.target_{target}.data.device"), "sdb".to_owned())].into(),
            counters: [("cpu.busy_pct".to_owned(), 50.0)].into(),
            observed: Some(crate::Observed { targets: [target].into(), ..Default::default() }),
            ..Default::default()
        };
        whole.hosts.push(far("db2", 2));
        whole.targets[1].identity.same_host = false;
        let name = |number| whole.host_of_target(number).map(|host| host.name.as_str());
        assert_eq!((name(1), name(2)), (Some("db1"), Some("db2")));
        let parts = whole.parts();
        assert_eq!((parts[0].hosts.len(), parts[1].hosts.len()), (1, 2));
        let its = parts[1].database_host().unwrap();
        assert_eq!((its.name.as_str(), its.facts["place.data.device"].as_str()), ("db2", "sdb"));
        assert_eq!(its.counters["cpu.busy_pct"], 50.0);
        assert!(parts[1].is_observed_elsewhere());
        assert!(!parts[0].is_observed_elsewhere());
        assert_eq!(whole.database_host(), None, "they are two");
        whole.hosts.truncate(1);
        assert_eq!(whole.host_of_target(2), None, "nobody looked at it");
    }

    #[test]
    fn record_of_single_target_has_no_parts() {
        assert!(sample::full().parts().is_empty());
        assert!(!sample::full().is_total());
    }

    #[test]
    fn record_with_several_targets_round_trips() {
        let record = sample::several();
        let read = crate::RunRecord::from_json(&record.to_json().unwrap()).unwrap();
        assert_eq!(read, record);
    }
}
