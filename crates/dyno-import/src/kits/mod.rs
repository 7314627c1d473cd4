//! Converts `slob.conf` and `pgio.conf` into a plan.
//!
//! These files configure two older tools that use the same method. [`import`] parses a file as the shell of those tools
//! would and checks every parameter against its documented range. The plan it writes has a comment for each parameter: the
//! plan says the same, differs by design, or has no counterpart. A password is mentioned by its parameter's name, never copied.

mod drive;
mod options;
mod pgio;
mod psql;
mod service;
mod settings;
mod sheet;
mod shell;
mod slob;

use dyno_plan::engine::Engines;
use dyno_plan::error::{Origin, PlanError, PlanErrorKind, PlanErrors};
use dyno_plan::lines::SourceLines;
use dyno_plan::plan::{PLAN_VERSION, Plan};
use dyno_plan::read::{PlanFile, PlanSource, read};
pub use options::{Kit, KitImportOptions};
use settings::KitParameterReader;
use sheet::KitPlanWriter;
pub use sheet::{ParameterMapping, ParameterNote};

/// The result of an import.
#[derive(Debug, Clone)]
pub struct ImportedPlan {
    /// The tool that the file configures.
    pub kit: Kit,
    /// The plan as the text of a plan file.
    pub text: String,
    /// The same plan as validated values.
    pub plan: Plan,
    /// How each parameter was converted.
    pub notes: Vec<ParameterNote>,
    /// Lines and parameters that a lenient import ignored, each with its place and reason.
    pub skipped: PlanErrors,
}

/// Parameters that only pgio has; they identify its files.
const ONLY_PGIO: [&str; 6] =
    ["NUM_SCHEMAS", "NUM_THREADS", "UPDATE_WORK_UNIT", "DBNAME", "CONNECT_STRING", "CREATE_BASE_TABLE"];

/// Converts `file` into a plan.
///
/// # Errors
/// All errors of the file, each with its place, parameter, value and the allowed values. No error repeats a password.
pub fn import(file: &PlanFile, options: &KitImportOptions) -> Result<ImportedPlan, PlanErrors> {
    let lines = SourceLines::new(&file.name, &file.text);
    let kit = options.kit.unwrap_or_else(|| recognise(file));
    let mut settings = KitParameterReader::new(kit, &lines, &file.text, options.lenient);
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
    let plan = check(&text, options.engines).map_err(|errors| attribute_errors(errors, &sheet, file))?;
    Ok(ImportedPlan { kit, plan, notes: sheet.notes(), text, skipped })
}

/// All parameters of a tool, over all its versions.
pub fn parameters(kit: Kit) -> Vec<&'static str> {
    let lines = SourceLines::new("", "");
    let mut settings = KitParameterReader::new(kit, &lines, "", false);
    map(kit, &mut settings, &KitImportOptions::default());
    let mut names = settings.known_parameters();
    names.sort_unstable();
    names.dedup();
    names
}

fn map(kit: Kit, settings: &mut KitParameterReader<'_>, options: &KitImportOptions) -> KitPlanWriter {
    let mut sheet = match kit {
        Kit::Slob => slob::map(settings, options),
        Kit::Pgio => pgio::map(settings, options),
    };
    sheet.put_bare("version", PLAN_VERSION);
    sheet
}

/// Detects the tool by parameters that only one of them has. Parameters of both tools decide nothing; then the file's name
/// decides.
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

/// Reports errors of the plan as errors of the imported file: each value is valid alone, but the combination is not.
fn attribute_errors(errors: PlanErrors, sheet: &KitPlanWriter, file: &PlanFile) -> PlanErrors {
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
