//! Compares one measure over all points: the mean of the ratios, and the rank test with each point
//! as a stratum.

use super::compared::{
    ComparisonColumn, ComparisonRules, MeasureComparison, OverallComparison, interval_pct,
};
use super::near_zero::is_near_zero;
use super::rank::two_sided;
use super::ratio::{RatioDraws, mean_ratio};
use super::verdict::{ComparisonVerdict, VerdictEvidence, judge};
use crate::points::Better;

pub(crate) fn overall(column: &ComparisonColumn, rules: &ComparisonRules) -> OverallComparison {
    let complete_points: Vec<(usize, &MeasureComparison)> =
        column.compared.iter().enumerate().filter(|(_, c)| c.a.is_some() && c.b.is_some()).collect();
    let draws: Option<Vec<RatioDraws>> =
        complete_points.iter().map(|&(i, _)| column.draws[i].clone()).collect();
    let ratio = draws.and_then(|draws| mean_ratio(&draws));
    // A point without a percentage would be missing from the mean without notice, so no mean is
    // given.
    let overall_ratio = ratio.filter(|_| complete_points.iter().all(|(_, c)| c.difference_pct.is_some()));
    let marked = complete_points.iter().any(|(_, c)| c.marked.0 || c.marked.1);
    let p = match complete_points.as_slice() {
        [(_, one)] => one.p,
        many => stratified(many.iter().map(|(_, c)| (c.a_runs.as_slice(), c.b_runs.as_slice()))),
    };
    let runs = |part: fn(&MeasureComparison) -> usize| {
        complete_points.iter().map(|(_, c)| part(c)).min().unwrap_or(0)
    };
    let runs_max = complete_points.iter().map(|(_, c)| c.a_runs.len().max(c.b_runs.len())).max().unwrap_or(0);
    let evidence = VerdictEvidence {
        runs: (runs(|c| c.a_runs.len()), runs(|c| c.b_runs.len())),
        runs_max,
        ratio,
        p,
        near_zero: column.draws.iter().all(Option::is_none)
            && complete_points.iter().all(|(_, c)| nothing(c)),
        marked: marked && !column.run_scoped,
    };
    OverallComparison {
        measure: column.measure.clone(),
        points: complete_points.len(),
        marked,
        run_scoped: column.run_scoped,
        difference_pct: overall_ratio.map(|ratio| 100.0 * (ratio.ratio - 1.0)),
        interval_pct: overall_ratio.filter(|_| runs_max > 1).map(interval_pct),
        p,
        worst: worst(&complete_points, column.better),
        verdict: if complete_points.is_empty() {
            ComparisonVerdict::Unsure
        } else {
            judge(&evidence, column.better, rules.margin_pct)
        },
    }
}

/// Whether both sides are nearly zero.
pub(super) fn nothing(compared: &MeasureComparison) -> bool {
    [compared.a, compared.b].iter().all(|value| value.is_some_and(|value| is_near_zero(compared.unit, value)))
}

/// The worst point for the second side; for a measure without a direction, the one that differs
/// most.
fn worst(complete_points: &[(usize, &MeasureComparison)], better: Better) -> Option<(usize, f64)> {
    let badness = |difference: f64| match better {
        Better::Higher => -difference,
        Better::Lower => difference,
        Better::Neither => difference.abs(),
    };
    let differences = complete_points.iter().filter_map(|&(i, compared)| Some((i, compared.difference_pct?)));
    differences.max_by(|x, y| badness(x.1).total_cmp(&badness(y.1)))
}

/// Van Elteren's test (1960): the rank sums of all points together, each weighted by
/// `1 ÷ (its runs + 1)`. Absent where no point has repeats.
pub(crate) fn stratified<'c>(points: impl Iterator<Item = (&'c [f64], &'c [f64])>) -> Option<f64> {
    let (mut distance, mut variance) = (0.0, 0.0);
    let mut repeated = false;
    for (a, b) in points {
        repeated |= a.len().max(b.len()) > 1;
        let (n, m) = (a.len() as f64, b.len() as f64);
        let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
        let u: f64 = pairs
            .map(|(x, y)| {
                if x > y {
                    1.0
                } else if x == y {
                    0.5
                } else {
                    0.0
                }
            })
            .sum();
        let total = n + m;
        let mut sorted: Vec<f64> = a.iter().chain(b).copied().collect();
        sorted.sort_by(f64::total_cmp);
        let ties: f64 =
            sorted.chunk_by(|x, y| x == y).map(|t| (t.len() as f64).powi(3) - t.len() as f64).sum();
        distance += (u - n * m / 2.0) / (total + 1.0);
        variance += n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0))) / (total + 1.0).powi(2);
    }
    match repeated {
        false => None,
        true if variance <= 0.0 => Some(1.0),
        true => Some(two_sided(distance / variance.sqrt()).min(1.0)),
    }
}
