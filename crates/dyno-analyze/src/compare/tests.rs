//! Tests comparisons of synthetic sides whose difference is known.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use dyno_record::{
    Attribution, AttributionScope, CountedStatements, CountedTables, ForeignActivity, ImportSource, Metric,
    RelationActivity, RunRecord, StatementCounts, StatementUse, Status, TableActivity, TopStatements, Unit,
    Waits,
};

use super::*;
use crate::conclusion::ab::{AbResult, AbSide, conclusion};
use crate::fixture;

/// A run with this many operations per second, at this many sessions.
fn run(id: &str, sessions: u32, ops_per_s: f64) -> RunRecord {
    // Filling histograms takes longest, so it is done once.
    static MODEL: LazyLock<RunRecord> = LazyLock::new(fixture::postgres);
    let mut record = MODEL.clone();
    record.id = id.to_owned();
    record.plan.run.sessions_per_schema = sessions;
    record.metrics.insert("ops_per_s".into(), Metric::Value { value: ops_per_s, unit: Unit::PerSecond });
    record
}

fn runs(sessions: u32, values: &[f64]) -> Vec<RunRecord> {
    values.iter().enumerate().map(|(i, &value)| run(&format!("{sessions}-{i}"), sessions, value)).collect()
}

fn side<'r>(name: &str, records: &'r [RunRecord]) -> ComparisonSide<'r> {
    ComparisonSide { name: name.into(), records: records.iter().collect() }
}

fn only(measure: &str) -> ComparisonRules {
    ComparisonRules { measures: vec![measure.into()], ..ComparisonRules::default() }
}

#[test]
fn repeats_without_overlap_give_verdict() {
    let a = runs(4, &[1000.0, 1010.0, 990.0, 1005.0, 995.0]);
    let b = runs(4, &[900.0, 910.0, 890.0, 905.0, 895.0]);
    let comparison = compare(&side("a", &a), &side("b", &b), &only("ops_per_s"));
    let compared = &comparison.points[0].measures[0];
    assert_eq!((compared.difference_pct, compared.verdict), (Some(-10.0), ComparisonVerdict::Slower));
    assert!((compared.p.unwrap() - 0.007_936_507_936_507_936).abs() < 1e-12);
    let (low, high) = compared.interval_pct.unwrap();
    assert!(low < -10.0, "{low} {high}");
    assert!(-10.0 < high, "{low} {high}");
    assert!(high < -8.0, "{low} {high}");
    assert_eq!(comparison.overall[0].verdict, ComparisonVerdict::Slower);
    let back = compare(&side("b", &b), &side("a", &a), &only("ops_per_s"));
    assert_eq!(back.overall[0].verdict, ComparisonVerdict::Faster);
}

#[test]
fn one_run_per_side_gives_difference_without_verdict() {
    let (a, b) = (runs(4, &[1000.0]), runs(4, &[500.0]));
    let comparison = compare(&side("a", &a), &side("b", &b), &ComparisonRules::default());
    let compared = &comparison.points[0].measures[0];
    assert_eq!((compared.difference_pct, compared.verdict), (Some(-50.0), ComparisonVerdict::OneRunEach));
    assert_eq!((compared.interval_pct, compared.p), (None, None));
    assert!(comparison.points[0].measures.iter().all(|m| m.verdict == ComparisonVerdict::OneRunEach));
    assert!(comparison.overall.iter().all(|overall| overall.verdict == ComparisonVerdict::OneRunEach));
}

#[test]
fn points_are_matched_by_settings_varied_within_a_side() {
    let ramp = |factor: f64| -> Vec<RunRecord> {
        [1u32, 2, 4]
            .iter()
            .flat_map(|&n| runs(n, &[f64::from(n) * factor, f64::from(n) * factor * 1.01]))
            .collect()
    };
    let (mut a, mut b) = (ramp(100.0), ramp(110.0));
    // A setting that differs between the sides only is no axis.
    b.iter_mut().for_each(|run| run.plan.workload.work_unit = 128);
    a.extend(runs(8, &[900.0]));
    b.push(RunRecord { status: Status::Invalid, reasons: vec!["why".into()], ..run("bad", 1, 1.0) });
    let comparison = compare(&side("a", &a), &side("b", &b), &only("ops_per_s"));
    assert_eq!(comparison.axes, ["sessions"]);
    let at: Vec<&str> = comparison.points.iter().map(|point| point.at[0].as_str()).collect();
    assert_eq!(at, ["1", "2", "4"]);
    assert_eq!((comparison.alone[0].side.as_str(), comparison.alone[0].at[0].as_str()), ("a", "8"));
    assert_eq!(comparison.left_out, [("bad".to_owned(), "invalid: why".to_owned())]);
    assert!((comparison.overall[0].difference_pct.unwrap() - 10.0).abs() < 1e-9);
    let work_unit = comparison.differed.iter().find(|d| d.name == "workload.work_unit").unwrap();
    assert_eq!((work_unit.a[0].as_str(), work_unit.b[0].as_str()), ("64", "128"));
}

#[test]
fn comparison_gate_is_checked_against_the_difference() {
    let a = runs(4, &[1000.0, 1010.0, 990.0]);
    let b = runs(4, &[970.0, 980.0, 960.0]);
    let comparison = compare(&side("a", &a), &side("b", &b), &only("ops_per_s"));
    let check = |text: &str| text.parse::<ComparisonGate>().unwrap().check(&comparison);
    assert!(check("ops_per_s >= -3%").holds, "exactly at the limit");
    assert_eq!(check("ops_per_s >= -3%").outcome(), GateOutcome::NotDecided, "three runs decide nothing");
    let broken = check("worst ops_per_s >= -2.9%");
    assert!(!broken.holds, "{broken:?}");
    assert!(!broken.certain, "{broken:?}");
    let missing = check("service_p99_us <= 1%");
    assert!(!missing.holds, "a measure that is not there holds nothing");
    assert!(missing.difference_pct.is_none(), "a measure that is not there holds nothing");
}

#[test]
fn gate_is_decided_only_by_interval_and_rank_test() {
    let a = runs(4, &[1000.0, 1010.0, 990.0, 1005.0, 995.0]);
    let b = runs(4, &[900.0, 910.0, 890.0, 905.0, 895.0]);
    let check = |a: &[RunRecord], b: &[RunRecord], text: &str| {
        let comparison = compare(&side("a", a), &side("b", b), &only("ops_per_s"));
        text.parse::<ComparisonGate>().unwrap().check(&comparison).outcome()
    };
    assert_eq!(check(&a, &b, "ops_per_s >= -15%"), GateOutcome::Passed);
    assert_eq!(check(&a, &b, "worst ops_per_s >= -15%"), GateOutcome::Passed);
    assert_eq!(check(&a, &b, "ops_per_s >= -5%"), GateOutcome::Failed);
    assert_eq!(check(&a, &b, "ops_per_s >= -10%"), GateOutcome::NotDecided, "at the limit");
    // Two runs of each side have p = 0.33, and one run has none, however far they are from the limit.
    assert_eq!(check(&a[..2], &b[..2], "ops_per_s >= -50%"), GateOutcome::NotDecided);
    assert_eq!(check(&a[..1], &b[..1], "ops_per_s >= -50%"), GateOutcome::NotDecided);
    assert_eq!(check(&a, &b, "service_p999_us <= 1%"), GateOutcome::Failed, "the measure is not compared");
}

#[test]
fn statements_and_tables_are_compared_by_name_and_unit_of_work() {
    let mut sides = [runs(4, &[1000.0, 1010.0, 990.0, 1005.0]), runs(4, &[1000.0, 1010.0, 990.0, 1005.0])];
    for (side, records) in sides.iter_mut().enumerate() {
        let factor = side as u64 + 1;
        for record in records {
            let counts = StatementCounts { calls: 100, time_s: 0.2 * factor as f64, ..Default::default() };
            let long = "x".repeat(80);
            let used = |operation: Option<&str>, text: &str| StatementUse {
                id: format!("{factor}{text}"),
                text: Some(text.to_owned()),
                operation: operation.map(str::to_owned),
                counts,
                ..Default::default()
            };
            record.statements = Some(TopStatements::Counted(Box::new(CountedStatements {
                seconds: 10.0,
                statements: vec![
                    used(Some("update"), "UPDATE t"),
                    used(None, "DELETE\n FROM u"),
                    used(None, &format!("{long} 1")),
                    StatementUse { at_least: side == 1, ..used(None, &format!("{long} 2")) },
                ],
                ..Default::default()
            })));
            let counts = BTreeMap::from([("blocks_hit".to_owned(), 40_000 * factor)]);
            record.tables = Some(TableActivity::Counted(Box::new(CountedTables {
                seconds: 10.0,
                tables: vec![RelationActivity { name: "s.t".into(), counts, ..Default::default() }],
                ..Default::default()
            })));
        }
    }
    let (a, b) = (side("a", &sides[0]), side("b", &sides[1]));
    let beside = crate::side_by_side::side_by_side(&a, &b, &compare(&a, &b, &ComparisonRules::default()));
    let find = |group, title: &str, name: &str| {
        let row = beside.rows(group).iter().find(|row| row.title == title && row.name == name);
        row.unwrap_or_else(|| panic!("{title} {name}: {:#?}", beside.rows(group))).clone()
    };
    use crate::side_by_side::TableGroup;
    for title in ["update", "DELETE FROM u"] {
        let mean = find(TableGroup::Statements, title, "mean time of a call");
        assert_eq!((mean.a, mean.b, mean.verdict), (Some(2_000.0), Some(4_000.0), ComparisonVerdict::Slower));
        let calls = find(TableGroup::Statements, title, "calls/s");
        assert_eq!((calls.a, calls.difference), (Some(10.0), Some(0.0)));
    }
    // Texts that begin alike are different statements; a lower limit is not compared.
    let begin = format!("{}…", "x".repeat(80));
    let long =
        [begin.clone(), format!("{begin} (2)")].map(|title| find(TableGroup::Statements, &title, "calls/s"));
    assert_eq!(long.map(|row| (row.a, row.b)), [(Some(10.0), Some(10.0)), (Some(10.0), None)]);
    let hits = find(TableGroup::Relations, "s.t", "blocks hit");
    assert!((hits.a.unwrap() - 4.0).abs() < 0.05, "4,000/s over 1,000 operations/s: {hits:?}");
    assert_eq!(hits.difference_pct.map(f64::round), Some(100.0));
    assert_eq!(beside.rows(TableGroup::Relations).len(), 1, "counts that no side has are left out");
}

#[test]
fn rows_side_by_side_agree_with_the_compared_measures() {
    let a = runs(4, &[1000.0, 1010.0, 990.0, 1005.0, 995.0]);
    let b = runs(4, &[900.0, 910.0, 890.0, 905.0, 895.0]);
    let (a, b) = (side("a", &a), side("b", &b));
    let comparison = compare(&a, &b, &ComparisonRules::default());
    let beside = crate::side_by_side::side_by_side(&a, &b, &comparison);
    let group = crate::side_by_side::TableGroup::LoadPerSecond;
    let row = beside.rows(group).iter().find(|row| row.name == "operations").unwrap();
    assert_eq!((row.a, row.b, row.difference), (Some(1000.0), Some(900.0), Some(-100.0)));
    let compared = &comparison.overall[0];
    assert_eq!((row.verdict, row.p), (ComparisonVerdict::Slower, compared.p));
    assert_eq!((row.difference_pct, row.interval_pct), (compared.difference_pct, compared.interval_pct));
    // The same work in fewer operations is more work for each.
    let group = crate::side_by_side::TableGroup::LoadPerWork;
    let reads = beside.rows(group).iter().find(|row| row.name == "logical reads (blocks)").unwrap();
    assert!((reads.b.unwrap() / reads.a.unwrap() - 1.0 / 0.9).abs() < 0.02, "{reads:?}");
}

/// Two sides of the same noise are reported as different in at most one of twenty comparisons.
#[test]
fn a_a_comparison_is_same_or_unsure() {
    let mut random = crate::random::ResamplingRandom::new(3);
    let mut noise = |n: usize| -> Vec<f64> { (0..n).map(|_| 1000.0 + 100.0 * random.unit()).collect() };
    let mut wrong = 0;
    for _ in 0..200 {
        let (a, b) = (runs(4, &noise(5)), runs(4, &noise(5)));
        let verdict = compare(&side("a", &a), &side("b", &b), &only("ops_per_s")).overall[0].verdict;
        wrong += i32::from(!matches!(verdict, ComparisonVerdict::Same | ComparisonVerdict::Unsure));
    }
    assert!(wrong <= 10, "{wrong} of 200");
}

/// Runs with these amounts of redo.
fn redo(values: &[f64]) -> Vec<RunRecord> {
    let mut runs = runs(4, values);
    for (record, &value) in runs.iter_mut().zip(values) {
        let value = Metric::Value { value, unit: Unit::MegabytesPerSecond };
        record.metrics.insert("redo_mb_per_s".into(), value);
    }
    runs
}

#[test]
fn percent_difference_from_nearly_zero_is_not_reported() {
    let (a, b) = (redo(&[0.002, 0.0021, 0.0019, 0.002]), redo(&[0.004, 0.0041, 0.0039, 0.004]));
    let comparison = compare(&side("a", &a), &side("b", &b), &only("redo_mb_per_s"));
    let compared = &comparison.points[0].measures[0];
    assert_eq!((compared.difference_pct, compared.interval_pct), (None, None));
    assert!((compared.difference.unwrap() - 0.002).abs() < 1e-12);
    assert_eq!(
        (compared.verdict, comparison.overall[0].verdict),
        (ComparisonVerdict::Same, ComparisonVerdict::Same)
    );
    assert_eq!(comparison.overall[0].difference_pct, None);
    let gate: ComparisonGate = "redo_mb_per_s <= 5%".parse().unwrap();
    assert!(gate.check(&comparison).holds, "next to nothing on both sides is no difference");
    // From nearly zero to a real value is a difference, but has no percentage.
    let b = redo(&[40.0, 41.0, 39.0, 40.0]);
    let comparison = compare(&side("a", &a), &side("b", &b), &only("redo_mb_per_s"));
    let compared = &comparison.points[0].measures[0];
    assert_eq!((compared.difference_pct, compared.verdict), (None, ComparisonVerdict::More));
    assert!(!gate.check(&comparison).holds);
}

#[test]
fn comparison_of_marked_figures_is_marked_and_no_clear_win() {
    let (a, mut b) = (redo(&[10.0, 10.1, 9.9, 10.0, 10.05]), redo(&[20.0, 20.1, 19.9, 20.0, 20.05]));
    let attribution = Attribution {
        scope: AttributionScope::Server,
        others_pct: Some(48.0),
        marked: true,
        why: "another database committed, too".into(),
    };
    b.iter_mut().for_each(|run| {
        run.whose.insert("redo_mb_per_s".into(), attribution.clone());
    });
    let comparison = compare(&side("a", &a), &side("b", &b), &ComparisonRules::default());
    let at = comparison.points[0].measures.iter().find(|m| m.measure == "redo_mb_per_s").unwrap();
    assert_eq!((at.marked, at.verdict), ((false, true), ComparisonVerdict::OthersHadPart));
    assert!(comparison.others.as_ref().unwrap().contains("redo (whole server; up to 48.0 % is other load)"));
    let operations = &comparison.points[0].measures[0];
    assert_eq!((operations.marked, operations.verdict), ((false, false), ComparisonVerdict::Faster));
    let gate: ComparisonGate = "redo_mb_per_s <= 5%".parse().unwrap();
    let result = gate.check(&comparison);
    assert!(result.marked, "{result:?}");
    assert!(!result.holds, "{result:?}");
    assert!(!result.certain, "{result:?}");
}

/// Runs during which other programs used these shares of the processors, %.
fn beside_others(values: &[f64], others_pct: &[f64]) -> Vec<RunRecord> {
    let mut all = runs(4, values);
    for (run, &value) in all.iter_mut().zip(others_pct) {
        run.metrics.insert("others_cpu_pct".into(), Metric::Value { value, unit: Unit::Percent });
    }
    all
}

#[test]
fn sides_with_other_work_for_an_operation_are_not_ranked() {
    let (a, mut b) = (runs(4, &[1000.0, 1010.0, 990.0, 1005.0]), runs(4, &[1400.0, 1410.0, 1390.0, 1405.0]));
    let compared = |b: &[RunRecord]| compare(&side("a", &a), &side("b", b), &ComparisonRules::default());
    assert!(crate::conclusion::ab::headline(&compared(&b)).starts_with("b is faster than a: "));
    b.iter_mut().for_each(|run| run.plan.workload.work_unit /= 2);
    let comparison = compared(&b);
    assert_eq!(comparison.unequal_work, ["workload.work_unit"]);
    let mut inserting = b.clone();
    inserting.iter_mut().for_each(|run| run.plan.workload.insert_pct = Some(5));
    assert_eq!(compared(&inserting).unequal_work, ["workload.insert_pct", "workload.work_unit"]);
    let headline = crate::conclusion::ab::headline(&comparison);
    assert!(
        headline.starts_with("operations of b and a are not the same work (workload.work_unit differs)"),
        "{headline}"
    );
    assert!(!headline.contains("faster than"), "{headline}");
}

#[test]
fn non_durable_side_is_in_comparison_headline_and_notes() {
    let (a, mut b) = (runs(4, &[1000.0, 1010.0, 990.0, 1005.0]), runs(4, &[1400.0, 1410.0, 1390.0, 1405.0]));
    for run in &mut b {
        run.targets[0].identity.not_durable = vec!["fsync = off: a crash can destroy the data".into()];
    }
    let words = "b: commits are not durable (fsync = off: a crash can destroy the data)";
    let comparison = compare(&side("a", &a), &side("b", &b), &ComparisonRules::default());
    assert_eq!(
        (comparison.not_durable.as_slice(), comparison.notes.as_slice()),
        ([words.into()].as_slice(), [words.into()].as_slice())
    );
    let ab_side = |name: &str| AbSide { name: name.into(), runs: Vec::new() };
    let figures = AbResult {
        a: ab_side("a"),
        b: ab_side("b"),
        comparison: Some(comparison),
        gates: Vec::new(),
        sequential: None,
        server_settings: Vec::new(),
    };
    let headline = conclusion("ab-1", None, figures).line;
    assert!(headline.starts_with("b is faster than a: "), "{headline}");
    assert!(headline.contains(words), "{headline}");
    let undurable_sides = compare(&side("b", &b), &side("c", &b), &ComparisonRules::default());
    assert!(undurable_sides.not_durable.is_empty());
    assert!(undurable_sides.notes[0].starts_with("both sides: commits are not durable"));
    // Runs that write nothing have no commits to lose.
    b.iter_mut().for_each(|run| {
        run.window.as_mut().unwrap().counted = Some(dyno_record::window::WorkCounts::default());
    });
    assert!(compare(&side("a", &a), &side("b", &b), &ComparisonRules::default()).notes.is_empty());
}

#[test]
fn background_activity_on_one_side_confounds_verdicts() {
    let a = beside_others(&[1000.0, 1010.0, 990.0, 1005.0], &[0.2, 0.4, 0.1, 0.3]);
    let b = beside_others(&[460.0, 470.0, 450.0, 465.0], &[48.0, 47.0, 49.0, 48.5]);
    let comparison = compare(&side("a", &a), &side("b", &b), &ComparisonRules::default());
    assert_eq!(comparison.overall[0].verdict, ComparisonVerdict::Confounded);
    assert_eq!(comparison.points[0].measures[0].verdict, ComparisonVerdict::Confounded);
    let words = "processors used by other programs: 0.2 % during a, 48.2 % during b";
    assert!(comparison.notes[0].contains(words), "{:?}", comparison.notes);
    let ab_side = |name: &str| AbSide { name: name.into(), runs: Vec::new() };
    let figures = AbResult {
        a: ab_side("a"),
        b: ab_side("b"),
        comparison: Some(comparison.clone()),
        gates: Vec::new(),
        sequential: None,
        server_settings: Vec::new(),
    };
    let headline = conclusion("ab-1", None, figures).line;
    assert!(headline.starts_with("confounded, no verdict on b against a: "), "{headline}");
    assert!(headline.contains(words), "{headline}");
    let gate: ComparisonGate = "ops_per_s <= 5%".parse().unwrap();
    assert!(!gate.check(&comparison).certain);
}

#[test]
fn background_activity_on_both_sides_keeps_verdict() {
    let a = beside_others(&[1000.0, 1010.0, 990.0, 1005.0], &[48.0, 30.0, 44.0, 20.0]);
    let b = beside_others(&[800.0, 810.0, 790.0, 805.0], &[25.0, 47.0, 33.0, 41.0]);
    let comparison = compare(&side("a", &a), &side("b", &b), &ComparisonRules::default());
    assert_eq!((comparison.overall[0].verdict, comparison.background.len()), (ComparisonVerdict::Slower, 0));
    // The activity of a quiet system does not count, however regular it is.
    let a = beside_others(&[1000.0, 1010.0, 990.0, 1005.0], &[0.1, 0.1, 0.1, 0.1]);
    let b = beside_others(&[800.0, 810.0, 790.0, 805.0], &[0.9, 0.9, 0.9, 0.9]);
    let comparison = compare(&side("a", &a), &side("b", &b), &ComparisonRules::default());
    assert_eq!(comparison.overall[0].verdict, ComparisonVerdict::Slower);
}

#[test]
fn foreign_device_writes_confound_a_comparison() {
    let writes = |values: &[f64], writes: f64| {
        let mut all = runs(4, values);
        all.iter_mut().for_each(|run| fixture::device_writes(run, writes));
        all
    };
    let a = writes(&[1000.0, 1010.0, 990.0, 1005.0], 4_000.0);
    let b = writes(&[700.0, 710.0, 690.0, 705.0], 80_000.0);
    let comparison = compare(&side("a", &a), &side("b", &b), &ComparisonRules::default());
    let kinds: Vec<Background> = comparison.background.iter().map(|difference| difference.kind).collect();
    assert!(kinds.contains(&Background::DeviceWrites), "{kinds:?}");
    assert_eq!(comparison.overall[0].verdict, ComparisonVerdict::Confounded);
}

/// Gives a run enough background activity of one kind to matter.
fn disturb(run: &mut RunRecord, kind: Background) {
    let percent = |value| Metric::Value { value, unit: Unit::Percent };
    let device = |run: &mut RunRecord, counter_name: &str, moved: f64| {
        run.hosts[0].counters.insert(format!("device.vda.{counter_name}"), moved);
    };
    match kind {
        Background::Processors => {
            run.metrics.insert("others_cpu_pct".into(), percent(40.0));
        }
        Background::Hypervisor => {
            run.metrics.insert("cpu_steal_pct".into(), percent(20.0));
        }
        Background::Sessions => {
            let Waits::Sampled { company, .. } = &mut run.waits else { panic!("the fixture has samples") };
            *company = ForeignActivity::Sampled { average_active_sessions: 2.0, seen: Vec::new() };
        }
        Background::DeviceWrites => device(run, "writes", 80_000.0),
        Background::DeviceWriteBytes => device(run, "write_bytes", 9e9),
        Background::DeviceReadBytes => device(run, "read_bytes", 9e9),
    }
}

#[test]
fn each_kind_of_background_activity_alone_confounds() {
    for kind in [
        Background::Processors,
        Background::Hypervisor,
        Background::Sessions,
        Background::DeviceWrites,
        Background::DeviceWriteBytes,
        Background::DeviceReadBytes,
    ] {
        let quiet = |values: &[f64]| {
            let mut all = beside_others(values, &[0.2, 0.4, 0.1, 0.3]);
            for run in &mut all {
                fixture::device_writes(run, 4_000.0);
                run.metrics.insert("cpu_steal_pct".into(), Metric::Value { value: 0.0, unit: Unit::Percent });
            }
            all
        };
        let a = quiet(&[1000.0, 1010.0, 990.0, 1005.0]);
        let mut b = quiet(&[700.0, 710.0, 690.0, 705.0]);
        b.iter_mut().for_each(|run| disturb(run, kind));
        let comparison = compare(&side("a", &a), &side("b", &b), &ComparisonRules::default());
        let kinds: Vec<Background> = comparison.background.iter().map(|difference| difference.kind).collect();
        assert_eq!(kinds, [kind]);
        assert_eq!(comparison.overall[0].verdict, ComparisonVerdict::Confounded, "{kind:?}");
    }
}

#[test]
fn imported_runs_are_compared_and_noted_as_imported() {
    let a = runs(4, &[1000.0]);
    let mut b = runs(4, &[900.0]);
    b[0].status = Status::Imported;
    b[0].kind = dyno_record::RecordKind::Import;
    b[0].imported = Some(ImportSource::default());
    let comparison = compare(&side("a", &a), &side("b", &b), &only("ops_per_s"));
    assert_eq!(comparison.runs, (1, 1));
    assert_eq!(comparison.notes, ["b: 1 run is imported and not audited"]);
}

#[test]
fn comparison_json_round_trip_is_lossless() {
    let (a, b) = (runs(4, &[1000.0, 1010.0, 990.0]), runs(4, &[900.0, 910.0, 890.0]));
    let comparison = compare(&side("a", &a), &side("b", &b), &ComparisonRules::default());
    let json = serde_json::to_string(&comparison).unwrap();
    let read: RunComparison = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
}
