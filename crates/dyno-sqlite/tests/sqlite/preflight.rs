//! Tests what the SQLite engine reports before a run.

use crate::common::*;
use dyno_engine::{CustomNeeds, WorkloadNeeds};
use dyno_plan::read::{PlanSource, read};
use dyno_plan::{Engines, Plan};
use dyno_record::{Advice, Severity};

fn plan(url: &str, sets: &[&str]) -> Plan {
    let sets = sets.iter().map(|&set| set.to_owned()).collect();
    read(&PlanSource { sets, target: Some(url.to_owned()), ..PlanSource::of(Engines(&[dyno_sqlite::SPEC])) })
        .unwrap()
}

fn preflight(url: &str, sets: &[&str]) -> Vec<Advice> {
    let plan = plan(url, sets);
    open(url).preflight(&plan, &WorkloadNeeds::of_block_workload(&plan)).unwrap()
}

/// The severity of `check`, which must occur exactly once and, unless it is OK, with a hint.
fn severity(advice: &[Advice], check: &str) -> Severity {
    let matches: Vec<_> = advice.iter().filter(|one| one.check == check).collect();
    assert_eq!(matches.len(), 1, "{check} in {advice:#?}");
    assert_eq!(matches[0].severity == Severity::Ok, matches[0].way_out.is_empty(), "{:?}", matches[0]);
    matches[0].severity
}

const SMALL: &str = "data.scale=1000 blocks";

#[test]
fn valid_plan_has_no_finding_above_note() {
    let folder = folder();
    let advice = preflight(&url(&file(&folder), "direct=on"), &[SMALL, "workload.update_pct=0"]);
    for check in ["file", "disk space", "block size", "page cache", "durability"] {
        assert_eq!(severity(&advice, check), Severity::Ok, "{check}");
    }
    assert!(advice.iter().all(|one| one.severity <= Severity::Note), "{advice:#?}");
    assert!(!file(&folder).exists(), "checking must not make a file");
}

#[test]
fn sqlite_preflight_reports_each_problem() {
    let folder = folder();
    let path = file(&folder);
    for (parameters, sets, check, expected) in [
        ("", &["data.scale=900T"][..], "disk space", Severity::Fail),
        ("", &["data.scale=80M"], "page cache", Severity::Note),
        ("cache=1G", &["data.scale=80M"], "page cache", Severity::Ok),
        ("sync=off", &[SMALL], "durability", Severity::Warn),
        ("sync=normal", &[SMALL], "durability", Severity::Warn),
        ("sync=normal&journal=delete", &[SMALL], "durability", Severity::Ok),
        ("journal=off", &[SMALL], "durability", Severity::Warn),
        ("mmap=1G", &[SMALL], "mmap", Severity::Warn),
        ("locking=exclusive", &[SMALL, "run.sessions_per_schema=2"], "locking", Severity::Fail),
        ("", &[SMALL, "run.sessions_per_schema=2", "workload.update_pct=20"], "writers", Severity::Note),
        (
            "journal=delete",
            &[SMALL, "run.sessions_per_schema=2", "workload.update_pct=20"],
            "readers",
            Severity::Note,
        ),
    ] {
        let advice = preflight(&url(&path, parameters), sets);
        assert_eq!(severity(&advice, check), expected, "{parameters} {sets:?}");
    }
}

#[test]
fn existing_file_with_other_page_size_fails_preflight() {
    let folder = folder();
    plain_connection(&file(&folder)).execute_batch("PRAGMA page_size = 8192; CREATE TABLE other(a)").unwrap();
    let advice = preflight(&url(&file(&folder), ""), &[SMALL, "data.block_size=4K"]);
    assert_eq!(severity(&advice, "block size"), Severity::Fail);
}

#[test]
fn missing_directory_fails_preflight() {
    let folder = folder();
    let path = folder.path().join("no/such/folder/dyno.db");
    let advice = preflight(&url(&path, ""), &[SMALL]);
    assert_eq!(severity(&advice, "file"), Severity::Fail);
}

#[test]
fn preflight_warns_about_files_in_memory() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else { return };
    let advice = preflight(&url(&file(&folder), ""), &[SMALL]);
    assert_eq!(severity(&advice, "file system"), Severity::Warn);
}

#[test]
fn memory_database_preflight_judges_storage_and_memory() {
    let small = preflight("sqlite::memory:?cache=64M", &[SMALL]);
    assert_eq!(severity(&small, "storage"), Severity::Note);
    assert!(small.iter().all(|one| one.check != "memory" && one.check != "disk space"));
    let copied = preflight("sqlite::memory:", &["data.scale=80M"]);
    assert_eq!(severity(&copied, "memory"), Severity::Note);
    let large = preflight("sqlite::memory:", &["data.scale=4G"]);
    assert_eq!(severity(&large, "memory"), Severity::Fail);
}

#[test]
fn preflight_findings_depend_on_the_workload() {
    let folder = folder();
    let path = file(&folder);
    let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
        INSERT INTO orders SELECT randomblob(50000) FROM n";
    plain_connection(&path).execute_batch(&format!("CREATE TABLE orders(pad); {rows}")).unwrap();
    let custom = |writer: Option<&str>| {
        let writer = writer.map(str::to_owned);
        WorkloadNeeds::of_custom_workloads(CustomNeeds { writer, ..CustomNeeds::default() }, false)
    };
    let url = url(&path, "cache=1M");
    let updates = "workload.update_pct=20";
    let of_plan = |sets: &[&str]| plan(&url, &[sets, &["run.sessions_per_schema=2"]].concat());
    let block = |sets: &[&str]| WorkloadNeeds::of_block_workload(&of_plan(sets));
    for (name, needs, sets, writes) in [
        ("block, reading", block(&[SMALL]), &[SMALL][..], false),
        ("block, updating", block(&[SMALL, updates]), &[SMALL, updates], true),
        (
            "block, inserting",
            block(&[SMALL, "workload.insert_pct=10"]),
            &[SMALL, "workload.insert_pct=10"],
            true,
        ),
        ("custom, reading", custom(None), &[updates], false),
        ("custom, writing", custom(Some("shop")), &["workload.update_pct=0"], true),
    ] {
        let advice = open(&url).preflight(&of_plan(sets), &needs).unwrap();
        assert_eq!(advice.iter().any(|one| one.check == "writers"), writes, "{name}: {advice:#?}");
        for check in ["disk space", "block size"] {
            let is_there = advice.iter().any(|one| one.check == check);
            assert_eq!(is_there, needs.uses_test_tables(), "{name}: {check}");
        }
        let cache = advice.iter().find(|one| one.check == "page cache").unwrap();
        if !needs.uses_test_tables() {
            let expected = "the file is larger than the 1.0 MiB cache";
            assert!(cache.found.starts_with(expected), "{name}: {cache:?}");
        }
    }
}
