//! Adds up the parts of several targets.

use std::collections::BTreeSet;

use dyno_host::HostDelta;
use dyno_observe::metrics::{self, MetricMap};
use dyno_record::{Host, Series, TargetFigures, Window, place_of_target};
use dyno_workload::Classes;

use super::counted::lifetime;
use super::operations::WorkStats;
use super::target::RecordPart;
use super::window::{self, gate};
use crate::fold::ResultSum;
use crate::job::DriveJob;
use crate::measured::RunMeasurement;
use crate::{machine, totals};

/// The part of all targets together; `host` is what this machine did in the window, `hosts` are the driver
/// host and the others.
pub(super) fn total(
    (job, classes): (&DriveJob<'_>, &Classes),
    measured: &RunMeasurement,
    all: &ResultSum,
    parts: &[TargetFigures],
    (host, hosts): (Option<&HostDelta>, (&Host, &[Host])),
) -> RecordPart {
    let window = window::of_all(job, measured, all, parts.iter().map(|part| part.window.as_ref()));
    let work_of = |window: &Window| WorkStats::of_window(job, classes, &all.threads, window.work_seconds());
    let mut work = window.as_ref().map(work_of).unwrap_or_default();
    for (name, stats) in &mut work.classes {
        // Each target's counts are divided by the time that they cover, so that the targets' rates add up.
        stats.rate_per_s =
            parts.iter().filter_map(|part| part.ops.get(name)).map(|part| part.rate_per_s).sum();
    }
    let is_read = measured.targets.iter().all(|target| target.end.is_some());
    let part_counters: Vec<_> = parts.iter().map(|part| &part.counters).collect();
    let counters = if is_read { totals::counters(job, &part_counters) } else { Default::default() };
    let mut figures = MetricMap::new();
    if let (true, Some(_), Some(delta)) = (is_read, &window, host) {
        let part_metrics: Vec<_> = parts.iter().map(|part| &part.metrics).collect();
        figures = totals::metrics(&counters, &part_metrics);
        let edges =
            measured.targets.iter().filter_map(|target| target.begin.as_ref().zip(target.end.as_ref()));
        machine::of_all(&mut figures, job, delta, edges);
        if !is_one_device(job, hosts) {
            let why =
                "the targets' data is not on one block device of one host: see the figures of each target";
            metrics::device_names().for_each(|name| metrics::absent(&mut figures, name, why));
        }
    }
    let whole_counters: Option<Vec<_>> =
        parts.iter().map(|part| part.whole.as_ref().map(|whole| &whole.counters)).collect();
    let whole =
        whole_counters.map(|parts| lifetime(job, classes, &all.sessions.life, totals::counters(job, &parts)));
    let figures = TargetFigures {
        sessions: job.plan.sessions(),
        reads_only: None,
        gate: gate(measured, &all.sessions.many()),
        window,
        ops: work.classes,
        metrics: figures,
        counters,
        whole,
        host_counters: Default::default(),
        waits: totals::waits(job, &parts.iter().map(|part| &part.waits).collect::<Vec<_>>()),
        statements: None,
        tables: None,
        series: Series::default(),
        errors: all.sessions.errors.clone(),
        whose: Default::default(),
        audit: Vec::new(),
    };
    RecordPart { figures, workloads: work.workloads }
}

/// Whether the data of all targets is on the same device.
fn is_one_device(job: &DriveJob<'_>, (here, far): (&Host, &[Host])) -> bool {
    let device = |at: usize| {
        let host = far.iter().find(|host| host.is_of_target(at + 1)).unwrap_or(here);
        let device = host.facts.get(&format!("place.{}.device", place_of_target(at + 1, "data")));
        device.map(|device| (&host.name, device))
    };
    let devices: BTreeSet<Option<(&String, &String)>> = (0..job.targets.len()).map(device).collect();
    devices.len() == 1 && !devices.contains(&None)
}
