//! Selects the tests of a suite, and how thoroughly they run.

use std::path::Path;

use dyno_plan::PlanErrors;
use dyno_workload::custom::suite::{self, Test};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// How thoroughly the tests of a suite run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Two fixed steps for each test, with short windows; finds no saturation point.
    Quick,
    /// The load rises until more sessions add no throughput.
    #[default]
    Usual,
    /// Like `Usual` with long windows; the steps that decide are repeated, five runs each.
    Full,
}

dyno_plan::names! {
    /// The name in options and results, such as `quick`.
    Depth { Quick = "quick", Usual = "usual", Full = "full" }
}

impl Depth {
    /// The scale of the test's workload, unless memory limits it.
    pub(super) fn scale(self, test: &Test) -> u32 {
        match self {
            Self::Quick => 1,
            Self::Usual => test.scale.usual,
            Self::Full => test.scale.full,
        }
    }

    /// Default warm-up and window, ms.
    pub(super) fn times(self) -> (u64, u64) {
        match self {
            Self::Quick => (500, 2_000),
            Self::Usual => (2_000, 5_000),
            Self::Full => (5_000, 20_000),
        }
    }
}

/// The selected tests and options of a suite.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SuiteSelection {
    /// How thoroughly the tests run.
    pub depth: Depth,
    /// Groups of tests; empty for all.
    pub groups: Vec<String>,
    /// Names of tests; empty for all.
    pub tests: Vec<String>,
    /// A folder with tests that replaces the built-in ones.
    pub from: Option<String>,
    /// Whether other data of Dyno is dropped first.
    pub replace: bool,
    /// Whether the data of the tests is kept.
    pub keep: bool,
}

/// Returns the tests that `choice` selects, in the order of the catalog.
///
/// # Errors
/// A test description is invalid, or there is no such test or group.
pub(super) fn selected_tests(choice: &SuiteSelection) -> Result<Vec<Test>, Error> {
    let all = match &choice.from {
        Some(folder) => suite::in_folder(Path::new(folder)),
        None => suite::catalogue(),
    };
    let mut all = all.map_err(PlanErrors::from)?;
    let check_names = |names: &[String], known: Vec<&str>, kind: &str| match names
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        None => Ok(()),
        Some(name) => {
            let near = dyno_plan::similar::closest(name, known.iter().copied());
            let hint = near.map_or_else(
                || "`dyno suite list` shows all".to_owned(),
                |near| format!("did you mean {near}? `dyno suite list` shows all"),
            );
            Err(Error::usage(format!("unknown {kind} {name}"), hint))
        }
    };
    check_names(&choice.groups, all.iter().map(|test| test.group.as_str()).collect(), "group")?;
    check_names(&choice.tests, all.iter().map(|test| test.id.as_str()).collect(), "test")?;
    let named = |names: &[String], name: &String| names.contains(name);
    let is_all = choice.groups.is_empty() && choice.tests.is_empty();
    all.retain(|test| is_all || named(&choice.groups, &test.group) || named(&choice.tests, &test.id));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(groups: &[&str], tests: &[&str]) -> Result<Vec<String>, Error> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let selection =
            SuiteSelection { groups: owned(groups), tests: owned(tests), ..SuiteSelection::default() };
        Ok(selected_tests(&selection)?.into_iter().map(|test| test.id).collect())
    }

    #[test]
    fn groups_and_tests_are_selected_in_the_order_of_the_catalog() {
        let all = names(&[], &[]).unwrap();
        let cpu = names(&["cpu"], &[]).unwrap();
        assert!(cpu.len() > 1);
        assert!(cpu.len() < all.len());
        let mixed = names(&["cpu"], &["storage-random-read"]).unwrap();
        assert_eq!(mixed, [cpu.clone(), vec!["storage-random-read".to_owned()]].concat());
        assert_eq!(names(&["cpu"], &[&cpu[0]]).unwrap(), cpu, "no test twice");
    }

    #[test]
    fn unknown_group_or_test_is_refused_with_a_similar_name() {
        let error = names(&["cpuu"], &[]).unwrap_err();
        assert_eq!(error.to_string(), "unknown group cpuu");
        assert!(error.hint().starts_with("did you mean cpu?"), "{}", error.hint());
        let error = names(&[], &["storage-random-raed"]).unwrap_err();
        assert!(error.hint().starts_with("did you mean storage-random-read?"), "{}", error.hint());
        assert_eq!(names(&[], &["xyz"]).unwrap_err().hint(), "`dyno suite list` shows all");
    }
}
