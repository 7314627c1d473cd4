//! The answer of a suite: each test with its steps, the figure that counts, and where it bends.

mod costs;
mod notes;
mod raw;
mod scale;
mod step;
#[cfg(test)]
mod tests;

use dyno_record::{RawTest, RunRecord};
use serde::{Deserialize, Serialize};

use super::{Conclusion, Figures};
use crate::knee::SENSITIVITY;
use crate::knee::kneedle;
use crate::limit::Limit;
use crate::limited::Limited;
use crate::number;
use crate::points::{Better, Measure, Point, Points, points};
pub use raw::OfRaw;
pub use scale::{OnNodes, Scaled};
pub use step::{FIGURES, Step};

/// From here on figures are shown in few characters.
const COMPACT_FROM: f64 = 1e6;

/// The setting of a run that says which test it is of.
pub const TEST: &str = "test";

/// What a test is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Its name: `cpu-integer`.
    pub id: String,
    /// The part of the platform that it is about.
    pub group: String,
    /// What it is, in a few words.
    pub title: String,
    /// What it stresses.
    pub stresses: String,
    /// What is counted.
    pub unit: String,
    /// How many of these one operation is.
    pub units: u64,
    /// The measure that is its key figure; absent where that is units per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The limit of latency that its optimum keeps: `p95 <= 10ms`.
    pub limit: String,
    /// Where its data is to be: `in` the database's cache or `out` of it; absent where that is left to the platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<String>,
    /// The raw limit of its machine that it is held against; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawTest>,
    /// Processes that work on one operation: the document's #T.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: u32,
    /// What an operation has to take for a figure; absent where any time will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Least>,
    /// On how many of several targets it is run; absent where there is one target only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Why it is not run; absent where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// Why a run of it could not be made; absent where all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The shortest time that gives a figure: of less, start and end are too large a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Least {
    /// Seconds of an operation of a single session; of a measured load, of the whole load.
    pub seconds: f64,
    /// What makes the test larger, as a sentence without its end.
    pub larger: String,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_one(threads: &u32) -> bool {
    *threads == 1
}

/// A place on the ramp of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct At {
    /// Sessions.
    pub sessions: u32,
    /// The key figure there: the median over its runs.
    pub value: f64,
    /// How far its runs lie apart, %; absent of a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_pct: Option<f64>,
    /// The least and the largest of its runs; absent of a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
}

/// What was measured of one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// What it is.
    pub page: Page,
    /// The points of its ramp, in order of sessions; none where no run has a result.
    pub steps: Vec<Step>,
    /// Service time of a single session, of several targets of one on each, µs: mean.
    pub single_us: Option<f64>,
    /// The best of the key figure.
    pub most: Option<At>,
    /// The best of it where the limit is kept.
    pub optimum: Option<At>,
    /// The knee by Kneedle, where there are steps enough.
    pub knee: Option<At>,
    /// What was used up at the most, as far as it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<String>,
    /// The same with its evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limited>,
    /// Whether more sessions were tried and brought nothing more; absent where that was not looked for.
    pub saturated: Option<bool>,
    /// Runs that are no result, each with its reason.
    pub left_out: Vec<String>,
    /// Its step with the most as a share of what the machine gives without a database; absent where nobody has measured that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_raw: Option<OfRaw>,
    /// Why its figures are not of what it is about, as those of storage that a cache answered; absent where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
    /// What a reader has to know of its figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The figures of a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// How deeply it went: `quick`, `usual`, `full`.
    pub depth: String,
    /// All tests, in the order of the catalogue.
    pub tests: Vec<Tested>,
}

impl Page {
    /// The measure of points that is the key figure.
    fn measure(&self) -> &str {
        self.metric.as_deref().unwrap_or("ops_per_s")
    }

    /// The key figure of a point.
    fn key(&self, point: &Point) -> Option<f64> {
        Some(point.get(self.measure())? * self.factor())
    }

    /// Units of the key figure in one of its measure.
    fn factor(&self) -> f64 {
        if self.metric.is_none() { self.units as f64 } else { 1.0 }
    }

    /// Whether less of the key figure is better.
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

impl At {
    /// The key figure of `page` and its unit, with as many digits as its runs tell.
    pub fn words(&self, page: &Page) -> (String, String) {
        page.words(number::rounded(self.value, self.spread_pct))
    }
}

impl Tested {
    /// What came of a test, from the records of its runs.
    fn of(page: Page, records: &[RunRecord], calibrations: &[RunRecord], looked_for_end: bool) -> Self {
        let of_test: Vec<RunRecord> = records.iter().filter(|run| is_of(run, &page.id)).cloned().collect();
        let Points { points, left_out, .. } = points(&of_test);
        let keyed: Vec<(&Point, At)> =
            points.iter().filter_map(|point| Some((point, at(&page, point)?))).collect();
        let best = |kept: &dyn Fn(&Point) -> bool| {
            let kept = keyed.iter().filter(|(point, _)| kept(point)).map(|(_, at)| *at);
            kept.reduce(|best, at| if (at.value > best.value) != page.less_is_better() { at } else { best })
        };
        let limit: Option<Limit> = page.limit.parse().ok();
        let keeps = |point: &Point| {
            let limited = limit.as_ref().and_then(|limit| point.get(&limit.measure()?));
            limited.zip(limit.as_ref()).is_some_and(|(us, limit)| us <= limit.most.as_secs_f64() * 1e6)
        };
        let single = points.iter().find(|point| point.sessions == page.nodes.unwrap_or(1));
        let most = best(&|_| true);
        let at_most = most.and_then(|most| points.iter().find(|point| point.sessions == most.sessions));
        let limited = at_most.and_then(Point::limited);
        let steps: Vec<Step> = points.iter().map(|point| Step::of(&page, point, &of_test)).collect();
        let step = most.and_then(|most| steps.iter().find(|step| step.sessions == most.sessions));
        let single_us = single.and_then(|point| point.get("service_mean_us"));
        let unfit =
            notes::unfit(&page, &points, &of_test).or_else(|| notes::too_small(&page, single_us, step));
        // What several targets do together is no share of one machine.
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
            limited_by: limited.as_ref().map(Limited::short),
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

impl Tested {
    /// Why it has no figure, in two words: `the cache`, `too small`.
    pub fn unfit_word(&self) -> Option<&'static str> {
        let why = self.unfit.as_ref()?;
        Some(if why.starts_with(notes::TOO_SMALL) { "too small" } else { "the cache" })
    }
}

fn at(page: &Page, point: &Point) -> Option<At> {
    let estimate = point.estimates.get(page.measure());
    let spread_pct = estimate.and_then(crate::points::Estimate::spread_pct);
    let of =
        |estimate: &crate::points::Estimate| (estimate.min() * page.factor(), estimate.max() * page.factor());
    let range = estimate.filter(|_| spread_pct.is_some()).map(of);
    Some(At { sessions: point.sessions, value: page.key(point)?, spread_pct, range })
}

/// Where more sessions begin to pay less than they did on average.
fn knee(keyed: &[(&Point, At)]) -> Option<At> {
    let sessions: Vec<f64> = keyed.iter().map(|(_, at)| f64::from(at.sessions)).collect();
    let values: Vec<f64> = keyed.iter().map(|(_, at)| at.value).collect();
    kneedle(&sessions, &values, SENSITIVITY).map(|place| keyed[place].1)
}

fn is_saturated(keyed: &[(&Point, At)]) -> bool {
    let values: Vec<f64> = keyed.iter().map(|(_, at)| at.value).collect();
    dyno_plan::sweep::saturated_at(&values).is_some()
}

/// Whether a run is of the test of this name.
pub fn is_of(record: &RunRecord, test: &str) -> bool {
    let settings = record.part_of.iter().flat_map(|part| &part.settings);
    settings.into_iter().any(|setting| setting.key == TEST && setting.value == test)
}

/// The conclusion of the suite named `of`. Where `looked_for_end`, sessions rose until more brought nothing. `calibrations` are
/// raw limits of machines, the newest first; those of the machine of its database count.
pub fn conclusion(
    of: &str,
    stopped: Option<String>,
    depth: &str,
    pages: Vec<Page>,
    records: &[RunRecord],
    calibrations: &[RunRecord],
    looked_for_end: bool,
) -> Conclusion {
    let tested = |page| Tested::of(page, records, calibrations, looked_for_end);
    let tests: Vec<Tested> = pages.into_iter().map(tested).collect();
    let words = scale::scaled(&tests).iter().map(Scaled::words).chain(notes::told(&tests)).collect();
    let count = |is: fn(&Tested) -> bool| tests.iter().filter(|test| is(test)).count();
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
    let figures = Figures::Suite(Box::new(Suite { depth: depth.to_owned(), tests }));
    Conclusion::new(of, stopped, line, words, figures)
}
