//! `dyno import statements`: drafts a workload from the top statements that a database has executed.

mod output;
mod report;

use std::path::Path;

use dyno_campaign::Error;
use dyno_engine::executed_statements::StatementQuery;
use dyno_import::statements::{DraftFacts, Picked, StatementPickOptions, WorkloadDraft, draft, pick};

use crate::cli::{CommonArgs, ImportStatements, MarkArgs};
use crate::commands::new_folder::{workload_name, write_folder};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &ImportStatements, talk: &Console) -> anyhow::Result<Exit> {
    let name = match &args.into {
        Some(into) => workload_name(args.name.as_deref(), into, "statements")?,
        None if args.name.is_some() => {
            return Err(usage("--name without a folder", "--sql-text --into DIR writes one"));
        }
        None => String::new(),
    };
    let options =
        StatementPickOptions { top: usize::from(args.top), min_calls: args.min_calls, system: args.system };
    let (picked, mut facts) = match &args.awr {
        Some(file) => of_report(common, args, file, &options)?,
        None => of_target(common, args, &options, talk)?,
    };
    facts.writes = args.writes;
    let made =
        args.into.as_ref().filter(|_| !picked.chosen.is_empty()).map(|_| draft(&name, &picked, &facts));
    if let (Some(into), Some(made)) = (&args.into, &made) {
        write_folder(into, &made.files, args.force)?;
    }
    talk.show(&output::tables(&picked, &facts.types, args.sql_text, &talk.style()))?;
    talk.json(&output::as_json(&picked, &facts.types, args, made.as_ref()))?;
    if picked.chosen.is_empty() {
        let hint = match args.awr.is_some() {
            true => {
                "an HTML report lists top SQL with complete texts; --min-calls and --system select statements"
            }
            false => "let the application work for a while; --min-calls and --system select statements",
        };
        return Err(Error::usage("no statement remains that a workload can contain", hint).into());
    }
    say(args, &picked, made.as_ref(), talk);
    Ok(Exit::Done)
}

fn of_target(
    common: &CommonArgs,
    args: &ImportStatements,
    options: &StatementPickOptions,
    talk: &Console,
) -> anyhow::Result<(Picked, DraftFacts)> {
    let plan = context::plan(common)?;
    let filter = StatementQuery { order: args.order, schema: args.schema.clone(), user: args.user.clone() };
    context::run_campaign(common, &MarkArgs::default(), talk, |ctx| {
        dyno_campaign::seen(ctx, &plan, &filter, options, args.into.is_some())
    })
}

fn of_report(
    common: &CommonArgs,
    args: &ImportStatements,
    file: &Path,
    options: &StatementPickOptions,
) -> anyhow::Result<(Picked, DraftFacts)> {
    if !common.set.is_empty() || !common.target.is_empty() {
        return Err(usage(
            "--set and --target are not allowed with --awr",
            "use either the target or the report",
        ));
    }
    let picked = pick(report::read_statements(file, args.order)?, options);
    Ok((picked, DraftFacts::default()))
}

fn say(args: &ImportStatements, picked: &Picked, made: Option<&WorkloadDraft>, talk: &Console) {
    let Some((into, made)) = args.into.as_ref().zip(made) else {
        talk.say(
            "texts may contain secrets in literals and names: --sql-text shows them, and with --into DIR \
                writes a workload",
        );
        return;
    };
    let shown = into.display();
    talk.say(&format!(
        "wrote {shown}: it contains the texts of statements ({}), whose literals and names may be secrets",
        picked.chosen.len()
    ));
    if made.undrawn > 0 {
        talk.say(&format!(
            "to do: {} values have no generator; in {shown}/workload.toml, replace each `todo`",
            made.undrawn
        ));
    }
    if made.doubtful > 0 {
        talk.say(&format!(
            "{} generators may not draw what the application does; {shown}/workload.toml has the reason after \
                each `check`",
            made.doubtful
        ));
    }
    let writers: Vec<&str> =
        picked.chosen.iter().filter(|one| one.writes).map(|one| one.name.as_str()).collect();
    if !writers.is_empty() {
        let allowed = match args.writes {
            true => "the workload may write",
            false => "they run only with `writes = true` in workload.toml, which --writes sets",
        };
        talk.say(&format!("these statements write: {}; {allowed}", writers.join(", ")));
    }
    let target = if args.awr.is_some() { "--target URL" } else { "the same --target" };
    talk.say(&format!(
        "`dyno workload check {shown}` lists the remaining work; with {target} every statement is prepared \
            there"
    ));
}
