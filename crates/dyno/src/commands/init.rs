//! `dyno init`: a commented plan file.

use dyno_plan::{Engine, PlanSource, READY, TargetUrl};

use crate::cli::{Common, Init};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Init, talk: &Talk) -> anyhow::Result<Exit> {
    let path = &common.plan;
    let ready = READY.iter().find(|ready| Some(ready.name) == args.ready.as_deref());
    let (target, further_targets) = context::targets(common);
    let engine = engine(args.engine, target.as_deref())?;
    let text = ready.map_or_else(|| dyno_plan::template(engine), |ready| ready.for_engine(engine));
    let options = PlanSource { file: None, sets: common.set.clone(), target, further_targets };
    let text = dyno_plan::with_options(&path.display().to_string(), &text, &options)?;
    super::new_file::write_new(path, &text, args.force, "--plan")?;
    talk.json(&serde_json::json!({ "plan": path, "engine": engine.name(), "ready": args.ready }))?;
    let next = match ready {
        Some(ready) => {
            talk.say(ready.about());
            "edit it: what it answers and how to run it stands at its top"
        }
        None if engine.is_server() => {
            "edit it, have an administrator run what `dyno check --grants` prints, then `dyno check`, `dyno load`, `dyno run`"
        }
        None => "edit it, then `dyno check`, `dyno load`, `dyno run`",
    };
    talk.say(&format!("wrote {}: {next}", path.display()));
    Ok(Exit::Done)
}

/// The engine that is asked for, which has to be that of the target where both are named.
fn engine(asked: Option<Engine>, target: Option<&str>) -> anyhow::Result<Engine> {
    // What is wrong with a URL is told with the other options.
    let of_target = target.and_then(|url| url.parse::<TargetUrl>().ok()).and_then(|url| Engine::of(&url));
    match (asked, of_target) {
        (Some(asked), Some(of_target)) if asked != of_target => Err(usage(
            format!("--engine is {asked}, and --target names a database of {of_target}"),
            "leave --engine out: the plan is then for the engine of the target".to_owned(),
        )),
        (asked, of_target) => Ok(asked.or(of_target).unwrap_or(Engine::Sqlite)),
    }
}
