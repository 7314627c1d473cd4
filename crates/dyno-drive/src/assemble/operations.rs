//! Figures of operations: of each class, of all, and of each workload if there are several.
//!
//! Histograms are added, never percentiles.

use std::collections::BTreeMap;

use dyno_plan::DriveMode;
use dyno_record::{ALL, Histogram, OpStats};
use dyno_workload::{ClassId, Classes};

use crate::job::DriveJob;
use crate::thread_result::{ClassResult, PhaseResult, ThreadResult};

/// Why operations of the server drive are not timed individually.
const UNTIMED: &str = "server drive: operations run inside the database, and only slices are timed";
/// Why some commits have no time.
const UNSEEN: &str =
    "the ends of an update and of its commit arrived together, so the commit has no time of its own";

/// Figures of operations.
#[derive(Default)]
pub(super) struct WorkStats {
    /// Of every class with operations, and of `all`.
    pub(super) classes: BTreeMap<String, OpStats>,
    /// Of each workload; empty if there is only one.
    pub(super) workloads: Vec<OpStats>,
}

impl WorkStats {
    /// The operations in the window, whose work took `seconds`.
    pub(super) fn of_window(
        job: &DriveJob<'_>,
        classes: &Classes,
        threads: &ThreadResult,
        seconds: f64,
    ) -> Self {
        let mut work = Self::of(job, classes, &threads.classes, classes.all(), seconds);
        let is_server_drive = job.plan.workload.drive == DriveMode::Server;
        for (name, stats) in &mut work.classes {
            if is_server_drive && *name != classes.name(ClassId::SLICE) {
                stats.untimed = Some(UNTIMED.to_owned());
            } else if name != ALL && stats.service_us.count < stats.count {
                stats.untimed = Some(UNSEEN.to_owned());
            }
        }
        if let Some(all) = work.classes.get_mut(ALL).filter(|_| is_server_drive) {
            let busy_us = threads.times.busy_ns as f64 / 1_000.0;
            let mean = (all.count > 0).then(|| busy_us / all.count as f64);
            (all.service_us.mean, all.response_us.mean) = (mean, mean);
        }
        work
    }

    /// The operations that were due in one part of a schedule, over its own length.
    pub(super) fn of_phase(job: &DriveJob<'_>, classes: &Classes, phase: &PhaseResult, seconds: f64) -> Self {
        Self::of(job, classes, &phase.classes, classes.operations(), seconds)
    }

    /// The figures of each class in `ids` over `seconds`; `results` are by class number.
    fn of(
        job: &DriveJob<'_>,
        classes: &Classes,
        results: &[ClassResult],
        ids: impl Iterator<Item = ClassId>,
        seconds: f64,
    ) -> Self {
        let open: Vec<bool> = job.plan.workload_shares().map(|share| share.is_open()).collect();
        let workload_count = Some(job.custom_workloads.len()).filter(|count| *count > 1).unwrap_or(0);
        let mut workloads: Vec<ClassSum> = (0..workload_count).map(|_| ClassSum::default()).collect();
        let (mut all, mut by_name) = (ClassSum::default(), BTreeMap::new());
        for class in ids {
            let sum = results.get(class.index()).map(ClassSum::of).unwrap_or_default();
            let workload = class.place().map(|place| classes.of_operations()[place].workload);
            let is_open = workload.is_some_and(|workload| open[workload]);
            if let Some(workload) = workload {
                all.add(&sum, is_open);
                workloads
                    .get_mut(workload)
                    .into_iter()
                    .for_each(|of_workload| of_workload.add(&sum, is_open));
            }
            if sum.counts.is_any() {
                by_name.insert(classes.name(class).to_owned(), sum.stats(seconds, is_open));
            }
        }
        by_name.insert(ALL.to_owned(), all.stats(seconds, open.contains(&true)));
        let workloads =
            workloads.iter().zip(open).map(|(sum, is_open)| sum.stats(seconds, is_open)).collect();
        Self { classes: by_name, workloads }
    }
}

/// One class, or the sum of several.
#[derive(Default)]
struct ClassSum {
    /// The counts; its latencies are empty.
    counts: ClassResult,
    service: Histogram,
    response: Histogram,
}

impl ClassSum {
    fn of(class: &ClassResult) -> Self {
        let mut sum = Self::default();
        sum.counts.add_counts(class);
        class.service.add_to(&mut sum.service);
        class.response.add_to(&mut sum.response);
        sum
    }

    /// Adds another class. `is_open` if it follows a schedule; in a closed loop an operation is due when it
    /// is sent.
    fn add(&mut self, other: &Self, is_open: bool) {
        self.counts.add_counts(&other.counts);
        self.service.merge(&other.service);
        self.response.merge(if is_open { &other.response } else { &other.service });
    }

    fn stats(&self, seconds: f64, is_open: bool) -> OpStats {
        let ClassResult {
            count,
            errors,
            rows,
            rolled_back,
            empty_polls,
            tallied,
            retries,
            write_statements,
            empty_writes,
            in_doubt,
            before: (before, rows_before),
            ..
        } = self.counts;
        let service_us = self.service.summary();
        // In a closed loop an operation is due when it is sent.
        let response_us = if is_open { self.response.summary() } else { service_us.clone() };
        OpStats {
            count,
            errors,
            rate_per_s: if seconds > 0.0 { (count as f64 - before) / seconds } else { 0.0 },
            before,
            rows,
            rows_before,
            rolled_back,
            empty_polls,
            tallied,
            retries,
            write_statements,
            empty_writes,
            in_doubt,
            service_us,
            response_us,
            untimed: None,
        }
    }
}
