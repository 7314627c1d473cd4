//! `dyno import-pgbench`: a workload from scripts of pgbench.

use std::io::Read as _;
use std::path::Path;

use dyno_plan::PlanErrors;
use dyno_workload::own::pgbench::{BUILTINS, Imported, Options, Script, builtin, import};

use crate::cli::{Common, ImportPgbench};
use crate::exit::{Exit, usage};
use crate::talk::Talk;

/// Bytes of a script, at most.
const BYTES_MAX: u64 = 4 << 20;

pub(super) fn run(common: &Common, args: &ImportPgbench, talk: &Talk) -> anyhow::Result<Exit> {
    if !common.set.is_empty() || !common.target.is_empty() {
        return Err(usage(
            "--set and --target do not go with import-pgbench",
            "give them to `dyno load` and `dyno run` with the folder that is written",
        ));
    }
    let mut scripts = Vec::new();
    for name in &args.builtin {
        scripts.push(built_in(name)?);
    }
    for name in &args.files {
        scripts.push(script(name)?);
    }
    let options = Options {
        name: name(args)?,
        scale: args.scale,
        tables: !args.no_tables,
        variables: variables(&args.define)?,
    };
    let imported = import(&scripts, &options).map_err(PlanErrors::from)?;
    write(args, &imported)?;
    talk.json(&serde_json::json!({
        "workload": imported.own.name(),
        "folder": args.into,
        "files": imported.files.iter().map(|(file, _)| file).collect::<Vec<_>>(),
        "differs": imported.notes,
    }))?;
    say(args, &imported, talk);
    Ok(Exit::Done)
}

/// A script and its weight: what stands behind the last @, where that is a number.
fn weighted(name: &str) -> anyhow::Result<(&str, u32)> {
    let Some((before, weight)) = name.rsplit_once('@') else { return Ok((name, 1)) };
    match weight.parse::<u32>() {
        Ok(weight) if weight <= 1_000_000 && !before.is_empty() => Ok((before, weight)),
        _ => Err(usage(
            format!("{weight} is no weight for {before}"),
            "a whole number from 0 to 1000000 stands behind the @; a name with an @ has one behind it, too",
        )),
    }
}

fn built_in(name: &str) -> anyhow::Result<Script> {
    let (name, weight) = weighted(name)?;
    match builtin(name) {
        Some(found) => Ok(Script {
            name: found.name.to_owned(),
            text: found.script.to_owned(),
            weight,
            is_builtin: true,
        }),
        None => {
            let known: Vec<&str> = BUILTINS.iter().map(|known| known.name).collect();
            Err(usage(format!("no script {name} is built in"), format!("there are: {}", known.join(", "))))
        }
    }
}

fn script(name: &str) -> anyhow::Result<Script> {
    let (name, weight) = weighted(name)?;
    let refuse = |problem: String, hint: &str| Err(usage(format!("{name}: {problem}"), hint));
    let mut bytes = Vec::new();
    let read = std::fs::File::open(name).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return refuse(
            format!("it cannot be read: {error}"),
            "name a script of pgbench, or one that is built in with --builtin",
        );
    }
    if bytes.len() as u64 > BYTES_MAX {
        return refuse("it is larger than 4 MiB".to_owned(), "a script has some lines");
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Script { name: name.to_owned(), text, weight, is_builtin: false }),
        Err(_) => refuse("the text is not UTF-8".to_owned(), "save the file in UTF-8"),
    }
}

fn variables(defined: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let one = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(usage(format!("-D {text}: no value"), "write -D NAME=VALUE")),
    };
    defined.iter().map(one).collect()
}

/// The workload's name: the folder's, with what a name may have.
fn name(args: &ImportPgbench) -> anyhow::Result<String> {
    let of_folder = || {
        let last = args.into.file_name().and_then(|name| name.to_str()).unwrap_or("pgbench");
        let plain: String = last
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
            .take(40)
            .collect();
        if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { "pgbench".to_owned() }
    };
    match &args.name {
        None => Ok(of_folder()),
        Some(name) => {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
            let fits = name.len() <= 40
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.bytes().all(plain);
            if fits {
                return Ok(name.clone());
            }
            Err(usage(
                format!("{name} is no name for a workload"),
                "letters, digits, - and _, a letter first, 40 at most",
            ))
        }
    }
}

fn write(args: &ImportPgbench, imported: &Imported) -> anyhow::Result<()> {
    let folder: &Path = &args.into;
    let there = |file: &str| !args.force && folder.join(file).exists();
    if let Some((file, _)) = imported.files.iter().find(|(file, _)| there(file)) {
        return Err(usage(
            format!("{} is there already", folder.join(file).display()),
            "--force overwrites it, another DIR behind --into takes a folder of its own",
        ));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        usage(format!("{} cannot be made: {error}", folder.display()), "name another folder behind --into")
    })?;
    for (file, text) in &imported.files {
        super::new_file::write_new(&folder.join(file), text, args.force, "--into")?;
    }
    Ok(())
}

fn say(args: &ImportPgbench, imported: &Imported, talk: &Talk) {
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
            "`dyno load --set workload.folder={shown}` makes the tables; --no-tables takes those of `pgbench -i`"
        ));
    }
}
