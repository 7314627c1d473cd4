//! Builds one target's part of the record.

use dyno_host::HostDelta;
use dyno_record::{OpStats, Series, TargetFigures, Waits, Window};

use super::inputs::TargetInputs;
use super::operations::WorkStats;
use super::window::gate;
use crate::measured::MeasuredTarget;
use crate::statement_names;

/// A part of the record: the figures of one target, or of all.
pub(super) struct RecordPart {
    pub(super) figures: TargetFigures,
    /// The operations of each workload in the window; empty if there is only one.
    pub(super) workloads: Vec<OpStats>,
}

/// The part of the target at `at`: what its sessions did on it, and what its counters show.
pub(super) fn part(inputs: &TargetInputs<'_>, at: usize, series: Series) -> RecordPart {
    let TargetInputs { job, classes, context, measured, target, results } = inputs;
    let window = inputs.window();
    let work_of =
        |window: &Window| WorkStats::of_window(job, classes, &results.threads, window.work_seconds());
    let work = window.as_ref().map(work_of).unwrap_or_default();
    let counters = inputs.window_counters();
    let no_sample = || Waits::Absent { absent: "the run ended before any sample".into() };
    let waits = target.waits.clone().unwrap_or_else(no_sample);
    let host = host_delta(target);
    let read_window = window.as_ref().filter(|_| target.end.is_some());
    let metrics = read_window
        .map(|window| inputs.figures(window, &work, (&counters, &waits), host.as_ref()))
        .unwrap_or_default();
    let mut host_counters = host.map(|delta| delta.counters()).unwrap_or_default();
    host_counters.retain(|name, _| context.identity.same_host && name.starts_with("device."));
    let figures = TargetFigures {
        sessions: job.plan.sessions_of(at),
        reads_only: context.reads_only.clone(),
        gate: gate(measured, &results.sessions.many()),
        window,
        ops: work.classes,
        metrics,
        counters,
        whole: inputs.whole(),
        host_counters,
        waits,
        statements: statement_names::named(
            job,
            at,
            target.end.as_ref().and_then(|end| end.statements.clone()),
        ),
        tables: target.end.as_ref().and_then(|end| end.tables.clone()),
        series,
        errors: results.sessions.errors.clone(),
        whose: Default::default(),
        audit: Vec::new(),
    };
    RecordPart { figures, workloads: work.workloads }
}

/// What this machine did between a target's two snapshots.
pub(super) fn host_delta(target: &MeasuredTarget) -> Option<HostDelta> {
    Some(target.begin.as_ref()?.host_delta_to(target.end.as_ref()?))
}
