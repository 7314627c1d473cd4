//! `dyno init`: writes a commented plan file.

use std::path::Path;

use dyno_plan::{EngineSpec, READY, Ready, TargetUrl};
use dyno_workload::custom::example::EXAMPLES;
use serde_json::json;

use crate::cli::{CommonArgs, Init};
use crate::console::Console;
use crate::context;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &Init, talk: &Console) -> anyhow::Result<Exit> {
    if args.list {
        return list(talk);
    }
    if let Some(name) = &args.workload {
        return super::init_workload::run(name, args, talk);
    }
    let path = &common.plan;
    let ready = READY.iter().find(|ready| Some(ready.name) == args.ready.as_deref());
    let options = context::options(common);
    let engine = engine(args.engine, options.target.as_deref())?;
    let text = match ready {
        Some(ready) => ready_text(ready, engine, path),
        None if args.full => dyno_plan::template(engine),
        None => dyno_plan::short_template(engine),
    };
    let text = dyno_plan::with_options(&path.display().to_string(), &text, &options)?;
    super::new_file::write_new(path, &text, args.force, "--plan")?;
    talk.json(&json!({ "plan": path, "engine": engine.name, "ready": args.ready }))?;
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

/// `--list`: the plans and workloads that can be written, with their subjects.
fn list(talk: &Console) -> anyhow::Result<Exit> {
    let plans: Vec<(&str, String)> =
        READY.iter().map(|ready| (ready.name, ready.about().to_owned())).collect();
    let workloads: Vec<(&str, String)> =
        EXAMPLES.iter().map(|example| (example.name, example.about.to_owned())).collect();
    let as_json = |all: &[(&str, String)]| -> Vec<_> {
        all.iter().map(|(name, about)| json!({ "name": name, "about": about })).collect()
    };
    talk.json(&json!({ "ready": as_json(&plans), "workloads": as_json(&workloads) }))?;
    for (title, option, all) in [("plans", "--ready", &plans), ("workloads", "--workload", &workloads)] {
        talk.show(&format!("{title}: dyno init {option} NAME\n"))?;
        for (name, about) in all {
            talk.show(&format!("  {name:<22} {about}\n"))?;
        }
    }
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
