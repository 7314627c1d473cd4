//! What goes with DB time: every statement, event and statistic held against it over all reports, the closest first.
//!
//! Where the load rises everything rises with it. So each is held against DB time twice: over all reports, and within
//! the levels of the load, where both are what they are above or below the middle of their level.

use std::collections::BTreeMap;

use dyno_analyze::series::{Correlation, correlation};

use super::levels::{Followed, Found};
use super::{Flag, Point, Thing, What};

/// Largest chance that is told, after all that were tried are counted (Bonferroni).
const CHANCE_MAX: f64 = 0.01;

/// Something that goes with DB time.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlated {
    /// What.
    pub thing: Thing,
    /// With DB time, over all reports.
    pub over_all: Correlation,
    /// The same within the levels of DB time; absent where it does not move within them.
    pub within: Option<Correlation>,
    /// What one more active session brings, by least squares: seconds per second of DB time for a time, a count per second for a
    /// statistic. Of a time it is the share of the rise of DB time that it explains.
    pub slope: f64,
    /// Reports that list it.
    pub reports: usize,
}

/// Everything that goes with DB time more than chance explains.
pub(super) fn correlated(points: &[(Point, Vec<Flag>)], found: &Found) -> Vec<Correlated> {
    let load = &found.0[0];
    let db_time: Vec<f64> = load.samples.iter().map(|sample| sample.value).collect();
    let level_less = less_level(&db_time, load);
    let mut rates: BTreeMap<&Thing, Vec<(usize, f64)>> = BTreeMap::new();
    for (i, &place) in load.places.iter().enumerate() {
        for (thing, rate) in &points[place].0.rates.0 {
            // Segments come and go with the lists' ends; the time model is DB time cut otherwise.
            if matches!(thing.what, What::Statement | What::Event | What::Counter) {
                rates.entry(thing).or_default().push((i, rate.value));
            }
        }
    }
    rates.retain(|_, rates| 4 * rates.len() >= db_time.len());
    let tried = rates.len() as f64;
    let mut found: Vec<Correlated> = Vec::new();
    for (thing, rates) in rates {
        // What a report does not list did not happen, or less than what it lists.
        let mut values = vec![0.0; db_time.len()];
        rates.iter().for_each(|&(i, rate)| values[i] = rate);
        let Some(over_all) = correlation(&values, &db_time) else { continue };
        let within = correlation(&less_level(&values, load), &level_less);
        let chance = within.map_or(over_all.p, |within| within.p.min(over_all.p));
        if chance * tried <= CHANCE_MAX {
            let slope = slope(&values, &db_time);
            found.push(Correlated { thing: thing.clone(), over_all, within, slope, reports: rates.len() });
        }
    }
    // Of times the one that explains most of the rise comes first; what a count explains, its size does not tell.
    let rank = |of: &Correlated| if of.thing.what.is_time() { of.slope.abs() } else { strength(of) };
    found.sort_by(|a, b| a.thing.what.cmp(&b.thing.what).then(rank(b).total_cmp(&rank(a))));
    found
}

/// The slope of `values` over `db_time`.
fn slope(values: &[f64], db_time: &[f64]) -> f64 {
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (mean_value, mean_time) = (mean(values), mean(db_time));
    let apart = || values.iter().zip(db_time).map(|(value, time)| (value - mean_value, time - mean_time));
    let together: f64 = apart().map(|(value, time)| value * time).sum();
    let spread: f64 = apart().map(|(_, time)| time * time).sum();
    if spread > 0.0 { together / spread } else { 0.0 }
}

fn strength(of: &Correlated) -> f64 {
    of.over_all.rho.abs() + of.within.map_or(0.0, |within| within.rho.abs())
}

/// Each value less the middle of its level.
fn less_level(values: &[f64], load: &Followed) -> Vec<f64> {
    let mut out = values.to_vec();
    for level in &load.levels {
        let part = &mut out[level.from..level.to];
        let mut sorted = part.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted[sorted.len() / 2];
        part.iter_mut().for_each(|value| *value -= middle);
    }
    out
}
