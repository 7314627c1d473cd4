//! Tests conclusions of synthetic runs: their words, and that they read back as written.

use std::sync::LazyLock;

use dyno_record::{Metric, RunRecord, Unit};

use super::*;
use crate::bracket::{Bracket, SearchTally};
use crate::compare::{ComparisonRules, ComparisonSide, compare};
use crate::fixture;
use crate::points::points;

fn run(id: &str, sessions: u32, ops_per_s: f64) -> RunRecord {
    static MODEL: LazyLock<RunRecord> = LazyLock::new(fixture::postgres);
    let mut record = MODEL.clone();
    record.id = id.to_owned();
    record.plan.run.sessions_per_schema = sessions;
    record.metrics.insert("ops_per_s".into(), Metric::Value { value: ops_per_s, unit: Unit::PerSecond });
    record
}

fn reads_back(conclusion: &Conclusion) {
    let json = serde_json::to_string(conclusion).unwrap();
    let read: Conclusion = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
}

fn side(name: &str, records: &[RunRecord]) -> AbSide {
    AbSide { name: name.into(), runs: records.iter().map(|record| record.id.clone()).collect() }
}

fn ab_of(a: &[f64], b: &[f64]) -> Conclusion {
    let runs = |name: &str, values: &[f64]| -> Vec<RunRecord> {
        values.iter().enumerate().map(|(i, &ops)| run(&format!("{name}-{i}"), 4, ops)).collect()
    };
    let (a, b) = (runs("a", a), runs("b", b));
    let as_side = |name: &str, records: &'_ [RunRecord]| -> (String, Vec<RunRecord>) {
        (name.to_owned(), records.to_vec())
    };
    let (of_a, of_b) = (as_side("a (work_unit = 64)", &a), as_side("b (work_unit = 32)", &b));
    let comparison = compare(
        &ComparisonSide { name: of_a.0.clone(), records: of_a.1.iter().collect() },
        &ComparisonSide { name: of_b.0.clone(), records: of_b.1.iter().collect() },
        &ComparisonRules::default(),
    );
    let figures = AbResult {
        a: side(&of_a.0, &a),
        b: side(&of_b.0, &b),
        comparison: Some(comparison),
        gates: Vec::new(),
        sequential: None,
        server_settings: Vec::new(),
    };
    ab::conclusion("ab-1", None, figures)
}

#[test]
fn ab_conclusion_names_faster_side_and_not_the_best_run() {
    let slower = ab_of(&[1000.0, 1010.0, 990.0, 1005.0, 995.0], &[900.0, 910.0, 890.0, 905.0, 895.0]);
    assert!(
        slower.line.starts_with(
            "b (work_unit = 32) is slower than a (work_unit = 64): 1,000 operations/s → 900 operations/s, -10.00 % (95 %: "
        ),
        "{}",
        slower.line
    );
    assert!(slower.words.iter().any(|line| line.starts_with("mean service time: ")), "{:?}", slower.words);
    reads_back(&slower);
    let single_run = ab_of(&[1000.0], &[900.0]);
    assert!(single_run.line.contains("from one run of each side"), "{}", single_run.line);
    reads_back(&single_run);
    let empty_figures = AbResult {
        comparison: None,
        ..match single_run.figures {
            ConclusionFigures::Ab(ab) => *ab,
            other => panic!("{other:?}"),
        }
    };
    let inconclusive = ab::conclusion("ab-1", Some("stopped after 1 of 10 runs".into()), empty_figures);
    assert_eq!(
        inconclusive.sentences(),
        ["no comparison: a side has no valid run", "it did not finish: stopped after 1 of 10 runs"]
    );
}

#[test]
fn search_conclusion_states_bracket_or_progress() {
    let tally = SearchTally::from([(4, (3, 3)), (8, (2, 3)), (16, (0, 2))]);
    let search_with = |found| SearchResult::of(vec!["p99 <= 2ms".into()], "sessions", 2, &tally, found);
    let bracket = Bracket { holds: Some(8), breaks: Some(16) };
    let completed = search::conclusion("search-1", None, search_with(Some(bracket)));
    assert_eq!(
        completed.line,
        "p99 <= 2ms holds up to 16 sessions (met in 2 of 3 runs), not at 32 sessions (met in 0 of 2 runs)"
    );
    reads_back(&completed);
    let broken_off = search::conclusion("search-1", Some("stopped".into()), search_with(None));
    assert!(broken_off.line.starts_with("no result yet; so far p99 <= 2ms holds up to 16"), "{broken_off:?}");
    let nothing = SearchResult::of(vec!["p99 <= 2ms".into()], "rate", 1, &SearchTally::new(), None);
    assert!(search::conclusion("search-1", None, nothing).line.ends_with("no run was made"));
}

#[test]
fn capacity_of_a_search_keeps_its_limits() {
    let records: Vec<RunRecord> = [(4, 900.0), (8, 1_500.0), (16, 2_400.0)]
        .iter()
        .map(|&(n, ops)| run(&format!("run-{n}"), n, ops))
        .collect();
    let search = |tally: &[(u64, (u32, u32))], over: &str| {
        SearchResult::of(vec!["p99 <= 2ms".into()], over, 1, &tally.iter().copied().collect(), None)
    };
    let kept = search(&[(4, (3, 3)), (8, (2, 3)), (16, (0, 2))], "sessions").summaries(&points(&records));
    assert_eq!((kept.curves[0].capacity.sessions, kept.curves[0].capacity.value), (8, 1_500.0));
    let sentence = kept.curves[0].sentence();
    let begins = "capacity 1,500 operations/s with 8 sessions, within p99 <= 2ms; ";
    assert!(sentence.starts_with(begins), "{sentence}");
    assert_eq!(kept.curves[0].points, 3, "loads that break the limits are on the curve");
    let none = search(&[(4, (0, 3)), (8, (1, 3)), (16, (0, 2))], "sessions").summaries(&points(&records));
    assert!(none.curves.is_empty());
    assert_eq!(none.without_result[0].reason, "no load that was tried keeps p99 <= 2ms");
    assert_eq!(none.without_result[0].runs, 3);
    // Of a rate, the load is the rate of the plan.
    let mut rated = [run("slow", 4, 900.0), run("fast", 4, 1_400.0)];
    rated[0].plan.workload.rate = Some(dyno_plan::Rate(1_000.0));
    rated[1].plan.workload.rate = Some(dyno_plan::Rate(2_000.0));
    let of_rate = search(&[(1_000, (1, 1)), (2_000, (0, 1))], "rate").summaries(&points(&rated));
    assert_eq!(of_rate.curves[0].capacity.value, 900.0);
    let single = search(&[(1_000, (1, 1))], "rate").summaries(&points(&rated[..1]));
    assert_eq!(single.curves[0].capacity.value, 900.0, "one load is no axis");
}

#[test]
fn soak_conclusion_states_whether_it_was_steady() {
    let record = fixture::postgres();
    let soak = soak::conclusion("soak-1", None, &record);
    assert!(soak.line.contains("steady") || soak.line.contains("too few"), "{}", soak.line);
    assert!(!soak.words.is_empty());
    reads_back(&soak);
}

#[test]
fn sweep_conclusion_states_maximum_and_each_ramp() {
    let records: Vec<RunRecord> = [(1u32, 1_000.0), (2, 1_900.0), (4, 3_200.0), (8, 4_100.0)]
        .iter()
        .map(|&(n, ops)| run(&format!("run-{n}"), n, ops))
        .collect();
    let sweep = sweep::conclusion("sweep-1", None, &points(&records));
    assert!(
        sweep.line.starts_with("highest throughput: 4,100 operations/s with 8 sessions"),
        "{}",
        sweep.line
    );
    assert!(
        sweep.words.iter().any(|line| line.contains("too few for a scalability fit")),
        "{:?}",
        sweep.words
    );
    let steps: Vec<&str> = sweep.next.iter().map(|step| step.rule.as_str()).collect();
    assert_eq!(steps[0], "no_peak_yet", "{steps:?}");
    reads_back(&sweep);
    assert_eq!(sweep::conclusion("sweep-1", None, &points(&[])).line, "no run has a result");
}

#[test]
fn conclusion_of_newer_version_is_kept_and_reported() {
    for figures in [r#"{"kind":"fleet","hosts":[1,2]}"#, r#"{"kind":"search","found":"otherwise"}"#] {
        let stored = format!(r#"{{"of":"fleet-1","line":"wide","words":["deep"],"figures":{figures}}}"#);
        let read: Conclusion = serde_json::from_str(&stored).unwrap();
        assert!(matches!(read.figures, ConclusionFigures::Newer(_)));
        let sentences = read.sentences();
        assert_eq!(sentences[..2], ["wide", "deep"]);
        assert!(sentences[2].contains("another version of Dyno"), "{sentences:?}");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&serde_json::to_string(&read).unwrap()), value(&stored));
    }
}

/// The rule and the command of the only step.
fn next_of(conclusion: &Conclusion) -> (String, String) {
    let [step] = conclusion.next.as_slice() else { panic!("{:#?}", conclusion.next) };
    (step.rule.clone(), step.command.clone().unwrap_or_default())
}

#[test]
fn ab_conclusion_says_how_many_pairs_would_decide() {
    let command = |pairs| format!("dyno ab --a work_unit=64 --b work_unit=32 --pairs {pairs}");
    let three = ab_of(&[1000.0, 1010.0, 990.0], &[900.0, 910.0, 890.0]);
    assert_eq!(next_of(&three), ("too_few_pairs".into(), command(10)));
    assert_eq!(
        three.next[0].sentence,
        "3 + 3 runs cannot be significant (least p = 0.10); 4 pairs or more can"
    );
    let single = ab_of(&[1000.0], &[900.0]);
    assert_eq!(next_of(&single).0, "too_few_pairs");
    let decided = ab_of(&[1000.0, 1010.0, 990.0, 1005.0, 995.0], &[900.0, 910.0, 890.0, 905.0, 895.0]);
    assert_eq!(next_of(&decided).0, "decided");
    let noisy = ab_of(&[1000.0, 1100.0, 900.0, 1150.0, 950.0], &[900.0, 1050.0, 850.0, 1080.0, 880.0]);
    let (rule, more) = next_of(&noisy);
    assert!(rule == "more_pairs", "{noisy:#?}");
    assert!(more.starts_with("dyno ab --a work_unit=64 --b work_unit=32 --pairs "), "{noisy:#?}");
    let wild = ab_of(&[1000.0, 2000.0, 500.0, 1500.0, 700.0], &[1010.0, 1980.0, 510.0, 1490.0, 720.0]);
    assert_eq!(next_of(&wild), ("not_decidable".into(), String::new()));
    reads_back(&noisy);
}

#[test]
fn ab_sides_under_different_load_are_repeated() {
    let mut test = ab_of(&[1000.0, 1010.0, 990.0, 1005.0, 995.0], &[900.0, 910.0, 890.0, 905.0, 895.0]);
    let ConclusionFigures::Ab(figures) = &mut test.figures else { unreachable!() };
    let comparison = figures.comparison.as_mut().unwrap();
    comparison.overall[0].verdict = crate::compare::ComparisonVerdict::Confounded;
    let steps = pairs::next("ab-1", figures);
    assert_eq!(steps[0].rule, "same_conditions");
}

#[test]
fn decided_ab_test_names_the_report_and_the_setting_to_keep() {
    let test = ab_of(&[1000.0, 1010.0, 990.0, 1005.0, 995.0], &[1200.0, 1210.0, 1190.0, 1205.0, 1195.0]);
    assert_eq!(next_of(&test), ("decided".into(), "dyno report ab-1 -o ab-1.html".into()));
    let ConclusionFigures::Ab(figures) = &test.figures else { unreachable!() };
    let mut figures = figures.clone();
    figures.server_settings = vec!["work_mem=4MB,64MB".into()];
    let steps = pairs::next("ab-1", &figures);
    assert!(steps[0].sentence.contains("side b is better"), "{steps:?}");
    assert!(steps[0].sentence.contains("`work_mem` = 64MB"), "{steps:?}");
    figures.comparison.as_mut().unwrap().unequal_work = vec!["workload.work_unit".into()];
    assert_eq!(pairs::next("ab-1", &figures), [], "no side is better at other work");
}

#[test]
fn search_and_soak_name_the_next_range() {
    let search = |tally: &[(u64, (u32, u32))], holds, breaks| {
        let tally = tally.iter().copied().collect::<SearchTally>();
        let result = SearchResult::of(
            vec!["p99 <= 2ms".into()],
            "sessions",
            1,
            &tally,
            Some(Bracket { holds, breaks }),
        );
        search::conclusion("search-1", None, result)
    };
    let highest = search(&[(8, (3, 3))], Some(8), None);
    let command = "dyno search --over sessions --limit 'p99 <= 2ms' --from 8 --max 64";
    assert_eq!(next_of(&highest), ("search_higher".into(), command.into()));
    let lowest = search(&[(16, (0, 3))], None, Some(16));
    assert_eq!(next_of(&lowest).0, "search_lower");
    let unsure = search(&[(8, (2, 3)), (16, (0, 3))], Some(8), Some(16));
    assert_eq!(next_of(&unsure).0, "confirm_bound");
    assert_eq!(search(&[(8, (3, 3)), (16, (0, 3))], Some(8), Some(16)).next, []);
    let record = fixture::postgres();
    let soak = soak::conclusion("soak-1", None, &record);
    let is_longer = soak.next.iter().any(|step| step.rule == "longer_soak");
    let ConclusionFigures::Soak(figures) = &soak.figures else { unreachable!() };
    assert_eq!(is_longer, figures.steady.is_none(), "{soak:#?}");
    let mut varied = record;
    for (at, point) in varied.series.points.iter_mut().enumerate() {
        point.ops = if at % 2 == 0 { 1_000 } else { 200 };
    }
    assert!(soak::conclusion("soak-1", None, &varied).next.iter().any(|step| step.rule == "longer_soak"));
}
