//! `dyno load`: creates, fills and verifies the data.

use dyno_campaign::{LoadOutcome, LoadedTarget};
use dyno_engine::LoadReport;
use serde_json::{Value, json};

use crate::cli::{CommonArgs, LoadArgs, MarkArgs};
use crate::console::Console;
use crate::context;
use crate::exit::Exit;

pub(super) fn run(common: &CommonArgs, args: &LoadArgs, talk: &Console) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let all = context::run_campaign_on_screen("load", common, (&MarkArgs::default(), None), talk, |ctx| {
        dyno_campaign::load(ctx, &plan, args.replace)
    })?;
    for LoadedTarget { done, .. } in &all {
        if let LoadOutcome::Data(report) = done {
            talk.show(&dyno_report::load_table(&rows(report), &talk.style()))?;
        }
    }
    match all.as_slice() {
        [only] if !plan.target.is_several() => talk.json(&as_json(&only.done))?,
        several => {
            let loaded = several.iter().map(|one| json!({ "target": one.url, "loaded": as_json(&one.done) }));
            talk.json(&json!({ "targets": loaded.collect::<Vec<_>>() }))?;
        }
    }
    Ok(Exit::Done)
}

fn rows(report: &LoadReport) -> Vec<dyno_report::LoadRow> {
    let rows = report.tables.iter().map(|table| dyno_report::LoadRow {
        table: table.table.clone(),
        rows: table.rows,
        blocks: table.blocks,
        bytes: table.bytes,
    });
    rows.collect()
}

fn as_json(outcome: &LoadOutcome) -> Value {
    match outcome {
        LoadOutcome::Data(report) => data_as_json(report),
        LoadOutcome::SetUp(done) => {
            let table = |(name, rows): &(String, u64)| json!({ "table": name, "rows": rows });
            json!({
                "workload": done.name, "statements": done.statements, "seconds": done.seconds,
                "tables": done.tables.iter().map(table).collect::<Vec<_>>(), "already": done.already,
                "rows_written": done.rows_written, "conditions": done.conditions, "conditions_s": done.conditions_s,
            })
        }
    }
}

fn data_as_json(report: &LoadReport) -> Value {
    let tables: Vec<_> = report
        .tables
        .iter()
        .map(|table| {
            json!({
                "schema": table.schema, "kind": table.kind, "table": table.table, "rows": table.rows,
                "blocks": table.blocks, "rows_per_block": table.rows_per_block(), "bytes": table.bytes,
            })
        })
        .collect();
    json!({
        "data": report.spec, "already": report.already, "rows_written": report.rows_written,
        "bytes_written": report.bytes_written, "seconds": report.seconds, "tables": tables,
    })
}
