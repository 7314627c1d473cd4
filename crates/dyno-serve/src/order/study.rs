//! Prepares a study, whose commands run as the server's user.

use std::path::{Path, PathBuf};

use dyno_campaign::study;
use dyno_plan::PlanSource;
use dyno_plan::study::StudyFile;

use super::args::quoted;
use super::command::{JobCommand, StudyRequest};
use super::{FieldError, JobRequest, PreparedJob, StartMade, field_error};
use crate::commands::ServeCommandList;
use crate::jobs::{JobKind, JobStart, MACHINE};
use crate::setup::Setup;
use crate::targets::NamedTarget;

impl JobRequest {
    /// Prepares a study, with every command that it would run, without connecting to a database.
    pub(super) fn study(
        &self,
        setup: &Setup,
        target: &NamedTarget,
        request: &StudyRequest,
    ) -> Result<PreparedJob, Vec<FieldError>> {
        let StudyRequest { ready, params, on_target } = request;
        let params = params.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let file = StudyFile { file: ready.file(), name: ready.name.to_owned(), params };
        let mut sets = self.values();
        let mut options = PlanSource { sets: sets.clone(), ..PlanSource::of(setup.engines) };
        if *on_target {
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
        if *on_target {
            sets.extend(target.secrets().into_iter().map(|(key, value)| format!("{key}={value}")));
        }
        let job = JobCommand::Study(request.clone());
        let mut shown: Vec<String> = job.words().into_iter().map(str::to_owned).collect();
        shown.extend(self.options(&job, target));
        if *on_target {
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
            target: if *on_target { self.target.clone() } else { "this machine".to_owned() },
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
