use super::*;
use crate::reference::reference;

fn platform(name: &str, suites: Vec<SuiteResult>) -> ScorecardPlatform {
    let settings = vec![("data.scale".to_owned(), "8M".to_owned())];
    ScorecardPlatform {
        name: name.to_owned(),
        suites,
        printed: false,
        plan_settings: settings,
        notes: Vec::new(),
        again: Default::default(),
    }
}

/// A suite with the figures of the documents, multiplied by `times`.
fn suite(times: f64, spread: f64) -> SuiteResult {
    let mut suites =
        ["server-in-memory-oracle", "random-read-flash-oracle"].map(|name| reference(name).unwrap().suite());
    let more = suites[1].tests.split_off(0);
    let [mut suite, _] = suites;
    suite.tests.extend(more);
    for test in &mut suite.tests {
        test.page.units = test.page.units.max(1);
        let most = test.most.as_mut().unwrap();
        most.value *= times;
        most.range = (spread > 0.0).then_some((most.value * (1.0 - spread), most.value * (1.0 + spread)));
        let step = test.steps.iter_mut().find(|step| step.sessions == most.sessions).unwrap();
        step.runs = vec![String::new(); 5];
        test.single_us = test.single_us.map(|us| us / times);
    }
    suite
}

#[test]
fn scorecard_ratio_above_one_is_always_better() {
    let (a, b) = (platform("a", vec![suite(1.0, 0.01)]), platform("b", vec![suite(2.0, 0.01)]));
    for figure in [ScorecardFigure::Most, ScorecardFigure::Alone] {
        let card = scorecard(&[a.clone(), b.clone()], figure);
        let ratios: Vec<ScorecardRatio> = card.lines.iter().filter_map(|line| line.ratios[1]).collect();
        assert!(!ratios.is_empty(), "{card:#?}");
        assert!(ratios.iter().all(|ratio| (ratio.times - 2.0).abs() < 1e-9), "{card:#?}");
        assert!(card.lines.iter().all(|line| line.ratios[0].is_none()));
    }
}

#[test]
fn difference_is_certain_with_many_separate_repeats() {
    let verdict = |a: SuiteResult, b: SuiteResult| {
        let card = scorecard(&[platform("a", vec![a]), platform("b", vec![b])], ScorecardFigure::Most);
        card.lines[0].ratios[1].unwrap().verdict
    };
    assert_eq!(verdict(suite(1.0, 0.01), suite(1.1, 0.01)), ScorecardVerdict::Better);
    assert_eq!(verdict(suite(1.1, 0.01), suite(1.0, 0.01)), ScorecardVerdict::Worse);
    assert_eq!(verdict(suite(1.0, 0.06), suite(1.1, 0.06)), ScorecardVerdict::Unsure);
    assert_eq!(verdict(suite(1.0, 0.0), suite(1.1, 0.0)), ScorecardVerdict::Single);
    let few = |times| {
        let mut suite = suite(times, 0.01);
        suite.tests.iter_mut().flat_map(|test| &mut test.steps).for_each(|step| step.runs.truncate(2));
        suite
    };
    assert_eq!(verdict(few(1.0), few(1.1)), ScorecardVerdict::Few);
    // Three and three have disjoint ranges by chance in one of ten cases, four and four in one of
    // thirty-five.
    assert!((chance(3, 3) - 0.1).abs() < 1e-12);
    assert!((chance(4, 4) - 2.0 / 70.0).abs() < 1e-12);
    assert!(chance(1, 1) >= 1.0);
}

#[test]
fn single_deviating_test_needs_many_repeats_for_verdict() {
    let lucky = |runs: usize| {
        let mut suite = suite(1.0, 0.01);
        let first = suite.tests[0].clone();
        for number in 0..40 {
            let mut test = first.clone();
            test.page.id = format!("test-{number}");
            suite.tests.push(test);
        }
        suite
            .tests
            .iter_mut()
            .flat_map(|test| &mut test.steps)
            .for_each(|step| step.runs.resize(runs, String::new()));
        suite
    };
    let verdict = |runs: usize| {
        let mut apart = lucky(runs);
        let most = apart.tests[0].most.as_mut().unwrap();
        most.value *= 1.1;
        most.range = most.range.map(|(low, high)| (1.1 * low, 1.1 * high));
        let card =
            scorecard(&[platform("a", vec![lucky(runs)]), platform("b", vec![apart])], ScorecardFigure::Most);
        let verdict = card.lines[0].ratios[1].unwrap().verdict;
        let is_noted = card.notes.iter().any(|note| note.starts_with("1 test lies apart"));
        assert_eq!(is_noted, verdict == ScorecardVerdict::Few, "{:?}", card.notes);
        verdict
    };
    assert_eq!(
        [4, 5, 7].map(verdict),
        [ScorecardVerdict::Few, ScorecardVerdict::Few, ScorecardVerdict::Better]
    );
}

#[test]
fn suites_of_one_platform_count_as_repeats() {
    let mut once = suite(1.0, 0.0);
    once.tests.iter_mut().flat_map(|test| &mut test.steps).for_each(|step| step.runs.truncate(1));
    let times = |times: f64| {
        let mut suite = once.clone();
        suite.tests.iter_mut().for_each(|test| test.most.as_mut().unwrap().value *= times);
        suite
    };
    let a = platform("a", [0.99, 1.0, 1.01, 1.0].map(times).to_vec());
    let b = platform("b", [0.49, 0.5, 0.51, 0.5].map(times).to_vec());
    let card = scorecard(&[a, b], ScorecardFigure::Most);
    let value = card.lines[0].values[1].as_ref().unwrap();
    assert_eq!((value.runs, value.range.is_some()), (4, true));
    let ratio = card.lines[0].ratios[1].unwrap();
    assert_eq!((ratio.verdict, (ratio.times - 0.5).abs() < 1e-9), (ScorecardVerdict::Worse, true));
    assert!(ratio.range.unwrap().0 < 0.5);
    assert!(ratio.range.unwrap().1 > 0.5);
}

#[test]
fn scorecard_names_best_and_worst_group_and_setting_changes() {
    let mut other = suite(1.0, 0.01);
    for test in other.tests.iter_mut().filter(|test| test.page.group == "storage") {
        let most = test.most.as_mut().unwrap();
        most.value *= 3.0;
        most.range = most.range.map(|(low, high)| (3.0 * low, 3.0 * high));
    }
    let mut b = platform("b", vec![other]);
    b.plan_settings[0].1 = "64G".to_owned();
    let card = scorecard(&[platform("a", vec![suite(1.0, 0.01)]), b], ScorecardFigure::Most);
    let words = &card.words[0];
    assert!(
        words.contains("best in storage (3.00 ×: storage-random-read), worst in server (1.00 to 1.00 ×"),
        "{words}"
    );
    assert_eq!(card.notes[0], "data.scale is 8M for a and 64G for b");
    assert!(card.notes[1].contains("alternately"), "one suite of each: {:?}", card.notes);
}

#[test]
fn different_suite_tests_are_not_compared() {
    let mut larger = suite(1.0, 0.0);
    larger.tests[0].page.units = 10;
    let mut cached = suite(1.0, 0.0);
    cached.tests[0].unfit = Some("answered by a cache".to_owned());
    let card =
        |b| scorecard(&[platform("a", vec![suite(1.0, 0.0)]), platform("b", vec![b])], ScorecardFigure::Most);
    assert_eq!(card(larger.clone()).lines[0].ratios[1], None);
    assert!(card(larger).words[0].ends_with("1 cannot be compared"));
    assert_eq!(card(cached).lines[0].values[1], Err("answered by a cache".to_owned()));
    // A document's tests are similar, not the same.
    let printed = ScorecardPlatform {
        printed: true,
        ..platform("doc", vec![reference("server-in-memory-oracle").unwrap().suite()])
    };
    let platforms = [printed, platform("a", vec![suite(2.0, 0.0)])];
    assert!(
        (scorecard(&platforms, ScorecardFigure::Most).lines[0].ratios[1].unwrap().times - 2.0).abs() < 1e-9
    );
    assert_eq!(
        scorecard(&platforms, ScorecardFigure::Alone).lines[0].ratios[1],
        None,
        "nobody knows how large its scans were"
    );
    assert!(
        scorecard(&platforms, ScorecardFigure::Alone).lines[1].ratios[1].is_some(),
        "a lookup is one lookup"
    );
}
