//! `dyno suite`: runs a catalog of tests.

use dyno_analyze::conclusion::ConclusionFigures;
use dyno_analyze::conclusion::suite::SuiteTestInfo;
use dyno_campaign::CampaignOutcome;
use dyno_campaign::suite::{SuiteCampaign, SuiteSelection, suite};
use dyno_report::suite_list;
use serde_json::json;

use super::dry_run::DryRun;
use crate::cli::{CommonArgs, MarkArgs, SuiteArgs, SuiteCommand, SuiteTestArgs};
use crate::console::Console;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};
use crate::{context, fleet};

pub(super) fn run(common: &CommonArgs, args: &SuiteArgs, talk: &Console) -> anyhow::Result<Exit> {
    if let Some(SuiteCommand::List(which)) = &args.command {
        return list(common, which, talk);
    }
    let order = match &args.resume {
        None => {
            let choice = SuiteSelection {
                depth: args.depth(),
                replace: args.replace,
                keep: args.keep_data,
                ..chosen(&args.which)
            };
            let target_count = common.target.len();
            let common = context::on_embedded_by_default(common);
            if let Some(url) = common.target.get(target_count) {
                talk.say(&format!("no plan and no --target: the suite runs on {url}"));
            }
            let mut common = with_sessions(&common);
            common.set.extend(args.database_only.then(|| "observe.host=driver".to_owned()));
            common.set.extend(args.drop_caches.then(|| "run.drop_page_cache=true".to_owned()));
            let labels = context::labels(&common, &args.marks);
            SuiteCampaign::new(context::plan(&common)?, choice, ENGINES.specs, labels)?
        }
        Some(selector) => resumed(common, selector.as_deref(), args)?,
    };
    fleet::refuse_unfit(&args.hosts, order.base())?;
    if args.dry_run {
        return dry_run(&order).show(talk);
    }
    match context::run_campaign_on_screen("suite", common, (&args.marks, Some(&args.hosts)), talk, |ctx| {
        suite(ctx, order.at_most(args.runs))
    })? {
        Some(concluded) => conclude(&concluded, talk),
        None => {
            talk.say("no runs remain: the suite is done");
            Ok(Exit::Done)
        }
    }
}

/// Tests set their own sessions, but a plan for several targets still needs one session for each.
fn with_sessions(common: &CommonArgs) -> CommonArgs {
    let mut common = common.clone();
    if common.target.len() > 1 {
        common.set.insert(0, format!("run.sessions_per_schema={}", common.target.len()));
    }
    common
}

fn chosen(selection: &SuiteTestArgs) -> SuiteSelection {
    let SuiteTestArgs { group, test, from } = selection.clone();
    SuiteSelection { groups: group, tests: test, from, ..SuiteSelection::default() }
}

fn resumed(common: &CommonArgs, selector: Option<&str>, args: &SuiteArgs) -> anyhow::Result<SuiteCampaign> {
    let is_more = args.which != SuiteTestArgs::default()
        || args.quick
        || args.full
        || args.replace
        || args.keep_data
        || args.database_only
        || args.drop_caches;
    if is_more || !common.set.is_empty() || !common.target.is_empty() || args.marks != MarkArgs::default() {
        return Err(usage(
            "a suite resumes with its original options",
            "leave the other options out, or begin another suite",
        ));
    }
    Ok(SuiteCampaign::resumed(&context::repository_to_read(common)?, selector, ENGINES.specs)?)
}

fn list(common: &CommonArgs, selection: &SuiteTestArgs, talk: &Console) -> anyhow::Result<Exit> {
    let plan = context::plan(&with_sessions(&context::on_embedded_by_default(common)))?;
    let order = SuiteCampaign::new(plan, chosen(selection), ENGINES.specs, (&MarkArgs::default()).into())?;
    let pages: Vec<&SuiteTestInfo> = order.pages().collect();
    talk.json(&json!({ "tests": pages }))?;
    talk.show(&suite_list(&pages, &talk.style()))?;
    Ok(Exit::Done)
}

/// The tests that would run; their throughput decides how far the load rises.
fn dry_run(order: &SuiteCampaign) -> DryRun {
    let tests = order.forecast();
    let steps = tests.iter().map(|(page, (least, most), _)| match (least, most) {
        (_, 1) => format!("{}: 1 run", page.id),
        (least, most) if least == most => format!("{}: {least} runs", page.id),
        (least, most) => format!("{}: {least} to {most} runs", page.id),
    });
    let total = |of: fn(&(usize, usize)) -> usize| tests.iter().map(|(_, runs, _)| of(runs)).sum::<usize>();
    let time = |of: fn(&(usize, usize)) -> usize| {
        tests.iter().map(|(_, runs, seconds)| seconds.unwrap_or(0.0) * of(runs) as f64).sum::<f64>()
    };
    let is_known = tests.iter().all(|(_, _, seconds)| seconds.is_some());
    let runs = (total(|runs| runs.0), Some(total(|runs| runs.1)));
    let seconds = Some((time(|runs| runs.0), is_known.then(|| time(|runs| runs.1))));
    DryRun { steps: steps.collect(), runs, seconds }
}

/// Shows the table of all tests and how the suite ended.
fn conclude(concluded: &CampaignOutcome, talk: &Console) -> anyhow::Result<Exit> {
    let conclusion = concluded.conclusion.as_ref();
    if let Some(conclusion) = conclusion {
        talk.show("\n")?;
        talk.show(&dyno_report::conclusion_text(conclusion, &talk.style()))?;
    }
    let figures = conclusion.map(|conclusion| &conclusion.figures);
    talk.json(&json!({
        "suite": concluded.id, "done": concluded.done,
        "line": conclusion.map(|conclusion| &conclusion.line),
        "next": conclusion.map(|conclusion| &conclusion.next),
        "tests": match figures { Some(ConclusionFigures::Suite(suite)) => Some(&suite.tests), _ => None },
    }))?;
    let id = &concluded.id;
    talk.say(&match &concluded.stopped {
        None if !concluded.done => {
            format!("the requested number of runs is done; `dyno suite --resume {id}` continues")
        }
        Some(why) => format!("{why}; every finished run is stored, and `dyno suite --resume {id}` continues"),
        None => format!("stored as {id}; `dyno show {id}` shows every step, `dyno report {id}` makes a page"),
    });
    Ok(concluded.worst.into())
}
