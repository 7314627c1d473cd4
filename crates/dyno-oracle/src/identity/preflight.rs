//! Lists all checks that run before a run.

use dyno_plan::Plan;
use dyno_record::Advice;

use super::super::connect::OracleConnectConfig;
use super::super::connection::OracleConnection;
use super::facts::{OraclePreflightFacts, ask};
use super::{checks, durability, instance_settings, profile_limits, room};
use dyno_engine::advice::{DataSize, data, data_of};
use dyno_engine::{TargetError, WorkloadNeeds};

/// Returns everything that would falsify or prevent a run of `plan`, and the checks that passed.
pub(crate) fn preflight(
    connection: &OracleConnection,
    config: &OracleConnectConfig,
    plan: &Plan,
    needs: &WorkloadNeeds,
) -> Result<Vec<Advice>, TargetError> {
    let facts = ask(connection, config, needs)?;
    let mut findings = advise(&facts, plan, needs);
    findings.extend(profile_limits::profile_limits(&facts, plan));
    findings.extend(checks::packet_size(config.sdu));
    findings.extend(checks::client_settings(&config.without_effect));
    Ok(findings)
}

/// The findings in the order in which they are shown.
pub(super) fn advise(facts: &OraclePreflightFacts, plan: &Plan, needs: &WorkloadNeeds) -> Vec<Advice> {
    let spec = data_of(plan, facts.tablespace.block_size, &facts.data);
    let size = DataSize::of(needs, room::data_bytes(&spec), facts.named_bytes);
    let mut all = vec![checks::reach(facts), checks::version(facts)];
    all.extend(needs.loads.then(|| checks::privileges(facts, needs)));
    all.extend([checks::views(facts), checks::sessions(facts, plan, needs), checks::writable(facts, needs)]);
    all.extend(needs.uses_test_tables().then(|| checks::block_size(facts, plan)));
    all.extend([
        checks::other_sessions(facts),
        checks::result_cache(facts),
        checks::cursor_sharing(facts),
        durability::commit(facts, plan),
        durability::redo_logs(facts, plan, needs),
        durability::logging(facts),
    ]);
    all.extend(needs.uses_test_tables().then(|| room::tablespace(facts)));
    all.push(room::file_io(facts));
    all.extend(instance_settings::instance_settings(facts, plan, needs));
    all.extend(size.map(|size| room::cache(facts, size)));
    if needs.uses_test_tables() {
        all.extend([data(&facts.data, &spec), room::space(facts, &spec, plan, needs)]);
    }
    all
}

#[cfg(test)]
pub(super) mod tests {
    use dyno_engine::settings::ServerSettings;
    use dyno_engine::{CustomNeeds, DataState};
    use dyno_plan::Engines;
    use dyno_plan::read::{PlanSource, read};
    use dyno_record::Severity;

    use super::super::super::layout::Tablespace;
    use super::*;

    /// Facts of a database with the role `role` and without test tables, in which a custom workload names 12
    /// MiB of tables.
    pub(in super::super) fn facts(role: &str) -> OraclePreflightFacts {
        OraclePreflightFacts {
            session: super::super::session_identity::OracleSessionIdentity {
                role: role.to_owned(),
                ..Default::default()
            },
            version: String::new(),
            release: (19, 21),
            settings: ServerSettings::of(&[("db_cache_size", "1073741824")]),
            tablespace: Tablespace {
                name: "USERS".to_owned(),
                block_size: 8192,
                space_management: "AUTO".to_owned(),
                compressed: false,
                logging: "LOGGING".to_owned(),
                status: "ONLINE".to_owned(),
            },
            missing_privileges: Vec::new(),
            unreadable: Vec::new(),
            profile_limits: Vec::new(),
            buffer_cache: None,
            rac: false,
            sessions: Some(10),
            others: None,
            sessions_per_user: None,
            database: None,
            redo: Some((3, 200 << 20)),
            redo_used: None,
            nfs_servers: None,
            quota_left: None,
            has_quota: true,
            free_bytes: None,
            same_host: false,
            named_bytes: Some(12 << 20),
            data: Ok(DataState::Empty),
        }
    }

    pub(in super::super) fn plan(sets: &[&str]) -> Plan {
        let sets = sets.iter().map(|&set| set.to_owned()).collect();
        let target = Some("oracle://u@h/s".to_owned());
        read(&PlanSource { sets, target, ..PlanSource::of(Engines(&[crate::SPEC])) }).unwrap()
    }

    fn custom(writer: Option<&str>) -> WorkloadNeeds {
        let writer = writer.map(str::to_owned);
        WorkloadNeeds::of_custom_workloads(CustomNeeds { writer, ..CustomNeeds::default() }, true)
    }

    #[test]
    fn current_cache_size_is_reported_and_large_packets_warned() {
        let needs = WorkloadNeeds::of_block_workload(&plan(&[]));
        let advice_for = |bytes| {
            advise(&OraclePreflightFacts { buffer_cache: bytes, ..facts("PRIMARY") }, &plan(&[]), &needs)
        };
        let cache = |bytes| advice_for(bytes).into_iter().find(|one| one.check == "cache").unwrap().found;
        assert!(cache(Some(96 << 20)).contains("the buffer cache is 96"), "{}", cache(Some(96 << 20)));
        assert!(cache(None).contains("db_cache_size is 1.0 GiB"), "{}", cache(None));
        assert!(checks::packet_size(None).is_none());
        assert!(checks::packet_size(Some(8_192)).is_none());
        assert!(checks::packet_size(Some(65_535)).unwrap().found.contains("sdu is 65535"));
    }

    #[test]
    fn preflight_findings_depend_on_the_workload() {
        let block = |sets: &[&str]| WorkloadNeeds::of_block_workload(&plan(sets));
        let (updates, inserts) = ("workload.update_pct=20", "workload.insert_pct=10");
        for (name, needs, sets, writes, on_standby) in [
            ("block, reading", block(&[]), &[][..], false, Severity::Fail),
            (
                "block, reading from a primary's copy",
                block(&[]).on_read_only_target(),
                &[],
                false,
                Severity::Note,
            ),
            ("block, updating", block(&[updates]), &[updates], true, Severity::Fail),
            ("block, inserting", block(&[inserts]), &[inserts], true, Severity::Fail),
            ("custom, reading", custom(None), &[updates], false, Severity::Note),
            ("custom, writing", custom(Some("shop")), &[], true, Severity::Fail),
        ] {
            let advice = |role: &str| advise(&facts(role), &plan(sets), &needs);
            let find = |advice: &[Advice], check: &str| advice.iter().find(|one| one.check == check).cloned();
            let primary = advice("PRIMARY");
            let redo = find(&primary, "redo_logs").unwrap();
            assert_eq!(redo.found.contains("only reads"), !writes, "{name}: {redo:?}");
            for check in ["data", "space", "block_size", "tablespace"] {
                assert_eq!(find(&primary, check).is_some(), needs.uses_test_tables(), "{name}: {check}");
            }
            let cache = find(&primary, "cache").unwrap().found;
            let tables = cache.starts_with("the workload's tables have 12.0 MiB");
            assert_eq!(tables, !needs.uses_test_tables(), "{name}: {cache}");
            assert_eq!(find(&primary, "writable").unwrap().severity, Severity::Ok, "{name}");
            let writable = find(&advice("PHYSICAL STANDBY"), "writable").unwrap();
            assert_eq!(writable.severity, on_standby, "{name}: {writable:?}");
        }
    }

    #[test]
    fn missing_privileges_fail_only_when_loading_test_tables() {
        let lacking = OraclePreflightFacts { missing_privileges: vec!["CREATE TABLE"], ..facts("PRIMARY") };
        let severity = |needs: &WorkloadNeeds| {
            let advice = advise(&lacking, &plan(&[]), needs);
            advice.iter().find(|one| one.check == "privileges").map(|one| one.severity)
        };
        assert_eq!(severity(&WorkloadNeeds::of_block_workload(&plan(&[]))), Some(Severity::Fail));
        assert_eq!(severity(&custom(None)), Some(Severity::Note));
        assert_eq!(severity(&custom(None).on_read_only_target()), None, "nothing is loaded there");
    }
}
