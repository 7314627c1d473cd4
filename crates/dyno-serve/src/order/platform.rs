//! Job requests that change the platform: studies, and proofs that kill a server. Their commands run as the
//! server's user.

use std::path::{Path, PathBuf};

use dyno_campaign::study;
use dyno_plan::PlanSource;
use dyno_plan::study::{READY_STUDIES, ReadyStudy, StudyFile};

use super::args::quoted;
use super::{FieldError, JobRequest, PROOFS, PreparedJob, StartMade, field_error};
use crate::commands::ServeCommandList;
use crate::jobs::{JobKind, JobStart, MACHINE};
use crate::setup::Setup;
use crate::targets::NamedTarget;

/// The reason why commands are refused.
const NO_COMMANDS: &str = "commands run only if the server was started with --allow-commands";

impl JobRequest {
    /// Returns the problems of a request for a proof.
    pub(super) fn refused_proof(&self, allow_commands: bool) -> Vec<FieldError> {
        let is_named = PROOFS.iter().any(|(name, _)| *name == self.proof);
        if !is_named {
            let names = PROOFS.map(|(name, _)| name).join(", ");
            return vec![field_error("proof", "unknown proof", format!("available: {names}"))];
        }
        let of_durability = self.proof == "durability";
        let has_commands = !self.kill_command.is_empty() || !self.restart_command.is_empty();
        if (of_durability || has_commands) && !allow_commands {
            return vec![field_error("kill_command", NO_COMMANDS, "")];
        }
        if of_durability && self.kill_command.is_empty() {
            return vec![field_error("kill_command", "a command that kills the server is required", "")];
        }
        let is_text = |text: &str| !text.chars().any(char::is_control);
        if !is_text(&self.kill_command) || !is_text(&self.restart_command) {
            return vec![field_error("kill_command", "a command must be one line", "")];
        }
        Vec::new()
    }

    /// Returns the problems of a request for a study, before the study is read.
    pub(super) fn refused_study(&self, allow_commands: bool) -> Vec<FieldError> {
        if !allow_commands {
            return vec![field_error("study", NO_COMMANDS, "")];
        }
        if ReadyStudy::find(&self.study).is_none() {
            let names: Vec<&str> = READY_STUDIES.iter().map(|study| study.name).collect();
            return vec![field_error(
                "study",
                "unknown ready study",
                format!("available: {}", names.join(", ")),
            )];
        }
        let is_text = |text: &String| !text.chars().any(char::is_control);
        let odd = self.params.iter().find(|(name, value)| !is_text(name) || !is_text(value));
        odd.map(|(name, _)| field_error("params", format!("{name:?} has control characters"), ""))
            .into_iter()
            .collect()
    }

    /// Whether this kind of job runs commands, independently of its plan.
    pub(super) fn runs_commands(&self) -> bool {
        self.kind == JobKind::Study || (self.kind == JobKind::Prove && self.proof == "durability")
    }

    /// Returns the commands of a proof; absent if it has none.
    pub(super) fn commands(&self, start: &JobStart) -> Option<ServeCommandList> {
        if !self.runs_commands() {
            return None;
        }
        let mut steps = vec![("after 10 s".to_owned(), self.kill_command.clone())];
        if !self.restart_command.is_empty() {
            steps.push(("restart".to_owned(), self.restart_command.clone()));
        }
        Some(ServeCommandList::of(&steps, &start.steps))
    }

    /// Prepares a study, with every command that it would run, without connecting to a database.
    pub(super) fn study(&self, setup: &Setup, target: &NamedTarget) -> Result<PreparedJob, Vec<FieldError>> {
        let Some(ready) = ReadyStudy::find(&self.study) else {
            return Err(vec![field_error("study", "unknown ready study", "")]);
        };
        let params = self.params.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let file = StudyFile { file: ready.file(), name: ready.name.to_owned(), params };
        let mut sets = self.values();
        let mut options = PlanSource { sets: sets.clone(), ..PlanSource::of(setup.engines) };
        if self.on_target {
            options.target = Some(target.url.clone());
        }
        let folder = Path::new("a new folder").to_path_buf();
        let order = study::StudyDefinition::new(&file, folder, PathBuf::new(), &options).map_err(
            |error| match &error {
                dyno_campaign::Error::Plan(errors) => super::plan_field_errors(errors),
                error => vec![field_error("study", error.to_string(), error.hint())],
            },
        )?;
        let shown_sets = sets.clone();
        sets.extend(self.observed(setup));
        // The child process also receives the place of the password, which the page does not show.
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
        let start = JobStart {
            kind: JobKind::Study,
            target: if self.on_target { self.target.clone() } else { "this machine".to_owned() },
            place: MACHINE.to_owned(),
            plan: None,
            command: command.clone(),
            steps: vec![args],
            runs_commands: true,
        };
        let runs = order.legs().len() * order.study.tasks.iter().filter(|task| task.run).count();
        Ok(PreparedJob {
            toml: ready.text.to_owned(),
            command,
            seconds: None,
            runs: u32::try_from(runs).ok(),
            commands: Some(ServeCommandList::of(&study::steps(&order), &start.steps)),
            start: StartMade(start),
        })
    }
}
