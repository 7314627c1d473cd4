//! `dyno search`: the highest load that keeps limits of latency.

use dyno_analyze::bracket::Range;
use dyno_analyze::conclusion::Figures;
use dyno_campaign::search::{Over, search};
use serde_json::json;

use crate::cli::{Common, Search};
use crate::exit::{Exit, usage};
use crate::talk::Talk;
use crate::{answers, context, fleet, words};

pub(super) fn run(common: &Common, args: &Search, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let over = args.over.into();
    let range = range(over, args)?;
    fleet::refuse_unfit(&args.hosts, &plan)?;
    let ended = context::led_on_screen("search", common, (&args.marks, Some(&args.hosts)), talk, |lead| {
        search(lead, plan, &args.limit, over, range)
    })?;
    let Some((conclusion, Figures::Search(figures))) =
        ended.conclusion.as_ref().map(|conclusion| (conclusion, &conclusion.figures))
    else {
        return Ok(Exit::Failed);
    };
    let found = |end: Option<u64>| end.filter(|_| figures.found);
    let answers = answers::of(&ended.records, &[]);
    talk.json(&json!({
        "answers": answers, "search": ended.id, "limits": figures.limits, "over": figures.over, "found": figures.found,
        "holds": found(figures.holds), "breaks": found(figures.breaks), "loads": figures.loads,
        "line": conclusion.line,
    }))?;
    talk.show("\n")?;
    words::show(&conclusion.line, 0, talk)?;
    talk.show(&format!("\n{}", dyno_report::answer_text(&answers, &talk.style())))?;
    let id = &ended.id;
    let Some(why) = &ended.stopped else {
        talk.say(&format!("stored as {id}; `dyno show {id}` shows all of it"));
        return Ok(if figures.holds.is_none() { Exit::Invalid } else { Exit::Done });
    };
    let kept = match ended.records.is_empty() {
        true => "no run of it was stored".to_owned(),
        false => format!("its runs are kept: `dyno show {id}`"),
    };
    talk.error(&format!("{why}; nothing is found yet"), &kept);
    let exit = Exit::from(ended.worst);
    Ok(if exit == Exit::Interrupted { exit } else { Exit::Failed })
}

fn range(over: Over, args: &Search) -> anyhow::Result<Range> {
    let (from, max, resolution_pct) = over.range();
    let from = args.from.unwrap_or(from);
    let max = args.max.unwrap_or(max.max(from));
    if from > max {
        return Err(usage(
            format!("--from {from} lies above --max {max}"),
            "a lower --from, or a higher --max",
        ));
    }
    let resolution_pct = args.resolution.unwrap_or(resolution_pct);
    Ok(Range { from, max, resolution_pct, confirm: args.confirm })
}
