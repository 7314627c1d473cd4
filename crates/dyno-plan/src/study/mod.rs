//! A study: a plan, and variants of the platform under which it runs.
//!
//! A study's file is a plan with additional tables: `[study]`, `[params]`, `[[variant]]` and `[[task]]`. The plan reader
//! skips these tables and this reader skips the plan; both read the same file, so all errors have its lines.

mod matrix;
mod order;
mod raw;
mod read;
mod ready;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use order::{StudyLeg, legs};
pub use read::{StudyFile, expanded};
pub use ready::{PIECES, READY_STUDIES, ReadyStudy};

/// Tables of a study's file that are not sections of a plan.
pub const TABLES: [&str; 4] = ["study", "params", "variant", "task"];

/// The fewest repeats: with four runs per side, no overlap happens by chance in 1 of 35 cases; with three, in 1 of 10.
pub const REPEATS_MIN: u32 = 4;

/// The definition of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyPlan {
    /// Its name: the file name without its extension.
    pub name: String,
    /// Its subject, in one line.
    pub title: String,
    /// Parameters; commands find them in their environment, the plan refers to them as `${name}`.
    pub params: BTreeMap<String, String>,
    /// Number of runs of each variant.
    pub repeats: u32,
    /// The order in which variants run.
    pub order: StudyOrder,
    /// Seed of a random order.
    pub seed: u64,
    /// The baseline that other variants are compared with: its index among the variants.
    pub base: usize,
    /// How the data gets the same initial state before each measurement.
    pub state: DataReset,
    /// The commands that do so, for `restore` and `clone`.
    pub reset: Vec<String>,
    /// Commands before the first variant, and commands that revert them after the last.
    pub setup: ReversibleCommands,
    /// Commands after a variant is applied, such as the start of its server, and commands that revert them.
    pub serve: ReversibleCommands,
    /// Commands that restart the database, for variants that need a restart.
    pub restart: Vec<String>,
    /// The longest time that one command may take, in seconds.
    pub timeout_s: u64,
    /// Devices to which the commands write.
    pub devices: Vec<String>,
    /// Metrics of each run that are compared.
    pub metrics: Vec<String>,
    /// Differences up to this many percent are not significant.
    pub margin_pct: f64,
    /// Limitations that readers of the results must know, one sentence each.
    pub caveats: Vec<String>,
    /// The variants of the platform, in order.
    pub variants: Vec<Variant>,
    /// What is run under each variant.
    pub tasks: Vec<StudyTask>,
}

/// The order in which variants run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StudyOrder {
    /// Each repeat runs all variants in a random order.
    Random,
    /// Each repeat runs all variants; every second repeat in reverse.
    Abba,
}

/// How the data gets the same initial state before each measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataReset {
    /// Dyno drops it and loads it again; the load is measured, too.
    Reload,
    /// Commands restore it from a copy.
    Restore,
    /// Commands make a copy-on-write clone of it.
    Clone,
}

crate::names! {
    /// The word in the study's file: `random`.
    StudyOrder { Random = "random", Abba = "abba" }
    /// The word in the study's file: `reload`.
    DataReset { Reload = "reload", Restore = "restore", Clone = "clone" }
}

impl DataReset {
    /// What happens to the data, as a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reload => "before each measurement the data is dropped and loaded again",
            Self::Restore => {
                "before each measurement the data is restored from a copy by the study's commands"
            }
            Self::Clone => {
                "before each measurement the data is a copy-on-write clone made by the study's commands"
            }
        }
    }
}

/// Commands, and commands that revert them. Reverting runs from the last command to the first, even if some were never
/// applied. Each must therefore be harmless when there is nothing to revert.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReversibleCommands {
    /// Commands that apply the setting, in order.
    pub apply: Vec<String>,
    /// Commands that verify that it is in effect.
    pub verify: Vec<String>,
    /// Commands that revert it, run from the last to the first.
    pub revert: Vec<String>,
}

/// One variant of the platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Its name; for a combination of axes, the names of its parts.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// Keys of the plan that the variant sets.
    pub set: Vec<(String, String)>,
    /// Its commands, one set per axis.
    pub parts: Vec<ReversibleCommands>,
    /// What it requires from the user or platform.
    pub needs: Vec<Need>,
    /// Settings that the database itself must report.
    pub settings: Vec<(String, String)>,
    /// Whether it is the second copy of the base, which shows the effect of chance.
    pub again: bool,
}

/// A requirement of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// The study must run as root.
    Root,
    /// The database must be restarted.
    RestartDatabase,
    /// The host must be rebooted by the user who runs the study.
    Reboot,
}

crate::names! {
    /// The word in the study's file: `restart-database`.
    Need { Root = "root", RestartDatabase = "restart-database", Reboot = "reboot" }
}

/// What is run under each variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyTask {
    /// Its name in the study's results.
    pub name: String,
    /// Keys of the plan that the task sets.
    pub set: Vec<(String, String)>,
    /// Whether it has a run; otherwise only the load of the data is measured.
    pub run: bool,
}

impl Variant {
    /// Whether the variant has this requirement.
    pub fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }

    /// Its settings and commands, in one line.
    pub fn words(&self) -> String {
        if !self.about.is_empty() {
            return self.about.clone();
        }
        let sets = self.set.iter().map(|(key, value)| format!("{key} = {value}"));
        let commands = self.parts.iter().flat_map(|part| part.apply.iter().cloned());
        let all: Vec<String> = sets.chain(commands).collect();
        if all.is_empty() { "the plan unchanged".to_owned() } else { all.join("; ") }
    }
}

impl StudyPlan {
    /// Every command, in the order of one leg of each variant, with its moment; without duplicates.
    pub fn commands(&self) -> Vec<(&'static str, &str)> {
        let mut all: Vec<(&'static str, &str)> = Vec::new();
        fn label_commands<'s>(
            when: &'static str,
            commands: &'s [String],
        ) -> impl Iterator<Item = (&'static str, &'s str)> {
            commands.iter().map(move |command| (when, command.as_str()))
        }
        all.extend(label_commands("setup", &self.setup.apply));
        for variant in &self.variants {
            all.extend(variant.parts.iter().flat_map(|part| label_commands("apply", &part.apply)));
            all.extend(variant.parts.iter().flat_map(|part| label_commands("verify", &part.verify)));
            all.extend(
                variant
                    .parts
                    .iter()
                    .rev()
                    .flat_map(|part| part.revert.iter().rev().map(|c| ("revert", c.as_str()))),
            );
        }
        all.extend(label_commands("serve", &self.serve.apply));
        all.extend(label_commands("verify", &self.serve.verify));
        all.extend(label_commands("restart", &self.restart));
        all.extend(label_commands("reset", &self.reset));
        all.extend(self.serve.revert.iter().rev().map(|c| ("serve back", c.as_str())));
        all.extend(self.setup.revert.iter().rev().map(|c| ("cleanup", c.as_str())));
        let mut unique_commands = std::collections::BTreeSet::new();
        all.retain(|of| unique_commands.insert(*of));
        all
    }

    /// Whether the study has any command.
    pub fn has_commands(&self) -> bool {
        !self.commands().is_empty()
    }
}
