//! `dyno init --workload`: writes a folder with SQL of a custom workload.

use std::path::PathBuf;

use dyno_workload::custom::example::EXAMPLES;

use crate::cli::Init;
use crate::console::Console;
use crate::exit::{Exit, usage};

pub(super) fn run(name: &str, args: &Init, talk: &Console) -> anyhow::Result<Exit> {
    let example = EXAMPLES.iter().find(|example| example.name == name);
    let Some(example) = example else { return Err(usage(format!("unknown workload {name}"), "")) };
    let folder = args.dir.clone().unwrap_or_else(|| PathBuf::from(name));
    if let Some((there, _)) = example.files.iter().find(|(file, _)| !args.force && folder.join(file).exists())
    {
        return Err(usage(
            format!("{} already exists", folder.join(there).display()),
            "--force overwrites it; DIR after --workload NAME selects another folder",
        ));
    }
    std::fs::create_dir_all(&folder).map_err(|error| {
        usage(
            format!("{} cannot be created: {error}", folder.display()),
            "name another folder after --workload NAME",
        )
    })?;
    for (file, text) in example.files {
        super::new_file::write_new(&folder.join(file), text, args.force, "`--workload NAME DIR`")?;
    }
    let shown = folder.display();
    talk.json(&serde_json::json!({
        "workload": example.name, "folder": folder, "files": example.files.iter().map(|(file, _)| file).collect::<Vec<_>>(),
    }))?;
    talk.say(example.about);
    talk.say(&format!("wrote {shown}: edit it, then `dyno workload check {shown}`"));
    Ok(Exit::Done)
}
