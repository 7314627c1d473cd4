//! What is paid for a unit of performance.

use serde::Serialize;

use super::{Price, Prices};
use crate::conclusion::suite::{At, Step, Tested};
use crate::points::median;
use crate::scorecard::Platform;

/// What is paid for: its name, how many of the figure's units it is, tests that tell it in order of preference, and the figure of
/// their steps (none: the key figure).
type Measure = (&'static str, f64, &'static [&'static str], Option<&'static str>);

/// All that is paid for.
pub const MEASURES: [Measure; 6] = [
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

/// What a unit of performance costs on one platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// What the platform does of it: the figure at the knee.
    pub does: f64,
    /// Sessions there.
    pub sessions: u32,
    /// Whether that is the knee, and not the most, as where no knee was found.
    pub at_knee: bool,
    /// What the unit costs each month.
    pub a_month: f64,
    /// The least and the most by the repeats; absent without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(f64, f64)>,
    /// Whether others had part in the figure, or that cannot be excluded.
    pub marked: bool,
}

/// What one unit of performance costs on all platforms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Costs {
    /// The unit: `1,000 random reads/s`.
    pub unit: &'static str,
    /// The test whose figure it is; the same on all platforms.
    pub test: &'static str,
    /// The cost on each platform, or why nobody knows.
    pub each: Vec<Result<Cost, String>>,
}

/// A platform with its price.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Priced {
    /// Its name.
    pub name: String,
    /// What it costs each month.
    pub a_month: f64,
    /// Of what that is made.
    pub parts: Vec<(&'static str, f64)>,
}

/// What platforms cost, and what their performance does; in the order of `platforms`, each of which has its price.
pub fn costs(prices: &Prices, platforms: &[(Platform, Price)]) -> (Vec<Priced>, Vec<Costs>) {
    let priced = |(platform, price): &(Platform, Price)| Priced {
        name: platform.name.clone(),
        a_month: price.a_month(prices.months),
        parts: price.parts(prices.months).into_iter().filter(|(_, amount)| *amount > 0.0).collect(),
    };
    let of = |measure: &Measure| {
        let (unit, units, tests, figure) = *measure;
        // One test for all, or two platforms would not be asked the same.
        let known =
            |test: &&str| platforms.iter().filter(|(platform, _)| find(platform, test).is_ok()).count();
        let most = tests.iter().map(known).max().filter(|most| *most > 0)?;
        let test = tests.iter().find(|test| known(test) == most).copied()?;
        let each = platforms.iter().map(|(platform, price)| {
            let at = does(platform, test, figure)?;
            Ok(cost(&at, units, price.a_month(prices.months)))
        });
        Some(Costs { unit, test, each: each.collect() })
    };
    (platforms.iter().map(priced).collect(), MEASURES.iter().filter_map(of).collect())
}

fn cost(does: &Does, units: f64, a_month: f64) -> Cost {
    let each = |does: f64| a_month * units / does;
    Cost {
        marked: does.marked,
        does: does.value,
        sessions: does.sessions,
        at_knee: does.at_knee,
        a_month: each(does.value),
        range: does.range.map(|(low, high)| (each(high), each(low))),
    }
}

/// What a platform does.
struct Does {
    value: f64,
    range: Option<(f64, f64)>,
    sessions: u32,
    at_knee: bool,
    marked: bool,
}

fn find<'p>(platform: &'p Platform, id: &str) -> Result<Vec<&'p Tested>, String> {
    let all = platform.suites.iter().flat_map(|suite| &suite.tests).filter(|test| test.page.id == id);
    let (known, not): (Vec<&Tested>, Vec<&Tested>) =
        all.partition(|test| test.most.is_some() && test.unfit.is_none());
    if known.is_empty() {
        let why = not.into_iter().find_map(|test| test.unfit.clone().or(test.page.why_not.clone()));
        return Err(why.unwrap_or_else(|| "not measured".to_owned()));
    }
    Ok(known)
}

/// The figure at the knee: the median over the suites.
fn does(platform: &Platform, id: &str, figure: Option<&str>) -> Result<Does, String> {
    let mut found: Vec<Does> = Vec::new();
    for test in find(platform, id)? {
        let Some(at) = test.knee.or(test.most) else { continue };
        found.extend(at_step(test, at, figure).filter(|does| does.value > 0.0));
    }
    let values: Vec<f64> = found.iter().map(|does| does.value).collect();
    let missing = || format!("{id} does not tell {}", figure.unwrap_or("its key figure"));
    let (value, first) = median(&values).zip(found.first()).ok_or_else(missing)?;
    let has_repeats = found.len() > 1 || first.range.is_some();
    let ranges = found.iter().map(|does| does.range.unwrap_or((does.value, does.value)));
    let range = ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1))).filter(|_| has_repeats);
    let marked = found.iter().any(|does| does.marked);
    Ok(Does { value, range, marked, ..*first })
}

/// The figure of a step, with the range of its runs where it is the key figure.
fn at_step(test: &Tested, at: At, figure: Option<&str>) -> Option<Does> {
    let metric = test.page.metric.as_deref();
    let step: &Step = test.steps.iter().find(|step| step.sessions == at.sessions)?;
    let (value, range) = match figure {
        Some(name) if Some(name) != metric => (step.figures.get(name).copied()?, None),
        _ => (at.value, at.range),
    };
    let name = figure.or(metric).unwrap_or("ops_per_s");
    let marked = step.marked.iter().any(|marked| marked == name);
    Some(Does { value, range, sessions: at.sessions, at_knee: test.knee.is_some(), marked })
}
