//! `dyno init`: a commented plan file.

use dyno_plan::READY;

use crate::cli::{Common, Init};
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Init, talk: &Talk) -> anyhow::Result<Exit> {
    let path = &common.plan;
    let ready = READY.iter().find(|ready| Some(ready.name) == args.ready.as_deref());
    let text = ready.map_or_else(|| dyno_plan::template(args.engine), |ready| ready.for_engine(args.engine));
    super::write_new(path, &text, args.force, "--plan")?;
    talk.json(&serde_json::json!({ "plan": path, "engine": args.engine.name(), "ready": args.ready }))?;
    let next = match ready {
        Some(ready) => {
            talk.say(ready.about());
            "edit it: what it answers and how to run it stands at its top"
        }
        None if args.engine.is_server() => {
            "edit it, have an administrator run what `dyno check --grants` prints, then `dyno check`, `dyno load`, `dyno run`"
        }
        None => "edit it, then `dyno check`, `dyno load`, `dyno run`",
    };
    talk.say(&format!("wrote {}: {next}", path.display()));
    Ok(Exit::Done)
}
