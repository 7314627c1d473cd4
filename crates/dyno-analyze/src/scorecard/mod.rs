//! Compares platforms over the tests of a suite, each with the first.
//!
//! A ratio says how many times better a platform is than the first one, in the direction that is
//! better for the figure. There is no index over all tests: a platform is limited by its weakest
//! component. A difference requires repeats on both sides whose ranges do not overlap. It is
//! significant where equal platforms would show it with a probability of 5 % at most. That is the
//! extreme of the Mann-Whitney test: 2 / C(n + m, n), so each side needs at least four runs. The
//! probability is adjusted for the tests of the card (Benjamini and Hochberg 1995). Of fifty tests
//! of equal platforms with four runs each, one or two have disjoint ranges by chance.

mod next;
mod value;
mod words;

use serde::Serialize;

use crate::compare::adjusted;
use crate::conclusion::suite::{SuiteResult, SuiteTestInfo};
use crate::next::{NextStep, SuiteRerun};
pub use value::{NOT_PRINTED, NOT_RUN, ScorecardFigure, ScorecardValue};

/// Highest probability of chance at which a difference is significant.
const CHANCE_MAX: f64 = 0.05;

/// A platform with all suites that were run on it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorecardPlatform {
    pub name: String,
    /// Its suites; several are repeats of each other.
    pub suites: Vec<SuiteResult>,
    /// Whether its figures come from a document; its tests are then similar but not the same.
    pub printed: bool,
    /// The settings of its suites, by plan key. Where these differ, the two platforms are not
    /// directly comparable.
    pub plan_settings: Vec<(String, String)>,
    /// Other facts that qualify its figures.
    pub notes: Vec<String>,
    /// How its suites are run again.
    pub again: SuiteRerun,
}

/// Whether a platform is better than the first in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScorecardVerdict {
    /// Better by more than the repeats differ.
    Better,
    /// Worse by more than the repeats differ.
    Worse,
    /// The ranges of the repeats overlap.
    Unsure,
    /// The ranges of the repeats do not overlap, but there are too few: some tests of equal
    /// platforms would show the same.
    Few,
    /// There are no repeats to show the spread.
    Single,
}

/// How many times better a platform is than the first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScorecardRatio {
    /// The factor; above one is better.
    pub times: f64,
    /// The lowest and highest factor by the repeats; absent where neither side has repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Probability that repeats of equal platforms are this far apart; 1 where the ranges overlap.
    #[serde(skip)]
    chance: f64,
    /// Whether the difference is significant.
    pub verdict: ScorecardVerdict,
}

/// One test on all platforms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScorecardRow {
    pub test: String,
    /// The part of the platform that it tests.
    pub group: String,
    /// The unit of its figure.
    pub unit: String,
    /// The figure of each platform, or why there is none.
    pub values: Vec<Result<ScorecardValue, String>>,
    /// The comparison of each platform with the first; absent for the first, and where it is
    /// impossible.
    pub ratios: Vec<Option<ScorecardRatio>>,
}

/// Platforms side by side, over all tests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scorecard {
    /// Their names; the others are compared with the first.
    pub platforms: Vec<String>,
    /// The figure of each test that is compared.
    pub figure: ScorecardFigure,
    /// Each test for which a platform has a figure.
    pub lines: Vec<ScorecardRow>,
    /// For each platform except the first: the components in which it is best and worst.
    pub words: Vec<String>,
    /// What qualifies the figures of the platforms, and the settings in which they differ.
    pub notes: Vec<String>,
    /// What to do next; at most three steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextStep>,
}

/// Compares platforms over all tests; the others are compared with the first.
pub fn scorecard(platforms: &[ScorecardPlatform], figure: ScorecardFigure) -> Scorecard {
    let lines: Vec<ScorecardRow> =
        pages(platforms).into_iter().map(|page| line(page, platforms, figure)).collect();
    let mut lines: Vec<ScorecardRow> =
        lines.into_iter().filter(|line| line.values.iter().any(Result::is_ok)).collect();
    (1..platforms.len()).for_each(|at| mark_uncertain(&mut lines, at));
    Scorecard {
        platforms: platforms.iter().map(|platform| platform.name.clone()).collect(),
        figure,
        words: (1..platforms.len()).map(|at| words::platform_sentence(platforms, at, &lines)).collect(),
        notes: words::notes(platforms, &lines),
        next: next::steps(platforms, &lines),
        lines,
    }
}

/// The page of every test that any platform has, in the order of the catalog.
fn pages(platforms: &[ScorecardPlatform]) -> Vec<&SuiteTestInfo> {
    let mut pages: Vec<&SuiteTestInfo> = Vec::new();
    // Dyno's suites have the catalog's order; tests from documents only come last.
    let (printed, run): (Vec<&ScorecardPlatform>, Vec<&ScorecardPlatform>) =
        platforms.iter().partition(|platform| platform.printed);
    for suite in run.into_iter().chain(printed).flat_map(|platform| &platform.suites) {
        for test in &suite.tests {
            if !pages.iter().any(|page| page.id == test.page.id) {
                pages.push(&test.page);
            }
        }
    }
    pages
}

fn line(page: &SuiteTestInfo, platforms: &[ScorecardPlatform], figure: ScorecardFigure) -> ScorecardRow {
    let values: Vec<Result<ScorecardValue, String>> =
        platforms.iter().map(|platform| value::platform_value(platform, &page.id, figure)).collect();
    let less_is_better = figure == ScorecardFigure::Alone || page.less_is_better();
    let ratio = |at: usize| {
        let (first, this) = (values[0].as_ref().ok()?, values[at].as_ref().ok()?);
        value::is_same_test(&platforms[0], &platforms[at], &page.id, figure)
            .then(|| ratio(first, this, less_is_better))
            .flatten()
    };
    ScorecardRow {
        test: page.id.clone(),
        group: page.group.clone(),
        unit: if figure == ScorecardFigure::Alone { String::new() } else { page.words(0.0).1 },
        ratios: (0..values.len()).map(|at| if at == 0 { None } else { ratio(at) }).collect(),
        values,
    }
}

fn ratio(first: &ScorecardValue, this: &ScorecardValue, less_is_better: bool) -> Option<ScorecardRatio> {
    let (worse, better) = if less_is_better { (this, first) } else { (first, this) };
    if worse.value <= 0.0 || better.value <= 0.0 {
        return None;
    }
    let range = worse.range.zip(better.range).filter(|(worse, _)| worse.0 > 0.0);
    let range = range.map(|(worse, better)| (better.0 / worse.1, better.1 / worse.0));
    let (chance, verdict) = match range {
        None => (1.0, ScorecardVerdict::Single),
        Some((low, _)) if low > 1.0 => (chance(first.runs, this.runs), ScorecardVerdict::Better),
        Some((_, high)) if high < 1.0 => (chance(first.runs, this.runs), ScorecardVerdict::Worse),
        Some(_) => (1.0, ScorecardVerdict::Unsure),
    };
    Some(ScorecardRatio { times: better.value / worse.value, range, chance, verdict })
}

/// Withdraws verdicts for the platform at `at` where equal platforms would show as many by chance.
fn mark_uncertain(lines: &mut [ScorecardRow], at: usize) {
    let tested = |ratio: &ScorecardRatio| ratio.range.is_some().then_some(ratio.chance);
    let chances: Vec<Option<f64>> =
        lines.iter().map(|line| line.ratios[at].as_ref().and_then(tested)).collect();
    for (line, chance) in lines.iter_mut().zip(adjusted(&chances)) {
        let ratio = line.ratios[at].as_mut().zip(chance).filter(|(ratio, _)| ratio.chance < 1.0);
        if let Some((ratio, _)) = ratio.filter(|(_, chance)| *chance > CHANCE_MAX) {
            ratio.verdict = ScorecardVerdict::Few;
        }
    }
}

/// Probability that this many runs of two equal platforms have disjoint ranges: 2 / C(n + m, n).
fn chance(n: usize, m: usize) -> f64 {
    let ways: f64 = (1..=n).map(|i| (m + i) as f64 / i as f64).product();
    (2.0 / ways).min(1.0)
}

#[cfg(test)]
mod tests;
