//! Ready plans, one for each experiment of published studies: files in `catalog/plans/` that are embedded in the program.
//!
//! Embedding makes them available without the source tree.

use crate::engine::EngineSpec;

/// A plan that is ready to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// Its name, as users select it: `oltp-80-20`.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

/// Builds a list of ready plans from their names and files.
macro_rules! ready {
    ($($name:literal),* $(,)?) => {
        [$(Ready { name: $name, text: include_str!(concat!("../../../catalog/plans/", $name, ".toml")) }),*]
    };
}

/// All ready plans, in the order of the documentation.
pub const READY: [Ready; 13] = ready![
    "logical-reads",
    "oltp-80-20",
    "oltp-75-25",
    "full-scan",
    "petals-update-share",
    "petals-block-size",
    "sustained-write",
    "commit-study",
    "in-memory-scan",
    "in-memory-lookup",
    "in-memory-secondary",
    "random-read",
    "platform-settings",
];

impl Ready {
    /// Its purpose: the first line of the file.
    pub fn about(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The plan with an example URL of `engine` to edit.
    pub fn for_engine(&self, engine: &EngineSpec) -> String {
        let url = |line: &str| match line.starts_with("url = ") {
            true => format!("url = {:?}\n", engine.template),
            false => format!("{line}\n"),
        };
        self.text.lines().map(url).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{ENGINES, nothing};
    use crate::read::{PlanFile, PlanSource, read};

    #[test]
    fn ready_plans_are_valid_for_every_engine() {
        for ready in READY {
            assert_eq!(ready.text.matches("\nurl = ").count(), 1, "{}", ready.name);
            for engine in ENGINES.0 {
                let file = PlanFile { name: ready.name.into(), text: ready.for_engine(engine) };
                let plan = read(&PlanSource { file: Some(file), ..nothing() })
                    .unwrap_or_else(|errors| panic!("{errors}"));
                assert_eq!(ENGINES.spec_of(&plan.target.url).map(|engine| engine.name), Some(engine.name));
                crate::sweep::points(&plan, ENGINES).unwrap();
            }
        }
    }

    #[test]
    fn ready_plans_state_question_source_and_interpretation() {
        for Ready { name, text } in READY {
            for part in ["\n# Answers: ", "\n# From: ", "\n# Read: ", "\n# Run: "] {
                assert_eq!(text.matches(part).count(), 1, "{name}: {part}");
            }
            assert!(text.lines().all(|line| line.chars().count() <= 150), "{name}");
        }
    }

    #[test]
    fn plans_folder_and_readme_contain_every_built_in_plan() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/plans");
        let files =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<_> = files.filter(|name| name.ends_with(".toml")).collect();
        files.sort();
        let mut names: Vec<_> = READY.iter().map(|ready| format!("{}.toml", ready.name)).collect();
        names.sort();
        assert_eq!(files, names);
        let readme = include_str!("../../../catalog/plans/README.md");
        assert!(READY.iter().all(|ready| readme.contains(&format!("[{0}]({0}.toml)", ready.name))));
    }
}
