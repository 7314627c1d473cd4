//! From `slob.conf` and `pgio.conf` to a plan.
//!
//! These are the configurations of two older tools of the same method. [`import`] reads one as the shell would that those
//! tools start, checks every parameter against its documented range, and writes a plan with a comment for each: that it
//! says the same, what differs by design, or why a plan has nothing for it. Passwords are named, never copied.

mod drive;
mod options;
mod pgio;
mod psql;
mod service;
mod settings;
mod sheet;
mod shell;
mod slob;

use crate::engine::Engines;
use crate::error::{Origin, PlanError, PlanErrorKind, PlanErrors};
use crate::lines::Lines;
use crate::plan::{PLAN_VERSION, Plan};
use crate::read::{PlanFile, PlanSource, read};
pub use options::{Kit, Options};
use settings::Settings;
use sheet::Sheet;
pub use sheet::{Fate, Note};

/// What came of a file.
#[derive(Debug, Clone)]
pub struct Imported {
    /// Whose file it was.
    pub kit: Kit,
    /// The plan as a file, which the plan's reader takes.
    pub text: String,
    /// The plan.
    pub plan: Plan,
    /// What became of each parameter.
    pub notes: Vec<Note>,
    /// What was left out, each with its place and why.
    pub skipped: PlanErrors,
}

/// Parameters that only one kit has, by which its file is known.
const ONLY_PGIO: [&str; 6] =
    ["NUM_SCHEMAS", "NUM_THREADS", "UPDATE_WORK_UNIT", "DBNAME", "CONNECT_STRING", "CREATE_BASE_TABLE"];

/// Makes a plan of `file`.
///
/// # Errors
/// All errors of the file, each with its place, parameter, value and what is allowed. None repeats a password.
pub fn import(file: &PlanFile, options: &Options) -> Result<Imported, PlanErrors> {
    let lines = Lines::new(&file.name, &file.text);
    let kit = options.kit.unwrap_or_else(|| recognise(file));
    let mut settings = Settings::new(kit, &lines, &file.text, options.lenient);
    let sheet = map(kit, &mut settings, options);
    let (mut errors, skipped) = settings.finish();
    if let Some(target) = &options.target {
        let alone = read(&PlanSource { target: Some(target.clone()), ..PlanSource::of(options.engines) });
        alone.err().into_iter().flat_map(|wrong| wrong.errors).for_each(|error| errors.push(error));
    }
    if !errors.errors.is_empty() {
        return Err(errors);
    }
    let name = file.name.rsplit('/').next().unwrap_or_default();
    let text = sheet.text(name, &head(kit, name, &skipped));
    let plan = check(&text, options.engines).map_err(|errors| blame(errors, &sheet, file))?;
    Ok(Imported { kit, plan, notes: sheet.notes(), text, skipped })
}

/// The parameters of a kit, in all its versions.
pub fn parameters(kit: Kit) -> Vec<&'static str> {
    let lines = Lines::new("", "");
    let mut settings = Settings::new(kit, &lines, "", false);
    map(kit, &mut settings, &Options::default());
    let mut names = settings.known();
    names.sort_unstable();
    names.dedup();
    names
}

fn map(kit: Kit, settings: &mut Settings<'_>, options: &Options) -> Sheet {
    let mut sheet = match kit {
        Kit::Slob => slob::map(settings, options),
        Kit::Pgio => pgio::map(settings, options),
    };
    sheet.put_bare("version", PLAN_VERSION);
    sheet
}

/// Whose file it is, by the parameters that only one kit has; a name that both have tells nothing, so then the file's
/// own name does.
fn recognise(file: &PlanFile) -> Kit {
    let (assignments, _) = shell::read(&file.text);
    let pgio = assignments.iter().filter(|a| ONLY_PGIO.contains(&a.name.text.as_str())).count();
    let slob = assignments.iter().filter(|a| slob::ONLY.contains(&a.name.text.as_str())).count();
    let by_name = file.name.rsplit('/').next().is_some_and(|name| name.contains("pgio"));
    if pgio > slob || (pgio == slob && by_name) { Kit::Pgio } else { Kit::Slob }
}

fn head(kit: Kit, file: &str, skipped: &PlanErrors) -> Vec<String> {
    let kit = kit.name();
    let mut head = vec![
        format!("A plan of Dyno, made from {kit}'s {file}: what each line comes from stands above it."),
        "Check it with `dyno check`, load with `dyno load`, measure with `dyno run`.".into(),
    ];
    let left_out = skipped.errors.iter().map(|error| {
        let line = match &error.origin {
            Origin::File { line: Some(line), .. } => format!("{file}:{line}: "),
            _ => String::new(),
        };
        let name = error.key.as_deref().map(|key| format!("{key}: ")).unwrap_or_default();
        format!("Left out: {line}{name}{}.", error.problem)
    });
    head.extend(left_out);
    if skipped.more > 0 {
        head.push(format!("Left out: {} more.", skipped.more));
    }
    head
}

fn check(text: &str, engines: Engines) -> Result<Plan, PlanErrors> {
    let file = PlanFile { name: "plan".into(), text: text.to_owned() };
    read(&PlanSource { file: Some(file), ..PlanSource::of(engines) })
}

/// Errors of the plan as errors of the file that it was made from: values that are right alone, and do not go together.
fn blame(errors: PlanErrors, sheet: &Sheet, file: &PlanFile) -> PlanErrors {
    let mut blamed = PlanErrors::default();
    for error in errors.errors {
        let key = error.key.clone().unwrap_or_default();
        let (parameter, line) = sheet.parameter_of(&key).unwrap_or(("", None));
        blamed.push(PlanError {
            kind: PlanErrorKind::Conflict,
            origin: Origin::File { name: file.name.clone(), line, column: None },
            key: Some(parameter.to_owned()).filter(|parameter| !parameter.is_empty()),
            value: None,
            problem: format!("{key} of the plan: {}", error.problem),
            hint: error.hint,
        });
    }
    blamed
}

#[cfg(test)]
mod tests;
