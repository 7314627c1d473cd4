//! Steps after a comparison of stored runs: how many runs would decide, and what causes the difference.

use super::pairs::quoted;
use super::{FoundStep, NextRule, NextStep, PairsEvidence, chosen};
use crate::number::{fixed, percent};

/// More runs of each side than this are no advice.
const RUNS_MAX: f64 = 100.0;
/// Pairs of an A/B test by default.
const PAIRS: usize = 5;
/// Differences that a sentence names.
const NAMED_MAX: usize = 3;

const COMPARING: &str = "docs/guides/comparing.md";
const SWEEPS: &str = "docs/guides/sweeps.md";

/// A setting with one value on each side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DifferingSetting {
    pub(crate) name: String,
    pub(crate) a: String,
    pub(crate) b: String,
}

/// What a comparison found for its leading measure, and what differs between its sides.
#[derive(Debug, Clone)]
pub(crate) struct ComparisonEvidence {
    /// The runs of each side at a point, and what they say.
    pub(crate) pairs: PairsEvidence,
    /// Points that both sides have.
    pub(crate) points: usize,
    /// Whether the sides are further apart than the margin.
    pub(crate) is_apart: bool,
    /// Plan keys that differ.
    pub(crate) plan_keys: Vec<DifferingSetting>,
    /// Server settings that differ.
    pub(crate) settings: Vec<DifferingSetting>,
    /// Names of everything else that differs and may affect the figures.
    pub(crate) others: Vec<String>,
    /// Options that repeat the runs' target and plan; absent where a command cannot repeat them.
    pub(crate) options: Option<String>,
}

type ComparisonRule = NextRule<fn(&ComparisonEvidence) -> Option<FoundStep>>;

pub(super) const RULES: &[ComparisonRule] = &[
    NextRule {
        name: "too_few_runs",
        evidence: "a comparison without a verdict has so few runs that no difference can be significant",
        source: COMPARING,
        find: too_few_runs,
    },
    NextRule {
        name: "more_runs",
        evidence: "a comparison is inconclusive, and its interval shows how many runs would decide, at most 100 of each side",
        source: COMPARING,
        find: more_runs,
    },
    NextRule {
        name: "too_many_runs",
        evidence: "a comparison is inconclusive, and over 100 runs of each side would be needed to decide",
        source: COMPARING,
        find: too_many_runs,
    },
    NextRule {
        name: "unequal_background",
        evidence: "background activity differs between the sides of a comparison, or is part of their figures",
        source: COMPARING,
        find: unequal_background,
    },
    NextRule {
        name: "one_difference",
        evidence: "a comparison has a verdict, and one plan key or one server setting is all that differs",
        source: SWEEPS,
        find: one_difference,
    },
    NextRule {
        name: "several_differences",
        evidence: "the sides of a comparison are further apart than the margin, and several things differ",
        source: COMPARING,
        find: several_differences,
    },
];

/// The steps after this comparison.
pub(crate) fn after_comparison(evidence: &ComparisonEvidence) -> Vec<NextStep> {
    chosen(&[RULES.iter().filter_map(|rule| rule.step((rule.find)(evidence))).collect()])
}

impl ComparisonEvidence {
    fn runs(&self) -> usize {
        self.pairs.runs.0.min(self.pairs.runs.1)
    }

    /// The A/B test of what differs; absent unless plan keys or one server setting are all that does.
    fn ab_command(&self, pairs: usize) -> Option<String> {
        let options = self.options.as_ref().filter(|_| self.points == 1 && self.others.is_empty())?;
        let sides = match (self.plan_keys.as_slice(), self.settings.as_slice()) {
            ([], [only]) => format!("--setting {}", quoted(&format!("{}={},{}", only.name, only.a, only.b))),
            (keys @ [_, ..], []) => {
                let side = |value: fn(&DifferingSetting) -> &String| {
                    let settings = keys.iter().map(|key| format!("{}={}", key.name, value(key)));
                    quoted(&settings.collect::<Vec<_>>().join(","))
                };
                format!("--a {} --b {}", side(|key| &key.a), side(|key| &key.b))
            }
            _ => return None,
        };
        Some(format!("dyno ab {sides} --pairs {pairs}{options}"))
    }

    fn names(&self) -> Vec<&str> {
        let settings = self.plan_keys.iter().chain(&self.settings).map(|setting| setting.name.as_str());
        settings.chain(self.others.iter().map(String::as_str)).collect()
    }
}

fn too_few_runs(evidence: &ComparisonEvidence) -> Option<FoundStep> {
    if !evidence.pairs.is_open || evidence.pairs.can_be_significant() {
        return None;
    }
    let (a, b) = evidence.pairs.runs;
    let fewest = evidence.pairs.fewest_pairs;
    if evidence.points > 1 {
        let one = a.max(b) == 1;
        return one.then(|| ("each point has one run of each side; repeat both sweeps".to_owned(), None));
    }
    let least = fixed(evidence.pairs.least_p, 2);
    let command = evidence.ab_command(PAIRS.max(fewest));
    let remedy = match command {
        Some(_) => "an A/B test decides".to_owned(),
        None => format!("measure {fewest} or more of each side"),
    };
    Some((format!("{a} + {b} runs cannot be significant (least p = {least}); {remedy}"), command))
}

fn more_runs(evidence: &ComparisonEvidence) -> Option<FoundStep> {
    let needed = evidence.pairs.needed().filter(|needed| *needed <= RUNS_MAX)? as usize;
    let more = needed.saturating_sub(evidence.runs());
    let at = if evidence.points > 1 { " at each point" } else { "" };
    let runs = if more == 1 { "run" } else { "runs" };
    let sentence = format!("about {more} more {runs} of each side{at} would decide ({needed} in total)");
    Some((sentence, evidence.ab_command(needed)))
}

fn too_many_runs(evidence: &ComparisonEvidence) -> Option<FoundStep> {
    evidence.pairs.needed().filter(|needed| *needed > RUNS_MAX)?;
    let (low, high) = evidence.pairs.interval_pct?;
    let sentence = format!(
        "over {} runs of each side would be needed to decide; the difference is at most {} %",
        fixed(RUNS_MAX, 0),
        percent(low.abs().max(high.abs()))
    );
    Some((sentence, None))
}

fn unequal_background(evidence: &ComparisonEvidence) -> Option<FoundStep> {
    evidence.pairs.is_confounded.then(|| {
        let sentence = "keep other load off the host and the server, and repeat the runs of both sides";
        (sentence.to_owned(), evidence.ab_command(PAIRS.max(evidence.runs())))
    })
}

fn one_difference(evidence: &ComparisonEvidence) -> Option<FoundStep> {
    let decided = evidence.is_apart && !evidence.pairs.is_open && !evidence.pairs.is_confounded;
    let [name] = *evidence.names().as_slice() else { return None };
    let command = evidence.ab_command(PAIRS).filter(|_| decided)?;
    let sentence = format!("only `{name}` differs; interleaved runs show whether it causes the difference");
    Some((sentence, Some(command)))
}

fn several_differences(evidence: &ComparisonEvidence) -> Option<FoundStep> {
    let names = evidence.names();
    (evidence.is_apart && names.len() > 1).then(|| {
        let named = names[..names.len().min(NAMED_MAX)].iter().map(|name| format!("`{name}`"));
        let more = match names.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = named.collect::<Vec<_>>().join(", ");
        (format!("{named}{more} differ; change one at a time to find the cause"), None)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, a: &str, b: &str) -> DifferingSetting {
        DifferingSetting { name: name.into(), a: a.into(), b: b.into() }
    }

    /// A decided comparison in which one server setting differs.
    fn evidence() -> ComparisonEvidence {
        ComparisonEvidence {
            pairs: PairsEvidence {
                sides: None,
                server_settings: Vec::new(),
                runs: (5, 5),
                least_p: 0.008,
                fewest_pairs: 4,
                margin_pct: 2.0,
                is_usual_margin: true,
                difference_pct: Some(40.0),
                interval_pct: Some((35.0, 45.0)),
                is_open: false,
                is_confounded: false,
                campaign: None,
                decision: None,
            },
            points: 1,
            is_apart: true,
            plan_keys: Vec::new(),
            settings: vec![setting("synchronous_commit", "on", "off")],
            others: Vec::new(),
            options: Some(" --target pg://db1/x".into()),
        }
    }

    fn only(evidence: &ComparisonEvidence) -> (String, String) {
        let steps = after_comparison(evidence);
        let [step] = steps.as_slice() else { panic!("{steps:#?}") };
        (step.rule.clone(), step.command.clone().unwrap_or_default())
    }

    #[test]
    fn one_setting_that_differs_gives_an_ab_test_of_it() {
        let command = "dyno ab --setting synchronous_commit=on,off --pairs 5 --target pg://db1/x";
        assert_eq!(only(&evidence()), ("one_difference".into(), command.into()));
        let alike = ComparisonEvidence { is_apart: false, ..evidence() };
        assert_eq!(after_comparison(&alike), []);
    }

    #[test]
    fn undecided_comparison_names_the_runs_that_would_decide() {
        let mut evidence = evidence();
        (evidence.settings, evidence.plan_keys) =
            (Vec::new(), vec![setting("workload.work_unit", "64", "128")]);
        (evidence.pairs.is_open, evidence.pairs.runs) = (true, (1, 1));
        let command =
            "dyno ab --a workload.work_unit=64 --b workload.work_unit=128 --pairs 5 --target pg://db1/x";
        assert_eq!(only(&evidence), ("too_few_runs".into(), command.into()));
        evidence.pairs.runs = (5, 5);
        (evidence.pairs.difference_pct, evidence.pairs.interval_pct) = (Some(10.0), Some((-5.0, 25.0)));
        assert_eq!(only(&evidence), ("more_runs".into(), command.replace("pairs 5", "pairs 12")));
        evidence.pairs.difference_pct = Some(2.1);
        assert_eq!(only(&evidence).0, "too_many_runs");
        evidence.points = 3;
        evidence.pairs.runs = (1, 1);
        assert_eq!(
            only(&evidence),
            ("too_few_runs".into(), String::new()),
            "no command repeats three points"
        );
    }

    #[test]
    fn several_differences_are_named_without_a_command() {
        let mut evidence = evidence();
        evidence.others = ["version", "kernel", "CPU"].map(String::from).into();
        let steps = after_comparison(&evidence);
        assert_eq!(
            steps[0].sentence,
            "`synchronous_commit`, `version`, `kernel` and 1 more differ; change one at a time to find the cause"
        );
        assert_eq!((steps.len(), &steps[0].command), (1, &None));
        evidence.pairs.is_confounded = true;
        assert_eq!(after_comparison(&evidence)[0].rule, "unequal_background");
    }
}
