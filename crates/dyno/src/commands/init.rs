//! `dyno init`: a commented plan file.

use std::io::Write;

use crate::cli::{Common, Init};
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Init, talk: &Talk) -> anyhow::Result<Exit> {
    let path = &common.plan;
    let text = dyno_plan::template(args.engine);
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    let options = if args.force { options.create(true).truncate(true) } else { options.create_new(true) };
    let mut file = options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => usage(
            format!("{} is there already", path.display()),
            "--force overwrites it, --plan FILE writes another",
        ),
        _ => usage(format!("{} cannot be written: {error}", path.display()), "name another file with --plan"),
    })?;
    file.write_all(text.as_bytes())?;
    talk.json(&serde_json::json!({ "plan": path, "engine": args.engine.name() }))?;
    talk.say(&format!("wrote {}: edit it, then `dyno check`, `dyno load`, `dyno run`", path.display()));
    Ok(Exit::Done)
}
