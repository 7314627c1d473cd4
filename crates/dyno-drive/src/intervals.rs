//! Figures of one interval of the series.

use std::collections::BTreeMap;

use dyno_host::HostDelta;
use dyno_record::Counters;

use crate::cover::Cover;
use crate::hosts::{self, Machine};
use crate::job::Job;
use crate::metrics::{Metrics, between, of_database};
use crate::observe::Taken;
use crate::totals;

/// Rates of one interval of the series by metric name: of all targets, then of each where there are several. Sessions that
/// make their work visible at the end of each interval have counted over its `length_s`; everything else is counted between
/// the two moments at which it was read. While such sessions are still on their way to the window's begin the run is `blind`
/// to what they do, and an interval has no figures of theirs.
pub(crate) fn of_intervals(
    job: &Job<'_>,
    begin: &[Taken],
    end: &[Taken],
    length_s: f64,
    blind: bool,
) -> Vec<BTreeMap<String, f64>> {
    let seconds = |begin: &Taken, end: &Taken| end.at_ns().saturating_sub(begin.at_ns()) as f64 / 1e9;
    let pairs = || begin.iter().zip(end);
    let counters: Vec<Counters> = pairs().map(|(begin, end)| between(begin, end)).collect();
    let mut each: Vec<Metrics> = pairs()
        .zip(&counters)
        .zip(&job.targets)
        .map(|(((begin, end), counters), aim)| match aim.identity.counting.at_edges {
            true if blind => Metrics::new(),
            true => of_database(counters, &Cover::all(length_s)),
            false => of_database(counters, &Cover::all(seconds(begin, end))),
        })
        .collect();
    let mut total = match each.as_slice() {
        [_] => each.remove(0),
        several => {
            let parts: Vec<&Metrics> = several.iter().collect();
            let counters: Vec<&Counters> = counters.iter().collect();
            totals::metrics(&totals::counters(job, &counters), &parts)
        }
    };
    if let (Some(begin), Some(end)) = (begin.first(), end.first()) {
        let here = HostDelta::between(&begin.host, &end.host, seconds(begin, end));
        hosts::of_all(&mut total, job, &here, pairs());
    }
    for ((own, (begin, end)), aim) in each.iter_mut().zip(pairs()).zip(&job.targets) {
        let here = HostDelta::between(&begin.host, &end.host, seconds(begin, end));
        let machine = Machine::of(aim, begin, end, &here);
        machine.put_device(own, aim);
        if aim.far.is_some() {
            machine.put_processors(own);
        }
    }
    let known = |metrics: Metrics| {
        metrics.into_iter().filter_map(|(name, metric)| Some((name, metric.value()?))).collect()
    };
    std::iter::once(total).chain(each).map(known).collect()
}
