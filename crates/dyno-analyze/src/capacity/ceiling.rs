//! The most that was measured of a figure, and the knee of that curve.

use std::collections::BTreeMap;

use dyno_record::{RunRecord, Unit};
use serde::Serialize;

use super::part::{CPU, Part};
use crate::conclusion::suite::TEST;
use crate::knee::{SENSITIVITY, kneedle};
use crate::number::percent;
use crate::points::{Measure, Point, Points, SESSIONS, points};

/// From this share on of what was asked for, %, reads that the operating system's page cache has answered are no figure of storage.
const CACHED_PCT: f64 = 50.0;

/// From this share on processors are all busy, %.
const BUSY_PCT: f64 = 95.0;

/// The most that was measured of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ceiling {
    /// The most.
    pub most: f64,
    /// Its unit.
    pub unit: String,
    /// Whether load rose until more brought nothing, and that was the component's own end: else it is at least so much.
    pub is_most: bool,
    /// The figure where more sessions begin to pay less; absent where there is no such place, or the most is not shown to be one.
    pub knee: Option<f64>,
    /// Where it was: `storage-random-read, 8 sessions`.
    pub at: String,
    /// A run of that place.
    pub run: String,
}

/// What a curve says of a figure.
#[derive(Debug, Clone)]
struct Found {
    ceiling: Ceiling,
    /// How much of the reads there a page cache has answered, %.
    cached: Option<f64>,
    /// Whether the curve is about it: it is the key figure of the test, or its component limited the runs.
    is_about: bool,
}

/// The runs of one test, or of one sweep.
pub(super) struct Curves {
    test: Option<String>,
    name: String,
    points: Points,
}

/// The curves of what was measured.
pub(super) fn curves(measured: &[RunRecord]) -> Vec<Curves> {
    let mut groups: BTreeMap<(Option<String>, String), Vec<RunRecord>> = BTreeMap::new();
    for record in measured {
        let part = record.part_of.as_ref();
        let test = part.and_then(|part| part.settings.iter().find(|setting| setting.key == TEST));
        let test = test.map(|setting| setting.value.clone());
        let name = test.clone().or_else(|| part.map(|part| part.id.clone())).unwrap_or_else(|| "runs".into());
        groups.entry((test, name)).or_default().push(record.clone());
    }
    groups.into_iter().map(|((test, name), runs)| Curves { test, name, points: points(&runs) }).collect()
}

/// The most of the figure of `part` over all curves, or why nobody knows. `cpus` are the processors of what was measured.
pub(super) fn ceiling(
    part: &Part,
    curves: &[Curves],
    cpus: u32,
    keys: &BTreeMap<String, String>,
) -> Result<Ceiling, String> {
    let (mut all, mut why) = (Vec::new(), None);
    for group in curves {
        for curve in group.points.curves(SESSIONS) {
            match of_curve(part, group, &curve.points, cpus, keys) {
                Ok(found) => all.push(found),
                Err(reason) => why = why.or(reason),
            }
        }
    }
    let best = |of: &dyn Fn(&Found) -> bool| {
        let of = all.iter().filter(|found| of(found));
        of.max_by(|a, b| a.ceiling.most.total_cmp(&b.ceiling.most)).cloned()
    };
    let any = best(&|_| true);
    let any =
        any.ok_or_else(|| why.unwrap_or_else(|| format!("nothing that was measured tells {}", part.metric)))?;
    let Some(Found { mut ceiling, cached, .. }) = best(&|found| found.is_about) else {
        return Err("nothing that was measured is about it: something else limited all of it".to_owned());
    };
    if any.ceiling.most > ceiling.most {
        // What is about it was not the most of it.
        ceiling = Ceiling { is_most: false, knee: None, ..any.ceiling };
    }
    match cached.filter(|cached| part.asked && *cached >= CACHED_PCT) {
        Some(cached) => Err(format!(
            "{} % of the reads that were measured came from the operating system's page cache, so nothing is known of storage",
            percent(cached)
        )),
        None => Ok(ceiling),
    }
}

/// The most of one curve.
fn of_curve(
    part: &Part,
    group: &Curves,
    points: &[&Point],
    cpus: u32,
    keys: &BTreeMap<String, String>,
) -> Result<Found, Option<String>> {
    let told: Vec<(&Point, f64)> =
        points.iter().filter_map(|point| Some((*point, point.get(part.metric)?))).collect();
    if told.is_empty() {
        return Err(None);
    }
    let own: Vec<(&Point, f64)> =
        told.into_iter().filter(|(point, value)| !point.is_marked(part.metric) && *value > 0.0).collect();
    let best = own.iter().copied().reduce(|best, at| if at.1 > best.1 { at } else { best });
    let Some((best, most)) = best else {
        return Err(Some("others had part in all that was measured of it, or nothing of it was done".into()));
    };
    let cached = best.runs.iter().filter_map(|run| run.page_cache_pct).reduce(f64::max);
    let (unit, factor) = match (part.metric, cpus) {
        (CPU, 0) => return Err(Some("the processors of the measured host are not known".into())),
        (CPU, cpus) => ("CPUs".to_owned(), f64::from(cpus) / 100.0),
        (metric, _) => {
            (Measure::find(metric).map_or(Unit::PerSecond, |measure| measure.unit).name().to_owned(), 1.0)
        }
    };
    let values: Vec<f64> = own.iter().map(|(_, value)| *value).collect();
    let is_key = group.test.as_ref().and_then(|test| keys.get(test)).is_some_and(|key| key == part.metric);
    let is_end = best.limited().is_some_and(|limited| part.limits.contains(&limited.by));
    let is_all = part.metric == CPU && most >= BUSY_PCT;
    let rose = dyno_plan::sweep::saturated_at(&values).is_some();
    let is_most = is_all || rose && (is_key || is_end);
    let sessions: Vec<f64> = own.iter().map(|(point, _)| f64::from(point.sessions)).collect();
    let work: Vec<f64> = own.iter().filter_map(|(point, _)| point.get("ops_per_s")).collect();
    let work = if work.len() == values.len() { &work } else { &values };
    let knee = kneedle(&sessions, work, SENSITIVITY).filter(|_| is_most && rose);
    let ceiling = Ceiling {
        most: most * factor,
        unit,
        is_most,
        knee: knee.map(|at| values[at] * factor),
        at: format!("{}, {}", group.name, crate::number::sessions(f64::from(best.sessions))),
        run: best.runs.first().map(|run| run.id.clone()).unwrap_or_default(),
    };
    Ok(Found { ceiling, cached, is_about: is_key || is_end || is_all })
}
