//! `dyno search`: finds the highest load that keeps latency limits.

use dyno_analyze::bracket::{self, SearchRange, SearchStep, SearchTally};
use dyno_analyze::conclusion::ConclusionFigures;
use dyno_campaign::search::{SearchDimension, search};
use dyno_plan::Plan;
use serde_json::json;

use super::dry_run::DryRun;
use crate::cli::{CommonArgs, SearchArgs};
use crate::console::Console;
use crate::exit::{Exit, usage};
use crate::{answers, context, event_messages, fleet};

pub(super) fn run(common: &CommonArgs, args: &SearchArgs, talk: &Console) -> anyhow::Result<Exit> {
    let common = &args.window.applied(common);
    let plan = context::plan(common)?;
    let over = args.over.into();
    let range = range(over, args)?;
    fleet::refuse_unfit(&args.hosts, &plan)?;
    if args.dry_run {
        talk.show("the loads of the search if each of them keeps the limits:\n")?;
        return dry_run(&plan, over, range).show(talk);
    }
    let finished =
        context::run_campaign_on_screen("search", common, (&args.marks, Some(&args.hosts)), talk, |ctx| {
            search(ctx, plan, &args.limit, over, range)
        })?;
    let Some((conclusion, ConclusionFigures::Search(figures))) =
        finished.conclusion.as_ref().map(|conclusion| (conclusion, &conclusion.figures))
    else {
        return Ok(Exit::Failed);
    };
    let if_found = |end: Option<u64>| end.filter(|_| figures.found);
    let answers = answers::for_records(&finished.records, std::slice::from_ref(conclusion));
    talk.json(&json!({
        "answers": answers, "search": finished.id, "limits": figures.limits, "over": figures.over, "found": figures.found,
        "holds": if_found(figures.holds), "breaks": if_found(figures.breaks), "loads": figures.loads,
        "line": conclusion.line, "next": conclusion.next,
    }))?;
    talk.show("\n")?;
    event_messages::show(&conclusion.line, 0, talk)?;
    talk.show(&format!("\n{}", dyno_report::answer_text(&answers, &talk.style())))?;
    conclusion.next_lines().iter().try_for_each(|line| event_messages::show(line, 2, talk))?;
    let id = &finished.id;
    let Some(why) = &finished.stopped else {
        talk.say(&format!("stored as {id}; `dyno show {id}` shows the full record"));
        return Ok(if figures.holds.is_none() { Exit::Invalid } else { Exit::Done });
    };
    let hint = match finished.records.is_empty() {
        true => "no run of it was stored".to_owned(),
        false => format!("its runs are stored: `dyno show {id}`"),
    };
    talk.error(&format!("{why}; nothing is found yet"), &hint);
    let exit = Exit::from(finished.worst);
    Ok(if exit == Exit::Interrupted { exit } else { Exit::Failed })
}

/// The loads that the search tries if all of them keep the limits.
fn dry_run(plan: &Plan, over: SearchDimension, range: SearchRange) -> DryRun {
    let mut tally = SearchTally::new();
    while let SearchStep::Run(load) = bracket::next(range, &tally) {
        let (kept, runs) = tally.get(&load).copied().unwrap_or_default();
        tally.insert(load, (kept + 1, runs + 1));
    }
    let steps = tally.iter().map(|(load, (_, runs))| match runs {
        1 => format!("{} {load}", over.name()),
        _ => format!("{} {load}, {runs} times", over.name()),
    });
    // The first load may already break the limits: then both bounds are as low as they can be.
    let seconds = dyno_campaign::nominal_s(plan).map(|seconds| (seconds * f64::from(range.confirm), None));
    DryRun { steps: steps.collect(), runs: (range.confirm as usize, None), seconds }
}

fn range(over: SearchDimension, args: &SearchArgs) -> anyhow::Result<SearchRange> {
    let (from, max, resolution_pct) = over.range();
    let from = args.from.unwrap_or(from);
    let max = args.max.unwrap_or(max.max(from));
    if from > max {
        return Err(usage(
            format!("--from {from} is above --max {max}"),
            "give a lower --from or a higher --max",
        ));
    }
    let resolution_pct = args.resolution.unwrap_or(resolution_pct);
    Ok(SearchRange { from, max, resolution_pct, confirm: args.confirm })
}
