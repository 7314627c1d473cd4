//! `dyno import pgbench`: converts pgbench scripts to a workload.

use std::io::Read as _;

use dyno_import::pgbench::{BUILTINS, ImportedWorkload, PgbenchOptions, PgbenchScript, builtin, import};
use dyno_plan::PlanErrors;

use crate::cli::{CommonArgs, ImportPgbench};
use crate::commands::new_folder::{workload_name, write_folder};
use crate::console::Console;
use crate::exit::{Exit, usage};

/// Maximum bytes of a script.
const BYTES_MAX: u64 = 4 << 20;

pub(super) fn run(common: &CommonArgs, args: &ImportPgbench, talk: &Console) -> anyhow::Result<Exit> {
    if !common.set.is_empty() || !common.target.is_empty() {
        return Err(usage(
            "--set and --target are not allowed with import pgbench",
            "give them to `dyno load` and `dyno run` together with the new folder",
        ));
    }
    let mut scripts = Vec::new();
    for name in &args.builtin {
        scripts.push(built_in(name)?);
    }
    for name in &args.files {
        scripts.push(script(name)?);
    }
    let options = PgbenchOptions {
        name: workload_name(args.name.as_deref(), &args.into, "pgbench")?,
        scale: args.scale,
        tables: !args.no_tables,
        variables: variables(&args.define)?,
    };
    let imported = import(&scripts, &options).map_err(PlanErrors::from)?;
    write_folder(&args.into, &imported.files, args.force)?;
    talk.json(&serde_json::json!({
        "workload": imported.workload.name(),
        "folder": args.into,
        "files": imported.files.iter().map(|(file, _)| file).collect::<Vec<_>>(),
        "differs": imported.notes,
    }))?;
    say(args, &imported, talk);
    Ok(Exit::Done)
}

/// A script and its weight: the number after the last @, if there is one.
fn weighted(name: &str) -> anyhow::Result<(&str, u32)> {
    let Some((before, weight)) = name.rsplit_once('@') else { return Ok((name, 1)) };
    match weight.parse::<u32>() {
        Ok(weight) if weight <= 1_000_000 && !before.is_empty() => Ok((before, weight)),
        _ => Err(usage(
            format!("invalid weight {weight} for {before}"),
            "write an integer from 0 to 1000000 after the @; a file name with an @ needs a weight",
        )),
    }
}

fn built_in(name: &str) -> anyhow::Result<PgbenchScript> {
    let (name, weight) = weighted(name)?;
    match builtin(name) {
        Some(found) => Ok(PgbenchScript {
            name: found.name.to_owned(),
            text: found.script.to_owned(),
            weight,
            is_builtin: true,
        }),
        None => {
            let script_names: Vec<&str> = BUILTINS.iter().map(|known| known.name).collect();
            Err(usage(
                format!("unknown built-in script {name}"),
                format!("use one of {}", script_names.join(", ")),
            ))
        }
    }
}

fn script(name: &str) -> anyhow::Result<PgbenchScript> {
    let (name, weight) = weighted(name)?;
    let refuse = |problem: String, hint: &str| Err(usage(format!("{name}: {problem}"), hint));
    let mut bytes = Vec::new();
    let read = std::fs::File::open(name).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return refuse(
            format!("cannot be read: {error}"),
            "name a pgbench script, or a built-in script with --builtin",
        );
    }
    if bytes.len() as u64 > BYTES_MAX {
        return refuse("it is larger than 4 MiB".to_owned(), "name a pgbench script");
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(PgbenchScript { name: name.to_owned(), text, weight, is_builtin: false }),
        Err(_) => refuse("the text is not UTF-8".to_owned(), "save the file in UTF-8"),
    }
}

fn variables(defined: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let parse_definition = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(usage(format!("-D {text}: no value"), "write -D NAME=VALUE")),
    };
    defined.iter().map(parse_definition).collect()
}

fn say(args: &ImportPgbench, imported: &ImportedWorkload, talk: &Console) {
    let shown = args.into.display();
    for note in &imported.notes {
        talk.say(&format!("differs: {note}"));
    }
    let tables = match imported.tables {
        true => format!(" with pgbench's tables for a scale of {}", args.scale),
        false => String::new(),
    };
    talk.say(&format!("wrote {shown}{tables}: `dyno workload check {shown}` shows what it does"));
    if imported.tables {
        talk.say(&format!(
            "`dyno load --set workload.folder={shown}` creates the tables; --no-tables uses those of \
                `pgbench -i`"
        ));
    }
}
