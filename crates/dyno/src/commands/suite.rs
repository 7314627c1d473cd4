//! `dyno suite`: a catalogue of tests.

use dyno_analyze::conclusion::Figures;
use dyno_analyze::conclusion::suite::Page;
use dyno_campaign::Concluded;
use dyno_campaign::suite::{Choice, Order, suite};
use dyno_report::suite_list;
use serde_json::json;

use crate::cli::{Common, Marks, Suite, SuiteCommand, Which};
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};
use crate::talk::Talk;
use crate::{context, fleet};

pub(super) fn run(common: &Common, args: &Suite, talk: &Talk) -> anyhow::Result<Exit> {
    if let Some(SuiteCommand::List(which)) = &args.command {
        return list(common, which, talk);
    }
    let order = match &args.resume {
        None => {
            let choice = Choice {
                depth: args.depth(),
                replace: args.replace,
                keep: args.keep_data,
                ..chosen(&args.which)
            };
            let given = common.target.len();
            let common = context::on_embedded_by_default(common);
            if let Some(url) = common.target.get(given) {
                talk.say(&format!("no plan and no --target: the suite runs on {url}"));
            }
            let mut common = with_sessions(&common);
            common.set.extend(args.database_only.then(|| "observe.host=driver".to_owned()));
            common.set.extend(args.drop_caches.then(|| "run.drop_page_cache=true".to_owned()));
            Order::new(context::plan(&common)?, choice, ENGINES.specs, (&args.marks).into())?
        }
        Some(selector) => resumed(common, selector.as_deref(), args)?,
    };
    fleet::refuse_unfit(&args.hosts, order.base())?;
    match context::led_on_screen("suite", common, (&args.marks, Some(&args.hosts)), talk, |lead| {
        suite(lead, order.at_most(args.runs))
    })? {
        Some(concluded) => conclude(&concluded, talk),
        None => {
            talk.say("nothing is left to run: the suite is done");
            Ok(Exit::Done)
        }
    }
}

/// Tests bring their own sessions; a plan has to have one for each of several targets all the same.
fn with_sessions(common: &Common) -> Common {
    let mut common = common.clone();
    if common.target.len() > 1 {
        common.set.insert(0, format!("run.sessions_per_schema={}", common.target.len()));
    }
    common
}

fn chosen(which: &Which) -> Choice {
    let Which { group, test, from } = which.clone();
    Choice { groups: group, tests: test, from, ..Choice::default() }
}

fn resumed(common: &Common, selector: Option<&str>, args: &Suite) -> anyhow::Result<Order> {
    let is_more = args.which != Which::default()
        || args.quick
        || args.full
        || args.replace
        || args.keep_data
        || args.database_only
        || args.drop_caches;
    if is_more || !common.set.is_empty() || !common.target.is_empty() || args.marks != Marks::default() {
        return Err(usage(
            "a suite goes on with what it began with",
            "leave the other options out, or begin another suite",
        ));
    }
    Ok(Order::resumed(&context::repository_to_read(common)?, selector, ENGINES.specs)?)
}

fn list(common: &Common, which: &Which, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(&with_sessions(&context::on_embedded_by_default(common)))?;
    let order = Order::new(plan, chosen(which), ENGINES.specs, (&Marks::default()).into())?;
    let pages: Vec<&Page> = order.pages().collect();
    talk.json(&json!({ "tests": pages }))?;
    talk.show(&suite_list(&pages, &talk.style()))?;
    Ok(Exit::Done)
}

/// The table of all tests, and how it ended.
fn conclude(concluded: &Concluded, talk: &Talk) -> anyhow::Result<Exit> {
    let conclusion = concluded.conclusion.as_ref();
    if let Some(conclusion) = conclusion {
        talk.show("\n")?;
        talk.show(&dyno_report::conclusion_text(conclusion, &talk.style()))?;
    }
    let figures = conclusion.map(|conclusion| &conclusion.figures);
    talk.json(&json!({
        "suite": concluded.id, "done": concluded.done,
        "line": conclusion.map(|conclusion| &conclusion.line),
        "tests": match figures { Some(Figures::Suite(suite)) => Some(&suite.tests), _ => None },
    }))?;
    let id = &concluded.id;
    talk.say(&match &concluded.stopped {
        None if !concluded.done => {
            format!("as many runs as asked for were made; `dyno suite --resume {id}` goes on")
        }
        Some(why) => format!("{why}; every finished run is kept, and `dyno suite --resume {id}` goes on"),
        None => format!("stored as {id}; `dyno show {id}` shows every step, `dyno report {id}` makes a page"),
    });
    Ok(concluded.worst.into())
}
