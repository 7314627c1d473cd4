//! Tests the assessment of variants by load durations alone: figures of runs take the same path.

use super::*;

fn study(loads: &[(&str, &[f64])]) -> Conclusion {
    study_of(loads, &[])
}

/// A study in which each variant has these loads and runs.
fn study_of(loads: &[(&str, &[f64])], runs: &[&RunRecord]) -> Conclusion {
    conclusion("study-x", None, measured_of(loads, runs))
}

fn measured_of<'r>(loads: &[(&str, &[f64])], runs: &[&'r RunRecord]) -> StudyMeasurements<'r> {
    let variants = loads.iter().enumerate().map(|(at, (name, _))| StudyVariant {
        name: (*name).to_owned(),
        what: "what".to_owned(),
        again: name.ends_with("again"),
        worth: None,
        failed: if at == 1 { vec!["repeat 3 failed: x".to_owned()] } else { Vec::new() },
        verified: Vec::new(),
        background: Vec::new(),
        not_durable: Vec::new(),
        differed: Vec::new(),
    });
    let study = StudyResult {
        title: "t".to_owned(),
        base: 0,
        repeats: 4,
        margin_pct: 2.0,
        state: "loaded anew".to_owned(),
        variants: variants.collect(),
        rows: Vec::new(),
        order: Vec::new(),
        caveats: vec!["a caveat".to_owned()],
        others: None,
    };
    StudyMeasurements {
        study,
        tasks: vec!["a".to_owned()],
        metrics: vec!["ops_per_s".to_owned()],
        runs: vec![vec![runs.to_vec()]; loads.len()],
        loads_s: loads.iter().map(|(_, values)| vec![values.to_vec()]).collect(),
    }
}

fn worths(conclusion: &Conclusion) -> Vec<Option<Worth>> {
    let ConclusionFigures::Study(study) = &conclusion.figures else { panic!("{conclusion:?}") };
    study.variants.iter().map(|variant| variant.worth).collect()
}

#[test]
fn variant_without_a_measured_round_is_reported() {
    let mut study = measured_of(&[("base", &[]), ("bad", &[]), ("mixed", &[]), ("waiting", &[])], &[]).study;
    let turn = |(variant, ended): (&str, &str)| StudyVariantRound {
        at: String::new(),
        variant: variant.to_owned(),
        repeat: 1,
        ended: ended.to_owned(),
    };
    let turns = [
        ("base", "measured"),
        ("bad", "failed"),
        ("mixed", "failed"),
        ("bad", "cut off"),
        ("mixed", "measured"),
    ];
    study.order = turns.map(turn).to_vec();
    assert_eq!(study.unmeasured(), ["bad"]);
}

const BASE: [f64; 4] = [10.0, 10.1, 9.9, 10.05];

#[test]
fn variants_without_durable_commits_are_marked() {
    let mut quick = crate::fixture::postgres();
    quick.targets[0].identity.not_durable = vec!["fsync = off: a crash can destroy the data".into()];
    let slow = crate::fixture::postgres();
    let base_s = [10.0, 10.1, 9.9, 10.05, 10.02];
    let (base, variant) = (vec![&slow; 4], vec![&quick; 4]);
    let mut measured = measured_of(&[("base", &base_s), ("off", &[5.0, 5.1, 4.9, 5.05, 5.02])], &[]);
    measured.runs = vec![vec![base], vec![variant]];
    let result = conclusion("study-x", None, measured);
    assert!(result.line.contains("worth doing: off (commits not durable on one side)"), "{}", result.line);
    assert!(
        result.words[0].contains("caution (off: commits are not durable (fsync = off"),
        "{:?}",
        result.words
    );
}

#[test]
fn variants_are_ranked_by_verdict() {
    let result = study(&[
        ("base", &BASE),
        ("slow", &[12.0, 12.1, 11.9, 12.2]),
        ("fast", &[8.0, 8.1, 7.9, 8.05]),
        ("base again", &[10.0, 9.95, 10.1, 10.02]),
        ("nothing", &[]),
    ]);
    let all = [
        None,
        Some(Worth::Harmful),
        Some(Worth::WorthDoing),
        Some(Worth::NotMeasurable),
        Some(Worth::NoFigures),
    ];
    assert_eq!(worths(&result), all);
    assert_eq!(result.line, "against base: worth doing: fast; harmful: slow; no figures: nothing");
    assert!(result.words[0].starts_with("fast: worth doing: better in a load -20."), "{:?}", result.words);
    let has = |part: &str| result.words.iter().any(|word| word.contains(part));
    assert!(has("control passed: "), "{:?}", result.words);
    assert!(has("a caveat"), "{:?}", result.words);
    assert!(has("slow: repeat 3 failed"), "{:?}", result.words);
    let ConclusionFigures::Study(figures) = &result.figures else { panic!() };
    let row = &figures.rows[0];
    assert_eq!((figures.rows.len(), row.label(), row.base.len()), (1, "load".to_owned(), 4));
    // Less time is better, so a better variant has a factor above one.
    let (times, range) = row.times(2).unwrap();
    assert!(times > 1.2, "{times} {range:?}");
    assert!(range.is_some_and(|(low, high)| low > 1.0 && low <= times && times <= high), "{times} {range:?}");
    assert!(row.gain_pct(2).is_some_and(|gain| gain > 19.0));
    assert!(row.times(0).is_none());
    let text = serde_json::to_string(&result).unwrap();
    assert_eq!(serde_json::from_str::<Conclusion>(&text).unwrap(), result);
}

#[test]
fn study_control_that_differs_from_base_is_a_warning() {
    let result = study(&[("base", &BASE), ("base again", &[8.0, 8.1, 7.9, 8.05])]);
    assert!(
        result.words.iter().any(|word| word.contains("control failed: base again")),
        "{:?}",
        result.words
    );
}

#[test]
fn few_repeats_or_small_difference_are_not_measurable() {
    assert_eq!(
        worths(&study(&[("base", &BASE[..3]), ("b", &[8.0, 8.1, 7.9])]))[1],
        Some(Worth::NotMeasurable)
    );
    assert_eq!(
        worths(&study(&[("base", &BASE), ("b", &[10.1, 9.95, 10.0, 10.1])]))[1],
        Some(Worth::NotMeasurable)
    );
}

#[test]
fn workload_note_is_shown_once() {
    let mut run = crate::fixture::sqlite();
    run.workload = Some(dyno_record::WorkloadFacts {
        name: "orders".to_owned(),
        note: "derived from x".to_owned(),
        ..Default::default()
    });
    let result = study_of(&[("base", &BASE), ("other", &BASE)], &[&run, &run]);
    let note_count = result.words.iter().filter(|word| *word == "orders: derived from x").count();
    assert_eq!(note_count, 1, "{:?}", result.words);
}
