//! The figure of a test on a platform, over all of its suites.

use dyno_plan::names;
use serde::Serialize;

use super::ScorecardPlatform;
use crate::conclusion::suite::{SuiteRampPoint, SuiteTestResult};
use crate::number::time_us;
use crate::points::median;

/// The figure of a test that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScorecardFigure {
    /// The highest value of its key figure.
    Most,
    /// The highest value within the test's latency limit.
    Optimum,
    /// The mean service time of a single session.
    Alone,
}

names! {
    /// The word of the command line: `optimum`.
    ScorecardFigure { Most = "most", Optimum = "optimum", Alone = "alone" }
}

/// A figure of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScorecardValue {
    /// The median over the suites.
    pub value: f64,
    /// The lowest and the highest of all runs; absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Number of runs behind the value.
    pub runs: usize,
    /// Sessions, in the first of the suites.
    pub sessions: u32,
    /// The value as it is shown.
    pub shown: String,
    /// Whether it may include other load on this host or server.
    pub marked: bool,
}

/// Why a platform from a document lacks the figure of most tests.
pub const NOT_PRINTED: &str = "not in the document";

/// Why a measured platform lacks the figure of a test that its suites do not have.
pub const NOT_RUN: &str = "not run";

/// Every suite's result of a test.
fn tests<'p>(platform: &'p ScorecardPlatform, id: &'p str) -> impl Iterator<Item = &'p SuiteTestResult> {
    platform.suites.iter().flat_map(|suite| &suite.tests).filter(move |test| test.page.id == id)
}

/// The figure of the test `id`, or why there is none.
pub(super) fn platform_value(
    platform: &ScorecardPlatform,
    id: &str,
    figure: ScorecardFigure,
) -> Result<ScorecardValue, String> {
    let mut ats: Vec<(SuiteRampPoint, &SuiteTestResult)> = Vec::new();
    let mut why = None;
    for test in tests(platform, id) {
        match at(test, figure) {
            Ok(at) => ats.push((at, test)),
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    let values: Vec<f64> = ats.iter().map(|(at, _)| at.value).collect();
    let Some((value, (first, test))) = median(&values).zip(ats.first()) else {
        let absent = if platform.printed { NOT_PRINTED } else { NOT_RUN };
        return Err(why.unwrap_or_else(|| absent.to_owned()));
    };
    let runs = ats.iter().map(|(at, test)| runs(test, at.sessions)).sum();
    let ranges = ats.iter().map(|(at, _)| at.range.unwrap_or((at.value, at.value)));
    let range = ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
    let shown = if figure == ScorecardFigure::Alone { time_us(value) } else { test.page.words(value).0 };
    let has_repeats = ats.len() > 1 || first.range.is_some();
    Ok(ScorecardValue {
        value,
        range: range.filter(|_| has_repeats),
        runs,
        sessions: first.sessions,
        shown,
        marked: ats.iter().any(|(at, test)| is_marked(test, at.sessions)),
    })
}

fn runs(test: &SuiteTestResult, sessions: u32) -> usize {
    let step = test.steps.iter().find(|step| step.sessions == sessions);
    step.map_or(1, |step| step.runs.len().max(1))
}

fn is_marked(test: &SuiteTestResult, sessions: u32) -> bool {
    let metric = test.page.metric.as_deref().unwrap_or("ops_per_s");
    let step = test.steps.iter().find(|step| step.sessions == sessions);
    step.is_some_and(|step| step.marked.iter().any(|marked| marked == metric))
}

fn at(test: &SuiteTestResult, figure: ScorecardFigure) -> Result<SuiteRampPoint, String> {
    if let Some(why) = &test.unfit {
        return Err(why.clone());
    }
    let most = test.most.ok_or_else(|| {
        let why = test.page.why_not.as_ref().or(test.page.failed.as_ref()).or(test.left_out.first());
        why.cloned().unwrap_or_else(|| "no result".to_owned())
    })?;
    match figure {
        ScorecardFigure::Most => Ok(most),
        ScorecardFigure::Optimum if test.page.limit.is_empty() => {
            Err("the document names no limit of latency".to_owned())
        }
        ScorecardFigure::Optimum => test.optimum.ok_or_else(|| format!("no step keeps {}", test.page.limit)),
        // The spread of single sessions within one suite is not stored: other suites are the
        // repeats.
        ScorecardFigure::Alone => {
            let us = test.single_us.ok_or("no single session was measured")?;
            Ok(SuiteRampPoint { sessions: 1, value: us, spread_pct: None, range: None })
        }
    }
}

/// Whether the test is equal on both platforms: unit, units per operation, processes, and location
/// of the data.
pub(super) fn is_same_test(
    a: &ScorecardPlatform,
    b: &ScorecardPlatform,
    id: &str,
    figure: ScorecardFigure,
) -> bool {
    let pages: Vec<_> = tests(a, id).chain(tests(b, id)).map(|test| &test.page).collect();
    let of_document = a.printed || b.printed;
    pages.windows(2).all(|two| {
        let (a, b) = (two[0], two[1]);
        let is_same_work = a.units == b.units
            && a.cache == b.cache
            && (figure != ScorecardFigure::Optimum || a.limit == b.limit);
        // A document's tests are similar only. A service time depends on the size of the operation,
        // so that must be known.
        let is_like = of_document && (figure == ScorecardFigure::Most || a.units == 1 && b.units == 1);
        a.unit == b.unit && a.metric == b.metric && a.threads == b.threads && (is_same_work || is_like)
    })
}
