//! Latencies of a point: the repeats' histograms are merged; percentiles are never averaged.

use std::collections::BTreeMap;

use dyno_record::{Histogram, Latency, OpStats, RunRecord, Unit};

use super::estimate::{Estimate, median};

/// The time of an operation that is measured.
#[derive(Debug, Clone, Copy)]
enum Timed {
    /// From sending it to its end.
    Service,
    /// From the moment it was due to its end; in a closed loop equal to service time.
    Response,
}

impl Timed {
    /// The word in names: `service`.
    fn name(self) -> &'static str {
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

/// A figure of a latency: the suffix of its name, and how to compute it.
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
    get(timed.of(record.leading_ops()?))
}

/// The latencies of every operation of the runs of one point.
#[derive(Debug, Default)]
pub(crate) struct PointLatencies {
    service: Vec<Latency>,
    /// Response times, where they differ from service times. In a closed loop they are equal, and
    /// merging histograms is expensive.
    response: Option<Vec<Latency>>,
}

impl PointLatencies {
    /// Adds the latencies of the next run, if it has any.
    pub(crate) fn add(&mut self, record: &RunRecord) {
        let Some(stats) = record.leading_ops() else { return };
        if stats.service_us != stats.response_us {
            self.response.get_or_insert_with(|| self.service.clone());
        }
        if let Some(response) = &mut self.response {
            response.push(stats.response_us.clone());
        }
        self.service.push(stats.service_us.clone());
    }

    /// Number of runs that have latencies.
    pub(crate) fn runs(&self) -> usize {
        self.service.len()
    }

    /// Adds them to the `estimates` of a point with this many runs, as `service_p99_us` and so on.
    pub(crate) fn estimate(&self, runs: usize, estimates: &mut BTreeMap<String, Estimate>) {
        let service = whole(&self.service, runs);
        let response = match &self.response {
            None => service.clone(),
            Some(each) => whole(each, runs),
        };
        let response = (Timed::Response, self.response.as_ref().unwrap_or(&self.service), response);
        for (timed, each, whole) in [(Timed::Service, &self.service, service), response] {
            let Some(whole) = whole else { continue };
            for (end, figure) in FIGURES {
                let run_values: Vec<f64> = each.iter().filter_map(figure).collect();
                if let Some(merged) = figure(&whole).filter(|_| run_values.len() == runs) {
                    // A mean is comparable with the throughput, whose median stands beside it.
                    let middle = if end == "mean_us" { median(&run_values) } else { None };
                    let value = middle.unwrap_or(merged);
                    let name = format!("{}_{end}", timed.name());
                    estimates.insert(name, Estimate { unit: Unit::Microseconds, value, runs: run_values });
                }
            }
        }
    }
}

/// The latency over all runs, given each run's own. A single one is used unchanged; several are
/// computed from the merged histograms. `None` where a run has none: the rest would be incomplete.
fn whole(latencies: &[Latency], runs: usize) -> Option<Latency> {
    match latencies {
        _ if latencies.len() < runs => None,
        [one] => one.mean.map(|_| Latency { histogram: None, ..one.clone() }),
        several => {
            let mut sum = Histogram::new();
            for latency in several {
                sum.add_encoded(latency.histogram.as_deref()?).ok()?;
            }
            (sum.count() > 0).then(|| sum.figures())
        }
    }
}
