//! `dyno search`: finds the highest load that keeps latency limits.

use dyno_analyze::bracket::SearchRange;
use dyno_analyze::conclusion::ConclusionFigures;
use dyno_campaign::search::{SearchDimension, search};
use serde_json::json;

use crate::cli::{CommonArgs, SearchArgs};
use crate::console::Console;
use crate::exit::{Exit, usage};
use crate::{answers, context, event_messages, fleet};

pub(super) fn run(common: &CommonArgs, args: &SearchArgs, talk: &Console) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let over = args.over.into();
    let range = range(over, args)?;
    fleet::refuse_unfit(&args.hosts, &plan)?;
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
        "line": conclusion.line,
    }))?;
    talk.show("\n")?;
    event_messages::show(&conclusion.line, 0, talk)?;
    talk.show(&format!("\n{}", dyno_report::answer_text(&answers, &talk.style())))?;
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
