//! Describes the window: of one target, and of all.

use dyno_observe::TargetSnapshot;
use dyno_record::Window;
use dyno_record::window::{HotOps, StartGate, ThinkTime, WorkCounts};

use super::inputs::TargetInputs;
use crate::fold::ResultSum;
use crate::job::DriveJob;
use crate::measured::RunMeasurement;
use crate::session::FoldedSessions;
use crate::thread_result::HotCounts;

impl TargetInputs<'_> {
    /// The window between the target's two snapshots; without the second one it ends with the sessions' work.
    pub(super) fn window(&self) -> Option<Window> {
        let Self { target, results, .. } = self;
        let begin = target.begin.as_ref()?;
        let end_ns = target.end.as_ref().map(TargetSnapshot::at_ns).or(results.sessions.moments.edge_ns[1])?;
        let begin_ns = target.begin_counts_ns.unwrap_or_else(|| begin.at_ns());
        let reading_us = |taken: &TargetSnapshot| (taken.ended_ns - taken.began_ns) as f64 / 1_000.0;
        let (many, times) = (results.sessions.many(), &results.threads.times);
        let (counted, unsure) = self.counted();
        Some(Window {
            seconds: end_ns.saturating_sub(begin.at_ns()) as f64 / 1e9,
            snapshot_us: (reading_us(begin), target.end.as_ref().map_or(0.0, reading_us)),
            edge_us_max: (distance_us(&many, 0, begin_ns), distance_us(&many, 1, end_ns)),
            counted: target.end.as_ref().map(|_| counted),
            unsure: unsure.filter(|_| target.end.is_some()),
            before_s: times.before_ns as f64 / 1e9,
            busy_s: times.busy_ns as f64 / 1e9,
            closing_s: times.closing_ns as f64 / 1e9,
            polling_s: times.polling_ns as f64 / 1e9,
            unread: target.unread.clone(),
            ..of_sessions(self.job, self.measured, results)
        })
    }
}

/// Largest distance in µs between `at_ns` and the times up to which the snapshot includes sessions' work.
fn distance_us(many: &FoldedSessions, edge: usize, at_ns: u64) -> f64 {
    let ends = many.most_ns[edge].map(|(first_ns, last_ns)| [first_ns, last_ns]);
    ends.into_iter().flatten().map(|end_ns| end_ns.abs_diff(at_ns)).max().unwrap_or(0) as f64 / 1_000.0
}

/// The window of all targets: sums where figures add up, else the worst value. `None` if one target has none.
pub(super) fn of_all<'a>(
    job: &DriveJob<'_>,
    measured: &RunMeasurement,
    results: &ResultSum,
    windows: impl Iterator<Item = Option<&'a Window>>,
) -> Option<Window> {
    let windows: Vec<&Window> = windows.collect::<Option<_>>()?;
    let worst = |figure: fn(&Window) -> f64| windows.iter().map(|window| figure(window)).fold(0.0, f64::max);
    let sum = |figure: fn(&Window) -> f64| windows.iter().map(|window| figure(window)).sum::<f64>();
    Some(Window {
        seconds: sum(|window| window.seconds) / windows.len() as f64,
        snapshot_us: (worst(|window| window.snapshot_us.0), worst(|window| window.snapshot_us.1)),
        edge_us_max: (worst(|window| window.edge_us_max.0), worst(|window| window.edge_us_max.1)),
        counted: all_counted(&windows),
        unsure: all_unsure(&windows),
        before_s: sum(|window| window.before_s),
        busy_s: sum(|window| window.busy_s),
        closing_s: sum(|window| window.closing_s),
        polling_s: sum(|window| window.polling_s),
        unread: windows.iter().find_map(|window| window.unread.clone()),
        ..of_sessions(job, measured, results)
    })
}

/// What the window of any sessions says: their own times, and those that all of them share.
fn of_sessions(job: &DriveJob<'_>, measured: &RunMeasurement, results: &ResultSum) -> Window {
    let (many, times) = (results.sessions.many(), &results.threads.times);
    let HotCounts { spot, keyed, schema, movable } = results.threads.hot;
    let workload = &job.plan.workload;
    let asks_to_think = workload.think_every > 0 || times.thoughts > 0;
    let has_hot_spot = workload.hot_spot_every > 0 || workload.hot_schema_every > 0;
    // For a controller of agents only its own delay is reported: stalls belong to the agents' processes.
    let stall_s = |ns: u64| measured.fleet.is_none().then_some(ns as f64 / 1e9);
    Window {
        work_s: many.mean_work_s(),
        begin: measured.begin_at.clone(),
        end: measured.end_at.clone(),
        edge_late: many.late.into(),
        stall_us_max: measured.stalls.max_ns as f64 / 1_000.0,
        stall_s: stall_s(measured.stalls.sum_ns),
        suspended_s: stall_s(measured.stalls.suspended_ns),
        late_us_max: (times.late_ns_max > 0).then_some(times.late_ns_max as f64 / 1_000.0),
        overdue: job.plan.has_rate().then_some(times.overdue),
        think: asks_to_think
            .then(|| ThinkTime { seconds: times.thought_ns as f64 / 1e9, sleeps: times.thoughts }),
        hot: has_hot_spot.then_some(HotOps { spot, keyed, schema, movable }),
        ..Window::default()
    }
}

fn all_counted(windows: &[&Window]) -> Option<WorkCounts> {
    let mut total = WorkCounts::default();
    for window in windows {
        total.add(window.counted.as_ref()?);
    }
    Some(total)
}

fn all_unsure(windows: &[&Window]) -> Option<(WorkCounts, WorkCounts)> {
    let mut total = (WorkCounts::default(), WorkCounts::default());
    for (begin, end) in windows.iter().filter_map(|window| window.unsure.as_ref()) {
        total.0.add(begin);
        total.1.add(end);
    }
    (!total.0.is_empty() || !total.1.is_empty()).then_some(total)
}

/// The common start of the sessions.
pub(super) fn gate(measured: &RunMeasurement, many: &FoldedSessions) -> StartGate {
    let skew_ns = many.starts_ns.map_or(0, |(first_ns, last_ns)| last_ns.saturating_sub(first_ns));
    StartGate {
        sessions: many.started,
        skew_us_max: skew_ns as f64 / 1_000.0,
        connect_s: measured.connect_s,
        threads: measured.threads,
        placement: measured.placement,
    }
}
