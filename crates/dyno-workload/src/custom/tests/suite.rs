//! Tests of the suite's pages, valid and invalid.

use std::collections::BTreeSet;
use std::path::Path;

use crate::custom::suite::{SuiteTestSessions, catalogue};
use crate::custom::{CustomWorkload, WorkloadChoice};

const ENGINES: [&str; 4] = ["sqlite", "postgres", "mysql", "oracle"];

#[test]
fn test_catalog_has_all_groups_with_unique_tests() {
    let tests = catalogue().unwrap();
    assert!(tests.len() >= 48, "{}", tests.len());
    let mut groups: Vec<&str> = tests.iter().map(|test| test.group.as_str()).collect();
    groups.dedup();
    assert_eq!(groups, ["cpu", "server", "storage", "oltp", "load", "analytics"]);
    let ids: BTreeSet<&str> = tests.iter().map(|test| test.id.as_str()).collect();
    assert_eq!(ids.len(), tests.len());
    for test in &tests {
        assert!(test.id.starts_with(&test.group), "{} is of {}", test.id, test.group);
        assert!(
            !matches!(&test.load, SuiteTestSessions::Fixed(sessions) if sessions.is_empty()),
            "{}",
            test.id
        );
        assert!(test.without.keys().all(|engine| ENGINES.contains(&engine.as_str())), "{}", test.id);
    }
}

#[test]
fn catalog_tests_have_sql_for_each_supported_engine() {
    for test in catalogue().unwrap() {
        let plan_value =
            |key: &str| test.plan.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str());
        for (folder, mix) in [("workload.folder", "workload.mix"), ("workload.beside", "workload.beside_mix")]
        {
            let Some(folder) = plan_value(folder) else { continue };
            let choice = WorkloadChoice { mix: plan_value(mix), ..WorkloadChoice::default() };
            let custom_workload = CustomWorkload::read_as(Path::new(folder), choice).unwrap();
            assert!(
                !custom_workload.tables().is_empty(),
                "{}: what it makes is dropped by its description",
                test.id
            );
            for engine in ENGINES {
                let has_sql = custom_workload.described(engine).is_ok()
                    && custom_workload.setup(engine).is_ok()
                    && custom_workload.teardown(engine).is_ok();
                let is_without = test.without.contains_key(engine);
                assert!(has_sql || is_without, "{}: there is no SQL for {engine}", test.id);
            }
        }
    }
}

#[test]
fn builtin_workload_is_read_by_its_name() {
    assert_eq!(CustomWorkload::read(Path::new("@tpcb")).unwrap().name(), "tpcb");
    assert_eq!(CustomWorkload::read(Path::new("@suite/cpu")).unwrap().name(), "suite_cpu");
    let fault = CustomWorkload::read(Path::new("@tcpb")).unwrap_err();
    assert_eq!(fault.to_string(), "@tcpb: unknown ready workload; did you mean tpcb?");
}
