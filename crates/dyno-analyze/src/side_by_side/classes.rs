//! Rates and latencies of each class of operations.

use dyno_record::class::ALL;
use dyno_record::{Latency, OpStats, RunRecord, SeriesPoint, Unit};

use super::spec::{ComparedSides, RowSpec};
use crate::points::Better;

type LatencyFigure = (&'static str, fn(&Latency) -> Option<f64>);

const LATENCIES: [LatencyFigure; 7] = [
    ("mean", |l| l.mean),
    ("p50", |l| l.p50),
    ("p90", |l| l.p90),
    ("p95", |l| l.p95),
    ("p99", |l| l.p99),
    ("p99.9", |l| l.p999),
    ("max", |l| l.max),
];

/// Reads how often an event occurred.
type EventCount = fn(&OpStats) -> u64;

/// Events of a class that are rates, if they occur.
const EVENTS: [(&str, EventCount); 3] = [
    ("errors/s", |ops| ops.errors),
    ("retries/s", |ops| ops.retries),
    ("rolled back/s", |ops| ops.rolled_back),
];

pub(super) fn specs(sides: &ComparedSides<'_>) -> Vec<RowSpec<'static>> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in sides.records().flat_map(|record| record.by_class()) {
        if names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    }
    // A class that is all operations would repeat their rows.
    let is_everything = |name: &str| {
        let count = |record: &RunRecord, name: &str| record.ops.get(name).map(|ops| ops.count);
        name != ALL && sides.records().all(|record| count(record, name) == count(record, ALL))
    };
    names.iter().filter(|name| !is_everything(name)).flat_map(|name| of_class(sides, name)).collect()
}

fn of_class(sides: &ComparedSides<'_>, class: &str) -> Vec<RowSpec<'static>> {
    let any =
        |is: &dyn Fn(&OpStats) -> bool| sides.records().filter_map(|record| record.ops.get(class)).any(is);
    let is_all = class == ALL;
    let row = |name: &str, metric: String, unit, better, value: fn(&OpStats, &RunRecord) -> Option<f64>| {
        let class = class.to_owned();
        RowSpec {
            title: class.clone(),
            metric,
            better,
            ..RowSpec::new(name, unit, move |record: &RunRecord| value(record.ops.get(&class)?, record))
        }
    };
    // A plan decides how often each class comes; all operations together are the result.
    let direction = if is_all { Better::Higher } else { Better::Neither };
    let rate = RowSpec {
        interval: is_all.then(|| Box::new(|point: &SeriesPoint| Some(point.rate_per_s())) as Box<_>),
        ..row("rate/s", "ops_per_s".into(), Unit::PerSecond, direction, |ops, _| Some(ops.rate_per_s))
    };
    let mut rows = vec![rate];
    for (name, count) in EVENTS.into_iter().filter(|(_, count)| any(&|ops| count(ops) > 0)) {
        let class = class.to_owned();
        rows.push(RowSpec {
            title: class.clone(),
            better: Better::Lower,
            ..RowSpec::new(name, Unit::PerSecond, move |record| {
                let seconds = record.window.as_ref().map(|window| window.seconds).filter(|s| *s > 0.0)?;
                Some(count(record.ops.get(&class)?) as f64 / seconds)
            })
        });
    }
    let is_open = any(&|ops| ops.response_us != ops.service_us);
    let mut latencies = |is_response: bool| {
        for (name, of) in LATENCIES {
            let class = class.to_owned();
            let kind = if is_response { "response" } else { "service" };
            let metric = format!("{kind}_{}_us", name.replace('.', ""));
            let name = if is_response { format!("{name} response") } else { name.to_owned() };
            // Intervals have the response times of all operations.
            let interval: Option<fn(&SeriesPoint) -> Option<f64>> = match metric.as_str() {
                "response_p50_us" | "service_p50_us" => Some(|point| point.p50_us),
                "response_p99_us" | "service_p99_us" => Some(|point| point.p99_us),
                _ => None,
            };
            rows.push(RowSpec {
                title: class.clone(),
                better: Better::Lower,
                metric,
                interval: interval
                    .filter(|_| is_all && is_response == is_open)
                    .map(|interval| Box::new(interval) as Box<_>),
                ..RowSpec::new(&name, Unit::Microseconds, move |record: &RunRecord| {
                    let ops = record.ops.get(&class)?;
                    of(if is_response { &ops.response_us } else { &ops.service_us })
                })
            });
        }
    };
    latencies(false);
    if is_open {
        latencies(true);
    }
    rows
}
