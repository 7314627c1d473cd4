//! Computes the figures of a part of the record: of one target, and those that only the whole run has.

use dyno_host::{HostDelta, ProcessorShares};
use dyno_observe::CoveredSeconds;
use dyno_observe::metrics::{self, CLIENT, MetricMap, put, put_result};
use dyno_record::{ALL, BulkLoadResult, Counters, Fleet, Metric, OpStats, Unit, Waits, Window};

use super::cover::covered_seconds;
use super::inputs::TargetInputs;
use super::loaded;
use super::operations::WorkStats;
use crate::machine::Machine;
use crate::measured::RunMeasurement;

/// Why a target's own part lacks the figures of the whole machine.
const OF_ALL: &str = "it is measured for all targets together: see the total";
/// The name of the metric of other programs' CPU time.
const OTHERS_PCT: &str = "others_cpu_pct";

impl TargetInputs<'_> {
    /// The target's figures over `window`, whose end was read; `host` is what this machine did in it.
    pub(super) fn figures(
        &self,
        window: &Window,
        work: &WorkStats,
        (counters, waits): (&Counters, &Waits),
        host: Option<&HostDelta>,
    ) -> MetricMap {
        let Self { job, classes, context, target, results, .. } = self;
        let work_s = window.work_seconds();
        let cover = match context.identity.counting.at_edges {
            true => covered_seconds(window, &work.classes, classes.of_operations()),
            false => CoveredSeconds::all(window.seconds),
        };
        let mut figures = metrics::of_database(counters, &cover);
        withhold_unsure(&mut figures, window);
        let all = &work.classes[ALL];
        put_work(&mut figures, all, work.workloads.first().unwrap_or(all), work_s);
        let mut scanning = classes.of_operations().iter().filter(|class| class.scans);
        if let Some(scans) = scanning.find_map(|class| work.classes.get(&class.name)) {
            put_scans(&mut figures, scans, context.spec.block_size, work_s);
        }
        if let Some(think) = window.think {
            let sessions_s = f64::from(results.sessions.many().sessions) * work_s;
            put(&mut figures, "think_pct", 100.0 * think.seconds / sessions_s, Unit::Percent);
        }
        metrics::of_waits(&mut figures, waits);
        if let (Some(delta), Some(begin), Some(end)) = (host, &target.begin, &target.end) {
            let machine = Machine::of(context, begin, end, delta);
            machine.put_device(&mut figures);
            // This program, and its machine unless the target is alone on it, belong to all targets together.
            match job.has_several_targets() && context.remote_host.is_none() {
                true => metrics::of_processors(&mut figures, Err(OF_ALL)),
                false => machine.put_processors(&mut figures),
            }
            if job.has_several_targets() {
                metrics::absent(&mut figures, CLIENT, OF_ALL);
            }
        }
        figures
    }
}

/// Removes the rates of counters whose share of the window's work is unknown, because sessions worked on
/// while the counters were read. Ratios of two counters that were read together stay.
fn withhold_unsure(figures: &mut MetricMap, window: &Window) {
    let unsure = window.unsure_share();
    if unsure <= Window::UNSURE_SHARE_MAX {
        return;
    }
    let absent = format!(
        "{:.1} % of the work was done while the counters were read, so a rate may be wrong by as much",
        unsure * 100.0
    );
    for metric in figures.values_mut() {
        if let Metric::Value { unit, .. } = metric
            && !matches!(unit, Unit::Percent | Unit::Microseconds)
        {
            *metric = Metric::Absent { absent: absent.clone() };
        }
    }
}

/// Operations of the leading workload, and rows of all.
fn put_work(figures: &mut MetricMap, all: &OpStats, leading: &OpStats, seconds: f64) {
    put(figures, "ops_per_s", leading.rate_per_s, Unit::PerSecond);
    put(figures, "rows_per_s", (all.rows as f64 - all.rows_before) / seconds, Unit::RowsPerSecond);
}

/// Full scans: their number, the blocks they read (a row fills one), and the MB.
fn put_scans(figures: &mut MetricMap, scans: &OpStats, block_size: u64, seconds: f64) {
    let blocks = scans.rows as f64 - scans.rows_before;
    put(figures, "scans_per_s", scans.rate_per_s, Unit::PerSecond);
    put(figures, "scan_blocks_per_s", blocks / seconds, Unit::BlocksPerSecond);
    let megabytes = blocks * block_size as f64 / metrics::MEGABYTE;
    put(figures, "scan_mb_per_s", megabytes / seconds, Unit::MegabytesPerSecond);
}

/// Adds what belongs to the run as a whole to the `figures` of its targets, which are empty if the window's
/// counters were not read: the cost of this program, the other users of the processors, and bulk loads.
pub(super) fn of_run<'a>(
    mut figures: MetricMap,
    measured: &RunMeasurement,
    all: Option<&OpStats>,
    (host, shares): (Option<&HostDelta>, Option<&ProcessorShares>),
    (counters, loads): (&Counters, impl Iterator<Item = &'a BulkLoadResult>),
) -> MetricMap {
    if let (false, Some(all)) = (figures.is_empty(), all) {
        let client = match &measured.fleet {
            Some(fleet) => Some(fleet_us(fleet, all.rate_per_s)),
            None => host.map(|delta| client_us(delta, all.rate_per_s)),
        };
        client.into_iter().for_each(|client| put_result(&mut figures, CLIENT, client, Unit::Microseconds));
        let others = others_pct(&figures, shares);
        put_result(&mut figures, OTHERS_PCT, others, Unit::Percent);
    }
    loads.for_each(|load| loaded::put_figures(&mut figures, counters, load));
    figures
}

/// The processor time of this program for each operation.
fn client_us(host: &HostDelta, ops_per_s: f64) -> Result<f64, &'static str> {
    match &host.process {
        // Divides rate by rate: operations and processor time may cover slightly different times.
        Some(process) if ops_per_s > 0.0 => {
            Ok((process.user_s + process.system_s) * 1e6 / host.seconds / ops_per_s)
        }
        Some(_) => Err("there were no operations"),
        None => Err(metrics::UNREAD),
    }
}

/// The same in a distributed run; absent if a driver host does not report its processors.
fn fleet_us(fleet: &Fleet, ops_per_s: f64) -> Result<f64, &'static str> {
    match fleet.hosts.iter().map(|host| host.client_cpus).sum::<Option<f64>>() {
        Some(cpus) if ops_per_s > 0.0 => Ok(cpus * 1e6 / ops_per_s),
        Some(_) => Err("there were no operations"),
        None => Err("a driver host does not report it"),
    }
}

/// The share of the processors' time that neither this program nor the servers used, %.
fn others_pct<'a>(figures: &MetricMap, shares: Option<&'a ProcessorShares>) -> Result<f64, &'a str> {
    let shares = shares.ok_or("this host does not report which processes used its processors")?;
    let value = 100.0 * shares.others_s.as_ref().map_err(String::as_str)? / shares.capacity_s;
    // Both cover slightly different times, and a part must not exceed its whole.
    let busy_pct = figures.get("cpu_busy_pct").and_then(Metric::value);
    Ok(busy_pct.map_or(value, |busy_pct| value.min(busy_pct)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dyno_record::FleetHost;
    use dyno_record::window::WorkCounts;

    use super::*;

    #[test]
    fn uncertain_rates_are_withheld_and_ratios_kept() {
        let counted =
            |ops| WorkCounts { ops: BTreeMap::from([("select".to_owned(), ops)]), ..WorkCounts::default() };
        let window = |unsure| Window {
            counted: Some(counted(1_000)),
            unsure: Some((counted(unsure), WorkCounts::default())),
            ..Window::default()
        };
        let mut figures = MetricMap::new();
        put(&mut figures, "logical_reads_per_s", 8.0, Unit::BlocksPerSecond);
        put(&mut figures, "buffer_hit_pct", 99.0, Unit::Percent);
        withhold_unsure(&mut figures, &window(20));
        assert!(figures.values().all(|figure| figure.value().is_some()), "2 % is within what runs differ by");
        withhold_unsure(&mut figures, &window(30));
        assert!(
            matches!(&figures["logical_reads_per_s"], Metric::Absent { absent } if absent.contains("3.0 %"))
        );
        assert_eq!(figures["buffer_hit_pct"].value(), Some(99.0));
    }

    #[test]
    fn cost_of_distributed_run_is_that_of_all_driver_hosts() {
        let host = |client_cpus| FleetHost { client_cpus, ..FleetHost::default() };
        let cost = |hosts: Vec<FleetHost>| {
            let fleet = Some(Fleet { hosts, ..Fleet::default() });
            let measured = RunMeasurement { fleet, ..RunMeasurement::default() };
            let all = OpStats { rate_per_s: 1_000.0, ..OpStats::default() };
            let mut figures = MetricMap::new();
            put(&mut figures, "ops_per_s", 1_000.0, Unit::PerSecond);
            let local = HostDelta::default();
            let counters = Counters::default();
            let loads = std::iter::empty();
            let figures = of_run(figures, &measured, Some(&all), (Some(&local), None), (&counters, loads));
            figures[CLIENT].value()
        };
        assert_eq!(cost(vec![host(Some(0.5)), host(Some(1.5))]), Some(2_000.0));
        assert_eq!(cost(vec![host(Some(0.5)), host(None)]), None);
    }
}
