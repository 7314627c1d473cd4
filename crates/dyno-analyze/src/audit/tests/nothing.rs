//! Tests that no check passes without data: every check gets empty, constant or one-sided input.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dyno_plan::{Rate, TimeSpan};
use dyno_record::window::{HotOps, ThinkTime, WorkCounts};
use dyno_record::{
    BlocksPerReadRequest, BulkLoadResult, ClockFit, Expected, Fleet, FleetHost, HostReading, InstanceLoad,
    InvariantResult, Learned, Mean, Observed, WorkloadFacts,
};

use super::concentrated::churned;
use super::counting::commits;
use super::runs::{hold, reading};
use super::*;

/// A run of a custom workload with everything that checks read.
fn custom() -> RunRecord {
    postgres(|record| {
        let expected = |class: &str, rows: f64| Expected {
            class: class.to_owned(),
            learned: Some(Learned {
                transactions: 100,
                alone_us: 100.0,
                rows: Some(1.0),
                counters: BTreeMap::from([(Counter::RowsWritten, Mean { mean: rows, error: 0.0 })]),
            }),
            ..Expected::default()
        };
        let held = InvariantResult {
            name: "money".into(),
            is: None,
            before: Some("20000".into()),
            after: Ok("20000".into()),
        };
        let loaded = BulkLoadResult {
            table: "t".into(),
            wanted: 100,
            part_rows: 10,
            rows: 100,
            bytes: 1_000,
            seconds: 1.0,
            indexes: (0, 0),
            constraints: 0,
            logged: true,
            indexed_s: Err(String::new()),
            durable_by: String::new(),
            durable_s: Ok(0.1),
            counted: Ok(100),
            wrong: Vec::new(),
        };
        record.workload = Some(WorkloadFacts {
            name: "bank".into(),
            writes: true,
            invariants: vec![held],
            expected: vec![expected("select", 0.0), expected("update", 64.0)],
            loaded: Some(Box::new(loaded)),
            ..WorkloadFacts::default()
        });
        let all = ops(record, "all");
        (all.write_statements, all.empty_writes) = (1_000, 0);
        record.counters.native.insert("status.Qcache_hits".into(), 0.0);
        let ops: BTreeMap<String, u64> =
            record.ops.iter().map(|(name, ops)| (name.clone(), ops.count)).collect();
        let rows_read = 2 * ops["all"];
        window(record).counted = Some(WorkCounts { ops, rows_read, ..WorkCounts::default() });
    })
}

/// A block workload with think times, hot spots and scans, on an observed device and observed
/// hosts.
fn watched() -> RunRecord {
    postgres(|record| {
        record.plan.data.schemas = 2;
        record.plan.workload.hot_spot_every = 4;
        record.plan.workload.hot_schema_every = 10;
        window(record).hot = Some(HotOps { spot: 2_500, keyed: 10_000, schema: 1_000, movable: 10_000 });
        record.plan.workload.think_every = 2;
        record.plan.workload.think_min = TimeSpan(Duration::from_millis(5));
        record.plan.workload.think_max = TimeSpan(Duration::from_millis(15));
        window(record).think = Some(ThinkTime { seconds: 50.0, sleeps: 5_000 });
        fixture::device_writes(record, 5_500.0);
        record.targets[0].identity.counting.scans = commits().scans;
        record.ops.insert("scan".into(), record.ops["select"].clone());
        hold(record, 1.0);
        window(record).counted.get_or_insert_default().ops.insert("scan".into(), 100);
        for (name, value) in [
            ("sysstat.table scans (long tables)", 100.0),
            ("sysstat.table scans (direct read)", 100.0),
            ("sysstat.physical reads", 1_000.0),
            ("sysstat.physical reads direct", 1_000.0),
        ] {
            record.counters.native.insert(name.into(), value);
        }
    })
}

/// An open loop of two driver hosts with an observed database host.
fn distributed() -> RunRecord {
    postgres(|record| {
        record.plan.workload.rate = Some(Rate(999.0));
        let host = |name: &str| FleetHost {
            name: name.into(),
            sessions: 2,
            client_cpus: Some(0.1),
            stall_us_max: Some(1_000.0),
            stall_s: Some(0.001),
            clock: ClockFit { exchanges: 20, bound_us: 100.0, ..ClockFit::default() },
            ..FleetHost::default()
        };
        record.fleet = Some(Fleet { hosts: vec![host("c1"), host("c2")], ..Fleet::default() });
        record.targets[0].instances = ["orcl1", "orcl2"]
            .map(|name| InstanceLoad { instance: Some(name.into()), sessions: 2, ..InstanceLoad::default() })
            .to_vec();
        let reading = HostReading { after_s: 0.0, bound_s: 0.001, took_s: 0.001 };
        let observed =
            Observed { begin: Some(reading), end: Some(reading), readings: (10, 0), ..Observed::default() };
        record.hosts[0].observed = Some(observed);
    })
}

/// Records whose figures agree: each check passes for one of them.
fn sound() -> Vec<RunRecord> {
    let requests =
        reading(BlocksPerReadRequest::bring(1.0, "each page has a request of its own"), 29_697, 29_500);
    vec![
        fixture::postgres(),
        fixture::sqlite(),
        custom(),
        watched(),
        distributed(),
        churned(|_| ()),
        requests,
        super::database_report::with_report(1.0, 1.0),
    ]
}

/// Checks of what sessions counted of their operations.
const OF_OPERATIONS: &[&str] = &[
    "empty_writes",
    "errors",
    "hot",
    "mix",
    "open_loop",
    "operations",
    "rows_found",
    "rows_left",
    "series_sum",
    "service_time",
    "think_time",
    "untimed",
    "update_values",
    "work_unit",
];

/// Checks of clocks, samples and statements that need neither operations nor counters.
const OF_OTHER_WITNESSES: &[&str] = &[
    "active_sessions",
    "data",
    "gate_skew",
    "hosts",
    "instance_balance",
    "invariants",
    "littles_law",
    "loaded",
    "others_sessions",
    "sessions",
    "stalls",
    "window_length",
];

/// Checks that look for changes: they pass where nothing changed.
const OF_CHANGES: &[&str] = &[
    "cached_results",
    "counters_epoch",
    "counters_known",
    "counters_monotone",
    "others_server",
    "settings",
    "shape",
    "wall_clock",
];

/// Checks that compare the database's counters with what sessions counted.
const OF_BOTH_SIDES: &[&str] = &[
    "commits",
    "commits_whole",
    "durable_commits",
    "edges",
    "expected",
    "heap_reads",
    "heap_reads_whole",
    "logical_reads",
    "logical_reads_whole",
    "others_test_tables",
    "redo_grew",
    "rows_churned",
    "rows_churned_whole",
    "rows_updated",
    "rows_updated_whole",
    "scan_path",
];

/// Checks that compare the database's counters with each other or with time.
const OF_THE_SERVER: &[&str] = &["database_report", "db_time", "others", "read_requests"];

/// Checks of the host's counters, with the database's and without.
const OF_DEVICES: &[&str] = &["device_writes", "physical_reads"];
const OF_MACHINES: &[&str] = &["client_cost", "host_readings", "processor"];

/// Checks that pass for one of the sound records after `spoil`.
fn passed(spoil: fn(&mut RunRecord)) -> BTreeSet<String> {
    let audits = sound().into_iter().flat_map(|mut record| {
        spoil(&mut record);
        audit(&record)
    });
    audits.filter(|check| check.status == Pass).map(|check| check.check).collect()
}

/// The difference from `expected` in the checks that pass after `spoil`, in words.
fn differences(case: &str, spoil: fn(&mut RunRecord), expected: &[&[&str]]) -> Option<String> {
    let expected: BTreeSet<String> = expected.concat().into_iter().map(str::to_owned).collect();
    let passed = passed(spoil);
    let more: Vec<_> = passed.difference(&expected).collect();
    let fewer: Vec<_> = expected.difference(&passed).collect();
    (passed != expected).then(|| format!("{case}: {more:?} pass, and {fewer:?} do not"))
}

fn without_counters(record: &mut RunRecord) {
    record.counters = dyno_record::Counters::default();
    if let Some(whole) = &mut record.whole {
        whole.counters = dyno_record::Counters::default();
    }
}

/// Removes everything that was measured.
fn empty(record: &mut RunRecord) {
    without_counters(record);
    (record.whole, record.window, record.workload, record.fleet) = (None, None, None, None);
    record.ops.clear();
    record.errors.clear();
    record.hosts.clear();
    record.targets.clear();
}

/// Counters that do not change while sessions work count something else.
fn constant(record: &mut RunRecord) {
    let whole = record.whole.as_mut().map(|whole| &mut whole.counters);
    for counters in std::iter::once(&mut record.counters).chain(whole) {
        for (counter, delta) in &mut counters.portable {
            *delta = moved(*counter, 0);
        }
        counters.native.values_mut().for_each(|delta| *delta = 0.0);
        counters.own.values_mut().for_each(|delta| *delta = 0);
        counters.elsewhere.values_mut().for_each(|delta| *delta = 0);
    }
    let hosts = record.hosts.iter_mut().flat_map(|host| host.counters.values_mut());
    hosts.for_each(|moved| *moved = 0.0);
}

/// The database has counted, but no session has counted an operation.
fn server_alone(record: &mut RunRecord) {
    record.ops.clear();
    record.whole = None;
    (window(record).counted, window(record).hot, window(record).think) = (None, None, None);
}

/// Sessions have counted operations, but no host was read.
fn without_hosts(record: &mut RunRecord) {
    record.hosts.clear();
    if let Some(fleet) = &mut record.fleet {
        fleet
            .hosts
            .iter_mut()
            .for_each(|host| (host.client_cpus, host.stall_us_max, host.stall_s) = (None, None, None));
    }
}

#[test]
fn every_audit_check_can_pass() {
    let named = [
        OF_OPERATIONS,
        OF_OTHER_WITNESSES,
        OF_CHANGES,
        OF_BOTH_SIDES,
        OF_THE_SERVER,
        OF_DEVICES,
        OF_MACHINES,
    ];
    let named: BTreeSet<&str> = named.concat().into_iter().collect();
    assert_eq!(named, check_names().collect(), "each check has a list of what it looks at");
    let passed = passed(|_| ());
    let never: Vec<&str> = check_names().filter(|name| !passed.contains(*name)).collect();
    assert_eq!(never, [""; 0], "add a record to `sound` for which the check passes");
}

#[test]
fn audit_check_without_evidence_does_not_pass() {
    let all = [
        differences("no counters", without_counters, &[OF_OPERATIONS, OF_OTHER_WITNESSES, OF_MACHINES]),
        // Sessions were counted when the gate opened.
        differences("empty", empty, &[&["gate_skew", "sessions"]]),
        // The counters do report 0 full scans past the cache and 0 blocks from the device.
        differences(
            "constant",
            constant,
            &[
                OF_OPERATIONS,
                OF_OTHER_WITNESSES,
                OF_CHANGES,
                &["client_cost", "edges", "host_readings", "physical_reads", "scan_path"],
            ],
        ),
        differences(
            "server alone",
            server_alone,
            &[OF_OTHER_WITNESSES, OF_CHANGES, OF_THE_SERVER, OF_DEVICES, OF_MACHINES],
        ),
        differences(
            "no hosts",
            without_hosts,
            &[OF_OPERATIONS, OF_OTHER_WITNESSES, OF_CHANGES, OF_BOTH_SIDES, OF_THE_SERVER],
        ),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}
