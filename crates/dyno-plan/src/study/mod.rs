//! A study: a plan, and variants of the platform under which it is run.
//!
//! A study's file is a plan with further tables: `[study]`, `[params]`, `[[variant]]` and `[[task]]`. The plan's own reader
//! leaves those alone, and this one leaves the plan alone; both read the same file, so errors of either have its lines.

mod matrix;
mod order;
mod raw;
mod read;
mod ready;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use order::{Leg, legs};
pub use read::{StudyFile, expanded};
pub use ready::{PIECES, READY_STUDIES, ReadyStudy};

/// Tables of a study's file that are no sections of a plan.
pub const TABLES: [&str; 4] = ["study", "params", "variant", "task"];

/// Fewest repeats: with four runs of each side lying apart, chance is 1 in 35; with three, 1 in 10.
pub const REPEATS_MIN: u32 = 4;

/// What a study is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// What it is called: the file's name without its end.
    pub name: String,
    /// What it is about, in a line.
    pub title: String,
    /// Values that its commands find in their environment, and its plan as `${name}`.
    pub params: BTreeMap<String, String>,
    /// Runs of each variant.
    pub repeats: u32,
    /// Which variant comes next.
    pub order: StudyOrder,
    /// Where the draws of a random order begin.
    pub seed: u64,
    /// The variant that the others are held against: its place among them.
    pub base: usize,
    /// How the data is brought to the same state before each measurement.
    pub state: DataReset,
    /// The commands of that, where it is theirs.
    pub reset: Vec<String>,
    /// Commands before the first variant, and their undoing after the last.
    pub setup: Undoable,
    /// Commands once a variant is applied, such as the start of its server, and their undoing before it is reverted.
    pub serve: Undoable,
    /// Commands that restart the database, for variants that need it.
    pub restart: Vec<String>,
    /// How long one command may take, s.
    pub timeout_s: u64,
    /// Devices that its commands write to.
    pub devices: Vec<String>,
    /// Measures of each run that are compared.
    pub metrics: Vec<String>,
    /// Differences up to this many percent are no matter.
    pub margin_pct: f64,
    /// What has to be known with its results, one sentence each.
    pub caveats: Vec<String>,
    /// The variants.
    pub variants: Vec<Variant>,
    /// What is run under each of them.
    pub tasks: Vec<Task>,
}

/// Which variant comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StudyOrder {
    /// Each repeat has all variants, in an order of its own.
    Random,
    /// Each repeat has all variants, every other one backwards.
    Abba,
}

/// How the data is brought to the same state before each measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataReset {
    /// It is dropped and loaded anew; how long that takes is measured, too.
    Reload,
    /// Commands restore it from a copy.
    Restore,
    /// Commands make a copy-on-write clone of it.
    Clone,
}

crate::names! {
    /// The word in a study's file: `random`.
    StudyOrder { Random = "random", Abba = "abba" }
    /// The word in a study's file: `reload`.
    DataReset { Reload = "reload", Restore = "restore", Clone = "clone" }
}

impl DataReset {
    /// What is done, in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reload => "before each measurement the data is dropped and loaded anew",
            Self::Restore => {
                "before each measurement the data is restored from a copy by the study's commands"
            }
            Self::Clone => {
                "before each measurement the data is a copy-on-write clone made by the study's commands"
            }
        }
    }
}

/// Commands, and those that undo them. Undoing goes from the last command to the first, whatever of the others was done: so each
/// has to be harmless where there is nothing to undo.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undoable {
    /// What is done, in order.
    pub apply: Vec<String>,
    /// What shows that it is in force.
    pub verify: Vec<String>,
    /// What undoes it; the last one first.
    pub revert: Vec<String>,
}

/// One variant of the platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Its name: of a matrix those of its parts.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// Keys of the plan that it sets.
    pub set: Vec<(String, String)>,
    /// Its commands, one set for each axis.
    pub parts: Vec<Undoable>,
    /// What it takes.
    pub needs: Vec<Need>,
    /// Settings as the database itself has to tell them.
    pub settings: Vec<(String, String)>,
    /// Whether it is the base for a second time, which shows what chance does.
    pub again: bool,
}

/// What a variant takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// To be root.
    Root,
    /// A database that is restarted.
    RestartDatabase,
    /// A machine that is started anew, by whoever runs the study.
    Reboot,
}

crate::names! {
    /// The word in a study's file: `restart-database`.
    Need { Root = "root", RestartDatabase = "restart-database", Reboot = "reboot" }
}

/// What is run under each variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Keys of the plan that it sets.
    pub set: Vec<(String, String)>,
    /// Whether there is a run; else it is the load alone that is measured.
    pub run: bool,
}

impl Variant {
    /// Whether it takes `need`.
    pub fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }

    /// What it sets and does, in a line.
    pub fn words(&self) -> String {
        if !self.about.is_empty() {
            return self.about.clone();
        }
        let sets = self.set.iter().map(|(key, value)| format!("{key} = {value}"));
        let commands = self.parts.iter().flat_map(|part| part.apply.iter().cloned());
        let all: Vec<String> = sets.chain(commands).collect();
        if all.is_empty() { "the plan as it is".to_owned() } else { all.join("; ") }
    }
}

impl Study {
    /// Every command in the order of one leg of each variant, each with the moment at which it runs; none twice.
    pub fn commands(&self) -> Vec<(&'static str, &str)> {
        let mut all: Vec<(&'static str, &str)> = Vec::new();
        fn forth<'s>(
            when: &'static str,
            commands: &'s [String],
        ) -> impl Iterator<Item = (&'static str, &'s str)> {
            commands.iter().map(move |command| (when, command.as_str()))
        }
        all.extend(forth("setup", &self.setup.apply));
        for variant in &self.variants {
            all.extend(variant.parts.iter().flat_map(|part| forth("apply", &part.apply)));
            all.extend(variant.parts.iter().flat_map(|part| forth("verify", &part.verify)));
            all.extend(
                variant
                    .parts
                    .iter()
                    .rev()
                    .flat_map(|part| part.revert.iter().rev().map(|c| ("revert", c.as_str()))),
            );
        }
        all.extend(forth("serve", &self.serve.apply));
        all.extend(forth("verify", &self.serve.verify));
        all.extend(forth("restart", &self.restart));
        all.extend(forth("reset", &self.reset));
        all.extend(self.serve.revert.iter().rev().map(|c| ("serve back", c.as_str())));
        all.extend(self.setup.revert.iter().rev().map(|c| ("cleanup", c.as_str())));
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|of| seen.insert(*of));
        all
    }

    /// Whether any command is run at all.
    pub fn has_commands(&self) -> bool {
        !self.commands().is_empty()
    }
}
