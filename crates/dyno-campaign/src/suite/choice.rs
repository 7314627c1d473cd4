//! Which tests, and how deeply.

use std::path::Path;

use dyno_plan::PlanErrors;
use dyno_workload::own::suite::{self, Test};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// How deeply a suite goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Two fixed steps of each test, short ones: nothing is said of saturation.
    Quick,
    /// Rising load until more brings nothing.
    #[default]
    Usual,
    /// The same with long windows, and the steps that count four times.
    Full,
}

dyno_plan::names! {
    /// The word in options and results: `quick`.
    Depth { Quick = "quick", Usual = "usual", Full = "full" }
}

impl Depth {
    /// The scale of the test's workload, where memory does not limit it.
    pub(super) fn scale(self, test: &Test) -> u32 {
        match self {
            Self::Quick => 1,
            Self::Usual => test.scale.usual,
            Self::Full => test.scale.full,
        }
    }

    /// Warm-up and window where the plan does not say others, ms.
    pub(super) fn times(self) -> (u64, u64) {
        match self {
            Self::Quick => (500, 2_000),
            Self::Usual => (2_000, 5_000),
            Self::Full => (5_000, 20_000),
        }
    }
}

/// What is chosen of a suite.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// How deeply it goes.
    pub depth: Depth,
    /// Groups of tests; all where none is named.
    pub groups: Vec<String>,
    /// Tests by their names; all where none is named.
    pub tests: Vec<String>,
    /// A folder with tests, instead of those inside the program.
    pub from: Option<String>,
    /// Whether other data of Dyno's is dropped first.
    pub replace: bool,
    /// Whether the data of the tests stays.
    pub keep: bool,
}

/// The tests that `choice` names, in the order of the catalogue.
///
/// # Errors
/// A page is wrong, or there is no such test or group.
pub(super) fn chosen(choice: &Choice) -> Result<Vec<Test>, Error> {
    let all = match &choice.from {
        Some(folder) => suite::in_folder(Path::new(folder)),
        None => suite::catalogue(),
    };
    let mut all = all.map_err(PlanErrors::from)?;
    let known = |names: &[String], known: Vec<&str>, what: &str| match names
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
            Err(Error::usage(format!("there is no {what} {name}"), hint))
        }
    };
    known(&choice.groups, all.iter().map(|test| test.group.as_str()).collect(), "group")?;
    known(&choice.tests, all.iter().map(|test| test.id.as_str()).collect(), "test")?;
    let named = |names: &[String], name: &String| names.contains(name);
    let is_all = choice.groups.is_empty() && choice.tests.is_empty();
    all.retain(|test| is_all || named(&choice.groups, &test.group) || named(&choice.tests, &test.id));
    Ok(all)
}
