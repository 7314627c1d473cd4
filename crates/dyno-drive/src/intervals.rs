//! Computes the figures of one interval of the series.

use std::collections::BTreeMap;

use dyno_observe::CoveredSeconds;
use dyno_observe::TargetSnapshot;
use dyno_observe::metrics::{MetricMap, between, of_database};
use dyno_record::Counters;

use crate::job::DriveJob;
use crate::machine::{self, Machine};
use crate::totals;

/// Rates of one interval of the series by metric name: of all targets, then of each if there are several. The
/// work of sessions that publish it at the end of each interval covers `length_s`. All other counters cover
/// the time between their two readings. The run is `blind` while such sessions have not reached the window's
/// begin; an interval then has no figures of theirs.
pub(crate) fn of_intervals(
    job: &DriveJob<'_>,
    begin: &[TargetSnapshot],
    end: &[TargetSnapshot],
    length_s: f64,
    blind: bool,
) -> Vec<BTreeMap<String, f64>> {
    let seconds =
        |begin: &TargetSnapshot, end: &TargetSnapshot| end.at_ns().saturating_sub(begin.at_ns()) as f64 / 1e9;
    let pairs = || begin.iter().zip(end);
    let counters: Vec<Counters> = pairs().map(|(begin, end)| between(begin, end)).collect();
    let mut target_metrics: Vec<MetricMap> = pairs()
        .zip(&counters)
        .zip(&job.targets)
        .map(|(((begin, end), counters), context)| match context.identity.counting.at_edges {
            true if blind => MetricMap::new(),
            true => of_database(counters, &CoveredSeconds::all(length_s)),
            false => of_database(counters, &CoveredSeconds::all(seconds(begin, end))),
        })
        .collect();
    let mut total = match target_metrics.as_slice() {
        [_] => target_metrics.remove(0),
        several => {
            let parts: Vec<&MetricMap> = several.iter().collect();
            let counters: Vec<&Counters> = counters.iter().collect();
            totals::metrics(&totals::counters(job, &counters), &parts)
        }
    };
    if let (Some(begin), Some(end)) = (begin.first(), end.first()) {
        machine::of_all(&mut total, job, &begin.host_delta_to(end), pairs());
    }
    for ((figures, (begin, end)), target_context) in target_metrics.iter_mut().zip(pairs()).zip(&job.targets)
    {
        let host_delta = begin.host_delta_to(end);
        let machine = Machine::of(target_context, begin, end, &host_delta);
        machine.put_device(figures);
        if target_context.remote_host.is_some() {
            machine.put_processors(figures);
        }
    }
    let known_values = |metrics: MetricMap| {
        metrics.into_iter().filter_map(|(name, metric)| Some((name, metric.value()?))).collect()
    };
    std::iter::once(total).chain(target_metrics).map(known_values).collect()
}
