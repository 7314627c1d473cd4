//! Tests several targets in one run, on scripted databases that keep their own account of the work on each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use dyno_drive::{DriveJob, NoopRunListener, TargetContext, run};
use dyno_engine::{Cancel, CounterScope, ErrorClass, MonotonicClock, OpError, Target};
use dyno_plan::{DataSpec, Plan};
use dyno_prove::scripted::{Act, OperationScript, ScriptedTarget};
use dyno_record::{Counter, Metric, RunRecord, Status};
use dyno_workload::ClassId;

use crate::scene::spin_briefly;

fn plan(sessions: u32, weights: &[u32]) -> Plan {
    serde_json::from_value(serde_json::json!({
        "version": 1,
        "target": { "url": "sqlite:a", "urls": ["sqlite:a", "sqlite:b"], "weights": weights, "connect_timeout": "1s" },
        "data": { "schemas": 1, "scale": "1000 blocks", "scan_scale": "0 blocks", "compressible": 0, "seed": 42,
                  "load_parallel": 1 },
        "workload": { "update_pct": 20, "scan_pct": 0, "lookup_pct": 10, "work_unit": 8, "redo": "lite",
                      "drive": "client", "arrivals": "constant", "seed": 1 },
        "run": { "sessions_per_schema": sessions, "warmup": "20ms", "time": "300ms", "drain": "500ms" },
        "observe": { "interval": "50ms" }
    }))
    .unwrap()
}

fn scripted(script: Arc<OperationScript>) -> Arc<ScriptedTarget> {
    Arc::new(ScriptedTarget::new(script, Arc::new(|_| spin_briefly())))
}

fn target_context(target: &Arc<ScriptedTarget>) -> TargetContext {
    TargetContext {
        identity: target.identify().unwrap(),
        target: Arc::clone(target) as Arc<dyn Target>,
        spec: DataSpec {
            schemas: 1,
            rows: 1_000,
            scan_rows: 10,
            block_size: 8192,
            compressible: 0,
            seed: 42,
            secondary: false,
            copied: false,
        },
        host_paths: Vec::new(),
        remote_host: None,
        reads_only: None,
        instance: None,
        ack_ledger: None,
    }
}

fn run_targets(plan: &Plan, targets: Vec<TargetContext>) -> RunRecord {
    let job = DriveJob {
        run_id: "test".into(),
        started_at: "2026-01-01T00:00:00Z".into(),
        run_stamp: 7,
        plan,
        targets,
        custom_workloads: Vec::new(),
        clock: Arc::new(MonotonicClock::default()),
        cancel: Cancel::default(),
        dyno_version: "test".into(),
        series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
    };
    run(&job, &NoopRunListener).unwrap().0
}

#[test]
fn target_records_sum_to_the_total() {
    let targets = [scripted(Arc::new(|_, _, _| Act::Take(0))), scripted(Arc::new(|_, _, _| Act::Take(0)))];
    let plan = plan(6, &[2, 1]);
    let mut target_contexts: Vec<TargetContext> = targets.iter().map(target_context).collect();
    target_contexts[1].reads_only = Some("it is a standby".into());
    let record = run_targets(&plan, target_contexts);
    assert_eq!((record.status, &record.reasons), (Status::Valid, &Vec::new()));
    let parts = record.parts();
    assert_eq!(parts.iter().map(|part| part.gate.sessions).collect::<Vec<_>>(), [4, 2]);
    for (part, target) in parts.iter().zip(&targets) {
        let ledger = target.ledger();
        for (class, id) in
            [("select", ClassId::SELECT), ("lookup", ClassId::LOOKUP), ("update", ClassId::UPDATE)]
        {
            let counted = part.ops.get(class).map_or(0, |ops| ops.count);
            let whole = &part.whole.as_ref().unwrap().ops;
            let of_all = ledger.life().class(id).count;
            assert_eq!(whole.get(class).copied().unwrap_or(0), of_all, "{class} on {}", part.id);
            assert!(counted <= of_all, "{class} on {}", part.id);
        }
        assert_eq!(
            part.whole.as_ref().unwrap().rows_read + part.whole.as_ref().unwrap().rows_updated,
            ledger.life().all().rows
        );
        // What the database counted between its own two snapshots.
        let counted = part.window.as_ref().unwrap().counted.as_ref().unwrap().rows();
        assert_eq!(part.counters.get(Counter::LogicalReads), Ok(counted as i64));
        assert_eq!(part.series.points.iter().map(|point| point.ops).sum::<u64>(), part.ops["all"].count);
    }
    assert!(parts[0].ops["update"].count > 0, "{:?}", parts[1].ops.keys());
    assert!(!parts[1].ops.contains_key("update"), "{:?}", parts[1].ops.keys());
    let sum = |of: fn(&RunRecord) -> f64| (of(&record), parts.iter().map(of).sum::<f64>());
    for (total, of_parts) in [
        sum(|r| r.ops["all"].count as f64),
        sum(|r| r.ops["all"].rate_per_s),
        sum(|r| r.ops["all"].service_us.count as f64),
        sum(|r| r.metrics["ops_per_s"].value().unwrap()),
        sum(|r| r.metrics["logical_reads_per_s"].value().unwrap()),
        sum(|r| r.counters.get(Counter::LogicalReads).unwrap() as f64),
        sum(|r| r.whole.as_ref().unwrap().commits as f64),
        sum(|r| r.series.points.iter().map(|point| point.ops).sum::<u64>() as f64),
    ] {
        assert!((total - of_parts).abs() <= total * 1e-9, "{total} is not {of_parts}");
        assert!(total > 0.0, "{total} is not {of_parts}");
    }
    // A share comes from the sums, and processor time belongs to the machine.
    assert_eq!(record.metrics["buffer_hit_pct"].value(), Some(100.0));
    assert!(record.metrics["cpu_busy_pct"].value().is_some());
    assert!(
        matches!(&parts[0].metrics["cpu_busy_pct"], Metric::Absent { absent } if absent.contains("see the total"))
    );
}

#[test]
fn counter_of_shared_server_is_not_counted_twice() {
    let scripted_targets =
        [scripted(Arc::new(|_, _, _| Act::Take(0))), scripted(Arc::new(|_, _, _| Act::Take(0)))];
    let instance = |scope: &str| {
        let scope = scope.to_owned();
        Some(CounterScope { servers: vec!["one".into()], scope, server_wide: &[Counter::RedoBytes] })
    };
    let mut target_contexts: Vec<TargetContext> = scripted_targets.iter().map(target_context).collect();
    target_contexts[0].instance = instance("a");
    target_contexts[1].instance = instance("b");
    let record = run_targets(&plan(2, &[]), target_contexts);
    let reason = record.counters.get(Counter::RedoBytes).unwrap_err();
    assert!(reason.contains("targets 1 and 2 are on one server"), "{reason}");
    assert!(record.metrics["redo_bytes_per_s"].value().is_none());
    assert!(record.counters.native.is_empty());
    assert!(record.counters.get(Counter::LogicalReads).is_ok());
    assert!(record.parts()[0].counters.get(Counter::RedoBytes).is_ok(), "each target's own is known");
}

#[test]
fn fatal_error_names_its_target() {
    let ops = Arc::new(AtomicU32::new(0));
    let broken: Arc<OperationScript> = Arc::new(move |_, _, _| match ops.fetch_add(1, Ordering::Relaxed) {
        ..500 => Act::Take(0),
        _ => Act::Fail(OpError {
            class: ErrorClass::Fatal,
            code: "E1".into(),
            message: "out of cheese".into(),
        }),
    });
    let record = run_targets(
        &plan(2, &[]),
        vec![target_context(&scripted(Arc::new(|_, _, _| Act::Take(0)))), target_context(&scripted(broken))],
    );
    assert_eq!(record.status, Status::Failed);
    assert!(
        record.reasons[0].starts_with("target 2 (scripted:): session 1: out of cheese"),
        "{:?}",
        record.reasons
    );
    assert!(record.parts()[1].errors[0].message.contains("cheese"));
    assert!(record.parts()[0].errors.is_empty());
}
