//! What the rules of next steps ask about prices.

use super::unit_price::NOT_MEASURED;
use super::{Cost, Costs, PlatformPrice};
use crate::next::{NextStep, PlatformTests, PriceEvidence, after_price};
use crate::scorecard::ScorecardPlatform;

/// The steps after these costs of the platforms, in the same order.
pub fn next_steps(platforms: &[(ScorecardPlatform, PlatformPrice)], costs: &[Costs]) -> Vec<NextStep> {
    let tests_of = |at: usize, is: &dyn Fn(&Result<Cost, String>) -> bool| {
        let platform = &platforms[at].0;
        let tests = costs.iter().filter(|costs| is(&costs.each[at])).map(|costs| costs.test.to_owned());
        of_platform(platform, tests.collect())
    };
    let measured = || (0..platforms.len()).filter(|at| !platforms[*at].0.printed);
    let first = |is: &dyn Fn(&Result<Cost, String>) -> bool| {
        measured().map(|at| tests_of(at, is)).find(|found| !found.tests.is_empty())
    };
    after_price(&PriceEvidence {
        undecided: costs.iter().find_map(|costs| undecided(platforms, costs)),
        not_run: first(&|cost| cost.as_ref().is_err_and(|why| why == NOT_MEASURED)),
        no_knee: first(&|cost| cost.as_ref().is_ok_and(|cost| !cost.at_knee)),
    })
}

fn of_platform(platform: &ScorecardPlatform, tests: Vec<String>) -> PlatformTests {
    PlatformTests { platform: platform.name.clone(), tests, runs: 0, again: platform.again.clone() }
}

/// The unit, if the ranges of its two lowest prices overlap or one is unknown.
fn undecided(
    platforms: &[(ScorecardPlatform, PlatformPrice)],
    costs: &Costs,
) -> Option<(String, [String; 2], PlatformTests, bool)> {
    let priced = costs.each.iter().enumerate().filter_map(|(at, cost)| Some((at, cost.as_ref().ok()?)));
    let mut by_price: Vec<(usize, &Cost)> = priced.collect();
    by_price.sort_by(|a, b| a.1.a_month.total_cmp(&b.1.a_month));
    let [(a, lowest), (b, next), ..] = by_price[..] else { return None };
    let ranges = lowest.range.zip(next.range);
    if ranges.is_some_and(|(lowest, next)| lowest.1 < next.0) {
        return None;
    }
    // A document states one figure, which cannot be measured again.
    let can_repeat = |at: &usize| !platforms[*at].0.printed;
    let without_range =
        [(a, lowest), (b, next)].into_iter().find(|(at, cost)| cost.range.is_none() && can_repeat(at));
    let repeated = match ranges {
        Some(_) => [b, a].into_iter().find(can_repeat)?,
        None => without_range?.0,
    };
    let names = [a, b].map(|at| platforms[at].0.name.clone());
    let platform = of_platform(&platforms[repeated].0, vec![costs.test.to_owned()]);
    Some((costs.unit.to_owned(), names, platform, ranges.is_some()))
}
