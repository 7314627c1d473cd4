//! Property test: a valid plan reads back as itself from every form in which it can be written.

use proptest::prelude::*;

use crate::engine::fixture::nothing;
use crate::keys;
use crate::plan::Plan;
use crate::read::{PlanFile, PlanSource, read};

prop_compose! {
    fn numbers()(
        schemas in 1u32..=100,
        work_unit in 1u32..=1_000_000,
        update_pct in 0u32..=100,
        lookup_pct in 0u32..=50,
        scan_pct in 0u32..=50,
        compressible in 0u32..=100,
        sessions in 1u32..=1_000,
        load_parallel in 1u32..=256,
        seeds: (u64, Option<u64>),
    ) -> Vec<String> {
        vec![
            format!("data.schemas={schemas}"),
            format!("workload.work_unit={work_unit}"),
            format!("workload.update_pct={update_pct}"),
            format!("workload.lookup_pct={lookup_pct}"),
            format!("workload.scan_pct={scan_pct}"),
            format!("data.compressible={compressible}"),
            format!("run.sessions_per_schema={sessions}"),
            format!("data.load_parallel={load_parallel}"),
            format!("data.seed={}", seeds.0),
            format!("workload.seed={}", seeds.1.map_or("fresh".into(), |seed| seed.to_string())),
        ]
    }
}

prop_compose! {
    fn quantities()(
        scale in prop_oneof![(1_000_000u64..1_000_000_000).prop_map(|n| n.to_string()), (1u64 << 37..1 << 42).prop_map(|n| format!("{n}B"))],
        scan in 100_000u64..1 << 30,
        block_size in proptest::option::of(12u32..=16),
        length in prop_oneof![(2_000u64..80_000_000).prop_map(|ms| format!("run.time={ms}ms")), (1u64..1_000_000_000_000).prop_map(|n| format!("run.ops_per_session={n}"))],
        times in (0u64..86_400_000_000_000, 100_000_000u64..3_600_000_000_000, 1_000_000_000u64..2_000_000_000),
        rate in proptest::option::of(0.001f64..1e8),
        waits in proptest::option::of(0.1f64..1e3),
    ) -> Vec<String> {
        let per_s = |rate: Option<f64>| rate.map_or("off".to_owned(), |rate| format!("{rate}/s"));
        let mut sets = vec![
            format!("data.scale={scale}"),
            format!("data.scan_scale={scan}B"),
            length,
            format!("run.warmup={}ns", times.0),
            format!("run.drain={}ns", times.1),
            format!("observe.interval={}ns", times.2),
            format!("workload.rate={}", per_s(rate)),
            format!("observe.waits={}", per_s(waits)),
        ];
        sets.extend(block_size.map(|bits| format!("data.block_size={}", 1u32 << bits)));
        sets
    }
}

prop_compose! {
    fn words()(
        redo in "lite|heavy",
        drive in "client|server",
        arrivals in "poisson|constant",
        secret in prop_oneof!["target\\.password_env=[A-Z_][A-Z0-9_]{0,9}", "target\\.password_file=/[^\"'\\p{C}\\p{Z}]{0,20}"],
        file in "[^\\x00 ?%]{1,20}",
    ) -> Vec<String> {
        vec![
            format!("workload.redo={redo}"),
            format!("workload.drive={drive}"),
            format!("workload.arrivals={arrivals}"),
            secret,
            format!("target.url=sqlite:./{file}x"),
        ]
    }
}

fn read_sets(sets: Vec<String>) -> Plan {
    read(&PlanSource { sets, ..nothing() }).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Writes the plan as `--set` options.
fn as_sets(plan: &Plan) -> Vec<String> {
    keys::all().filter_map(|key| Some(format!("{}={}", key.path, key.get(plan)?))).collect()
}

/// Writes the plan as a file.
fn as_file(plan: &Plan) -> PlanFile {
    let mut text = String::new();
    for section in &keys::SECTIONS {
        if !section.name.is_empty() {
            text.push_str(&format!("[{}]\n", section.name));
        }
        for (key, value) in section.keys.iter().filter_map(|key| Some((key, key.get(plan)?))) {
            text.push_str(&format!("{} = {}\n", key.name(), key.kind.toml(&value)));
        }
    }
    PlanFile { name: "dyno.toml".into(), text }
}

#[test]
fn plan_with_several_targets_round_trips() {
    let urls = "target.urls=postgres://a@h/x,sqlite:a%2Cb%20c.db,mysql://u@h:1/y?ssl-mode=DISABLED";
    let sets = [urls, "target.weights=[3, 2, 1]", "target.data=shared", "run.sessions_per_schema=6"];
    let plan = read_sets(sets.map(str::to_owned).to_vec());
    assert_eq!((plan.target.all().len(), plan.target.all()[1].path.as_str()), (3, "a,b c.db"));
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    assert_eq!(read_sets(as_sets(&plan)), plan);
    let read_again = read(&PlanSource { file: Some(as_file(&plan)), ..nothing() });
    assert_eq!(read_again.as_ref(), Ok(&plan));
}

proptest! {
    #[test]
    fn plan_round_trip_through_json_options_and_file_is_lossless(a in numbers(), b in quantities(), c in words()) {
        let plan = read_sets([a, b, c].concat());
        let json = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Plan>(&json).unwrap(), &plan);
        prop_assert_eq!(&read_sets(as_sets(&plan)), &plan);
        let file = as_file(&plan);
        let read_again = read(&PlanSource { file: Some(file), ..nothing() });
        prop_assert_eq!(read_again.as_ref(), Ok(&plan));
    }
}
