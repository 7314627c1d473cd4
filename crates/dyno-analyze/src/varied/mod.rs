//! Why repeats differ: what moved with their throughput.
//!
//! Repeats at one point of one side whose figures are far apart are asked for what the database, its server and the machine did in
//! each. What was always larger (or smaller) where a run was slower is named with its figures; that is a trail and no proof. Where
//! nothing of what the records tell moved so, that is said, and what they do not tell.

mod cause;
mod words;

#[cfg(test)]
mod tests;

use dyno_record::RunRecord;
use serde::{Deserialize, Serialize};

use crate::points::{OPS, figure};
use crate::series::rank::ranks;
pub use cause::Cause;

/// Repeats differ where the largest is further from the least than so many percent of the one in the middle.
pub const SPREAD_PCT: f64 = 10.0;

/// Fewer runs than these move together by chance too often.
const RUNS_MIN: usize = 4;

/// The least rank correlation that is told: half of the runs with a checkpoint, which are all slower than the others, are at 0.87.
const RHO_MIN: f64 = 0.8;

/// Repeats that differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Varied {
    /// The name of the side.
    pub side: String,
    /// The value on each axis.
    pub at: Vec<String>,
    /// The figure that differs.
    pub measure: String,
    /// Runs.
    pub runs: usize,
    /// By how much: the largest less the least, in percent of the one in the middle.
    pub spread_pct: f64,
    /// What moved with it, the closest first.
    pub moved: Vec<Moved>,
    /// What did not.
    pub still: Vec<Cause>,
    /// What the records do not tell of.
    pub unknown: Vec<Cause>,
}

/// Something that moved with the figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// What.
    pub cause: Cause,
    /// Its mean in the slower half of the runs, and in the faster one; of an odd number the one in the middle is in neither.
    pub slower: f64,
    /// See there.
    pub faster: f64,
    /// The rank correlation with the figure, 1 where both always rise together.
    pub rho: f64,
}

/// What repeats of `records`, which are at one point of one side, differ by and what moved with that; nothing where they do not differ.
pub(crate) fn varied(side: &str, at: &[String], records: &[&RunRecord]) -> Option<Varied> {
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
        let told: Option<Vec<f64>> = records.iter().map(|record| cause.of(record)).collect();
        match told.map(|told| along(cause, &told, &slowness)) {
            None => unknown.push(cause),
            Some(None) => still.push(cause),
            Some(Some(one)) => moved
                .push(Moved { rho: if measure == "service_mean_us" { one.rho } else { -one.rho }, ..one }),
        }
    }
    moved.sort_by(|x, y| y.rho.abs().total_cmp(&x.rho.abs()));
    Some(Varied {
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

/// The largest less the least, in percent of the one in the middle.
fn spread_pct(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (least, most) = (*sorted.first()?, *sorted.last()?);
    let middle = f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    (middle > 0.0).then(|| 100.0 * (most - least) / middle)
}

/// Whether `told` moved with how slow each run was, in the direction in which it slows.
fn along(cause: Cause, told: &[f64], slowness: &[f64]) -> Option<Moved> {
    let (least, most) =
        told.iter().fold((f64::MAX, f64::MIN), |(low, high), &one| (low.min(one), high.max(one)));
    if told.len() < RUNS_MIN || !cause.is_movement(least, most) {
        return None;
    }
    let rho = rho(told, slowness)?;
    if (if cause.slows_by_less() { -rho } else { rho }) < RHO_MIN {
        return None;
    }
    let mut order: Vec<usize> = (0..told.len()).collect();
    order.sort_by(|&x, &y| slowness[y].total_cmp(&slowness[x]));
    let half = told.len() / 2;
    let mean = |of: &[usize]| of.iter().map(|&at| told[at]).sum::<f64>() / of.len().max(1) as f64;
    let (slower, faster) = (mean(&order[..half]), mean(&order[told.len() - half..]));
    Some(Moved { cause, slower, faster, rho })
}

/// Spearman's rank correlation, whatever the number of pairs; absent where one side never changes.
fn rho(x: &[f64], y: &[f64]) -> Option<f64> {
    let (x, y) = (ranks(x), ranks(y));
    let mean = (x.len() + 1) as f64 / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let (xx, yy) = (product(&x, &x), product(&y, &y));
    (xx > 0.0 && yy > 0.0).then(|| (product(&x, &y) / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}
