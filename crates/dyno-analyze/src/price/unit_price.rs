//! Computes the price of a unit of performance.

use serde::Serialize;

use super::{PlatformPrice, Prices};
use crate::conclusion::suite::{SuiteRampPoint, SuiteTestResult, SuiteTestStep};
use crate::points::median;
use crate::scorecard::ScorecardPlatform;

/// A unit of performance: its name, the number of the figure's units, the tests that provide it in
/// order of preference, and the figure of their steps (`None`: the key figure).
type PriceMeasure = (&'static str, f64, &'static [&'static str], Option<&'static str>);

/// The units of performance that are priced.
pub const MEASURES: [PriceMeasure; 6] = [
    ("1,000 random reads/s", 1e3, &["storage-random-read"], Some("physical_read_requests_per_s")),
    (
        "a million logical reads/s",
        1e6,
        &["server-logical-reads", "server-scan", "server-lookup"],
        Some("logical_reads_per_s"),
    ),
    ("1 light transaction/s", 1.0, &["oltp-light"], None),
    ("1 medium transaction/s", 1.0, &["oltp-medium"], None),
    ("1 heavy transaction/s", 1.0, &["oltp-heavy"], None),
    ("1 mixed transaction/s", 1.0, &["oltp-mix"], None),
];

/// Why a platform has no price for a test that its suites do not have.
pub(super) const NOT_MEASURED: &str = "not measured";

/// The price of a unit of performance on one platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// The figure at the knee: how much of it the platform does.
    pub does: f64,
    /// Number of sessions at that point.
    pub sessions: u32,
    /// Whether that is the knee, rather than the highest value where no knee was found.
    pub at_knee: bool,
    /// Monthly price of the unit.
    pub a_month: f64,
    /// The lowest and highest price by the repeats; absent without repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Whether the figure includes background activity, or that cannot be excluded.
    pub marked: bool,
}

/// The price of one unit of performance on all platforms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Costs {
    /// The unit: `1,000 random reads/s`.
    pub unit: &'static str,
    /// The test that provides the figure; the same on all platforms.
    pub test: &'static str,
    /// The price on each platform, or why it is unknown.
    pub each: Vec<Result<Cost, String>>,
}

/// A platform with its price.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PricedPlatform {
    pub name: String,
    pub a_month: f64,
    /// The parts of the monthly price.
    pub parts: Vec<(&'static str, f64)>,
}

/// The monthly prices and the prices per unit of performance, in the order of `platforms`, each
/// given with its price.
pub fn costs(
    prices: &Prices,
    platforms: &[(ScorecardPlatform, PlatformPrice)],
) -> (Vec<PricedPlatform>, Vec<Costs>) {
    let priced = |(platform, price): &(ScorecardPlatform, PlatformPrice)| PricedPlatform {
        name: platform.name.clone(),
        a_month: price.monthly_cost(prices.months),
        parts: price.parts(prices.months).into_iter().filter(|(_, amount)| *amount > 0.0).collect(),
    };
    let costs_of = |measure: &PriceMeasure| {
        let (unit, units, tests, figure) = *measure;
        // One test for all platforms; otherwise they would not be comparable.
        let platform_count =
            |test: &&str| platforms.iter().filter(|(platform, _)| find(platform, test).is_ok()).count();
        let most = tests.iter().map(platform_count).max().filter(|most| *most > 0)?;
        let test = tests.iter().find(|test| platform_count(test) == most).copied()?;
        let platform_costs = platforms.iter().map(|(platform, price)| {
            let at = performance_at_knee(platform, test, figure)?;
            Ok(cost(&at, units, price.monthly_cost(prices.months)))
        });
        Some(Costs { unit, test, each: platform_costs.collect() })
    };
    (platforms.iter().map(priced).collect(), MEASURES.iter().filter_map(costs_of).collect())
}

fn cost(does: &PlatformPerformance, units: f64, a_month: f64) -> Cost {
    let unit_cost = |does: f64| a_month * units / does;
    Cost {
        marked: does.marked,
        does: does.value,
        sessions: does.sessions,
        at_knee: does.at_knee,
        a_month: unit_cost(does.value),
        range: does.range.map(|(low, high)| (unit_cost(high), unit_cost(low))),
    }
}

/// What a platform does of one figure.
struct PlatformPerformance {
    value: f64,
    range: Option<(f64, f64)>,
    sessions: u32,
    at_knee: bool,
    marked: bool,
}

fn find<'p>(platform: &'p ScorecardPlatform, id: &str) -> Result<Vec<&'p SuiteTestResult>, String> {
    let all = platform.suites.iter().flat_map(|suite| &suite.tests).filter(|test| test.page.id == id);
    let (known, not): (Vec<&SuiteTestResult>, Vec<&SuiteTestResult>) =
        all.partition(|test| test.most.is_some() && test.unfit.is_none());
    if known.is_empty() {
        let why = not.into_iter().find_map(|test| test.unfit.clone().or(test.page.why_not.clone()));
        return Err(why.unwrap_or_else(|| NOT_MEASURED.to_owned()));
    }
    Ok(known)
}

/// The figure at the knee: the median over the suites.
fn performance_at_knee(
    platform: &ScorecardPlatform,
    id: &str,
    figure: Option<&str>,
) -> Result<PlatformPerformance, String> {
    let mut performances: Vec<PlatformPerformance> = Vec::new();
    for test in find(platform, id)? {
        let Some(at) = test.knee.or(test.most) else { continue };
        performances.extend(at_step(test, at, figure).filter(|does| does.value > 0.0));
    }
    let values: Vec<f64> = performances.iter().map(|does| does.value).collect();
    let missing = || format!("{id} does not report {}", figure.unwrap_or("its key figure"));
    let (value, first) = median(&values).zip(performances.first()).ok_or_else(missing)?;
    let has_repeats = performances.len() > 1 || first.range.is_some();
    let ranges = performances.iter().map(|does| does.range.unwrap_or((does.value, does.value)));
    let range = ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1))).filter(|_| has_repeats);
    let marked = performances.iter().any(|does| does.marked);
    Ok(PlatformPerformance { value, range, marked, ..*first })
}

/// The figure of a step, with the range of its runs where it is the key figure.
fn at_step(test: &SuiteTestResult, at: SuiteRampPoint, figure: Option<&str>) -> Option<PlatformPerformance> {
    let metric = test.page.metric.as_deref();
    let step: &SuiteTestStep = test.steps.iter().find(|step| step.sessions == at.sessions)?;
    let (value, range) = match figure {
        Some(name) if Some(name) != metric => (step.figures.get(name).copied()?, None),
        _ => (at.value, at.range),
    };
    let name = figure.or(metric).unwrap_or("ops_per_s");
    let marked = step.marked.iter().any(|marked| marked == name);
    Some(PlatformPerformance { value, range, sessions: at.sessions, at_knee: test.knee.is_some(), marked })
}
