//! The small chart of a card: throughput over the window of a run, or over the points of a campaign.

use dyno_analyze::points::median;
use dyno_record::{RecordKind, RunSummary, SweepKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::card_words::{short, value_of};
use crate::facts::{SPARK_POINTS, thinned};

/// The small chart of a card.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct CardChart {
    /// What its values are: `operations/s`, or `commits/s` of a watch.
    pub(crate) measure: &'static str,
    /// The horizontal axis: `over the window`, `over sessions`; empty without a chart.
    pub(crate) over: String,
    /// Whether points are separate results, which no line may join.
    pub(crate) dots: bool,
    /// The curves; none without values.
    pub(crate) curves: Vec<CardCurve>,
}

/// The rates of the runs at each value of the horizontal axis.
type RatesByPlace<'a> = Vec<(&'a str, Vec<f64>)>;

/// What the values of most charts are.
const OPERATIONS: &str = "operations/s";

/// One curve of a card's chart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CardCurve {
    /// What distinguishes the curve: `update_pct 20`; empty for the only one.
    pub(crate) name: String,
    /// Points: the position from 0 to 1, and the value per second.
    pub(crate) points: Vec<(f64, f64)>,
}

impl CardChart {
    /// The chart of a run or a watch from its rates in equal intervals; none for a single interval.
    pub(crate) fn of_window(kind: RecordKind, rates: &[f64]) -> Self {
        let (measure, over) = match kind {
            RecordKind::Watch => ("commits/s", "over the watch"),
            _ => (OPERATIONS, "over the window"),
        };
        let points = evenly(rates.iter().copied());
        let curves = if points.len() > 1 { named(vec![(String::new(), points)]) } else { Vec::new() };
        Self { measure, over: over.to_owned(), dots: false, curves }
    }

    /// The chart of a campaign's runs, newest first. The tests of a suite have none: they are not comparable.
    pub(crate) fn of_campaign(kind: SweepKind, runs: &[&RunSummary]) -> Self {
        match kind {
            SweepKind::Suite => Self::default(),
            SweepKind::Soak => {
                let mut rates: Vec<f64> = runs.iter().rev().filter_map(|run| run.ops_per_s).collect();
                if rates.len() > 4 * SPARK_POINTS {
                    rates = thinned(&rates);
                }
                let curves = named(vec![(String::new(), evenly(rates.into_iter()))]);
                Self { measure: OPERATIONS, over: "run by run".to_owned(), dots: false, curves }
            }
            SweepKind::Ab => Self::of_sides(runs),
            SweepKind::Sweep | SweepKind::Search | SweepKind::Study => Self::of_points(runs),
        }
    }

    /// Each run of each side, in the order of time.
    fn of_sides(runs: &[&RunSummary]) -> Self {
        let mut sides: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for (at, run) in runs.iter().rev().enumerate() {
            let Some(rate) = run.ops_per_s else { continue };
            let side = run.part_of.as_ref().and_then(|part| part.side.as_deref()).unwrap_or_default();
            let point = (share(at, runs.len()), rate);
            match sides.iter_mut().find(|(name, _)| name == side) {
                Some((_, points)) => points.push(point),
                None => sides.push((side.to_owned(), vec![point])),
            }
        }
        sides.sort_by(|a, b| a.0.cmp(&b.0));
        Self { measure: OPERATIONS, over: "run by run".to_owned(), dots: true, curves: named(sides) }
    }

    /// One curve for each combination of the settings other than the horizontal axis: the load, or the setting that
    /// changes fastest. A point is the median of its runs.
    fn of_points(runs: &[&RunSummary]) -> Self {
        let mut runs: Vec<&&RunSummary> = runs.iter().filter(|run| run.ops_per_s.is_some()).collect();
        runs.sort_by_key(|run| run.part_of.as_ref().map_or(0, |part| part.point));
        let keys: Vec<&str> = runs
            .iter()
            .find_map(|run| run.part_of.as_ref())
            .map(|part| part.settings.iter().map(|setting| setting.key.as_str()).collect())
            .unwrap_or_default();
        let differs = |key: &&str| runs.iter().any(|run| value_of(run, key) != value_of(runs[0], key));
        let varied: Vec<&str> = keys.into_iter().filter(differs).collect();
        let axis = varied.iter().find(|key| **key == "sessions").or(varied.last()).copied();
        let Some(axis) = axis else {
            let points = evenly(runs.iter().filter_map(|run| run.ops_per_s));
            return Self {
                measure: OPERATIONS,
                over: "run by run".to_owned(),
                dots: true,
                curves: named(vec![(String::new(), points)]),
            };
        };
        let mut places: Vec<&str> = Vec::new();
        let mut curves: Vec<(String, RatesByPlace<'_>)> = Vec::new();
        for run in &runs {
            let Some(rate) = run.ops_per_s else { continue };
            let place = value_of(run, axis).unwrap_or_default();
            if !places.contains(&place) {
                places.push(place);
            }
            let distinguishing = varied.iter().filter(|key| **key != axis);
            let name: Vec<String> = distinguishing
                .map(|key| format!("{} {}", short(key), value_of(run, key).unwrap_or("–")))
                .collect();
            let name = name.join(", ");
            if !curves.iter().any(|(known, _)| *known == name) {
                curves.push((name.clone(), Vec::new()));
            }
            let Some((_, points)) = curves.iter_mut().find(|(known, _)| *known == name) else { continue };
            match points.iter_mut().find(|(known, _)| *known == place) {
                Some((_, rates)) => rates.push(rate),
                None => points.push((place, vec![rate])),
            }
        }
        let number = |place: &&str| place.parse::<f64>().ok();
        let are_numbers = places.iter().all(|place| number(place).is_some());
        if are_numbers {
            places.sort_by(|a, b| number(a).unwrap_or_default().total_cmp(&number(b).unwrap_or_default()));
        }
        let position = |place: &str| {
            let at = places.iter().position(|known| *known == place).unwrap_or_default();
            share(at, places.len())
        };
        let curves = curves.into_iter().map(|(name, points)| {
            let mut points: Vec<(f64, f64)> = points
                .into_iter()
                .filter_map(|(place, rates)| Some((position(place), median(&rates)?)))
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            (name, points)
        });
        Self {
            measure: OPERATIONS,
            over: format!("over {}", short(axis)),
            dots: !are_numbers,
            curves: named(curves.collect()),
        }
    }
}

/// The curves with names, without empty ones.
fn named(curves: Vec<(String, Vec<(f64, f64)>)>) -> Vec<CardCurve> {
    let with_points = curves.into_iter().filter(|(_, points)| !points.is_empty());
    with_points.map(|(name, points)| CardCurve { name, points }).collect()
}

fn evenly(rates: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    let rates: Vec<f64> = rates.filter(|rate| rate.is_finite()).collect();
    rates.iter().enumerate().map(|(at, rate)| (share(at, rates.len()), *rate)).collect()
}

/// The position of item `at` of `count` between 0 and 1.
fn share(at: usize, count: usize) -> f64 {
    at as f64 / (count.max(2) - 1) as f64
}
