//! `dyno init`: a commented plan file.

use crate::cli::{Common, Init};
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Init, talk: &Talk) -> anyhow::Result<Exit> {
    let path = &common.plan;
    let text = dyno_plan::template(args.engine);
    super::write_new(path, &text, args.force, "--plan")?;
    talk.json(&serde_json::json!({ "plan": path, "engine": args.engine.name() }))?;
    talk.say(&format!("wrote {}: edit it, then `dyno check`, `dyno load`, `dyno run`", path.display()));
    Ok(Exit::Done)
}
