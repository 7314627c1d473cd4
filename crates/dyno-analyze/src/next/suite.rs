//! Steps after a suite.

use super::{FoundStep, NextRule, NextStep, chosen};

/// Share of the runs, %, from which a warning is the suite's own.
const OFTEN_PCT: usize = 50;
/// Most tests that a sentence names.
const NAMED_MAX: usize = 3;

const SUITE: &str = "docs/guides/suite.md";

#[derive(Debug, Clone, Default)]
pub(crate) struct SuiteEvidence {
    /// Runs that have a result, valid or imported.
    pub(crate) runs: usize,
    /// Runs in which the audit warned of other load on the processors or in the database.
    pub(crate) beside_load: usize,
    /// Tests whose figure is refused, each with the reason and the way out.
    pub(crate) unfit: Vec<(String, String)>,
}

type SuiteRule = NextRule<fn(&SuiteEvidence) -> Option<FoundStep>>;

pub(super) const RULES: &[SuiteRule] = &[
    NextRule {
        name: "suite_beside_load",
        evidence: "the audit warns of other load in at least half of a suite's runs",
        source: "docs/reference/audit-checks.md",
        find: beside_load,
    },
    NextRule {
        name: "suite_unfit_tests",
        evidence: "tests of a suite have no figure, because a cache answered or they were too small",
        source: SUITE,
        find: unfit_tests,
    },
];

/// The steps after this suite.
pub(crate) fn after_suite(suite: &SuiteEvidence) -> Vec<NextStep> {
    chosen(&[RULES.iter().filter_map(|rule| rule.step((rule.find)(suite))).collect()])
}

/// The first of these names, and the number of the others.
pub(super) fn names<'t>(tests: impl ExactSizeIterator<Item = &'t String>) -> String {
    let number = tests.len();
    let mut named: Vec<String> = tests.take(NAMED_MAX).cloned().collect();
    if number > NAMED_MAX {
        named.push(format!("{} more", number - NAMED_MAX));
    }
    named.join(", ")
}

fn beside_load(suite: &SuiteEvidence) -> Option<FoundStep> {
    let (beside, runs) = (suite.beside_load, suite.runs);
    (beside > 0 && 100 * beside >= OFTEN_PCT * runs).then(|| {
        let sentence = format!(
            "{beside} of {runs} runs worked beside other load; keep it off the host and the server, and repeat the suite"
        );
        (sentence, None)
    })
}

fn unfit_tests(suite: &SuiteEvidence) -> Option<FoundStep> {
    let (first, why) = suite.unfit.first()?;
    let way_out = why.rsplit("; ").next().unwrap_or(why);
    let alike: Vec<&String> =
        suite.unfit.iter().filter(|(_, other)| other.ends_with(way_out)).map(|(test, _)| test).collect();
    let tests = if alike.is_empty() { first.clone() } else { names(alike.iter().copied()) };
    Some((format!("for a figure of {tests}: {way_out}"), None))
}
