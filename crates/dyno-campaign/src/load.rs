//! `dyno load`: creates, fills and verifies the data.

use dyno_engine::{Cancel, LoadOptions, LoadReport, Target, TargetError, TargetErrorKind, Work};
use dyno_plan::DataSpec;

use crate::cli::{Common, Load};
use crate::context;
use crate::exit::Exit;
use crate::progress::LoadProgress;
use crate::signals;
use crate::talk::Talk;
use crate::targets::Targets;

pub(super) fn run(common: &Common, args: &Load, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let targets = Targets::reach(&plan, talk)?;
    let holders = targets.holders()?;
    let cancel = Cancel::default();
    signals::watch(&cancel)?;
    let specs = holders.iter().map(|holder| holder.spec(&plan)).collect::<anyhow::Result<Vec<_>>>()?;
    let _locks = targets.lock(Work::Load, talk)?;
    let mut all = Vec::new();
    for (holder, spec) in holders.iter().zip(&specs) {
        let target = holder.target.as_ref();
        if targets.is_several() {
            talk.say(&format!("loading {}", target.url()));
        }
        if target.capabilities().ephemeral {
            talk.say(
                "this target lives in memory: `dyno run` loads it itself, and nothing of this load will stay",
            );
        }
        let report =
            holder.named(load(target, spec, plan.data.load_parallel, args.replace, talk, &cancel))?;
        talk.show(&dyno_report::load_table(&report_rows(&report), &talk.style()))?;
        all.push((target.url(), as_json(&report)));
    }
    if targets.is_shared() {
        talk.detail("waiting until all targets see the data");
        targets.wait_seen(&plan, &cancel)?;
    }
    match all.as_slice() {
        [(_, only)] if !targets.is_several() => talk.json(only)?,
        several => {
            let loaded =
                several.iter().map(|(url, report)| serde_json::json!({ "target": url, "loaded": report }));
            talk.json(&serde_json::json!({ "targets": loaded.collect::<Vec<_>>() }))?;
        }
    }
    Ok(Exit::Done)
}

/// Loads `spec` into `target` with a progress bar, and says what was done.
pub(super) fn load(
    target: &dyn Target,
    spec: &DataSpec,
    parallel: u32,
    replace: bool,
    talk: &Talk,
    cancel: &Cancel,
) -> anyhow::Result<LoadReport> {
    let options = LoadOptions {
        parallel: parallel.min(target.capabilities().load_parallel_max),
        replace,
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let report = match attempt(target, spec, &options, talk, cancel) {
        // Of Dyno's data only what it recorded is removed; what is in its way and not Dyno's is an error again.
        Err(error) if replace && is_damage(error.kind) => {
            talk.say(&format!("{error}: removing what Dyno made, and loading anew"));
            target.drop_all()?;
            attempt(target, spec, &options, talk, cancel)?
        }
        outcome => outcome?,
    };
    talk.say(&summary(&report));
    Ok(report)
}

/// Whether an error may be one of the data itself: also what the database says of a table or column that is gone.
fn is_damage(kind: TargetErrorKind) -> bool {
    matches!(kind, TargetErrorKind::Data | TargetErrorKind::Database)
}

/// Loads, and looks whether what was there already is still what was loaded; where it is to be replaced, rows that updates
/// have moved together are none that may stay.
fn attempt(
    target: &dyn Target,
    spec: &DataSpec,
    options: &LoadOptions,
    talk: &Talk,
    cancel: &Cancel,
) -> Result<LoadReport, TargetError> {
    let progress = LoadProgress::new(talk);
    let outcome = target.load(spec, options, &progress, cancel);
    progress.finish();
    let report = outcome?;
    if report.already
        && let Some(note) = target.spot_check(spec, context::spot_seed())?
    {
        if options.replace {
            return Err(TargetError::new(TargetErrorKind::Data, note));
        }
        talk.say(&format!("{note}; {}", context::SPREAD_AGAIN));
    }
    Ok(report)
}

fn summary(report: &LoadReport) -> String {
    if report.already {
        return "the data is there already: no rows were written".to_owned();
    }
    let mb = report.bytes_written as f64 / 1e6;
    format!(
        "loaded {} rows, {} MB in {} s ({} MB/s), index and verification included",
        dyno_report::number::count(report.rows_written),
        dyno_report::number::fixed(mb, 0),
        dyno_report::number::fixed(report.seconds, 1),
        dyno_report::number::fixed(mb / report.seconds.max(1e-9), 0),
    )
}

fn report_rows(report: &LoadReport) -> Vec<dyno_report::LoadRow> {
    let rows = report.tables.iter().map(|table| dyno_report::LoadRow {
        table: table.table.clone(),
        rows: table.rows,
        blocks: table.blocks,
        bytes: table.bytes,
    });
    rows.collect()
}

fn as_json(report: &LoadReport) -> serde_json::Value {
    let tables: Vec<_> = report
        .tables
        .iter()
        .map(|table| {
            serde_json::json!({
                "schema": table.schema, "kind": table.kind, "table": table.table, "rows": table.rows,
                "blocks": table.blocks, "rows_per_block": table.rows_per_block(), "bytes": table.bytes,
            })
        })
        .collect();
    serde_json::json!({
        "data": report.spec, "already": report.already, "rows_written": report.rows_written,
        "bytes_written": report.bytes_written, "seconds": report.seconds, "tables": tables,
    })
}
