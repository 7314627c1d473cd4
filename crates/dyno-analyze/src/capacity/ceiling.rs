//! Finds the highest measured value of a figure, and the knee of that curve.

use std::collections::BTreeMap;

use dyno_record::{RunRecord, Unit};
use serde::Serialize;

use super::part::{CPU, CapacityComponent};
use crate::conclusion::suite::TEST;
use crate::knee::knee_index;
use crate::load::LoadPoint;
use crate::number::percent;
use crate::points::{Measure, MeasuredPoint, Points, SESSIONS, points};

/// Share of the requested reads, %, that the page cache answered; from this share on they say
/// nothing about storage.
const CACHED_PCT: f64 = 50.0;

/// Utilization from which on all processors count as busy, %.
const BUSY_PCT: f64 = 95.0;

/// The highest measured value of a figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ceiling {
    pub most: f64,
    pub unit: String,
    /// Whether the load rose until more sessions added nothing, and the component itself was the
    /// limit. Otherwise the true maximum is at least this high.
    pub is_most: bool,
    /// The figure where more sessions add less; absent where there is no such point, or the value
    /// is not shown to be the maximum.
    pub knee: Option<f64>,
    /// Where it was measured: `storage-random-read, 8 sessions`.
    pub at: String,
    /// Id of a run at that point.
    pub run: String,
}

/// What one curve says about a figure.
#[derive(Debug, Clone)]
struct CurveCeiling {
    ceiling: Ceiling,
    /// Share of the reads at that point that a page cache answered, %.
    cached: Option<f64>,
    /// Whether the curve is about this figure: it is the key figure of the test, or its component
    /// limited the runs.
    is_about: bool,
}

/// The runs of one test or of one sweep.
pub(super) struct Curves {
    test: Option<String>,
    name: String,
    points: Points,
}

/// The curves of the measured runs.
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

/// The highest value of the figure of `part` over all curves, or why it is unknown. `cpus` is the
/// number of processors of the measured host.
pub(super) fn ceiling(
    part: &CapacityComponent,
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
    let best = |of: &dyn Fn(&CurveCeiling) -> bool| {
        let candidates = all.iter().filter(|found| of(found));
        candidates.max_by(|a, b| a.ceiling.most.total_cmp(&b.ceiling.most)).cloned()
    };
    let highest = best(&|_| true);
    let best_overall =
        highest.ok_or_else(|| why.unwrap_or_else(|| format!("no measured run reports {}", part.metric)))?;
    let Some(CurveCeiling { mut ceiling, cached, .. }) = best(&|found| found.is_about) else {
        return Err("no measured run was limited by it".to_owned());
    };
    if best_overall.ceiling.most > ceiling.most {
        // The curve about this component did not have its highest value.
        ceiling = Ceiling { is_most: false, knee: None, ..best_overall.ceiling };
    }
    match cached.filter(|cached| part.is_database_view && *cached >= CACHED_PCT) {
        Some(cached) => Err(format!(
            "{} % of the measured reads came from the operating system's page cache, so the limit of storage \
             is unknown",
            percent(cached)
        )),
        None => Ok(ceiling),
    }
}

/// The highest value of one curve.
fn of_curve(
    part: &CapacityComponent,
    group: &Curves,
    points: &[&MeasuredPoint],
    cpus: u32,
    keys: &BTreeMap<String, String>,
) -> Result<CurveCeiling, Option<String>> {
    let point_values: Vec<(&MeasuredPoint, f64)> =
        points.iter().filter_map(|point| Some((*point, point.get(part.metric)?))).collect();
    if point_values.is_empty() {
        return Err(None);
    }
    let clean_values: Vec<(&MeasuredPoint, f64)> = point_values
        .into_iter()
        .filter(|(point, value)| !point.is_marked(part.metric) && *value > 0.0)
        .collect();
    let best = clean_values.iter().copied().reduce(|best, at| if at.1 > best.1 { at } else { best });
    let Some((best, most)) = best else {
        return Err(Some("every measured figure of it is 0 or includes activity of other sessions".into()));
    };
    let cached = best.runs.iter().filter_map(|run| run.page_cache_pct).reduce(f64::max);
    let (unit, factor) = match (part.metric, cpus) {
        (CPU, 0) => return Err(Some("the processors of the measured host are unknown".into())),
        (CPU, cpus) => ("CPUs".to_owned(), f64::from(cpus) / 100.0),
        (metric, _) => {
            (Measure::find(metric).map_or(Unit::PerSecond, |measure| measure.unit).name().to_owned(), 1.0)
        }
    };
    let values: Vec<f64> = clean_values.iter().map(|(_, value)| *value).collect();
    let is_key = group.test.as_ref().and_then(|test| keys.get(test)).is_some_and(|key| key == part.metric);
    let is_end = best.limited().is_some_and(|limited| part.limits.contains(&limited.by));
    let is_all = part.metric == CPU && most >= BUSY_PCT;
    let rose = dyno_plan::sweep::saturated_at(&values).is_some();
    let is_most = is_all || rose && (is_key || is_end);
    let work: Vec<f64> = clean_values.iter().filter_map(|(point, _)| point.get("ops_per_s")).collect();
    let work = if work.len() == values.len() { &work } else { &values };
    let loads = clean_values.iter().zip(work);
    let loads = loads.map(|((point, _), work)| LoadPoint::new(f64::from(point.sessions), *work));
    let knee = knee_index(&loads.collect::<Vec<_>>()).ok().filter(|_| is_most && rose);
    let ceiling = Ceiling {
        most: most * factor,
        unit,
        is_most,
        knee: knee.map(|at| values[at] * factor),
        at: format!("{}, {}", group.name, crate::number::sessions(f64::from(best.sessions))),
        run: best.runs.first().map(|run| run.id.clone()).unwrap_or_default(),
    };
    Ok(CurveCeiling { ceiling, cached, is_about: is_key || is_end || is_all })
}
