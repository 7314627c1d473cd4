//! The figure of a test on a platform, over all of its suites.

use dyno_plan::names;
use serde::Serialize;

use super::Platform;
use crate::conclusion::suite::{At, Tested};
use crate::number::time_us;
use crate::points::median;

/// Which figure of a test is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    /// The most that was reached of its key figure.
    Most,
    /// The most of it within the test's limit of latency.
    Optimum,
    /// The mean service time of a single session.
    Alone,
}

names! {
    /// The word of the command line: `optimum`.
    Figure { Most = "most", Optimum = "optimum", Alone = "alone" }
}

/// A figure of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Value {
    /// The median over the suites.
    pub value: f64,
    /// The least and the largest of all runs; absent of a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Runs that it is of.
    pub runs: usize,
    /// Sessions, in the first of the suites.
    pub sessions: u32,
    /// The value as it is shown.
    pub shown: String,
    /// Whether it may include other load on this host or server.
    pub marked: bool,
}

/// Why a platform out of a document has no figure of most tests.
pub const NOT_PRINTED: &str = "not in the document";

/// Every suite's result of a test.
fn tests<'p>(platform: &'p Platform, id: &'p str) -> impl Iterator<Item = &'p Tested> {
    platform.suites.iter().flat_map(|suite| &suite.tests).filter(move |test| test.page.id == id)
}

/// The figure of the test `id`, or why there is none.
pub(super) fn of(platform: &Platform, id: &str, figure: Figure) -> Result<Value, String> {
    let mut ats: Vec<(At, &Tested)> = Vec::new();
    let mut why = None;
    for test in tests(platform, id) {
        match at(test, figure) {
            Ok(at) => ats.push((at, test)),
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    let values: Vec<f64> = ats.iter().map(|(at, _)| at.value).collect();
    let Some((value, (first, test))) = median(&values).zip(ats.first()) else {
        let absent = if platform.printed { NOT_PRINTED } else { "not run" };
        return Err(why.unwrap_or_else(|| absent.to_owned()));
    };
    let runs = ats.iter().map(|(at, test)| runs(test, at.sessions)).sum();
    let ranges = ats.iter().map(|(at, _)| at.range.unwrap_or((at.value, at.value)));
    let range = ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
    let shown = if figure == Figure::Alone { time_us(value) } else { test.page.words(value).0 };
    let has_repeats = ats.len() > 1 || first.range.is_some();
    Ok(Value {
        value,
        range: range.filter(|_| has_repeats),
        runs,
        sessions: first.sessions,
        shown,
        marked: ats.iter().any(|(at, test)| is_marked(test, at.sessions)),
    })
}

fn runs(test: &Tested, sessions: u32) -> usize {
    let step = test.steps.iter().find(|step| step.sessions == sessions);
    step.map_or(1, |step| step.runs.len().max(1))
}

fn is_marked(test: &Tested, sessions: u32) -> bool {
    let metric = test.page.metric.as_deref().unwrap_or("ops_per_s");
    let step = test.steps.iter().find(|step| step.sessions == sessions);
    step.is_some_and(|step| step.marked.iter().any(|marked| marked == metric))
}

fn at(test: &Tested, figure: Figure) -> Result<At, String> {
    if let Some(why) = &test.unfit {
        return Err(why.clone());
    }
    let most = test.most.ok_or_else(|| {
        let why = test.page.why_not.as_ref().or(test.page.failed.as_ref()).or(test.left_out.first());
        why.cloned().unwrap_or_else(|| "no result".to_owned())
    })?;
    match figure {
        Figure::Most => Ok(most),
        Figure::Optimum if test.page.limit.is_empty() => {
            Err("the document names no limit of latency".to_owned())
        }
        Figure::Optimum => test.optimum.ok_or_else(|| format!("no step keeps {}", test.page.limit)),
        // How far single sessions of one suite lie apart is not kept: repeats are other suites.
        Figure::Alone => {
            let us = test.single_us.ok_or("no single session was measured")?;
            Ok(At { sessions: 1, value: us, spread_pct: None, range: None })
        }
    }
}

/// Whether both were asked the same: the same unit, as many of them in an operation, the same processes, data in the same place.
pub(super) fn is_same_test(a: &Platform, b: &Platform, id: &str, figure: Figure) -> bool {
    let pages: Vec<_> = tests(a, id).chain(tests(b, id)).map(|test| &test.page).collect();
    let of_document = a.printed || b.printed;
    pages.windows(2).all(|two| {
        let (a, b) = (two[0], two[1]);
        let is_same_work =
            a.units == b.units && a.cache == b.cache && (figure != Figure::Optimum || a.limit == b.limit);
        // A document's tests are alike; a service time is of an operation, so how large that was has to be known.
        let is_like = of_document && (figure == Figure::Most || a.units == 1 && b.units == 1);
        a.unit == b.unit && a.metric == b.metric && a.threads == b.threads && (is_same_work || is_like)
    })
}
