//! What the rules of next steps ask about the health of a platform.

use super::{Expectation, ExpectationResult};
use crate::conclusion::suite::SuiteResult;
use crate::next::{HealthEvidence, MissedExpectation, NextStep, SuiteRerun, after_health};

/// A suite that was checked.
#[derive(Debug, Clone)]
pub struct CheckedSuite<'s> {
    /// Its name.
    pub id: &'s str,
    pub suite: &'s SuiteResult,
    /// The latest earlier suite of the same target that meets all expectations.
    pub last_met: Option<String>,
    /// Whether the expectations are those of another product.
    pub is_other_product: bool,
    /// A file that does not exist yet, for further expectations.
    pub new_file: String,
    /// How the suite is run again.
    pub again: SuiteRerun,
}

/// The steps after the check of `expectations`, which have these `results`.
pub fn next_steps(
    checked: &CheckedSuite<'_>,
    expectations: &[Expectation],
    results: &[ExpectationResult],
) -> Vec<NextStep> {
    let suite = checked.suite;
    let missed = expectations
        .iter()
        .zip(results)
        .filter_map(|(expectation, result)| Some((expectation, result, result.missed_pct?)));
    let worst = missed.max_by(|a, b| a.2.total_cmp(&b.2)).map(|(expectation, result, by_pct)| {
        let test = suite.tests.iter().find(|test| test.page.id == expectation.test);
        let is_alone = expectation.figure.as_deref() == Some(super::ALONE);
        let step = test.filter(|_| !is_alone).and_then(|test| expectation.step(test).ok());
        // Only the spread of the key figure is known.
        let most = test.and_then(|test| test.most).filter(|_| expectation.figure.is_none());
        let most = most.filter(|most| step.is_some_and(|step| step.sessions == most.sessions));
        MissedExpectation {
            test: expectation.test.clone(),
            expected: result.expected.clone(),
            measured: result.measured.clone().unwrap_or_default(),
            by_pct,
            spread_pct: most.and_then(|most| most.spread_pct),
            run: step.and_then(|step| step.runs.first().cloned()).filter(|run| !run.is_empty()),
        }
    });
    let has_test = |name: &String| suite.tests.iter().any(|test| test.page.id == *name);
    let mut not_run: Vec<String> = expectations.iter().map(|expectation| expectation.test.clone()).collect();
    not_run.dedup();
    not_run.retain(|test| !has_test(test));
    let is_expected = |id: &str| expectations.iter().any(|expectation| expectation.test == id);
    let measured = suite.tests.iter().filter(|test| test.most.is_some() && test.unfit.is_none());
    after_health(&HealthEvidence {
        suite: checked.id.to_owned(),
        worst,
        last_met: checked.last_met.clone(),
        not_run,
        unexpected: measured.map(|test| test.page.id.clone()).filter(|id| !is_expected(id)).collect(),
        is_other_product: checked.is_other_product,
        new_file: checked.new_file.clone(),
        again: checked.again.clone(),
    })
}
