//! Workloads that are embedded in the program: folders with a name that begins with `@`.

use std::path::Path;

use super::example::EXAMPLES;
use super::fault::WorkloadError;
use super::folder::WorkloadFolder;
use super::names::meant;

/// The first character in the name of an embedded workload.
const MARK: char = '@';

/// A folder of the suite: its name, and the names and contents of its files.
pub(super) type Inside = (&'static str, &'static [(&'static str, &'static str)]);

/// The embedded folders of the suite.
pub(super) const SUITE: &[Inside] = include!(concat!(env!("OUT_DIR"), "/suite.rs"));

/// Whether `folder` names an embedded workload. Such workloads have files for every engine, even for engines
/// not in this build.
pub fn is_inside(folder: &Path) -> bool {
    folder.to_str().is_some_and(|path| path.starts_with(MARK))
}

/// The folder at `path`, or the embedded one that it names: `@tpcb`, `@suite/cpu`.
pub(super) fn folder(path: &Path) -> Result<WorkloadFolder, WorkloadError> {
    let name = path.to_str().and_then(|path| path.strip_prefix(MARK));
    let Some(name) = name else { return Ok(WorkloadFolder::new(path)) };
    let examples = EXAMPLES.iter().map(|example| (example.name.to_owned(), example.files));
    let suite = SUITE.iter().map(|(folder, files)| (of_suite(folder), *files));
    let all: Vec<_> = examples.chain(suite).collect();
    match all.iter().find(|(known, _)| known == name) {
        Some((_, files)) => Ok(WorkloadFolder::from_files(path, files)),
        None => {
            let names = all.iter().map(|(known, _)| known.as_str());
            let problem = "unknown ready workload";
            Err(WorkloadError::whole(path.display().to_string(), problem, meant(name, names)))
        }
    }
}

fn of_suite(folder: &str) -> String {
    format!("suite/{folder}")
}

/// The name in plans for the workload of a suite folder.
pub(super) fn path_of_suite(folder: &str) -> String {
    format!("{MARK}{}", of_suite(folder))
}
