//! Finds what correlates with DB time: every statement, event and statistic over all reports, the
//! strongest first.
//!
//! When the load rises, everything rises with it. So each is compared with DB time twice: over all
//! reports, and within the levels of the load. The second comparison uses the differences from the
//! median of the level.

use std::collections::BTreeMap;

use dyno_analyze::series::{Correlation, correlation};

use super::levels::{AwrFigureLevels, AwrFollowedFigure};
use super::{AwrRateKind, AwrRateSubject, AwrTimelinePoint, Flag};

/// Largest probability that is reported, corrected for the number of tests (Bonferroni).
const CHANCE_MAX: f64 = 0.01;

/// A statement, event or statistic that correlates with DB time.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlated {
    pub thing: AwrRateSubject,
    /// Correlation with DB time, over all reports.
    pub over_all: Correlation,
    /// The same within the levels of DB time; absent where it does not vary within them.
    pub within: Option<Correlation>,
    /// The effect of one more active session, by least squares: seconds per second of DB time for a
    /// time, a count per second for a statistic. For a time it is its share of the rise of DB time.
    pub slope: f64,
    /// Number of reports that list it.
    pub reports: usize,
}

/// Everything that correlates with DB time more than by chance.
pub(super) fn correlated(
    points: &[(AwrTimelinePoint, Vec<Flag>)],
    level_map: &AwrFigureLevels,
) -> Vec<Correlated> {
    let load = &level_map.0[0];
    let db_time: Vec<f64> = load.samples.iter().map(|sample| sample.value).collect();
    let level_less = less_level(&db_time, load);
    let mut rates: BTreeMap<&AwrRateSubject, Vec<(usize, f64)>> = BTreeMap::new();
    for (i, &place) in load.places.iter().enumerate() {
        for (thing, rate) in &points[place].0.rates.0 {
            // Segments depend on where the lists end; the time model is DB time, divided
            // differently.
            if matches!(thing.kind, AwrRateKind::Statement | AwrRateKind::Event | AwrRateKind::Counter) {
                rates.entry(thing).or_default().push((i, rate.value));
            }
        }
    }
    rates.retain(|_, rates| 4 * rates.len() >= db_time.len());
    let tried = rates.len() as f64;
    let mut correlations: Vec<Correlated> = Vec::new();
    for (thing, rates) in rates {
        // What a report does not list did not occur, or less than what it lists.
        let mut values = vec![0.0; db_time.len()];
        rates.iter().for_each(|&(i, rate)| values[i] = rate);
        let Some(over_all) = correlation(&values, &db_time) else { continue };
        let within = correlation(&less_level(&values, load), &level_less);
        let chance = within.map_or(over_all.p, |within| within.p.min(over_all.p));
        if chance * tried <= CHANCE_MAX {
            let slope = slope(&values, &db_time);
            correlations.push(Correlated {
                thing: thing.clone(),
                over_all,
                within,
                slope,
                reports: rates.len(),
            });
        }
    }
    // Times are sorted by their share of the rise. Counts are sorted by correlation, because their
    // size does not show what they explain.
    let rank = |of: &Correlated| if of.thing.kind.is_time() { of.slope.abs() } else { strength(of) };
    correlations.sort_by(|a, b| a.thing.kind.cmp(&b.thing.kind).then(rank(b).total_cmp(&rank(a))));
    correlations
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

fn strength(entry: &Correlated) -> f64 {
    entry.over_all.rho.abs() + entry.within.map_or(0.0, |within| within.rho.abs())
}

/// Each value minus the median of its level.
fn less_level(values: &[f64], load: &AwrFollowedFigure) -> Vec<f64> {
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
