//! Compares counts, rows, errors, counters and sums that hold in every scene.

use dyno_record::{Counter, OpStats, RunRecord, Status, window::WorkCounts};
use dyno_workload::ClassId;
use dyno_workload::blocks;

use crate::figure::ProofFigures;
use crate::scene::SceneRun;
use crate::scripted::{REDO_BYTES_PER_ROW, ScriptedTotals};

pub(crate) fn stats<'a>(record: &'a RunRecord, class: &str) -> Option<&'a OpStats> {
    record.ops.get(class)
}

/// Counts, rows, errors, counters and sums that hold in every scene.
pub(crate) fn counts(figures: &mut ProofFigures, ran: &SceneRun) {
    let SceneRun { record, ledger, span, .. } = ran;
    let (window, life) = (ledger.window(*span), ledger.life());
    figures.count("run valid", 1, Some(u64::from(record.status == Status::Valid)));
    let Some(data) = record.targets.first().and_then(|target| target.data.as_ref()) else { return };
    let classes = blocks::classes(&record.plan.workload, data);
    for (class, scripted) in &window.classes {
        let name = classes.name(*class);
        let recorded = stats(record, name);
        if *class != ClassId::SLICE {
            figures.count(format!("{name} operations"), scripted.count, recorded.map(|stats| stats.count));
        }
        if class.place().is_some() {
            figures.count(format!("{name} rows"), scripted.rows, recorded.map(|stats| stats.rows));
            figures.count(format!("{name} errors"), scripted.errors, recorded.map(|stats| stats.errors));
        }
    }
    let all = stats(record, "all");
    figures.count("all operations", window.all().count, all.map(|stats| stats.count));
    let seconds = record.window.as_ref().map(|window| window.work_seconds());
    let by_rate = all.zip(seconds).map(|(stats, seconds)| stats.rate_per_s * seconds + stats.before);
    figures.number("rate × window", "operations", Some(window.all().count as f64), by_rate);
    let points = &record.series.points;
    figures.count("series, operations", window.all().count, Some(points.iter().map(|p| p.ops).sum()));
    figures.count("series, errors", window.all().errors, Some(points.iter().map(|p| p.errors).sum()));
    between(figures, record);
    let whole = record.whole.clone().unwrap_or_default();
    figures.count("whole run, operations", operations(&life), Some(whole.ops.values().sum()));
    let updated = life.class(ClassId::UPDATE);
    figures.count("whole run, rows updated", updated.rows, Some(whole.rows_updated));
    figures.count("whole run, rows read", life.all().rows - updated.rows, Some(whole.rows_read));
    figures.count("whole run, commits", life.class(ClassId::COMMIT).count, Some(whole.commits));
    figures.count("whole run, errors", life.all().errors, Some(whole.errors));
    let scripted = [
        (Counter::LogicalReads, life.all().rows),
        (Counter::Commits, life.class(ClassId::COMMIT).count),
        (Counter::RowsWritten, updated.rows),
        (Counter::RedoBytes, updated.rows * REDO_BYTES_PER_ROW),
    ];
    for (counter, scripted) in scripted {
        figures.count(
            format!("whole run, counter {}", counter.name()),
            scripted,
            moved(&whole.counters, counter),
        );
    }
}

/// Compares the database's counters between the two snapshots with the client's account of them.
fn between(figures: &mut ProofFigures, record: &RunRecord) {
    let window = record.window.clone().unwrap_or_default();
    let counted = window.counted.unwrap_or_default();
    let (fewer, more) = window.unsure.unwrap_or_default();
    let held = |of: &WorkCounts| {
        [
            (Counter::LogicalReads, of.rows()),
            (Counter::Commits, of.commits),
            (Counter::RowsWritten, of.rows_updated),
            (Counter::RedoBytes, of.rows_updated * REDO_BYTES_PER_ROW),
        ]
    };
    for (((counter, counted), (_, fewer)), (_, more)) in
        held(&counted).into_iter().zip(held(&fewer)).zip(held(&more))
    {
        let moved = moved(&record.counters, counter);
        // Where the client's account is a range, the database's figure must lie within it.
        let bound = moved.map(|moved| moved.clamp(counted.saturating_sub(fewer), counted + more));
        figures.number(
            format!("counter {}", counter.name()),
            "",
            moved.map(|moved| moved as f64),
            bound.map(|b| b as f64),
        );
    }
}

/// Operations and slices of an account; commits are parts of updates.
fn operations(account: &ScriptedTotals) -> u64 {
    account.all().count + account.class(ClassId::SLICE).count
}

fn moved(counters: &dyno_record::Counters, counter: Counter) -> Option<u64> {
    counters.get(counter).ok().and_then(|delta| u64::try_from(delta).ok())
}
