//! Steps after `dyno health`: the figure that deviates most, what changed, and what was not measured.

use super::pairs::quoted;
use super::suite::names;
use super::suite_rerun::{SuiteRerun, with_command};
use super::{FoundStep, NextRule, NextStep, chosen, completed};
use crate::number::percent;

const SUITE: &str = "docs/guides/suite.md";
const COMPARING: &str = "docs/guides/comparing.md";

/// A figure that misses its expectation.
#[derive(Debug, Clone, Default)]
pub(crate) struct MissedExpectation {
    pub(crate) test: String,
    pub(crate) expected: String,
    pub(crate) measured: String,
    /// By how much it misses the limit, %.
    pub(crate) by_pct: f64,
    /// The spread of its repeats, %; absent for a single run.
    pub(crate) spread_pct: Option<f64>,
    /// A run that measured it.
    pub(crate) run: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct HealthEvidence {
    /// The name of the suite.
    pub(crate) suite: String,
    /// The figure that deviates most from its expectation.
    pub(crate) worst: Option<MissedExpectation>,
    /// The latest earlier suite of the same target that meets all expectations.
    pub(crate) last_met: Option<String>,
    /// Tests with an expectation that the suite did not run.
    pub(crate) not_run: Vec<String>,
    /// Measured tests without an expectation.
    pub(crate) unexpected: Vec<String>,
    /// Whether the expectations are those of another product.
    pub(crate) is_other_product: bool,
    /// A new file for expectations.
    pub(crate) new_file: String,
    pub(crate) again: SuiteRerun,
}

type HealthRule = NextRule<fn(&HealthEvidence) -> Option<FoundStep>>;

pub(super) const RULES: &[HealthRule] = &[
    NextRule {
        name: "health_within_spread",
        evidence: "the figure that misses its expectation most does so by less than its repeats differ",
        source: COMPARING,
        find: within_spread,
    },
    NextRule {
        name: "health_worst",
        evidence: "a figure misses its expectation by more than its repeats differ, or has no repeats",
        source: SUITE,
        find: worst,
    },
    NextRule {
        name: "health_last_met",
        evidence: "expectations are not met, and an earlier suite of the same target met all of them",
        source: COMPARING,
        find: last_met,
    },
    NextRule {
        name: "health_not_run",
        evidence: "the suite did not run tests that have an expectation",
        source: SUITE,
        find: not_run,
    },
    NextRule {
        name: "health_other_product",
        evidence: "the expectations are those of another product",
        source: SUITE,
        find: other_product,
    },
    NextRule {
        name: "health_no_expectation",
        evidence: "all expectations of measured tests are met, and other measured tests have none",
        source: SUITE,
        find: no_expectation,
    },
];

/// The steps after this check.
pub(crate) fn after_health(health: &HealthEvidence) -> Vec<NextStep> {
    chosen(&[RULES.iter().filter_map(|rule| rule.step((rule.find)(health))).collect()])
}

impl HealthEvidence {
    fn record_expectations(&self) -> String {
        let command =
            format!("dyno health {} --init --expect {}", quoted(&self.suite), quoted(&self.new_file));
        completed(&command, &self.again.options)
    }
}

impl MissedExpectation {
    fn is_within_spread(&self) -> bool {
        self.spread_pct.is_some_and(|spread| self.by_pct <= spread)
    }
}

fn within_spread(health: &HealthEvidence) -> Option<FoundStep> {
    let missed = health.worst.as_ref().filter(|missed| missed.is_within_spread())?;
    let sentence = format!(
        "{} misses its expectation by {} %, and its repeats differ by {} %; repeat the test before you act",
        missed.test,
        percent(missed.by_pct),
        percent(missed.spread_pct?)
    );
    with_command(sentence, health.again.again(std::slice::from_ref(&missed.test), ""))
}

fn worst(health: &HealthEvidence) -> Option<FoundStep> {
    let missed = health.worst.as_ref().filter(|missed| !missed.is_within_spread())?;
    let MissedExpectation { test, expected, measured, by_pct, run, .. } = missed;
    let sentence = format!(
        "{test} deviates most: {measured}, {} % from `{expected}`; see what limited that run",
        percent(*by_pct)
    );
    let command = run.as_ref().map(|run| completed(&format!("dyno show {run}"), &health.again.options));
    Some((sentence, command))
}

fn last_met(health: &HealthEvidence) -> Option<FoundStep> {
    let last = health.last_met.as_ref().filter(|_| health.worst.is_some())?;
    let sentence = format!("{last} met all expectations; compare both to see what changed since");
    let command = format!("dyno compare {} {}", quoted(last), quoted(&health.suite));
    with_command(sentence, completed(&command, &health.again.options))
}

fn not_run(health: &HealthEvidence) -> Option<FoundStep> {
    (!health.not_run.is_empty()).then(|| {
        let tests = names(health.not_run.iter());
        let sentence = format!("the suite did not run {tests}, so their expectations are open; run them");
        (sentence, Some(health.again.again(&health.not_run, "")))
    })
}

fn other_product(health: &HealthEvidence) -> Option<FoundStep> {
    health.is_other_product.then(|| {
        let sentence =
            "the expectations are those of another product; record some from a good suite of this one"
                .to_owned();
        (sentence, Some(health.record_expectations()))
    })
}

fn no_expectation(health: &HealthEvidence) -> Option<FoundStep> {
    let is_open = health.worst.is_some() || health.is_other_product || health.unexpected.is_empty();
    (!is_open).then(|| {
        let tests = names(health.unexpected.iter());
        let sentence = format!("no expectation covers {tests}; record expectations of all tests");
        (sentence, Some(health.record_expectations()))
    })
}
