//! The conclusion of a suite: each test with its steps, its key figure, and its knee.

mod costs;
mod next;
mod notes;
mod raw;
mod scale;
mod step;
#[cfg(test)]
mod tests;

use dyno_record::{RawTest, RunRecord};
use serde::{Deserialize, Serialize};

use super::{Conclusion, ConclusionFigures};
use crate::knee::knee_index;
use crate::limit::Limit;
use crate::limited::Bottleneck;
use crate::load::LoadPoint;
use crate::next::after_suite;
use crate::number;
use crate::points::{Better, Measure, MeasuredPoint, Points, points};
pub use raw::RawShare;
pub use scale::{NodeScaling, ScalingResult};
pub use step::{FIGURES, SuiteTestStep};

/// Figures from this value on are shown in compact form.
const COMPACT_FROM: f64 = 1e6;

/// The setting of a run that names its test.
pub const TEST: &str = "test";

/// The description of one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuiteTestInfo {
    /// The test's id, for example `cpu-integer`.
    pub id: String,
    /// The part of the platform that it tests.
    pub group: String,
    pub title: String,
    /// The component that it stresses.
    pub stresses: String,
    /// The counted unit, in the plural.
    pub unit: String,
    /// Number of these units per operation.
    pub units: u64,
    /// The measure of its key figure; absent where that is units per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The latency limit that its optimum keeps: `p95 <= 10ms`.
    pub limit: String,
    /// Where its data must be: `in` the database's cache or `out` of it; absent where the platform
    /// decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<String>,
    /// The raw limit of the machine with which it is compared; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawTest>,
    /// Processes that work on one operation: the document's #T.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: u32,
    /// The shortest duration that gives a figure; absent where any duration is acceptable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Least>,
    /// Number of targets it runs on, of several; absent where there is one target only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Why it is not run; absent where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// Why one of its runs failed; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The shortest duration that gives a figure. In a shorter one, start and end are too large a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Least {
    /// Seconds of one operation of a single session; for a load, of the whole load.
    pub seconds: f64,
    /// How to make the test larger, as a sentence without its end.
    pub larger: String,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_one(threads: &u32) -> bool {
    *threads == 1
}

/// A point on the ramp of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SuiteRampPoint {
    pub sessions: u32,
    /// The key figure there: the median over its runs.
    pub value: f64,
    /// Spread of its runs, %; absent for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_pct: Option<f64>,
    /// The lowest and the highest of its runs; absent for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
}

/// The measurements of one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuiteTestResult {
    pub page: SuiteTestInfo,
    /// The points of its ramp by rising sessions; empty where no run has a result.
    pub steps: Vec<SuiteTestStep>,
    /// Mean service time of a single session, µs; with several targets, of one session on each.
    pub single_us: Option<f64>,
    /// The best value of the key figure.
    pub most: Option<SuiteRampPoint>,
    /// The best value that keeps the limit.
    pub optimum: Option<SuiteRampPoint>,
    /// The knee by Kneedle, where there are enough steps.
    pub knee: Option<SuiteRampPoint>,
    /// What was exhausted at the best step, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<String>,
    /// The same limit with its evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Bottleneck>,
    /// Whether more sessions were tried and added nothing; absent where that was not tested.
    pub saturated: Option<bool>,
    /// Runs without a result, each with its reason.
    pub left_out: Vec<String>,
    /// Its best step as a share of what the machine reaches without a database; absent where that
    /// was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_raw: Option<RawShare>,
    /// Why its figures do not describe what it tests, for example storage reads that a cache
    /// answered; absent where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
    /// What qualifies its figures, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The figures of a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuiteResult {
    /// The depth of the suite: `quick`, `usual`, `full`.
    pub depth: String,
    /// All tests, in the order of the catalog.
    pub tests: Vec<SuiteTestResult>,
}

impl SuiteTestInfo {
    /// The measure of points that is the key figure.
    fn measure(&self) -> &str {
        self.metric.as_deref().unwrap_or("ops_per_s")
    }

    /// The key figure of a point.
    fn key(&self, point: &MeasuredPoint) -> Option<f64> {
        Some(point.get(self.measure())? * self.factor())
    }

    /// Units of the key figure per unit of its measure.
    fn factor(&self) -> f64 {
        if self.metric.is_none() { self.units as f64 } else { 1.0 }
    }

    /// Whether lower is better for the key figure.
    pub fn less_is_better(&self) -> bool {
        Measure::find(self.measure()).is_some_and(|measure| measure.better == Better::Lower)
    }

    /// The key figure and its unit: `1.20M` `rows/s`, `312` `MB/s of physical reads`.
    pub fn words(&self, value: f64) -> (String, String) {
        let (shown, unit) = match &self.metric {
            Some(metric) => crate::points::apart(metric, value),
            None => (number::figure(value), format!("{}/s", self.unit)),
        };
        let is_large = value.abs() >= COMPACT_FROM && !unit.is_empty();
        (if is_large { number::compact(value) } else { shown }, unit)
    }
}

impl SuiteRampPoint {
    /// The key figure of `page` and its unit, with as many digits as its runs support.
    pub fn words(&self, page: &SuiteTestInfo) -> (String, String) {
        page.words(number::rounded(self.value, self.spread_pct))
    }
}

impl SuiteTestResult {
    /// The result of a test, from the records of its runs.
    fn of(
        page: SuiteTestInfo,
        records: &[RunRecord],
        calibrations: &[RunRecord],
        looked_for_end: bool,
    ) -> Self {
        let of_test: Vec<RunRecord> = records.iter().filter(|run| is_of(run, &page.id)).cloned().collect();
        let Points { points, left_out, .. } = points(&of_test);
        let keyed: Vec<(&MeasuredPoint, SuiteRampPoint)> =
            points.iter().filter_map(|point| Some((point, at(&page, point)?))).collect();
        let best = |kept: &dyn Fn(&MeasuredPoint) -> bool| {
            let candidates = keyed.iter().filter(|(point, _)| kept(point)).map(|(_, at)| *at);
            candidates
                .reduce(|best, at| if (at.value > best.value) != page.less_is_better() { at } else { best })
        };
        let limit: Option<Limit> = page.limit.parse().ok();
        let keeps = |point: &MeasuredPoint| {
            let limited = limit.as_ref().and_then(|limit| point.get(&limit.measure()?));
            limited.zip(limit.as_ref()).is_some_and(|(us, limit)| us <= limit.most.as_secs_f64() * 1e6)
        };
        let single = points.iter().find(|point| point.sessions == page.nodes.unwrap_or(1));
        let most = best(&|_| true);
        let at_most = most.and_then(|most| points.iter().find(|point| point.sessions == most.sessions));
        let limited = at_most.and_then(MeasuredPoint::limited);
        let steps: Vec<SuiteTestStep> =
            points.iter().map(|point| SuiteTestStep::of(&page, point, &of_test)).collect();
        let step = most.and_then(|most| steps.iter().find(|step| step.sessions == most.sessions));
        let single_us = single.and_then(|point| point.get("service_mean_us"));
        let unfit =
            notes::unfit(&page, &points, &of_test).or_else(|| notes::too_small(&page, single_us, step));
        // The sum of several targets is no share of one machine.
        let is_one = page.nodes.is_none_or(|nodes| nodes == 1);
        let fit = page.raw.filter(|_| unfit.is_none() && is_one).zip(step);
        let of_raw = fit.and_then(|(test, step)| raw::of_raw(test, step, calibrations, &of_test));
        let mut notes = notes::notes(&page, &points, &of_test);
        notes.extend(of_raw.iter().map(|share| share.words.clone()));
        Self {
            single_us,
            most,
            optimum: best(&keeps),
            knee: knee(&keyed),
            limited_by: limited.as_ref().map(Bottleneck::short),
            limit: limited,
            saturated: looked_for_end.then(|| is_saturated(&keyed)),
            left_out: left_out.into_iter().map(|out| format!("{}: {}", out.id, out.reason)).collect(),
            of_raw,
            unfit,
            notes,
            steps,
            page,
        }
    }
}

impl SuiteTestResult {
    /// Why it has no figure, in two words: `the cache`, `too small`.
    pub fn unfit_word(&self) -> Option<&'static str> {
        let why = self.unfit.as_ref()?;
        Some(if why.starts_with(notes::TOO_SMALL) { "too small" } else { "the cache" })
    }
}

fn at(page: &SuiteTestInfo, point: &MeasuredPoint) -> Option<SuiteRampPoint> {
    let estimate = point.estimates.get(page.measure());
    let spread_pct = estimate.and_then(crate::points::Estimate::spread_pct);
    let scaled_range =
        |estimate: &crate::points::Estimate| (estimate.min() * page.factor(), estimate.max() * page.factor());
    let range = estimate.filter(|_| spread_pct.is_some()).map(scaled_range);
    Some(SuiteRampPoint { sessions: point.sessions, value: page.key(point)?, spread_pct, range })
}

/// Where more sessions begin to add less than they do on average.
fn knee(keyed: &[(&MeasuredPoint, SuiteRampPoint)]) -> Option<SuiteRampPoint> {
    let loads: Vec<LoadPoint> =
        keyed.iter().map(|(_, at)| LoadPoint::new(f64::from(at.sessions), at.value)).collect();
    knee_index(&loads).ok().map(|place| keyed[place].1)
}

fn is_saturated(keyed: &[(&MeasuredPoint, SuiteRampPoint)]) -> bool {
    let values: Vec<f64> = keyed.iter().map(|(_, at)| at.value).collect();
    dyno_plan::sweep::saturated_at(&values).is_some()
}

/// Whether a run belongs to the test of this name.
pub fn is_of(record: &RunRecord, test: &str) -> bool {
    let settings = record.part_of.iter().flat_map(|part| &part.settings);
    settings.into_iter().any(|setting| setting.key == TEST && setting.value == test)
}

/// The conclusion of the suite named `of`. With `looked_for_end`, sessions rose until more added
/// nothing. `calibrations` are raw limits of machines, the newest first; those of the database's
/// own machine are used.
pub fn conclusion(
    of: &str,
    stopped: Option<String>,
    depth: &str,
    pages: Vec<SuiteTestInfo>,
    records: &[RunRecord],
    calibrations: &[RunRecord],
    looked_for_end: bool,
) -> Conclusion {
    let tested = |page| SuiteTestResult::of(page, records, calibrations, looked_for_end);
    let tests: Vec<SuiteTestResult> = pages.into_iter().map(tested).collect();
    let words =
        scale::scaled(&tests).iter().map(ScalingResult::words).chain(notes::merged_notes(&tests)).collect();
    let count = |is: fn(&SuiteTestResult) -> bool| tests.iter().filter(|test| is(test)).count();
    let (measured, absent) = (
        count(|test| test.most.is_some() && test.unfit.is_none()),
        count(|test| test.page.why_not.is_some()),
    );
    let without = tests.len() - measured - absent;
    let mut line = format!("{measured} of {} tests have a result", tests.len());
    if absent > 0 {
        line.push_str(&format!(", {absent} are not applicable"));
    }
    if without > 0 {
        line.push_str(&format!(", {without} have none"));
    }
    line.push_str(&notes::limits(&tests));
    let of_tests = |run: &&RunRecord| tests.iter().any(|test| is_of(run, &test.page.id));
    line.push_str(&notes::reservation(records.iter().filter(of_tests)));
    let evidence = next::evidence(&tests, records);
    let figures = ConclusionFigures::Suite(Box::new(SuiteResult { depth: depth.to_owned(), tests }));
    Conclusion::new(of, stopped, line, words, figures).followed_by(after_suite(&evidence))
}
