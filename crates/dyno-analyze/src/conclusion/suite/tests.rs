use dyno_record::{Metric, PartOf, PointSetting, SweepKind, Unit};

use super::*;
use crate::fixture;

fn page(id: &str) -> SuiteTestInfo {
    SuiteTestInfo {
        id: id.into(),
        group: "cpu".into(),
        title: "A test".into(),
        stresses: "something".into(),
        unit: "rows".into(),
        units: 100,
        metric: None,
        limit: "p95 <= 10ms".into(),
        cache: None,
        raw: None,
        threads: 1,
        least: None,
        nodes: None,
        why_not: None,
        failed: None,
    }
}

/// A run of a test with this many operations a second, and a 95th percentile of response time, µs.
fn run(id: &str, sessions: u32, ops_per_s: f64, p95_us: u64) -> RunRecord {
    let mut record = fixture::postgres();
    record.id = format!("{id}-{sessions}-{ops_per_s}");
    record.plan.run.sessions_per_schema = sessions;
    record.metrics.insert("ops_per_s".into(), Metric::Value { value: ops_per_s, unit: Unit::PerSecond });
    let all = record.ops.get_mut("all").unwrap();
    let mut times = dyno_record::Histogram::new();
    times.record_n_ns(p95_us * 1_000, 100);
    all.response_us = times.summary();
    let setting = |key: &str, value: String| PointSetting { key: key.into(), value };
    record.part_of = Some(PartOf {
        id: "suite-1".into(),
        kind: SweepKind::Suite,
        point: sessions,
        repeat: 1,
        side: None,
        settings: vec![setting(TEST, id.into()), setting("sessions", sessions.to_string())],
    });
    record
}

fn suite_of(pages: Vec<SuiteTestInfo>, records: &[RunRecord]) -> (Conclusion, Vec<SuiteTestResult>) {
    let conclusion = conclusion("suite-1", None, "usual", pages, records, &[], true);
    let ConclusionFigures::Suite(suite) = conclusion.figures.clone() else { panic!("no suite") };
    (conclusion, suite.tests)
}

#[test]
fn peak_uses_all_steps_and_optimum_only_those_within_limit() {
    let runs = [run("a", 1, 100.0, 1_000), run("a", 2, 180.0, 9_000), run("a", 4, 200.0, 30_000)];
    let (conclusion, tests) = suite_of(vec![page("a")], &runs);
    let test = &tests[0];
    // One operation is a hundred units.
    assert_eq!(test.most.map(|at| (at.sessions, at.value)), Some((4, 20_000.0)));
    assert_eq!(test.optimum.map(|at| (at.sessions, at.value)), Some((2, 18_000.0)));
    assert_eq!(test.saturated, Some(false));
    assert_eq!(test.steps.iter().map(|step| step.sessions).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!(conclusion.line, "1 of 1 tests have a result");
    let written = serde_json::to_string(&conclusion).unwrap();
    let read: Conclusion = serde_json::from_str(&written).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), written);
}

#[test]
fn suite_headline_has_the_reservation_that_most_runs_share() {
    let warned = |ops_per_s: f64, checks: &[&str]| {
        let mut record = run("a", 1, ops_per_s, 1_000);
        record.audit = checks
            .iter()
            .map(|check| dyno_record::AuditCheck {
                check: (*check).into(),
                status: dyno_record::CheckStatus::Warn,
                expected: String::new(),
                observed: String::new(),
                detail: String::new(),
            })
            .collect();
        record
    };
    let line = |records: &[RunRecord]| suite_of(vec![page("a")], records).0.line;
    let both = [warned(100.0, &["others_server"]), warned(101.0, &["others_server", "commits"])];
    let expected = "with reservation: background load on server (2 of 2 runs)";
    assert!(line(&both).ends_with(expected), "{}", line(&both));
    let few = [warned(100.0, &["others_server"]), warned(101.0, &[]), warned(102.0, &[])];
    assert!(!line(&few).contains("reservation"), "{}", line(&few));
}

#[test]
fn operations_and_loads_that_are_too_short_have_no_figure() {
    let judge = |page: SuiteTestInfo, seconds: f64, service_us: f64| {
        let mut record = run("a", 1, 100.0, 1_000);
        let mut times = dyno_record::Histogram::new();
        times.record_n_ns(service_us as u64 * 1_000, 100);
        record.ops.get_mut("all").unwrap().service_us = times.summary();
        record
            .metrics
            .insert("load_rows_per_s".into(), Metric::Value { value: 5e5, unit: Unit::RowsPerSecond });
        record.window.as_mut().unwrap().seconds = seconds;
        let (conclusion, mut tests) = suite_of(vec![page], &[record]);
        let test = tests.remove(0);
        assert!(test.most.is_some(), "the steps are shown all the same");
        assert!(test.steps.len() == 1, "the steps are shown all the same");
        let names_way_out = conclusion.next.iter().any(|step| step.rule == "suite_unfit_tests");
        assert_eq!(names_way_out, test.unfit.is_some(), "{:#?}", conclusion.next);
        let word = test.unfit_word();
        (test.unfit, word, conclusion.line.starts_with("1 of 1"))
    };
    let least = |seconds| SuiteTestInfo {
        least: Some(Least { seconds, larger: "--full has more data".into() }),
        ..page("a")
    };
    let (unfit, word, has_result) = judge(least(0.3), 5.0, 43_000.0);
    let reason =
        "too small to measure: an operation took 43.0 ms, and a figure needs 300 ms; --full has more data";
    assert_eq!((unfit.as_deref(), word, has_result), (Some(reason), Some("too small"), false));
    assert_eq!(judge(least(0.3), 5.0, 310_000.0), (None, None, true));
    // A load is measured by its own duration: its operations are parts of it.
    let load = || SuiteTestInfo { metric: Some("load_rows_per_s".into()), ..least(1.0) };
    assert_eq!(judge(load(), 3.0, 50_000.0), (None, None, true));
    let (unfit, word, _) = judge(load(), 0.25, 50_000.0);
    assert!(unfit.is_some_and(|why| why.contains("all rows were loaded in 250 ms")));
    assert!(word == Some("too small"));
}

#[test]
fn suite_test_ignores_runs_of_other_tests() {
    let runs = [run("a", 1, 100.0, 1_000), run("b", 1, 900.0, 1_000)];
    let (_, tests) = suite_of(vec![page("a"), page("b"), page("c")], &runs);
    let most: Vec<Option<f64>> = tests.iter().map(|test| test.most.map(|at| at.value)).collect();
    assert_eq!(most, [Some(10_000.0), Some(90_000.0), None]);
}

#[test]
fn suite_test_without_result_states_the_reason() {
    let mut invalid = run("b", 1, 100.0, 1_000);
    (invalid.status, invalid.reasons) = (dyno_record::Status::Invalid, vec!["others: they worked".into()]);
    let pages = vec![
        SuiteTestInfo { why_not: Some("it has none".into()), ..page("a") },
        page("b"),
        SuiteTestInfo { failed: Some("no right".into()), ..page("c") },
        page("d"),
    ];
    let (conclusion, _) = suite_of(pages, &[invalid]);
    assert_eq!(conclusion.line, "0 of 4 tests have a result, 1 are not applicable, 3 have none");
    assert_eq!(
        conclusion.words,
        [
            "a: not applicable: it has none",
            "b: no result: b-1-100: invalid: others: they worked",
            "c: no result: no right",
            "d: not run",
        ]
    );
}

#[test]
fn suite_latency_prefers_lowest_and_reports_missing_steps() {
    let measure = "device_read_latency_us";
    let mut runs = [run("a", 1, 100.0, 1_000), run("a", 2, 180.0, 1_000)];
    for (record, us) in runs.iter_mut().zip([50.0, 80.0]) {
        record.metrics.insert(measure.into(), Metric::Value { value: us, unit: Unit::Microseconds });
    }
    let of_time = SuiteTestInfo { metric: Some(measure.into()), ..page("a") };
    let (_, tests) = suite_of(vec![of_time], &runs);
    assert_eq!(tests[0].most.map(|at| at.sessions), Some(1));

    let reads = "physical_reads_per_s";
    runs[1].metrics.insert(reads.into(), Metric::Absent { absent: "nobody knows".into() });
    let of_reads = SuiteTestInfo { metric: Some(reads.into()), ..page("a") };
    let (conclusion, tests) = suite_of(vec![of_reads], &runs);
    assert_eq!(tests[0].most.map(|at| at.sessions), Some(1));
    assert_eq!(conclusion.words, ["a: 1 of 2 steps do not report physical_reads_per_s: nobody knows"]);
}

#[test]
fn storage_test_served_by_cache_is_reported() {
    let cached = |cache: &str, hit: f64| {
        let mut record = run("a", 1, 100.0, 1_000);
        record.metrics.insert("buffer_hit_pct".into(), Metric::Value { value: hit, unit: Unit::Percent });
        let page = SuiteTestInfo { cache: Some(cache.into()), ..page("a") };
        let test = suite_of(vec![page], &[record]).1.remove(0);
        test.unfit.or(test.notes.first().cloned()).unwrap_or_default()
    };
    assert!(cached("out", 99.5).contains("cache served up to 99.5 % of the blocks"));
    assert!(!cached("out", 20.0).contains("cache served up to"));
    assert!(cached("in", 80.0).contains("served only 80.0 % of the blocks"));
    assert_eq!(cached("in", 100.0), "");
}

#[test]
fn storage_test_answered_by_page_cache_has_no_figure() {
    let unfit = |cache: &str, status: dyno_record::CheckStatus, detail: &str, direct_io: Option<bool>| {
        let mut record = run("a", 1, 100.0, 1_000);
        record.targets[0].identity.direct_io = direct_io;
        record.metrics.insert("buffer_hit_pct".into(), Metric::Value { value: 20.0, unit: Unit::Percent });
        record.audit.push(dyno_record::AuditCheck {
            check: "physical_reads".into(),
            status,
            expected: String::new(),
            observed: String::new(),
            detail: detail.into(),
        });
        let page = SuiteTestInfo { cache: Some(cache.into()), ..page("a") };
        suite_of(vec![page], &[record]).1.remove(0).unfit
    };
    use dyno_record::CheckStatus::{Pass, Skipped, Warn};
    let cached = |pct: f64| format!("asked for 9 blocks: {pct} % {}", crate::audit::FROM_PAGE_CACHE);
    let refused = unfit("out", Warn, &cached(99.9), Some(false)).unwrap();
    assert!(refused.contains("answered up to 99.9 % of the reads"), "{refused}");
    assert!(refused.contains("direct I/O"), "{refused}");
    assert_eq!(unfit("out", Warn, &cached(9.0), Some(false)), None);
    assert_eq!(unfit("in", Warn, &cached(99.9), Some(false)), None);
    let refused = unfit("out", Skipped, "the database runs on another host", Some(false)).unwrap();
    assert!(refused.contains("the database runs on another host"), "{refused}");
    for (status, direct_io) in [(Skipped, Some(true)), (Skipped, None), (Pass, Some(false))] {
        assert_eq!(unfit("out", status, "compared", direct_io), None, "{status:?} {direct_io:?}");
    }
}

#[test]
fn storage_test_hint_fits_its_workload() {
    let unfit = |served_pct: f64, is_custom: bool| {
        let mut record = run("a", 1, 100.0, 1_000);
        record.targets[0].identity.direct_io = Some(false);
        let served = Metric::Value { value: served_pct, unit: Unit::Percent };
        record.metrics.insert("buffer_hit_pct".into(), served);
        let reads = Metric::Value { value: 1_000.0, unit: Unit::PerSecond };
        record.metrics.insert("logical_reads_per_s".into(), reads);
        record.workload =
            is_custom.then(|| dyno_record::WorkloadFacts { name: "look".into(), ..Default::default() });
        record.audit.push(dyno_record::AuditCheck {
            check: "physical_reads".into(),
            status: dyno_record::CheckStatus::Skipped,
            expected: String::new(),
            observed: String::new(),
            detail: "the database runs on another host".into(),
        });
        let page = SuiteTestInfo { cache: Some("out".into()), ..page("a") };
        suite_of(vec![page], &[record]).1.remove(0).unfit.unwrap()
    };
    for served_pct in [20.0, 99.0] {
        let (block, custom) = (unfit(served_pct, false), unfit(served_pct, true));
        assert!(block.contains("data.scale and data.scan_scale"), "{block}");
        assert!(custom.contains("workload.scale"), "{custom}");
        assert!(!custom.contains("data.scale"), "{custom}");
    }
}

#[test]
fn suite_test_limit_is_that_of_its_best_step() {
    let (one, mut four) = (run("a", 1, 100.0, 1_000), run("a", 4, 200.0, 9_000));
    four.ops.remove("commit");
    if let dyno_record::Waits::Sampled { average_active_sessions, events, .. } = &mut four.waits {
        *average_active_sessions = 4.0;
        events.truncate(1);
        (events[0].class, events[0].event) = ("LWLock".into(), "BufferMapping".into());
        events[0].average_sessions = 3.6;
    }
    let (conclusion, tests) = suite_of(vec![page("a"), page("b")], &[one, four]);
    let line = "1 of 2 tests have a result, 1 have none; what limits most: latches (1 test)";
    assert_eq!(conclusion.line, line);
    assert_eq!(tests[0].limited_by.as_deref(), Some("latches"));
    assert_eq!(tests[0].limit.as_ref().map(|limit| limit.by), Some(crate::limited::Component::Latches));
    assert_eq!((&tests[1].limited_by, &tests[1].limit), (&None, &None), "it was not run");
}

#[test]
fn load_beside_most_runs_is_in_the_next_step() {
    let beside = |id: &str, status| {
        let mut record = run(id, 1, 100.0, 1_000);
        let (expected, observed, detail) = Default::default();
        let check = "processor".to_owned();
        record.audit = vec![dyno_record::AuditCheck { check, status, expected, observed, detail }];
        record
    };
    use dyno_record::CheckStatus::{Pass, Warn};
    let (conclusion, _) = suite_of(vec![page("a"), page("b")], &[beside("a", Warn), beside("b", Pass)]);
    assert_eq!(conclusion.next[0].rule, "suite_beside_load");
    let (quiet, _) = suite_of(vec![page("a"), page("b")], &[beside("a", Pass), beside("b", Pass)]);
    assert_eq!(quiet.next, []);
}

#[test]
fn throughput_of_several_targets_is_compared_with_one() {
    let on = |nodes: u32| SuiteTestInfo { nodes: Some(nodes), ..page(&format!("a@{nodes}")) };
    let runs = [
        run("a@1", 1, 100.0, 1_000),
        run("a@1", 2, 150.0, 1_000),
        run("a@2", 2, 190.0, 1_000),
        run("a@2", 4, 270.0, 1_000),
        run("b@2", 2, 190.0, 1_000),
    ];
    let alone = SuiteTestInfo { nodes: Some(2), ..page("b@2") };
    let (conclusion, tests) = suite_of(vec![on(1), on(2), alone], &runs);
    // One session on each target.
    let single = tests[1].steps.iter().find(|step| step.sessions == 2).unwrap();
    assert_eq!(tests[1].single_us, single.figures.get("service_mean_us").copied());
    let scaled = scale::scaled(&tests);
    let times: Vec<(u32, f64)> = scaled[0].on.iter().map(|on| (on.nodes, on.times)).collect();
    assert_eq!((scaled.len(), times), (1, vec![(1, 1.0), (2, 1.8)]));
    let expected_sentence = "a: what one target does, 1.80 × on 2, 90.0 % of linear";
    assert!(
        conclusion.sentences().iter().any(|words| words == expected_sentence),
        "{:?}",
        conclusion.sentences()
    );
}

#[test]
fn shared_suite_remarks_appear_once_and_calibration_with_storage() {
    let with = |id: &str, is_calibrated: bool| {
        let mut record = run(id, 1, 100.0, 1_000);
        record.targets[0].identity.cache_bytes = Some(128 << 20);
        record.targets[0].identity.calibrated = is_calibrated.then(|| dyno_record::OwnCalibration {
            requests_per_s: 12_500.0,
            mb_per_s: 1_830.0,
            process_mb_per_s: 410.0,
            latency_ms: 3.0,
            ended_at: "2026-11-02 03:14:15".into(),
        });
        record
    };
    let raw = |id: &str| SuiteTestInfo { raw: Some(RawTest::RandomRead), ..page(id) };
    let out = |id: &str| SuiteTestInfo { cache: Some("out".into()), ..page(id) };
    let pages = vec![raw("a"), page("b"), out("c"), out("d")];
    let runs = [with("a", true), with("b", true), with("c", false), with("d", false)];
    let (conclusion, _) = suite_of(pages, &runs);
    let calibrated: Vec<&String> =
        conclusion.words.iter().filter(|words| words.contains("own calibration")).collect();
    let expected_start = "a: the database's own calibration (which ended 2026-11-02 03:14:15): 12,500 requests of a block/s with ";
    assert!(calibrated.len() == 1, "{:#?}", conclusion.words);
    assert!(calibrated[0].starts_with(expected_start), "{:#?}", conclusion.words);
    let sized: Vec<&String> = conclusion.words.iter().filter(|words| words.contains("cache holds")).collect();
    assert!(sized.len() == 1, "{sized:#?}");
    assert!(sized[0].starts_with("c, d: "), "{sized:#?}");
    assert!(sized[0].ends_with("cache holds 128M"), "{sized:#?}");
}
