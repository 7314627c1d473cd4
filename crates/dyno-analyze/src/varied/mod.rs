//! Explains why repeats differ: which counters changed with their throughput.
//!
//! The module examines repeats at one point of one side whose figures differ much: what database,
//! server and host did in each. A cause that was always higher (or lower) in slower runs is named
//! with its figures; that is an indication and no proof. If no recorded cause fits, the result says
//! so, and lists what the records do not show.

mod cause;
mod words;

#[cfg(test)]
mod tests;

use dyno_record::RunRecord;
use serde::{Deserialize, Serialize};

use crate::points::{OPS, figure};
use crate::series::rank::ranks;
pub use cause::Cause;

/// Spread above which repeats are examined: (largest − smallest) in percent of the median.
pub const SPREAD_PCT: f64 = 10.0;

/// Fewest runs: fewer agree by chance too often.
const RUNS_MIN: usize = 4;

/// Smallest rank correlation that is reported. If half of the runs have a checkpoint and all of
/// these are slower than the others, it is 0.87.
const RHO_MIN: f64 = 0.8;

/// Repeats that differ, with the likely causes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepeatVariation {
    /// The name of the side.
    pub side: String,
    /// The value on each axis.
    pub at: Vec<String>,
    /// The figure in which they differ.
    pub measure: String,
    pub runs: usize,
    /// Spread: (largest − smallest) in percent of the median.
    pub spread_pct: f64,
    /// Causes that changed with it, the strongest first.
    pub moved: Vec<CauseCorrelation>,
    /// Causes that did not change with it.
    pub still: Vec<Cause>,
    /// Causes that the records do not show.
    pub unknown: Vec<Cause>,
}

/// A cause that changed with the figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CauseCorrelation {
    pub cause: Cause,
    /// Its mean in the slower half of the runs. With an odd number, the median run is in neither
    /// half.
    pub slower: f64,
    /// Its mean in the faster half of the runs.
    pub faster: f64,
    /// The rank correlation with slowness; 1 where the slowest run has the highest value.
    pub rho: f64,
}

/// The spread of `records`, which are repeats at one point of one side, and the causes that changed
/// with it; `None` where they do not differ.
pub(crate) fn varied(side: &str, at: &[String], records: &[&RunRecord]) -> Option<RepeatVariation> {
    let measure = ["load_rows_per_s", OPS, "service_mean_us"].into_iter().find(|name| {
        let is_asked = records.iter().any(|record| record.plan.workload.rate.is_some());
        !(is_asked && *name == OPS) && records.iter().all(|record| figure(record, name).is_some())
    })?;
    let values: Vec<f64> =
        records.iter().filter_map(|record| figure(record, measure)).map(|one| one.0).collect();
    let spread_pct = spread_pct(&values).filter(|spread_pct| *spread_pct > SPREAD_PCT)?;
    // The slower a run, the higher its number.
    let slowness: Vec<f64> =
        values.iter().map(|value| if measure == "service_mean_us" { *value } else { -value }).collect();
    let (mut moved, mut still, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for cause in Cause::ALL {
        let amounts: Option<Vec<f64>> = records.iter().map(|record| cause.of(record)).collect();
        match amounts.map(|told| correlate_cause(cause, &told, &slowness)) {
            None => unknown.push(cause),
            Some(None) => still.push(cause),
            Some(Some(one)) => moved.push(CauseCorrelation {
                rho: if measure == "service_mean_us" { one.rho } else { -one.rho },
                ..one
            }),
        }
    }
    moved.sort_by(|x, y| y.rho.abs().total_cmp(&x.rho.abs()));
    Some(RepeatVariation {
        side: side.to_owned(),
        at: at.to_vec(),
        measure: measure.to_owned(),
        runs: values.len(),
        spread_pct,
        moved,
        still,
        unknown,
    })
}

/// The spread: (largest − smallest) in percent of the median.
fn spread_pct(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (least, most) = (*sorted.first()?, *sorted.last()?);
    let middle = f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    (middle > 0.0).then(|| 100.0 * (most - least) / middle)
}

/// Whether `told` changed with the slowness of the runs, in the direction that slows a run.
fn correlate_cause(cause: Cause, amounts: &[f64], slowness: &[f64]) -> Option<CauseCorrelation> {
    let (least, most) =
        amounts.iter().fold((f64::MAX, f64::MIN), |(low, high), &one| (low.min(one), high.max(one)));
    if amounts.len() < RUNS_MIN || !cause.is_movement(least, most) {
        return None;
    }
    let rho = rho(amounts, slowness)?;
    if (if cause.slows_by_less() { -rho } else { rho }) < RHO_MIN {
        return None;
    }
    let mut order: Vec<usize> = (0..amounts.len()).collect();
    order.sort_by(|&x, &y| slowness[y].total_cmp(&slowness[x]));
    let half = amounts.len() / 2;
    let mean = |of: &[usize]| of.iter().map(|&at| amounts[at]).sum::<f64>() / of.len().max(1) as f64;
    let (slower, faster) = (mean(&order[..half]), mean(&order[amounts.len() - half..]));
    Some(CauseCorrelation { cause, slower, faster, rho })
}

/// Spearman's rank correlation, for any number of pairs; absent where one side is constant.
fn rho(x: &[f64], y: &[f64]) -> Option<f64> {
    let (x, y) = (ranks(x), ranks(y));
    let mean = (x.len() + 1) as f64 / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let (xx, yy) = (product(&x, &x), product(&y, &y));
    (xx > 0.0 && yy > 0.0).then(|| (product(&x, &y) / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}
