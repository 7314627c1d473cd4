//! Latencies of a point: the repeats' histograms added together, never percentiles averaged.

use std::collections::BTreeMap;

use dyno_record::{Histogram, Latency, OpStats, RunRecord, Unit};

use super::estimate::Estimate;

/// The class that stands for every operation.
pub(crate) const ALL: &str = "all";

/// Which time of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timed {
    /// From sending it to its end.
    Service,
    /// From the moment it was due to its end; the same in a closed loop.
    Response,
}

impl Timed {
    /// The word in names: `service`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Response => "response",
        }
    }

    fn of(self, stats: &OpStats) -> &Latency {
        match self {
            Self::Service => &stats.service_us,
            Self::Response => &stats.response_us,
        }
    }
}

/// A figure of a latency: the end of its name, and how to get it.
type Figure = (&'static str, fn(&Latency) -> Option<f64>);

/// The figures of a latency.
const FIGURES: [Figure; 7] = [
    ("mean_us", |latency| latency.mean),
    ("p50_us", |latency| latency.p50),
    ("p90_us", |latency| latency.p90),
    ("p95_us", |latency| latency.p95),
    ("p99_us", |latency| latency.p99),
    ("p999_us", |latency| latency.p999),
    ("max_us", |latency| latency.max),
];

/// One run's own latency by its name: `service_p99_us`.
pub(crate) fn figure(record: &RunRecord, measure: &str) -> Option<f64> {
    let timed = [Timed::Service, Timed::Response];
    let (timed, name) = timed.into_iter().find_map(|timed| {
        let name = measure.strip_prefix(timed.name())?.strip_prefix('_')?;
        Some((timed, name))
    })?;
    let (_, get) = FIGURES.iter().find(|(known, _)| *known == name)?;
    get(timed.of(record.ops.get(ALL)?))
}

/// The histograms of one class in all `records`, added together. `None` where a record has none: what is left would
/// not be the whole.
pub(crate) fn merged(records: &[&RunRecord], class: &str, timed: Timed) -> Option<Histogram> {
    let mut sum = Histogram::new();
    for record in records {
        let text = timed.of(record.ops.get(class)?).histogram.as_deref()?;
        sum.add_encoded(text).ok()?;
    }
    (sum.count() > 0).then_some(sum)
}

/// The latency of one class over all `records`, without the histogram's text: of a single one as it stands, of several
/// from [`merged`].
pub(crate) fn latency(records: &[&RunRecord], class: &str, timed: Timed) -> Option<Latency> {
    match records {
        [record] => {
            let latency = timed.of(record.ops.get(class)?);
            latency.mean.map(|_| Latency { histogram: None, ..latency.clone() })
        }
        _ => merged(records, class, timed).map(|histogram| histogram.figures()),
    }
}

/// Puts the latencies of every operation into `estimates`, as `service_p99_us` and so on.
pub(crate) fn estimate(records: &[&RunRecord], estimates: &mut BTreeMap<String, Estimate>) {
    let each = |timed: Timed| -> Vec<&Latency> {
        records.iter().filter_map(|record| record.ops.get(ALL)).map(|stats| timed.of(stats)).collect()
    };
    let service = latency(records, ALL, Timed::Service);
    // In a closed loop both are the same, and adding histograms up costs.
    let same = each(Timed::Service) == each(Timed::Response);
    let response = if same { service.clone() } else { latency(records, ALL, Timed::Response) };
    for (timed, whole) in [(Timed::Service, service), (Timed::Response, response)] {
        let Some(whole) = whole else { continue };
        for (end, figure) in FIGURES {
            let runs: Vec<f64> = each(timed).into_iter().filter_map(figure).collect();
            if let Some(value) = figure(&whole).filter(|_| runs.len() == records.len()) {
                let name = format!("{}_{end}", timed.name());
                estimates.insert(name, Estimate { unit: Unit::Microseconds, value, runs });
            }
        }
    }
}
