//! Adds up the operations of all threads, class by class.
//!
//! Histograms are added, never percentiles.

use std::collections::BTreeMap;

use dyno_plan::DriveMode;
use dyno_record::{ALL, Histogram, OpStats};
use dyno_workload::ClassId;

use crate::job::DriveJob;
use crate::results::SelectedResults;
use crate::thread_result::{ClassResult, PhaseResult};

/// Why operations of the server drive are not timed individually.
const UNTIMED: &str = "server drive: operations run inside the database, and only slices are timed";
/// Why some commits have no time.
const UNSEEN: &str =
    "the ends of an update and of its commit arrived together, so the commit has no time of its own";

/// Figures of every class with operations, and of `all`.
pub(crate) fn op_stats(
    job: &DriveJob<'_>,
    results: &SelectedResults<'_>,
    seconds: f64,
) -> BTreeMap<String, OpStats> {
    let open: Vec<bool> = job.plan.workload_shares().map(|side| side.is_open()).collect();
    let server = job.plan.workload.drive == DriveMode::Server;
    let mut by_name = BTreeMap::new();
    let classes = job.classes();
    let mut all = Summed::default();
    for class in classes.all() {
        let workload = class.place().map(|place| classes.of_operations()[place].workload);
        let is_open = workload.is_some_and(|workload| open[workload]);
        let summed = Summed::of_class(results, class);
        if workload.is_some() {
            all.add(&summed, is_open);
        }
        if summed.is_any() {
            let mut stats = summed.stats(seconds, is_open);
            if server && class != ClassId::SLICE {
                stats.untimed = Some(UNTIMED.to_owned());
            } else if stats.service_us.count < stats.count {
                stats.untimed = Some(UNSEEN.to_owned());
            }
            by_name.insert(classes.name(class).to_owned(), stats);
        }
    }
    let mut stats = all.stats(seconds, open.contains(&true));
    if server {
        stats.untimed = Some(UNTIMED.to_owned());
        let busy_us = results.times().busy_ns as f64 / 1_000.0;
        let mean = (stats.count > 0).then(|| busy_us / stats.count as f64);
        (stats.service_us.mean, stats.response_us.mean) = (mean, mean);
    }
    by_name.insert(ALL.to_owned(), stats);
    by_name
}

/// The sum over the classes of the workload at `place`.
pub(crate) fn of_workload(
    job: &DriveJob<'_>,
    results: &SelectedResults<'_>,
    place: usize,
    seconds: f64,
) -> OpStats {
    let classes: Vec<&[ClassResult]> = results.threads.iter().map(|result| &result.classes[..]).collect();
    workload_stats(job, &classes, place, seconds)
}

fn workload_stats(job: &DriveJob<'_>, results: &[&[ClassResult]], place: usize, seconds: f64) -> OpStats {
    let is_open = job.plan.workload_shares().nth(place).is_some_and(|side| side.is_open());
    let mut all = Summed::default();
    for class in job.classes().of_workload(place) {
        all.add(&Summed::of(results.iter().filter_map(|classes| classes.get(class.index()))), is_open);
    }
    all.stats(seconds, is_open)
}

/// The operations that were due in one part of a schedule, over its own length: of each class, of all, and of
/// each workload if there are several.
pub(crate) fn phase_stats(
    job: &DriveJob<'_>,
    parts: &[&PhaseResult],
    seconds: f64,
) -> (BTreeMap<String, OpStats>, Vec<OpStats>) {
    let (classes, open) =
        (job.classes(), job.plan.workload_shares().map(|side| side.is_open()).collect::<Vec<_>>());
    let (mut all, mut by_name) = (Summed::default(), BTreeMap::new());
    for (class, description) in classes.operations().zip(classes.of_operations()) {
        let summed = Summed::of(parts.iter().filter_map(|part| part.classes.get(class.index())));
        all.add(&summed, open[description.workload]);
        if summed.is_any() {
            by_name.insert(description.name.clone(), summed.stats(seconds, open[description.workload]));
        }
    }
    by_name.insert(ALL.to_owned(), all.stats(seconds, true));
    let results = parts.iter().map(|part| &part.classes[..]).collect::<Vec<_>>();
    let workload_places = (0..job.custom_workloads.len()).filter(|_| job.custom_workloads.len() > 1);
    (by_name, workload_places.map(|place| workload_stats(job, &results, place, seconds)).collect())
}

/// One class, summed over all threads.
#[derive(Default)]
struct Summed {
    count: u64,
    errors: u64,
    rows: u64,
    rolled_back: u64,
    empty_polls: u64,
    tallied: u64,
    retries: u64,
    write_statements: u64,
    empty_writes: u64,
    in_doubt: u64,
    before: (f64, f64),
    service: Histogram,
    response: Histogram,
}

impl Summed {
    fn of_class(results: &SelectedResults<'_>, class: ClassId) -> Self {
        Self::of(results.threads.iter().filter_map(|result| result.classes.get(class.index())))
    }

    fn of<'a>(all: impl Iterator<Item = &'a ClassResult>) -> Self {
        let mut sum = Self::default();
        for one in all {
            sum.count += one.count;
            sum.errors += one.errors;
            sum.rows += one.rows;
            sum.rolled_back += one.rolled_back;
            sum.empty_polls += one.empty_polls;
            sum.tallied += one.tallied;
            sum.retries += one.retries;
            sum.write_statements += one.write_statements;
            sum.empty_writes += one.empty_writes;
            sum.in_doubt += one.in_doubt;
            sum.before = (sum.before.0 + one.before.0, sum.before.1 + one.before.1);
            one.service.add_to(&mut sum.service);
            one.response.add_to(&mut sum.response);
        }
        sum
    }

    /// Whether any operation of the class was begun.
    fn is_any(&self) -> bool {
        self.count + self.errors + self.retries + self.in_doubt + self.empty_polls > 0
    }

    /// Adds another class. `is_open` if it follows a schedule; in a closed loop an operation is due when it
    /// is sent.
    fn add(&mut self, other: &Self, is_open: bool) {
        self.count += other.count;
        self.errors += other.errors;
        self.rows += other.rows;
        self.rolled_back += other.rolled_back;
        self.empty_polls += other.empty_polls;
        self.tallied += other.tallied;
        self.retries += other.retries;
        self.write_statements += other.write_statements;
        self.empty_writes += other.empty_writes;
        self.in_doubt += other.in_doubt;
        self.before = (self.before.0 + other.before.0, self.before.1 + other.before.1);
        self.service.merge(&other.service);
        self.response.merge(if is_open { &other.response } else { &other.service });
    }

    fn stats(&self, seconds: f64, open_loop: bool) -> OpStats {
        let service_us = self.service.summary();
        // In a closed loop an operation is due when it is sent.
        let response_us = if open_loop { self.response.summary() } else { service_us.clone() };
        OpStats {
            count: self.count,
            errors: self.errors,
            rate_per_s: if seconds > 0.0 { (self.count as f64 - self.before.0) / seconds } else { 0.0 },
            before: self.before.0,
            rows: self.rows,
            rows_before: self.before.1,
            rolled_back: self.rolled_back,
            empty_polls: self.empty_polls,
            tallied: self.tallied,
            retries: self.retries,
            write_statements: self.write_statements,
            empty_writes: self.empty_writes,
            in_doubt: self.in_doubt,
            service_us,
            response_us,
            untimed: None,
        }
    }
}
