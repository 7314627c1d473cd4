//! Orders that do something to the platform: studies, and proofs that kill a server. Their commands are the server's user's.

use std::path::{Path, PathBuf};

use dyno_campaign::study;
use dyno_plan::PlanSource;
use dyno_plan::study::{READY_STUDIES, ReadyStudy, StudyFile};

use super::args::quoted;
use super::{Made, Order, PROOFS, StartMade, Wrong, wrong};
use crate::commands::Commands;
use crate::jobs::{Kind, MACHINE, Start};
use crate::setup::Setup;
use crate::targets::NamedTarget;

/// Why no command runs.
const NO_COMMANDS: &str = "commands run only if the server was started with --allow-commands";

impl Order {
    /// What is wrong with a proof.
    pub(super) fn refused_proof(&self, allow_commands: bool) -> Vec<Wrong> {
        let is_named = PROOFS.iter().any(|(name, _)| *name == self.proof);
        if !is_named {
            let names = PROOFS.map(|(name, _)| name).join(", ");
            return vec![wrong("proof", "there is no such proof", format!("there are {names}"))];
        }
        let of_durability = self.proof == "durability";
        let has_commands = !self.kill_command.is_empty() || !self.restart_command.is_empty();
        if (of_durability || has_commands) && !allow_commands {
            return vec![wrong("kill_command", NO_COMMANDS, "")];
        }
        if of_durability && self.kill_command.is_empty() {
            return vec![wrong("kill_command", "it takes a command that kills the server, hard", "")];
        }
        let is_text = |text: &str| !text.chars().any(char::is_control);
        if !is_text(&self.kill_command) || !is_text(&self.restart_command) {
            return vec![wrong("kill_command", "a command is one line", "")];
        }
        Vec::new()
    }

    /// What is wrong with a study before it is read.
    pub(super) fn refused_study(&self, allow_commands: bool) -> Vec<Wrong> {
        if !allow_commands {
            return vec![wrong("study", NO_COMMANDS, "")];
        }
        if ReadyStudy::find(&self.study).is_none() {
            let names: Vec<&str> = READY_STUDIES.iter().map(|study| study.name).collect();
            return vec![wrong(
                "study",
                "there is no such ready study",
                format!("there are {}", names.join(", ")),
            )];
        }
        let is_text = |text: &String| !text.chars().any(char::is_control);
        let odd = self.params.iter().find(|(name, value)| !is_text(name) || !is_text(value));
        odd.map(|(name, _)| wrong("params", format!("{name:?} has characters that no value has"), ""))
            .into_iter()
            .collect()
    }

    /// Whether the kind of the order runs commands by itself, whatever its plan says.
    pub(super) fn runs_commands(&self) -> bool {
        self.kind == Kind::Study || (self.kind == Kind::Prove && self.proof == "durability")
    }

    /// The commands of a proof.
    pub(super) fn commands(&self, start: &Start) -> Option<Commands> {
        if !self.runs_commands() {
            return None;
        }
        let mut steps = vec![("after 10 s".to_owned(), self.kill_command.clone())];
        if !self.restart_command.is_empty() {
            steps.push(("restart".to_owned(), self.restart_command.clone()));
        }
        Some(Commands::of(&steps, &start.steps))
    }

    /// A study with every command that it would run. Nothing is asked of a database.
    pub(super) fn study(&self, setup: &Setup, target: &NamedTarget) -> Result<Made, Vec<Wrong>> {
        let Some(ready) = ReadyStudy::find(&self.study) else {
            return Err(vec![wrong("study", "there is no such ready study", "")]);
        };
        let params = self.params.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let file = StudyFile { file: ready.file(), name: ready.name.to_owned(), params };
        let mut sets = self.values();
        let mut options = PlanSource { sets: sets.clone(), ..PlanSource::of(setup.engines) };
        if self.on_target {
            options.target = Some(target.url.clone());
        }
        let folder = Path::new("a new folder").to_path_buf();
        let order =
            study::Order::new(&file, folder, PathBuf::new(), &options).map_err(|error| match &error {
                dyno_campaign::Error::Plan(errors) => super::of_plan(errors),
                error => vec![wrong("study", error.to_string(), error.hint())],
            })?;
        let shown_sets = sets.clone();
        sets.extend(self.observed(setup));
        // What a child is told beside what the page shows: where the password is.
        if self.on_target {
            sets.extend(target.secrets().into_iter().map(|(key, value)| format!("{key}={value}")));
        }
        let mut shown = vec!["study".to_owned(), "run".to_owned(), ready.name.to_owned()];
        shown.extend(self.params.iter().map(|(name, value)| format!("--param={name}={value}")));
        shown.extend(self.own_args(target));
        if self.on_target {
            shown.push(format!("--target={}", target.url));
        }
        let mut args = shown.clone();
        args.extend(sets.iter().map(|set| format!("--set={set}")));
        args.push(format!("--repository={}", setup.repository.display()));
        args.push("--allow-hooks".to_owned());
        shown.extend(shown_sets.iter().map(|set| format!("--set={set}")));
        let words: Vec<String> = shown.iter().map(|word| quoted(word)).collect();
        let command = format!("dyno {}", words.join(" "));
        let start = Start {
            kind: Kind::Study,
            target: if self.on_target { self.target.clone() } else { "this machine".to_owned() },
            place: MACHINE.to_owned(),
            plan: None,
            command: command.clone(),
            steps: vec![args],
            runs_commands: true,
        };
        let runs = order.legs().len() * order.study.tasks.iter().filter(|task| task.run).count();
        Ok(Made {
            toml: ready.text.to_owned(),
            command,
            seconds: None,
            runs: u32::try_from(runs).ok(),
            commands: Some(Commands::of(&study::steps(&order), &start.steps)),
            start: StartMade(start),
        })
    }
}
