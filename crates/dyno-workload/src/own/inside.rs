//! Workloads inside the program: a folder whose name begins with `@` is one of them.

use std::path::Path;

use super::example::EXAMPLES;
use super::fault::Fault;
use super::folder::Folder;
use super::names::meant;

/// What stands before the name of a workload inside the program.
const MARK: char = '@';

/// A folder of the suite: its name, and its files with what is in them.
pub(super) type Inside = (&'static str, &'static [(&'static str, &'static str)]);

/// The folders of the suite.
pub(super) const SUITE: &[Inside] = include!(concat!(env!("OUT_DIR"), "/suite.rs"));

/// Whether `folder` names a workload inside the program. Those have files for every engine, also for what a build leaves out.
pub fn is_inside(folder: &Path) -> bool {
    folder.to_str().is_some_and(|path| path.starts_with(MARK))
}

/// The folder at `path`, or the one inside the program that it names: `@tpcb`, `@suite/cpu`.
pub(super) fn folder(path: &Path) -> Result<Folder, Fault> {
    let name = path.to_str().and_then(|path| path.strip_prefix(MARK));
    let Some(name) = name else { return Ok(Folder::new(path)) };
    let examples = EXAMPLES.iter().map(|example| (example.name.to_owned(), example.files));
    let suite = SUITE.iter().map(|(folder, files)| (of_suite(folder), *files));
    let all: Vec<_> = examples.chain(suite).collect();
    match all.iter().find(|(known, _)| known == name) {
        Some((_, files)) => Ok(Folder::of(path, files)),
        None => {
            let known = all.iter().map(|(known, _)| known.as_str());
            let problem = "there is no such workload inside the program";
            Err(Fault::whole(path.display().to_string(), problem, meant(name, known)))
        }
    }
}

fn of_suite(folder: &str) -> String {
    format!("suite/{folder}")
}

/// What a plan calls the workload of a folder of the suite.
pub(super) fn path_of_suite(folder: &str) -> String {
    format!("{MARK}{}", of_suite(folder))
}
