//! The command that runs tests of a suite again on its platform.

use super::pairs::quoted;
use super::{FoundStep, completed};

/// Most tests that a command names; more are a whole suite.
const TESTS_MAX: usize = 6;

/// How a suite of a platform was run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuiteRerun {
    /// `quick`, `full`; another depth is the usual one.
    pub depth: String,
    /// The variant of its runs.
    pub variant: Option<String>,
    /// Target, plan, settings and repository of its runs, as words of a command line.
    pub options: Vec<String>,
}

impl SuiteRerun {
    /// The suite with these tests, and `more` options; with all tests where there are many or none.
    pub(crate) fn again(&self, tests: &[String], more: &str) -> String {
        self.at_depth(&self.depth, tests, more)
    }

    /// The same with long windows and repeats.
    pub(crate) fn full(&self, tests: &[String]) -> String {
        self.at_depth("full", tests, "")
    }

    fn at_depth(&self, depth: &str, tests: &[String], more: &str) -> String {
        let mut command = "dyno suite".to_owned();
        if ["quick", "full"].contains(&depth) {
            command.push_str(&format!(" --{depth}"));
        }
        for test in tests.iter().filter(|_| tests.len() <= TESTS_MAX) {
            command.push_str(&format!(" --test {}", quoted(test)));
        }
        if let Some(variant) = &self.variant {
            command.push_str(&format!(" --variant {}", quoted(variant)));
        }
        completed(&(command + more), &self.options)
    }
}

/// A step with a command.
pub(super) fn with_command(sentence: String, command: String) -> Option<FoundStep> {
    Some((sentence, Some(command)))
}
