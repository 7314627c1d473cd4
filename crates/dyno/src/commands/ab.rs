//! `dyno ab`: compares two sides in interleaved runs, so that drift affects both equally.

use dyno_campaign::ab::{AbPairs, AbSidePlan, AbTest, ServerSettingSides, ab, restore_settings, turns};
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
    if args.only_restore {
        return only_restore(common, args, talk);
    }
    let settings =
        args.setting.iter().map(|text| ServerSettingSides::read(text)).collect::<Result<Vec<_>, _>>()?;
    let side =
        |name, text| AbSidePlan::read(name, text, context::options(common), || context::plan_file(common));
    let text = |side: &Option<String>| side.clone().unwrap_or_default();
    let mut sides = [side("a", &text(&args.a))?, side("b", &text(&args.b))?];
    for side in &sides {
        fleet::refuse_unfit(&args.hosts, side.plan())?;
    }
    if settings.is_empty() {
        AbSidePlan::refuse_without_effect(&sides)?;
    }
    let pairs = if args.fixed { AbPairs::Fixed(args.pairs) } else { AbPairs::AtMost(args.pairs) };
    if args.dry_run {
        for setting in &settings {
            sides.iter_mut().zip(0..).for_each(|(plan, side)| plan.add_setting(setting, side));
        }
        return dry_run(&sides, pairs).show(talk);
    }
    let test = AbTest { sides, pairs, settings, restart_command: args.restart_command.clone() };
    let (ended, answer) =
        context::run_campaign_on_screen("ab", common, (&args.marks, Some(&args.hosts)), talk, |ctx| {
            ab(ctx, test, &judge)
        })?;
    let exit = Exit::from(ended.worst);
    let mut gates = Exit::Done;
    let answers = answers::for_sides(&answers::sides(&ended.records));
    if let Some(answer) = &answer {
        talk.show(&format!("\n{}\n", dyno_report::answer_text(&answers, &talk.style())))?;
        gates = compare::show(
            std::slice::from_ref(answer),
            compare::filter(false, std::slice::from_ref(answer)),
            talk,
        )?;
        talk.show("\n")?;
    }
    let conclusion = ended.conclusion.as_ref();
    if let Some(conclusion) = conclusion {
        event_messages::show(&conclusion.line, 0, talk)?;
        if let Some(stop) = conclusion.sequential_sentence() {
            event_messages::show(stop, 0, talk)?;
        }
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

/// Restores what an interrupted test left.
fn only_restore(common: &CommonArgs, args: &AbArgs, talk: &Console) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let was_open = context::run_campaign(common, &args.marks, talk, |ctx| {
        restore_settings(ctx, &plan, args.restart_command.as_deref())
    })?;
    talk.json(&json!({ "restored": was_open }))?;
    talk.say(if was_open {
        "the settings of the server are restored"
    } else {
        "there was nothing to restore"
    });
    Ok(Exit::Done)
}

/// The runs of both sides in their order, up to the most that the test may make.
fn dry_run(sides: &[AbSidePlan; 2], pairs: AbPairs) -> DryRun {
    let runs: Vec<(&AbSidePlan, u32)> = turns(pairs.max()).map(|(side, pair)| (&sides[side], pair)).collect();
    let nominal_s = |runs: &[(&AbSidePlan, u32)]| {
        runs.iter().map(|(side, _)| dyno_campaign::nominal_s(side.plan())).sum::<Option<f64>>()
    };
    let least = 2 * pairs.min() as usize;
    DryRun {
        steps: runs.iter().map(|(side, pair)| format!("pair {pair}  {side}")).collect(),
        runs: (least, Some(runs.len())),
        seconds: nominal_s(&runs[..least]).map(|least_s| (least_s, nominal_s(&runs))),
    }
}
