//! `dyno workload check`: shows what a folder of SQL does with sample values, and how a target prepares it.

mod sample;
mod tables;

use std::sync::Arc;

use dyno_campaign::Error;
use dyno_campaign::custom_workloads::{StatementCheckReport, read, try_statements};
use dyno_plan::{Plan, PlanErrors, PlanSource};
use dyno_workload::custom::{
    CustomWorkload, DescribedTable, InvariantTiming, TransactionFilter, WorkloadChoice,
};
use serde_json::{Value, json};

use crate::cli::{CheckWorkload, CommonArgs, MarkArgs};
use crate::console::Console;
use crate::context;
use crate::engines::ENGINES;
use crate::exit::Exit;
use sample::SampleTransaction;

pub(super) fn check(common: &CommonArgs, args: &CheckWorkload, talk: &Console) -> anyhow::Result<Exit> {
    if args.explain && common.target.is_empty() {
        return Err(Error::usage(
            "--explain without a target",
            "give --target URL of the database that explains",
        )
        .into());
    }
    let plan = (!common.target.is_empty()).then(|| context::plan(common)).transpose()?;
    let chosen = plan.clone().map_or_else(|| without_target(common), Ok)?.workload;
    let options = &chosen.options[..];
    let choice = WorkloadChoice {
        scale: chosen.scale,
        mix: chosen.mix.as_deref(),
        options,
        part: TransactionFilter::All,
    };
    let workload = Arc::new(read(&args.dir, choice, ENGINES.specs)?);
    let of_target = plan.as_ref().and_then(|plan| ENGINES.specs.spec_of(&plan.target.url));
    let engine = of_target.map_or_else(|| usual_engine(&workload), |engine| engine.name.to_owned());
    let drawn = sample::draw(&workload, &engine, args.seed, args.draws).map_err(PlanErrors::from)?;
    let description =
        tables::describe_workload(&workload, &engine, &drawn, &talk.style()).map_err(PlanErrors::from)?;
    talk.show(&description)?;
    let tried = match &plan {
        None => Vec::new(),
        Some(plan) => context::run_campaign(common, &MarkArgs::default(), talk, |ctx| {
            try_statements(ctx, plan, &workload, args.explain.then_some(args.seed))
        })?,
    };
    for one in &tried {
        talk.show(&tables::tried_words(one))?;
    }
    talk.json(&as_json(&workload, &engine, &drawn, &tried).map_err(PlanErrors::from)?)?;
    if plan.is_none() {
        talk.say("add --target URL to prepare every statement on that server");
    }
    Ok(if tried.iter().any(|one| !one.refused.is_empty()) { Exit::Failed } else { Exit::Done })
}

/// The plan from the options if no target is named.
fn without_target(common: &CommonArgs) -> Result<Plan, PlanErrors> {
    let target = Some("sqlite::memory:".to_owned());
    dyno_plan::read(&PlanSource { target, ..context::options(common) })
}

/// The engine to describe if no target is named: none in particular, or the first one with its own files.
fn usual_engine(workload: &CustomWorkload) -> String {
    match workload.statements("", dialect()) {
        Ok(_) => String::new(),
        Err(_) => workload.engines().next().unwrap_or_default().to_owned(),
    }
}

fn dialect() -> dyno_engine::Dialect {
    dyno_engine::Dialect {
        mark: |number| format!("${number}"),
        from_nothing: "",
        bytes_length: "",
        snapshot: &[],
        call: None,
        prefix: "",
    }
}

fn as_json(
    own: &CustomWorkload,
    engine: &str,
    drawn: &[SampleTransaction],
    tried: &[StatementCheckReport],
) -> Result<Value, dyno_workload::custom::WorkloadError> {
    let transactions: Vec<Value> = own
        .described(engine)?
        .iter()
        .map(|one| {
            let statements: Vec<Value> = one
                .statements
                .iter()
                .map(|statement| {
                    json!({
                        "name": statement.name, "called": statement.called, "place": statement.place,
                        "sql": statement.sql, "returns": statement.returns, "parameters": statement.params,
                    })
                })
                .collect();
            json!({
                "name": one.name, "share_pct": one.share_pct, "isolation": one.isolation,
                "rate_per_s": one.rated.as_ref().map(|rated| rated.rate.0),
                "sessions": one.rated.as_ref().map(|rated| rated.sessions),
                "commits_each": one.commits_each, "writes": one.writes, "retries": one.retries,
                "think_s": [one.think.0.as_secs_f64(), one.think.1.as_secs_f64()],
                "round_trips": { "least": one.round_trips.0, "most": one.round_trips.1 },
                "pipelined": one.pipelined.map(|(least, most)| json!({ "least": least, "most": most })),
                "steps": one.steps, "statements": statements,
            })
        })
        .collect();
    let draws: Vec<Value> = own
        .described_draws(engine)?
        .iter()
        .map(|draw| {
            json!({ "name": draw.name, "type": draw.of, "per": draw.per, "law": draw.words, "used": draw.used })
        })
        .collect();
    let drawn: Vec<Value> = drawn
        .iter()
        .map(|one| {
            let statements: Vec<Value> = one
                .statements
                .iter()
                .map(|(name, values)| {
                    let values: Vec<Value> =
                        values.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
                    json!({ "statement": name, "values": values })
                })
                .collect();
            json!({ "transaction": one.transaction, "statements": statements, "rolled_back": one.rolled_back })
        })
        .collect();
    let targets: Vec<Value> = tried
        .iter()
        .map(|one| {
            let refused: Vec<String> = one.refused.iter().map(ToString::to_string).collect();
            let plans: Vec<Value> = one
                .plans
                .iter()
                .map(|plan| match &plan.lines {
                    Ok(lines) => json!({ "statement": plan.name, "plan": lines }),
                    Err(why) => json!({ "statement": plan.name, "plan": null, "why": why }),
                })
                .collect();
            json!({
                "target": one.url, "product": one.identity.product, "version": one.identity.version,
                "statements": one.statements, "refused": refused, "plans": plans,
            })
        })
        .collect();
    Ok(json!({
        "name": own.name(), "digest": own.facts().digest, "about": own.about(), "writes": own.writes(), "deck": own.deck(), "engine": engine,
        "scale": own.scale(), "tables": own.tables().iter().map(table).collect::<Vec<_>>(),
        "transactions": transactions, "draws": draws, "drawn": drawn,
        "setup": own.setup(engine)?.len(), "drop": own.teardown(engine)?.len(),
        "invariants": own.invariants(engine, InvariantTiming::Run)?.iter().map(|one| &one.name).collect::<Vec<_>>(),
        "targets": targets,
    }))
}

fn table(table: &DescribedTable) -> Value {
    let columns: Vec<&str> = table.columns().iter().map(|column| column.name.as_str()).collect();
    json!({ "name": table.name(), "rows": table.rows(), "columns": columns })
}
