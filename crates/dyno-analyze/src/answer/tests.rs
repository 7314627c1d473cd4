use dyno_record::{Metric, RunRecord, Unit, Waits};

use super::*;
use crate::fixture;
use crate::limited::Component;
use crate::points::{SESSIONS, points};

/// A run with processors busy to `busy_pct`, whose sessions wait for no known event.
fn run(sessions: u32, ops_per_s: f64, busy_pct: f64) -> RunRecord {
    let mut record = fixture::postgres();
    record.id = format!("run-{sessions}-{ops_per_s}");
    record.plan.run.sessions_per_schema = sessions;
    record.gate.sessions = sessions;
    record.ops.remove("commit");
    record.waits = Waits::Absent { absent: "nobody looked".into() };
    record.metrics.insert("ops_per_s".into(), Metric::Value { value: ops_per_s, unit: Unit::PerSecond });
    let counters = &mut record.hosts[0].counters;
    let capacity_s = counters["processors.capacity_s"];
    let busy_s = capacity_s * busy_pct / 100.0;
    counters.extend([("processors.busy_s".into(), busy_s), ("server.cpu_s".into(), busy_s * 0.9)]);
    record
}

fn answer_of(records: &[RunRecord]) -> CurveSummary {
    let points = points(records);
    let curves = points.curves(SESSIONS);
    answer("ops_per_s", &curves[0], |_| true).unwrap()
}

#[test]
fn curve_answer_has_capacity_knee_limit_confidence_headroom() {
    let ramp = [
        run(1, 1_000.0, 20.0),
        run(2, 1_900.0, 40.0),
        run(4, 3_600.0, 80.0),
        run(8, 4_000.0, 96.0),
        run(16, 3_900.0, 97.0),
    ];
    let answer = answer_of(&ramp);
    assert_eq!(answer.capacity, CurvePoint { sessions: 8, value: 4_000.0 });
    assert_eq!(answer.bend, Some(CurvePoint { sessions: 4, value: 3_600.0 }));
    assert_eq!((answer.limit.by, answer.confidence), (Component::Cpu, Confidence::Sure));
    assert_eq!(answer.headroom_pct.map(f64::round), Some(4.0));
    let text = answer.sentence();
    let begins = "capacity 4,000 operations/s with 8 sessions; knee at 4 sessions; limited by the CPU: ";
    assert!(text.starts_with(begins), "{text}");
    assert!(text.ends_with("; headroom 4.0 %"), "{text}");
    let json = serde_json::to_string(&answer).unwrap();
    assert_eq!(serde_json::from_str::<CurveSummary>(&json).unwrap().sentence(), text);
}

#[test]
fn capacity_never_exceeds_requested_rate() {
    let mut record = run(4, 1_100.0, 40.0);
    record.ops.get_mut("all").unwrap().rate_per_s = 1_100.0;
    record.plan.workload.rate = Some(dyno_plan::Rate(1_000.0));
    record.window.as_mut().unwrap().overdue = Some((1_000, 0));
    let without_pause = answer_of(&[record.clone()]);
    assert_ne!(without_pause.limit.by, Component::Rate, "sessions worked off a backlog");
    assert_eq!(without_pause.capacity.value, 1_000.0);
    record.window.as_mut().unwrap().busy_s /= 2.0;
    let answer = answer_of(&[record]);
    assert_eq!((answer.limit.by, answer.confidence), (Component::Rate, Confidence::Likely));
    assert_eq!(answer.capacity.value, 1_000.0);
    assert!(answer.sentence().starts_with("capacity at least 1,000 operations/s"), "{}", answer.sentence());
    assert!(answer.why.iter().any(|why| why.contains("overdue at the window's begin")), "{:?}", answer.why);
    let rules: Vec<&str> = answer.next.iter().map(|step| step.rule.as_str()).collect();
    assert!(rules.contains(&"more_than_the_rate"), "{rules:?}");
    assert!(!rules.contains(&"one_load"), "{rules:?}");
}

#[test]
fn scattered_or_disagreeing_repeats_lower_confidence() {
    let sure = [run(4, 1_000.0, 97.0), run(4, 1_010.0, 97.0)];
    assert_eq!(answer_of(&sure).confidence, Confidence::Sure);
    let mut apart = sure.clone();
    apart[1] = run(4, 2_000.0, 97.0);
    assert_eq!(answer_of(&apart).confidence, Confidence::Likely);
    let mut other = sure;
    other[1] = run(4, 1_010.0, 30.0);
    let answer = answer_of(&other);
    assert_eq!((answer.limit.by, answer.confidence), (Component::Cpu, Confidence::Likely));
    assert!(answer.why.iter().any(|why| why == "1 of 2 runs say otherwise: unknown"), "{:?}", answer.why);
}
