//! `dyno ab`: two sides by turns, so that drift meets both alike.

use dyno_campaign::ab::{Side, ab};
use serde_json::json;

use super::compare;
use crate::cli::{Ab, Common};
use crate::exit::Exit;
use crate::talk::Talk;
use crate::{answers, context, fleet, words};

pub(super) fn run(common: &Common, args: &Ab, talk: &Talk) -> anyhow::Result<Exit> {
    // A gate that cannot be read is found before the runs, not after them.
    let judge = args.rules.judge()?;
    let side = |name, text| Side::read(name, text, context::options(common), || context::plan_file(common));
    let sides = [side("a", &args.a)?, side("b", &args.b)?];
    for side in &sides {
        fleet::refuse_unfit(&args.hosts, side.plan())?;
    }
    let (ended, answer) =
        context::led_on_screen("ab", common, (&args.marks, Some(&args.hosts)), talk, |lead| {
            ab(lead, sides, args.pairs, &judge)
        })?;
    let exit = Exit::from(ended.worst);
    let mut gates = Exit::Done;
    let answers = answers::of_sides(&answers::sides(&ended.records));
    if let Some(answer) = &answer {
        talk.show(&format!("\n{}\n", dyno_report::answer_text(&answers, &talk.style())))?;
        gates = compare::show(std::slice::from_ref(answer), talk)?;
        talk.show("\n")?;
    }
    let conclusion = ended.conclusion.as_ref();
    if let Some(conclusion) = conclusion {
        words::show(&conclusion.line, 0, talk)?;
    }
    let ids = |side: &str| {
        let of = |part: &dyno_record::PartOf| part.side.as_deref() == Some(side);
        let own = ended.records.iter().filter(|record| record.part_of.as_ref().is_some_and(of));
        own.map(|record| record.id.as_str()).collect::<Vec<_>>()
    };
    talk.json(&json!({
        "answers": answers, "ab": ended.id, "done": ended.done, "a": ids("a"), "b": ids("b"), "comparison": answer,
        "line": conclusion.map(|conclusion| &conclusion.line),
        "findings": conclusion.map(|conclusion| &conclusion.words),
    }))?;
    talk.say(&format!("stored as {0}; `dyno show {0}` shows all of it", ended.id));
    Ok(if exit == Exit::Done { gates } else { exit })
}
