//! `dyno ab`: compares two sides in interleaved runs, so that drift affects both equally.

use dyno_campaign::ab::{AbSidePlan, ab, turns};
use serde_json::json;

use super::compare;
use super::dry_run::DryRun;
use crate::cli::{AbArgs, CommonArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::{answers, context, event_messages, fleet};

pub(super) fn run(common: &CommonArgs, args: &AbArgs, talk: &Console) -> anyhow::Result<Exit> {
    let common = &args.window.applied(common);
    // An invalid gate is reported before the runs, not after them.
    let judge = args.rules.judge()?;
    let side =
        |name, text| AbSidePlan::read(name, text, context::options(common), || context::plan_file(common));
    let sides = [side("a", &args.a)?, side("b", &args.b)?];
    for side in &sides {
        fleet::refuse_unfit(&args.hosts, side.plan())?;
    }
    if args.dry_run {
        return dry_run(&sides, args.pairs).show(talk);
    }
    let (ended, answer) =
        context::run_campaign_on_screen("ab", common, (&args.marks, Some(&args.hosts)), talk, |ctx| {
            ab(ctx, sides, args.pairs, &judge)
        })?;
    let exit = Exit::from(ended.worst);
    let mut gates = Exit::Done;
    let answers = answers::for_sides(&answers::sides(&ended.records));
    if let Some(answer) = &answer {
        talk.show(&format!("\n{}\n", dyno_report::answer_text(&answers, &talk.style())))?;
        gates = compare::show(std::slice::from_ref(answer), talk)?;
        talk.show("\n")?;
    }
    let conclusion = ended.conclusion.as_ref();
    if let Some(conclusion) = conclusion {
        event_messages::show(&conclusion.line, 0, talk)?;
        conclusion.next_lines().iter().try_for_each(|line| event_messages::show(line, 0, talk))?;
    }
    let ids = |side: &str| {
        let is_on_side = |part: &dyno_record::PartOf| part.side.as_deref() == Some(side);
        let side_records =
            ended.records.iter().filter(|record| record.part_of.as_ref().is_some_and(is_on_side));
        side_records.map(|record| record.id.as_str()).collect::<Vec<_>>()
    };
    talk.json(&json!({
        "answers": answers, "ab": ended.id, "done": ended.done, "a": ids("a"), "b": ids("b"), "comparison": answer,
        "line": conclusion.map(|conclusion| &conclusion.line),
        "findings": conclusion.map(|conclusion| &conclusion.words),
        "next": conclusion.map(|conclusion| &conclusion.next),
    }))?;
    talk.say(&format!("stored as {0}; `dyno show {0}` shows the full record", ended.id));
    Ok(if exit == Exit::Done { gates } else { exit })
}

/// The runs of both sides in their order.
fn dry_run(sides: &[AbSidePlan; 2], pairs: u32) -> DryRun {
    let runs: Vec<(&AbSidePlan, u32)> = turns(pairs).map(|(side, pair)| (&sides[side], pair)).collect();
    let seconds = runs.iter().map(|(side, _)| dyno_campaign::nominal_s(side.plan())).sum();
    DryRun::of(runs.iter().map(|(side, pair)| format!("pair {pair}  {side}")).collect(), seconds)
}
