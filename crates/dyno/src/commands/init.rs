//! `dyno init`: writes a commented plan file.

use std::path::Path;

use dyno_plan::{EngineSpec, READY, Ready, TargetUrl};

use crate::cli::{CommonArgs, Init};
use crate::console::Console;
use crate::context;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &Init, talk: &Console) -> anyhow::Result<Exit> {
    if let Some(name) = &args.workload {
        return super::init_workload::run(name, args, talk);
    }
    let path = &common.plan;
    let ready = READY.iter().find(|ready| Some(ready.name) == args.ready.as_deref());
    let options = context::options(common);
    let engine = engine(args.engine, options.target.as_deref())?;
    let text = ready.map_or_else(|| dyno_plan::template(engine), |ready| ready_text(ready, engine, path));
    let text = dyno_plan::with_options(&path.display().to_string(), &text, &options)?;
    super::new_file::write_new(path, &text, args.force, "--plan")?;
    talk.json(&serde_json::json!({ "plan": path, "engine": engine.name, "ready": args.ready }))?;
    let next = match ready {
        Some(ready) => {
            talk.say(ready.about());
            "edit it; its header states its purpose and how to run it"
        }
        None if engine.is_server() => {
            "edit it, have an administrator run what `dyno check --grants` prints, then `dyno check`, `dyno load`, `dyno run`"
        }
        None => "edit it, then `dyno check`, `dyno load`, `dyno run`",
    };
    talk.say(&format!("wrote {}: {next}", path.display()));
    Ok(Exit::Done)
}

/// The text of a built-in plan for `engine`; the commands in its header name the written file.
fn ready_text(ready: &Ready, engine: &EngineSpec, path: &Path) -> String {
    let text = ready.for_engine(engine);
    // A path with white space would need quotes, and a line break would end the comment.
    match path.to_str().filter(|path| !path.contains(char::is_whitespace)) {
        Some(path) => text.replace(&format!("--plan {}.toml", ready.name), &format!("--plan {path}")),
        None => text,
    }
}

/// The requested engine, which must match the target's if both are named; by default the first engine.
fn engine(
    requested: Option<&'static EngineSpec>,
    target: Option<&str>,
) -> anyhow::Result<&'static EngineSpec> {
    let engines = ENGINES.specs;
    // An invalid URL is reported with the other options.
    let of_target = target.and_then(|url| engines.spec_of(&TargetUrl::read(url, engines).ok()?));
    match (requested, of_target) {
        (Some(asked), Some(of_target)) if asked.name != of_target.name => Err(usage(
            format!("--engine is {}, and --target names a database of {}", asked.name, of_target.name),
            "leave --engine out: the plan is then for the engine of the target".to_owned(),
        )),
        (asked, of_target) => {
            let first = asked.or(of_target).or(engines.0.first());
            first.ok_or_else(|| usage("this program was built without engines", ""))
        }
    }
}
