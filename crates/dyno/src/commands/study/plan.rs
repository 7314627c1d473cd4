//! `dyno study plan`: shows every command in execution order.

use dyno_campaign::study::{StudyDefinition, steps};
use dyno_plan::study::Need;
use serde_json::json;

use crate::console::Console;
use crate::exit::Exit;

pub(super) fn show(order: &StudyDefinition, talk: &Console) -> anyhow::Result<Exit> {
    let study = &order.study;
    let (legs, steps) = (order.legs(), steps(order));
    let text = steps.iter().map(|(when, what)| match what.is_empty() {
        true => format!("{when}\n"),
        false => format!("  {when:<11} {what}\n"),
    });
    talk.json(&json!({
        "study": study, "legs": legs,
        "steps": steps.iter().map(|(when, what)| json!({ "when": when, "what": what })).collect::<Vec<_>>(),
    }))?;
    talk.show(&text.collect::<String>())?;
    let params =
        study.params.iter().map(|(name, value)| format!("{name} = {value:?}")).collect::<Vec<_>>().join(", ");
    if !params.is_empty() {
        talk.say(&format!("parameters (--param): {params}"));
    }
    let needs: Vec<&str> = Need::ALL
        .into_iter()
        .filter(|need| study.variants.iter().any(|of| of.needs(*need)))
        .map(Need::name)
        .collect();
    if !needs.is_empty() {
        talk.say(&format!("it needs: {}", needs.join(", ")));
    }
    talk.say(&format!("{}; nothing was run", study.state.words()));
    Ok(Exit::Done)
}
