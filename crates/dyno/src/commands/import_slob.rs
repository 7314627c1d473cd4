//! `dyno import-slob`: a plan from the configuration of SLOB or pgio.

use std::path::Path;

use dyno_plan::conf::{self, Fate, Imported, Note};
use dyno_plan::{PlanErrors, PlanFile};

use crate::cli::{Common, ImportSlob};
use crate::context;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &ImportSlob, talk: &Talk) -> anyhow::Result<Exit> {
    if !common.set.is_empty() {
        return Err(usage(
            "--set does not go with import-slob",
            "give it to `dyno run`, or change the plan that is written",
        ));
    }
    let (target, further) = context::targets(common);
    if !further.is_empty() {
        return Err(usage(
            "import-slob writes a plan for one target",
            "give --target once, and write target.urls into the plan",
        ));
    }
    let file = PlanFile::open_configuration(&args.file)?;
    let options = conf::Options {
        engines: ENGINES.specs,
        kit: args.kit,
        target,
        schemas: args.schemas,
        sessions: args.sessions,
        lenient: args.lenient,
    };
    let imported = conf::import(&file, &options).map_err(|errors| hinted(&errors, &file, &options, talk))?;
    match &args.output {
        Some(path) => super::new_file::write_new(path, &imported.text, args.force, "--output")?,
        None => talk.hand_over(&imported.text)?,
    }
    talk.json(&serde_json::json!({
        "kit": imported.kit.name(),
        "plan": args.output,
        "text": imported.text,
        "parameters": imported.notes,
        "skipped": imported.skipped.errors,
    }))?;
    say(&imported, args.output.as_deref(), talk);
    Ok(Exit::Done)
}

/// The errors of a file; says where leaving out what is not understood would do.
fn hinted(errors: &PlanErrors, file: &PlanFile, options: &conf::Options, talk: &Talk) -> PlanErrors {
    let lenient = conf::Options { lenient: true, ..options.clone() };
    if !options.lenient && conf::import(file, &lenient).is_ok() {
        talk.say("--lenient leaves these lines out; what they would have set is then the default");
    }
    errors.clone()
}

/// What to look at before the plan is run.
fn say(imported: &Imported, output: Option<&Path>, talk: &Talk) {
    for skipped in &imported.skipped.errors {
        talk.say(&format!("warning: left out: {skipped}"));
    }
    if imported.skipped.more > 0 {
        talk.say(&format!("warning: left out: {} more", imported.skipped.more));
    }
    let count = |fate: Fate| imported.notes.iter().filter(|note| note.fate == fate).count();
    let lost = imported.notes.iter().filter(|note| note.fate == Fate::None && note.line.is_some());
    for Note { parameter, line, words, .. } in lost {
        let place = line.map_or_else(String::new, |line| format!("line {line}: "));
        talk.detail(&format!("{place}{parameter} has no counterpart. {words}"));
    }
    let wrote = output.map_or_else(|| "a plan".to_owned(), |path| format!("wrote {}", path.display()));
    talk.say(&format!(
        "{wrote}, made from {}; parameters that say the same: {}, that differ by design: {}, without counterpart: {}; each has its comment",
        imported.kit.name(),
        count(Fate::Maps),
        count(Fate::Differs),
        count(Fate::None),
    ));
    if output.is_some() {
        talk.say(&format!("look at target.url ({}), then `dyno check`", imported.plan.target.url));
    }
}
