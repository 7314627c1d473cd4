//! Each rule of a run with its evidence, and without it; and the reference of all rules.

use std::collections::BTreeSet;

use dyno_plan::{Connect, KeyDistribution, Rate, TimeSpan};
use dyno_record::{
    AuditCheck, CheckStatus, Counter, Metric, PartOf, PointSetting, RunRecord, SweepKind, Unit, Waits,
    WorkloadFacts,
};

use super::*;
use crate::fixture;
use crate::limited::{BottleneckEvidence, Component, Confidence};

type Change = fn(&mut RunRecord);

/// A rule, the limit, the evidence, and what takes the evidence away.
type Case = (&'static str, Component, Change, Change);

fn limit(component: Component) -> Bottleneck {
    let figures =
        [("others_of_host_pct", 30.0), ("client_of_host_pct", 60.0), ("database_quota_used_pct", 95.0)];
    let evidence =
        figures.map(|(name, value)| BottleneckEvidence { name: name.into(), value, unit: Unit::Percent });
    Bottleneck {
        by: component,
        what: if component == Component::Locks { "row locks (tuple)" } else { component.word() }.into(),
        confidence: Confidence::Sure,
        sentence: "reads wait before they reach it".into(),
        used_pct: None,
        evidence: evidence.into(),
        asked_per_s: (component == Component::Rate).then_some(500.0),
        spoiled: Vec::new(),
    }
}

fn base() -> RunRecord {
    let mut record = fixture::postgres();
    record.plan.workload.update_pct = 100;
    record.audit.clear();
    record
}

fn warn(record: &mut RunRecord, check: &str, detail: &str) {
    let (check, detail) = (check.to_owned(), detail.to_owned());
    let (expected, observed) = Default::default();
    record.audit.push(AuditCheck { check, status: CheckStatus::Warn, expected, observed, detail });
}

fn pass(record: &mut RunRecord) {
    record.audit.iter_mut().for_each(|check| check.status = CheckStatus::Pass);
}

fn set(record: &mut RunRecord, settings: &[(&str, &str)]) {
    let identity = &mut record.targets[0].identity;
    identity.settings.extend(settings.iter().map(|(name, value)| ((*name).into(), (*value).into())));
}

fn count(record: &mut RunRecord, name: &str, value: f64) {
    record.counters.native.insert(name.into(), value);
}

fn metric(record: &mut RunRecord, name: &str, value: f64) {
    record.metrics.insert(name.into(), Metric::Value { value, unit: Unit::Count });
}

fn redo(record: &mut RunRecord, bytes: u64) {
    record.counters.portable.insert(Counter::RedoBytes, fixture::moved(Counter::RedoBytes, bytes));
}

fn place(record: &mut RunRecord, redo: &str) {
    record.hosts[0].facts.insert("place.redo.device".into(), redo.into());
    metric(record, "physical_writes_per_s", 900.0);
}

fn samples(record: &mut RunRecord, number: u64) {
    if let Waits::Sampled { samples, .. } = &mut record.waits {
        *samples = number;
    }
}

/// Throughput that rises by half within the window.
fn rising(record: &mut RunRecord) {
    let number = record.series.points.len() as u64;
    for (at, point) in record.series.points.iter_mut().enumerate() {
        point.ops = 1_000 + 500 * at as u64 / number;
    }
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("foreign_load", Component::Cpu, |r| warn(r, "processor", "others used it, largest: sh (55 %)"), pass),
    ("hypervisor", Component::Cpu, |r| metric(r, "cpu_steal_pct", 6.0), |r| metric(r, "cpu_steal_pct", 1.0)),
    ("background_sessions", Component::Cpu, |r| warn(r, "others_sessions", "psql was active"), pass),
    ("page_cache", Component::Device, |r| warn(r, "physical_reads", "90.0 % came from the operating system's page cache"), pass),
    ("page_cache", Component::Device, |r| warn(r, "physical_reads", "90.0 % came from the operating system's page cache"), |r| r.audit.last_mut().unwrap().detail = "other programs read, too".into()),
    ("few_samples", Component::Unknown, |r| samples(r, 5), |r| samples(r, 100)),
    ("short_window", Component::Cpu, |r| r.window.as_mut().unwrap().seconds = 3.0, |r| r.window.as_mut().unwrap().seconds = 60.0),
    ("warm_up", Component::Cpu, rising, |r| r.series.points.iter_mut().for_each(|point| point.ops = 1_000)),
    ("start_skew", Component::Cpu, |r| { warn(r, "gate_skew", "apart"); r.plan.run.warmup = TimeSpan::default(); }, pass),
    ("failed_operations", Component::Cpu, |r| warn(r, "errors", "deadlocks"), pass),
    ("client_on_shared_host", Component::Client, |r| warn(r, "client_cost", "60 %"), pass),
    ("not_durable", Component::Cpu, |r| r.targets[0].identity.not_durable = vec!["fsync = off".into()], |r| r.targets[0].identity.not_durable.clear()),
    ("forced_checkpoints", Component::Commits, |r| { set(r, &[("max_wal_size", "64MB")]); count(r, "pg_stat_bgwriter.checkpoints_req", 4.0); }, |r| count(r, "pg_stat_bgwriter.checkpoints_req", 0.0)),
    ("forced_checkpoints", Component::Commits, |r| { set(r, &[("max_wal_size", "64MB")]); count(r, "pg_stat_checkpointer.num_requested", 2.0); }, |r| set(r, &[("max_wal_size", "16TB")])),
    ("page_images", Component::Commits, |r| { set(r, &[("full_page_writes", "on")]); count(r, "pg_stat_wal.wal_fpi", 6_000.0); }, |r| set(r, &[("wal_compression", "lz4")])),
    ("page_images", Component::Commits, |r| { set(r, &[("full_page_writes", "on")]); redo(r, 40_000); count(r, "pg_stat_wal.wal_fpi", 100.0); }, |r| count(r, "pg_stat_wal.wal_fpi", 3.0)),
    ("temporary_files", Component::Cpu, |r| { set(r, &[("work_mem", "4MB")]); count(r, "pg_stat_database.temp_bytes", 5e8); }, |r| count(r, "pg_stat_database.temp_bytes", 0.0)),
    ("log_buffer", Component::Commits, |r| { set(r, &[("innodb_log_buffer_size", "16777216")]); count(r, "status.Innodb_log_waits", 9.0); }, |r| count(r, "status.Innodb_log_waits", 0.0)),
    ("free_pages", Component::Device, |r| { set(r, &[("innodb_buffer_pool_size", "134217728")]); count(r, "status.Innodb_buffer_pool_wait_free", 9.0); }, |r| count(r, "status.Innodb_buffer_pool_wait_free", 0.0)),
    ("two_syncs", Component::Commits, |r| set(r, &[("sync_binlog", "1"), ("innodb_flush_log_at_trx_commit", "1"), ("log_bin", "ON")]), |r| set(r, &[("log_bin", "OFF")])),
    ("deadlocks", Component::Locks, |r| count(r, "pg_stat_database.deadlocks", 3.0), |r| count(r, "pg_stat_database.deadlocks", 0.0)),
    ("small_cache", Component::Device, |r| { r.targets[0].identity.cache_bytes = Some(1 << 20); metric(r, "buffer_hit_pct", 40.0); }, |r| r.targets[0].identity.cache_bytes = Some(1 << 40)),
    ("io_timing", Component::Device, |r| set(r, &[("track_io_timing", "off")]), |r| set(r, &[("track_io_timing", "on")])),
    ("more_than_the_rate", Component::Rate, |_| {}, |r| r.ops.get_mut("all").unwrap().response_us.p99 = None),
    ("more_sessions", Component::Sessions, |_| {}, |r| r.plan.run.sessions_per_schema = 0),
    ("quota", Component::CpuQuota, |_| {}, |r| r.status = Status::Imported),
    ("more_client_threads", Component::Client, |r| r.plan.run.threads = Some(1), |r| r.plan.run.threads = None),
    ("server_drive", Component::RoundTrips, |_| {}, |r| r.targets[0].identity.counting.in_process = true),
    ("processor_profile", Component::Cpu, |_| {}, |r| r.profile = Some(dyno_record::Profile::Absent { absent: "no perf".into() })),
    ("commits_without_wait", Component::Commits, |_| {}, |r| set(r, &[("synchronous_commit", "off")])),
    ("shared_log_device", Component::Commits, |r| place(r, "vda"), |r| place(r, "vdb")),
    ("shared_log_device", Component::Commits, |r| place(r, "vda"), |r| metric(r, "physical_writes_per_s", 16.0)),
    ("raw_device", Component::Commits, |r| metric(r, "redo_sync_latency_us", 900.0), |r| { r.metrics.remove("redo_sync_latency_us"); }),
    ("held_back_device", Component::Device, |_| {}, |r| r.status = Status::Imported),
    ("hot_rows", Component::Locks, |r| r.plan.workload.hot_spot_every = 2, |r| r.plan.workload.hot_spot_every = 0),
    ("hot_rows", Component::Latches, |r| r.plan.workload.keys = KeyDistribution::Zipf, |r| r.plan.workload.keys = KeyDistribution::Uniform),
    ("few_rows", Component::Locks, |r| r.workload = Some(WorkloadFacts { scale: 2, ..WorkloadFacts::default() }), |r| r.workload = None),
    ("kept_connections", Component::Connections, |r| r.plan.workload.connect = Connect::Transaction, |r| r.plan.workload.connect = Connect::Session),
];

fn steps(record: &RunRecord, component: Component) -> Vec<NextStep> {
    let RunSteps { quality, facts, limits, .. } = RunSteps::of(record, &limit(component));
    [quality, facts, limits].concat()
}

/// Asserts that plan keys of a command exist.
fn assert_keys_exist(command: &str) {
    let words = command.split([' ', '=']).filter(|word| word.contains('.') && !word.starts_with("sweep."));
    for key in words {
        assert!(dyno_plan::keys::find(key).is_some(), "{key}: {command}");
    }
}

#[test]
fn run_rules_need_their_evidence() {
    let mut tested = BTreeSet::new();
    for (rule, component, with, without) in CASES {
        let mut record = base();
        with(&mut record);
        let all_steps = steps(&record, *component);
        let step = all_steps.iter().find(|step| step.rule == *rule);
        let step = step.unwrap_or_else(|| panic!("{rule}: {all_steps:#?}"));
        assert!(step.sentence.len() > 20, "{step:?}");
        assert!(!step.sentence.contains("  "), "{step:?}");
        step.command.iter().for_each(|command| assert_keys_exist(command));
        without(&mut record);
        assert!(steps(&record, *component).iter().all(|step| step.rule != *rule), "{rule} without evidence");
        tested.insert(*rule);
    }
    let families = &rules()[..3];
    let all: BTreeSet<&str> = families.iter().flat_map(|(_, rules)| rules).map(|rule| rule.name).collect();
    assert_eq!(tested, all);
}

#[test]
fn limit_rules_apply_to_their_limit_only() {
    let mut record = base();
    (record.plan.workload.hot_spot_every, record.plan.run.threads) = (2, Some(1));
    set(&mut record, &[("track_io_timing", "on")]);
    let names = |component| steps(&record, component).into_iter().map(|step| step.rule).collect::<Vec<_>>();
    assert_eq!(names(Component::Waits), [""; 0]);
    assert_eq!(names(Component::Unknown), [""; 0]);
    assert_eq!(names(Component::Locks), ["hot_rows"]);
    assert_eq!(names(Component::RoundTrips), ["server_drive"]);
}

#[test]
fn steps_of_a_run_name_figures_and_commands() {
    let mut record = base();
    set(&mut record, &[("max_wal_size", "64MB")]);
    count(&mut record, "pg_stat_bgwriter.checkpoints_req", 4.0);
    record.counters.portable.insert(Counter::RedoBytes, fixture::moved(Counter::RedoBytes, 1 << 30));
    let all_steps = steps(&record, Component::Commits);
    assert_eq!(
        all_steps[0].sentence,
        "`max_wal_size` (64MB) forced 4 checkpoints while the run wrote 1 GiB of redo; raise it and compare"
    );
    let setting = "dyno ab --setting max_wal_size=64MB,1024MB";
    assert_eq!(all_steps[0].command.as_deref(), Some(setting));
    assert_eq!(
        all_steps[1].command.as_deref(),
        Some("dyno ab --a workload.commit=wait --b workload.commit=nowait")
    );
    record.plan.workload.rate = Some(Rate(500.0));
    let all_steps = steps(&record, Component::Rate);
    let step = all_steps.iter().find(|step| step.rule == "more_than_the_rate").unwrap();
    let command = step.command.as_deref().unwrap();
    assert_eq!(command, "dyno search --over rate --limit 'p99 <= 12ms' --from 500", "{}", step.sentence);
}

#[test]
fn steps_after_a_point_measure_the_load_of_that_point() {
    let mut record = base();
    record.plan.data.schemas = 2;
    let settings = [("sessions", "8"), ("workload.update_pct", "20"), ("server.work_mem", "4MB")];
    record.part_of = Some(PartOf {
        id: "sweep-1".into(),
        kind: SweepKind::Sweep,
        point: 1,
        repeat: 1,
        side: None,
        settings: settings
            .map(|(key, value)| PointSetting { key: key.to_owned(), value: value.to_owned() })
            .into(),
    });
    record.options = ["--set", "workload.update_pct=5"].map(str::to_owned).into();
    let limit = limit(Component::Commits);
    let steps = RunSteps::of(&record, &limit);
    let all: Vec<NextStep> = [steps.quality, steps.facts, steps.limits].concat();
    let step =
        all.iter().find(|step| step.rule == "commits_without_wait").unwrap_or_else(|| panic!("{all:#?}"));
    let command = step.command.as_deref().unwrap();
    assert!(command.ends_with(" --set run.sessions_per_schema=4 --set workload.update_pct=20"), "{command}");
    assert_eq!(completed(command, &record.options), command, "the point wins over the options of the sweep");
}

#[test]
fn nobody_is_told_to_stop_programs_that_used_nothing() {
    let mut record = base();
    warn(&mut record, "processor", "the hypervisor took 7.3 %, others 0 %");
    let is_advised =
        |record: &RunRecord| steps(record, Component::Cpu).iter().any(|step| step.rule == "foreign_load");
    assert!(is_advised(&record));
    metric(&mut record, "others_cpu_pct", 0.0);
    assert!(!is_advised(&record));
}

fn curve(loads: &[(u32, f64)], repeats: usize, spread_pct: Option<f64>, bend: Option<u32>) -> CurveEvidence {
    CurveEvidence { loads: loads.to_vec(), repeats, spread_pct, bend }
}

#[test]
fn curve_rules_name_the_loads_that_are_missing() {
    let after = |curve: &CurveEvidence| {
        let steps = after_curve(curve, &RunSteps::default());
        steps.into_iter().map(|step| (step.rule, step.command.unwrap_or_default())).collect::<Vec<_>>()
    };
    let first = |curve: &CurveEvidence| {
        after(curve).first().map(|(rule, command)| format!("{rule}: {command}")).unwrap_or_default()
    };
    let rising = [(1, 100.0), (2, 190.0), (4, 350.0), (8, 600.0)];
    assert_eq!(first(&curve(&rising, 3, None, None)), "no_peak_yet: dyno sweep --set sweep.sessions=8,16,32");
    let flat = [(1, 100.0), (4, 350.0), (16, 360.0), (32, 340.0), (64, 330.0), (128, 320.0)];
    assert_eq!(first(&curve(&flat, 3, None, None)), "", "six loads, repeats, no knee: nothing is missing");
    assert_eq!(
        first(&curve(&flat, 3, None, Some(4))),
        "knee_between_points: dyno sweep --set sweep.sessions=2,8"
    );
    assert_eq!(
        first(&curve(&flat, 3, Some(30.0), Some(4))),
        "spread: dyno sweep --set sweep.sessions=1,4,16,32,64,128 --set sweep.repeats=5"
    );
    assert_eq!(
        first(&curve(&flat[..3], 3, None, None)),
        "too_few_loads: dyno sweep --set sweep.sessions=1,2,4,8,11,16"
    );
    assert_eq!(
        first(&curve(&flat, 1, None, None)),
        "measured_once: dyno sweep --set sweep.sessions=1,4,16,32,64,128 --set sweep.repeats=3"
    );
    assert_eq!(
        first(&curve(&flat[1..2], 1, None, None)),
        "one_load: dyno sweep --set sweep.sessions=4,8,16,32"
    );
    assert_eq!(after(&curve(&[], 3, None, None)), [], "sessions do not vary");
    assert_eq!(curve::FIT_LOADS, crate::scalability::POINTS_MIN);
    // All loads of two schemas are even.
    let even = [(2, 100.0), (4, 150.0), (6, 160.0)];
    assert!(
        first(&curve(&even, 3, None, Some(4)))
            .starts_with("no_peak_yet: dyno sweep --set sweep.sessions=6,12")
    );
}

#[test]
fn at_most_three_steps_come_from_all_families() {
    let step = |rule: &str| NextStep { rule: rule.into(), sentence: rule.into(), command: None };
    let sweep = |rule: &str| NextStep { command: Some(curve::SWEEP_SESSIONS.into()), ..step(rule) };
    let families = [vec![step("a"), step("b")], vec![sweep("c"), step("c2")], vec![sweep("d"), step("e")]];
    let names: Vec<String> = chosen(&families).into_iter().map(|step| step.rule).collect();
    assert_eq!(names, ["a", "c", "b"]);
    assert_eq!(
        next_lines(&chosen(&families[..2])),
        ["next: a", "next: c:", "`dyno sweep --set sweep.sessions=`", "next: b"]
    );
}

#[test]
fn reference_lists_every_rule() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/next-steps.md");
    let due = reference();
    if std::env::var_os("DYNO_BLESS").is_some() {
        std::fs::write(path, &due).unwrap();
    }
    let names: Vec<&str> = rules().iter().flat_map(|(_, rules)| rules).map(|rule| rule.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "each name once");
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == due, "docs/reference/next-steps.md differs from the rules; run: make bless");
    for rule in rules().iter().flat_map(|(_, rules)| rules) {
        if let Some(page) = rule.source.strip_prefix("docs/") {
            let page = page.split('#').next().unwrap();
            let file = format!("{}/../../docs/{page}", env!("CARGO_MANIFEST_DIR"));
            assert!(std::path::Path::new(&file).exists(), "{}: {file}", rule.name);
        }
    }
}

/// The page with all rules.
fn reference() -> String {
    let mut page = "\
# Next steps

After a result, Dyno names up to three next steps: a likely remedy, or the experiment that would
decide. This page lists the rules, the evidence that each needs, and its source.

```
dyno show last          # the summary ends with `next:`
dyno show last --json   # `answers.next`: rule, sentence, command
```

- A rule without its evidence gives no step. Some results therefore have none.
- Rules ask for settings and counters by their name, so they apply wherever a server has these.
- A command repeats the plan, target, settings and repository that you gave, except commands of hooks.
- The first step of each family comes before the second of any.

<!-- Written by `make bless` from crates/dyno-analyze/src/next. -->
"
    .to_owned();
    for (family, rules) in rules() {
        page.push_str(&format!("\n## {family}\n\n| rule | evidence | source |\n| --- | --- | --- |\n"));
        for RuleDescription { name, evidence, source } in rules {
            let source = match source.strip_prefix("docs/") {
                Some(file) => {
                    let label = file.split('#').next().unwrap_or(file).trim_end_matches(".md");
                    format!("[{label}](../{file})")
                }
                None => source.to_owned(),
            };
            page.push_str(&format!("| `{name}` | {evidence} | {source} |\n"));
        }
    }
    page
}
