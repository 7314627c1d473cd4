use std::collections::BTreeMap;

use super::*;
use crate::conclusion::suite::{SuiteRampPoint, SuiteTestInfo};

fn step(sessions: u32, key: f64, p99_us: f64) -> SuiteTestStep {
    SuiteTestStep {
        sessions,
        runs: Vec::new(),
        key: Some(key),
        figures: BTreeMap::from([("service_p99_us".into(), p99_us), ("redo_mb_per_s".into(), key / 100.0)]),
        costs: BTreeMap::new(),
        elapsed_s: 1.0,
        events: Vec::new(),
        marked: Vec::new(),
    }
}

fn suite() -> SuiteResult {
    let page = |id: &str| SuiteTestInfo {
        id: id.into(),
        group: "storage".into(),
        title: String::new(),
        stresses: String::new(),
        unit: "commits".into(),
        units: 1,
        metric: None,
        limit: "p95 <= 10ms".into(),
        cache: None,
        threads: 1,
        least: None,
        raw: None,
        nodes: None,
        why_not: None,
        failed: None,
    };
    let measured = SuiteTestResult {
        page: page("redo"),
        steps: vec![step(1, 1_000.0, 800.0), step(4, 2_500.0, 2_000.0), step(8, 2_600.0, 9_000.0)],
        single_us: Some(900.0),
        most: Some(SuiteRampPoint { sessions: 8, value: 2_600.0, spread_pct: None, range: None }),
        optimum: None,
        knee: None,
        limited_by: None,
        limit: None,
        saturated: None,
        left_out: Vec::new(),
        of_raw: None,
        unfit: None,
        notes: Vec::new(),
    };
    let mut absent = measured.clone();
    absent.page = SuiteTestInfo { why_not: Some("it has none".into()), ..page("sequence") };
    (absent.steps, absent.most, absent.single_us) = (Vec::new(), None, None);
    SuiteResult { depth: "full".into(), tests: vec![measured, absent] }
}

fn held(text: &str) -> ExpectationResult {
    text.parse::<Expectation>().unwrap().evaluate(&suite())
}

#[test]
fn expectations_parse_and_round_trip() {
    for text in [
        "redo >= 2500",
        "redo >= 0.5 at p99 <= 1ms",
        "redo.alone <= 1ms",
        "redo.redo_mb_per_s >= 20",
        "redo.service_p99_us <= 500us at mean <= 2ms",
    ] {
        assert_eq!(text.parse::<Expectation>().unwrap().to_string(), text);
    }
    assert_eq!("redo >= 2_500".parse::<Expectation>().unwrap().limit, 2_500.0);
    for text in [
        "redo",
        "redo > 5",
        "redo >= much",
        "redo >= 5 at p98 <= 1ms",
        ">= 5",
        "redo >= 5 at p99 < 1ms",
        "a b >= 1",
    ] {
        assert!(text.parse::<Expectation>().is_err(), "{text}");
    }
}

#[test]
fn best_step_within_latency_limit_counts() {
    let words = |text: &str| held(text).measured.unwrap();
    assert_eq!((held("redo >= 2600").met, held("redo >= 2601").met), (true, false));
    assert_eq!(words("redo >= 1"), "2,600 commits/s with 8 sessions");
    assert!(held("redo >= 2500 at p99 <= 2ms").met);
    assert!(!held("redo >= 2501 at p99 <= 2ms").met);
    assert_eq!(words("redo >= 1 at p99 <= 1ms"), "1,000 commits/s with 1 session");
    assert!(held("redo.alone <= 1ms").met);
    assert!(!held("redo.alone <= 800us").met);
    assert!(held("redo.redo_mb_per_s >= 26").met);
    assert!(!held("redo.redo_mb_per_s >= 26 at p99 <= 2ms").met);
}

#[test]
fn unanswerable_requirement_is_not_met_and_has_a_reason() {
    let why = |text: &str| {
        let answer = held(text);
        assert!(!answer.met);
        answer.measured.unwrap_err()
    };
    assert_eq!(why("redu >= 0"), "the suite has no test redu");
    assert_eq!(why("sequence >= 0"), "it has none");
    assert_eq!(why("redo >= 0 at p99 <= 1us"), "no step keeps p99 <= 1us");
    let mut cached = suite();
    cached.tests[0].unfit = Some("a cache answered".into());
    let answer = "redo >= 0".parse::<Expectation>().unwrap().evaluate(&cached);
    assert_eq!((answer.met, answer.measured), (false, Err("a cache answered".into())));
    assert!(of_suite(&cached, 10.0).is_empty());
    assert_eq!(why("redo.iops >= 0"), "the steps of redo do not report iops");
}

#[test]
fn suite_meets_expectations_derived_from_it() {
    let expectations = of_suite(&suite(), 10.0);
    assert_eq!(
        expectations.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["redo >= 2340 at p99 <= 10800us"]
    );
    for expectation in expectations {
        let read: Expectation = expectation.to_string().parse().unwrap();
        assert!(read.evaluate(&suite()).met, "{read}");
    }
}
