//! Platforms side by side over the tests of a suite, each held against the first.
//!
//! A ratio says how many times better a platform is than the first one, whichever way is better for the figure. There is no
//! index over all: a platform is used by its weakest component. With repeats on both sides whose ranges lie apart a difference
//! is taken as real where that has a chance of 5 % at most among equal platforms (the extreme of the Mann-Whitney test:
//! 2 / C(n + m, n), so four runs of each are the least), adjusted for the tests of the card (Benjamini and Hochberg 1995): of fifty
//! tests of equal platforms with four runs each one or two lie apart by accident.

mod value;
mod words;

use serde::Serialize;

use crate::compare::adjusted;
use crate::conclusion::suite::{Page, Suite};
pub use value::{Figure, NOT_PRINTED, Value};

/// Chance of an accident up to which a difference is taken as real.
const CHANCE_MAX: f64 = 0.05;

/// A platform with all suites that were run on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Platform {
    /// What it is called.
    pub name: String,
    /// Its suites; several are repeats of each other.
    pub suites: Vec<Suite>,
    /// Whether its figures are from a document, of tests that are alike and not the same.
    pub printed: bool,
    /// What its suites were asked for, by keys of plans: where these differ, two platforms were not asked the same.
    pub asked: Vec<(String, String)>,
    /// What else a reader has to know of it.
    pub notes: Vec<String>,
}

/// Whether a platform is better than the first in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is, by more than repeats differ.
    Better,
    /// It is worse by more than repeats differ.
    Worse,
    /// Repeats differ by more than that.
    Unsure,
    /// Repeats lie apart, and are so few that those of some tests of equal platforms would do so.
    Few,
    /// There are no repeats to say how far they differ.
    Single,
}

/// How many times better a platform is than the first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// So many times; more than one is better.
    pub times: f64,
    /// The least and the most that repeats leave room for; absent where there are none on either side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// How likely it is that repeats of equal platforms lie so far apart; 1 where they do not lie apart.
    #[serde(skip)]
    chance: f64,
    /// Whether that is real.
    pub verdict: Verdict,
}

/// One test on all platforms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The test.
    pub test: String,
    /// The part of the platform that it is about.
    pub group: String,
    /// The unit of its figure.
    pub unit: String,
    /// The figure of each platform, or why there is none.
    pub values: Vec<Result<Value, String>>,
    /// How each is held against the first; absent where that cannot be told, and for the first.
    pub ratios: Vec<Option<Ratio>>,
}

/// Platforms side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scorecard {
    /// Their names; the first is what others are held against.
    pub platforms: Vec<String>,
    /// The figure of each test that is compared.
    pub figure: Figure,
    /// Each test that a platform has a figure of.
    pub lines: Vec<Line>,
    /// For each platform but the first, in which component it is best and worst.
    pub words: Vec<String>,
    /// What a reader has to know of the platforms, and in what they were not asked the same.
    pub notes: Vec<String>,
}

/// Platforms side by side, the first of which others are held against.
pub fn scorecard(platforms: &[Platform], figure: Figure) -> Scorecard {
    let lines: Vec<Line> = pages(platforms).into_iter().map(|page| line(page, platforms, figure)).collect();
    let mut lines: Vec<Line> =
        lines.into_iter().filter(|line| line.values.iter().any(Result::is_ok)).collect();
    (1..platforms.len()).for_each(|at| doubt(&mut lines, at));
    Scorecard {
        platforms: platforms.iter().map(|platform| platform.name.clone()).collect(),
        figure,
        words: (1..platforms.len()).map(|at| words::of(platforms, at, &lines)).collect(),
        notes: words::notes(platforms, &lines),
        lines,
    }
}

/// The page of every test that any platform knows, in the order of the catalogue.
fn pages(platforms: &[Platform]) -> Vec<&Page> {
    let mut pages: Vec<&Page> = Vec::new();
    // Suites of the program have the catalogue's order; what only a document knows comes last.
    let (printed, run): (Vec<&Platform>, Vec<&Platform>) =
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

fn line(page: &Page, platforms: &[Platform], figure: Figure) -> Line {
    let values: Vec<Result<Value, String>> =
        platforms.iter().map(|platform| value::of(platform, &page.id, figure)).collect();
    let less_is_better = figure == Figure::Alone || page.less_is_better();
    let ratio = |at: usize| {
        let (first, this) = (values[0].as_ref().ok()?, values[at].as_ref().ok()?);
        value::is_same_test(&platforms[0], &platforms[at], &page.id, figure)
            .then(|| ratio(first, this, less_is_better))
            .flatten()
    };
    Line {
        test: page.id.clone(),
        group: page.group.clone(),
        unit: if figure == Figure::Alone { String::new() } else { page.words(0.0).1 },
        ratios: (0..values.len()).map(|at| if at == 0 { None } else { ratio(at) }).collect(),
        values,
    }
}

fn ratio(first: &Value, this: &Value, less_is_better: bool) -> Option<Ratio> {
    let (worse, better) = if less_is_better { (this, first) } else { (first, this) };
    if worse.value <= 0.0 || better.value <= 0.0 {
        return None;
    }
    let range = worse.range.zip(better.range).filter(|(worse, _)| worse.0 > 0.0);
    let range = range.map(|(worse, better)| (better.0 / worse.1, better.1 / worse.0));
    let (chance, verdict) = match range {
        None => (1.0, Verdict::Single),
        Some((low, _)) if low > 1.0 => (chance(first.runs, this.runs), Verdict::Better),
        Some((_, high)) if high < 1.0 => (chance(first.runs, this.runs), Verdict::Worse),
        Some(_) => (1.0, Verdict::Unsure),
    };
    Some(Ratio { times: better.value / worse.value, range, chance, verdict })
}

/// Takes back what is called better or worse of the platform at `at` although so many tests of equal platforms would show it.
fn doubt(lines: &mut [Line], at: usize) {
    let tested = |ratio: &Ratio| ratio.range.is_some().then_some(ratio.chance);
    let chances: Vec<Option<f64>> =
        lines.iter().map(|line| line.ratios[at].as_ref().and_then(tested)).collect();
    for (line, chance) in lines.iter_mut().zip(adjusted(&chances)) {
        let ratio = line.ratios[at].as_mut().zip(chance).filter(|(ratio, _)| ratio.chance < 1.0);
        if let Some((ratio, _)) = ratio.filter(|(_, chance)| *chance > CHANCE_MAX) {
            ratio.verdict = Verdict::Few;
        }
    }
}

/// How likely it is that so many runs of two equal platforms lie wholly apart: 2 / C(n + m, n).
fn chance(n: usize, m: usize) -> f64 {
    let ways: f64 = (1..=n).map(|i| (m + i) as f64 / i as f64).product();
    (2.0 / ways).min(1.0)
}

#[cfg(test)]
mod tests;
