//! `dyno import slob`: converts a SLOB or pgio configuration to a plan.

use std::path::Path;

use dyno_import::kits::{self, ImportedPlan, ParameterMapping, ParameterNote};
use dyno_plan::{PlanErrors, PlanFile};

use crate::cli::{CommonArgs, ImportSlob};
use crate::console::Console;
use crate::context;
use crate::engines::ENGINES;
use crate::exit::{Exit, usage};

pub(super) fn run(common: &CommonArgs, args: &ImportSlob, talk: &Console) -> anyhow::Result<Exit> {
    if !common.set.is_empty() {
        return Err(usage(
            "--set is not allowed with import slob",
            "give it to `dyno run`, or edit the new plan",
        ));
    }
    let (target, further) = context::targets(common);
    if !further.is_empty() {
        return Err(usage(
            "import slob writes a plan for one target",
            "give --target once, and write target.urls into the plan",
        ));
    }
    let file = PlanFile::open_configuration(&args.file)?;
    let options = kits::KitImportOptions {
        engines: ENGINES.specs,
        kit: args.kit,
        target,
        schemas: args.schemas,
        sessions: args.sessions,
        lenient: args.lenient,
    };
    let imported = kits::import(&file, &options).map_err(|errors| hinted(&errors, &file, &options, talk))?;
    match &args.output {
        Some(path) => crate::commands::new_file::write_new(path, &imported.text, args.force, "--output")?,
        None => talk.print_raw(&imported.text)?,
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

/// The errors of a file; suggests --lenient if skipping unknown lines would suffice.
fn hinted(
    errors: &PlanErrors,
    file: &PlanFile,
    options: &kits::KitImportOptions,
    talk: &Console,
) -> PlanErrors {
    let lenient = kits::KitImportOptions { lenient: true, ..options.clone() };
    if !options.lenient && kits::import(file, &lenient).is_ok() {
        talk.say("--lenient skips these lines; their settings keep the defaults");
    }
    errors.clone()
}

/// Reports what to check before the plan is run.
fn say(imported: &ImportedPlan, output: Option<&Path>, talk: &Console) {
    for skipped in &imported.skipped.errors {
        talk.say(&format!("warning: skipped: {skipped}"));
    }
    if imported.skipped.more > 0 {
        talk.say(&format!("warning: skipped: {} more", imported.skipped.more));
    }
    let count = |fate: ParameterMapping| imported.notes.iter().filter(|note| note.fate == fate).count();
    let lost =
        imported.notes.iter().filter(|note| note.fate == ParameterMapping::None && note.line.is_some());
    for ParameterNote { parameter, line, words, .. } in lost {
        let place = line.map_or_else(String::new, |line| format!("line {line}: "));
        talk.detail(&format!("{place}{parameter} has no counterpart. {words}"));
    }
    let wrote = output.map_or_else(|| "a plan".to_owned(), |path| format!("wrote {}", path.display()));
    talk.say(&format!(
        "{wrote} from {}; parameters with the same meaning: {}, different by design: {}, without \
            counterpart: {}; each has a comment",
        imported.kit.name(),
        count(ParameterMapping::Maps),
        count(ParameterMapping::Differs),
        count(ParameterMapping::None),
    ));
    if output.is_some() {
        talk.say(&format!("check target.url ({}), then run `dyno check`", imported.plan.target.url));
    }
}
