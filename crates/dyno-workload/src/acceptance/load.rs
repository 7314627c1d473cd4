//! Step 3: interrupts a load in the middle and resumes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dyno_engine::{
    Cancel, DataState, LoadOptions, LoadProgressSink, LoadReport, Silent, Target, TargetError,
    TargetErrorKind,
};
use dyno_plan::DataSpec;
use dyno_record::AcceptanceFinding;

use super::{AcceptanceScope, Findings, not_applicable, not_proved, of_advice, of_error, proved, wrong};
use crate::conformance::data;

/// The name of the finding that the data is complete.
pub(super) const LOADED: &str = "rows";

/// How long a loading connection pauses at most after its first part, so that the load notices the interruption before it ends.
/// If the load ends first, the step reports that it was not interrupted.
const REST: Duration = Duration::from_millis(200);

/// Share of a table's blocks that may hold no row or two: InnoDB leaves a page behind where its tree grows.
const BLOCK_SLACK: f64 = 0.01;

/// Interrupts a load after its first part.
struct BreakOffBehindFirstPart {
    stop: Arc<AtomicBool>,
}

impl LoadProgressSink for BreakOffBehindFirstPart {
    fn phase(&self, _: &str, _: u64) {}

    fn advance(&self, rows: u64, _: u64) {
        if rows > 0 {
            self.stop.store(true, Ordering::Relaxed);
            std::thread::park_timeout(REST);
        }
    }
}

pub(super) fn resumed(scope: &AcceptanceScope<'_>, spec: &DataSpec) -> Findings {
    let (target, mut findings) = (scope.target, Vec::new());
    let broken_off = match target.capabilities().ephemeral {
        true => {
            let reason = "the data lives in this process and ends with it: no load of it is resumed";
            findings.push(not_applicable("break-off", reason));
            None
        }
        false => break_off(scope, spec, &mut findings)?,
    };
    let report = match load(target, spec, &Silent, scope.cancel) {
        Ok(report) => report,
        Err(error) => {
            findings.push(of_load_error(&error));
            return Ok(findings);
        }
    };
    if let Some(rows) = broken_off {
        findings.push(continued(rows, &report, spec.total_rows()));
    }
    findings.extend(tables(&report, spec));
    findings.push(of_advice(data::recognised(target, spec)?));
    Ok(findings)
}

/// Rows that are committed after the interrupted load; `None` if the load ended first.
fn break_off(
    scope: &AcceptanceScope<'_>,
    spec: &DataSpec,
    findings: &mut Vec<AcceptanceFinding>,
) -> Result<Option<u64>, TargetError> {
    let stop = Arc::new(AtomicBool::new(false));
    let cancel = scope.cancel.part(Arc::clone(&stop));
    let outcome = load(scope.target, spec, &BreakOffBehindFirstPart { stop }, &cancel);
    match outcome {
        Err(error) if error.kind == TargetErrorKind::Cancelled => {}
        Err(error) => return Err(error),
        Ok(_) => {
            findings.push(not_proved("break-off", "the load ended before it could be interrupted"));
            return Ok(None);
        }
    }
    let total = spec.total_rows();
    Ok(match scope.target.block_data()?.survey()? {
        DataState::Partial { rows, spec: there, .. } if rows < total && there == *spec => {
            let words = format!("the load was interrupted, and {rows} of {total} rows are stored");
            findings.push(proved("break-off", words).figure("rows", rows as i64));
            Some(rows)
        }
        DataState::Partial { rows, .. } => {
            let words = format!("all {rows} rows were stored before the interruption");
            findings.push(not_proved("break-off", words));
            Some(rows)
        }
        other => {
            let words = format!("after an interrupted load the target has {}", word(&other));
            findings.push(wrong("break-off", words));
            None
        }
    })
}

fn word(state: &DataState) -> &'static str {
    match state {
        DataState::Empty => "nothing",
        DataState::Partial { .. } => "a part",
        DataState::Loaded { .. } => "a whole load",
    }
}

/// Checks that the second load wrote exactly the rows that were missing.
fn continued(rows: u64, report: &LoadReport, total: u64) -> AcceptanceFinding {
    let written = report.rows_written;
    let finding = match rows + written == total {
        true => proved(
            "resume",
            format!("the load continued after {rows} rows and wrote the remaining {written}"),
        ),
        false => wrong("resume", format!("of {total} rows {rows} existed, and {written} were written")),
    };
    finding.figure("rows_there", rows as i64).figure("rows_written", written as i64)
}

/// Checks rows and blocks of each table, as the database counts them.
fn tables(report: &LoadReport, spec: &DataSpec) -> Vec<AcceptanceFinding> {
    let rows: u64 = report.tables.iter().map(|table| table.rows).sum();
    let blocks: u64 = report.tables.iter().map(|table| table.blocks).sum();
    let loaded = format!("{rows} rows in {} tables", report.tables.len());
    let all = match rows == spec.total_rows() {
        true => proved(LOADED, loaded),
        false => wrong(LOADED, format!("{loaded}, and {} were to be loaded", spec.total_rows())),
    };
    let odd = report.tables.iter().find(|table| (table.rows_per_block() - 1.0).abs() > BLOCK_SLACK);
    let per_block = match odd {
        None => proved("blocks", format!("one row per block: {rows} rows in {blocks} blocks")),
        Some(table) => not_proved(
            "blocks",
            format!("{} rows of kind {} lie in {} blocks", table.rows, table.kind, table.blocks),
        ),
    };
    vec![
        all.figure("rows", rows as i64),
        per_block.figure("rows", rows as i64).figure("blocks", blocks as i64),
    ]
}

/// The finding for an error of the load: wrong, unless the cause is outside the engine.
fn of_load_error(error: &TargetError) -> AcceptanceFinding {
    of_error("load", error)
}

fn load(
    target: &dyn Target,
    spec: &DataSpec,
    progress: &dyn LoadProgressSink,
    cancel: &Cancel,
) -> Result<LoadReport, TargetError> {
    let parallel = target.capabilities().load_parallel_max.min(2);
    let options =
        LoadOptions { parallel, replace: false, dyno_version: env!("CARGO_PKG_VERSION").to_owned() };
    target.block_data()?.load(spec, &options, progress, cancel)
}
