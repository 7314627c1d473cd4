//! Executes one leg: applies a variant, verifies it, then resets the data and measures for each task.

use std::sync::Arc;

use dyno_engine::LockPurpose;
use dyno_plan::Plan;
use dyno_plan::study::{DataReset, Need, StudyLeg, Variant};
use dyno_record::{Identity, PartOf, PointSetting, RepositoryError, RunRecord, SweepKind};

use super::command::StudyCommandContext;
use super::device;
use super::journal::{StudyJournalEvent, StudyUndoScope};
use super::leftover_settings;
use super::walk::StudyRunner;
use crate::drop::drop_data;
use crate::error::Error;
use crate::event::{CampaignEvent, StudyEvent};
use crate::load::{LoadOutcome, load};
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;
use crate::setting_value::is_same_setting;

/// The outcome of a leg without an error.
pub(super) enum LegOutcome {
    /// All tasks of the leg were measured.
    Measured,
    /// The machine must be restarted before the leg can continue.
    NeedsReboot,
}

impl StudyRunner<'_> {
    /// Applies, verifies and measures the leg at this position; the caller reverts it.
    pub(super) fn measure_leg(&mut self, at: usize, is_rebooted: bool) -> Result<LegOutcome, Error> {
        let StudyLeg { variant, .. } = self.legs[at];
        let variant_spec = self.order.study.variants[variant].clone();
        if !is_rebooted {
            device::check_devices(self.order)?;
            self.note(StudyJournalEvent::Opened(StudyUndoScope::Leg(at)))?;
            for part in &variant_spec.parts {
                self.commands("apply", &part.apply, variant)?;
            }
            if variant_spec.needs(Need::Reboot) {
                self.note(StudyJournalEvent::Reboot { leg: at, boot: super::walk::boot_id() })?;
                return Ok(LegOutcome::NeedsReboot);
            }
        }
        let serve = self.order.study.serve.clone();
        self.commands("serve", &serve.apply, variant)?;
        if variant_spec.needs(Need::RestartDatabase) {
            let restart = self.order.study.restart.clone();
            self.commands("restart", &restart, variant)?;
        }
        let mut output_lines = self.commands("verify", &serve.verify, variant)?;
        for part in &variant_spec.parts {
            output_lines.extend(self.commands("verify", &part.verify, variant)?);
        }
        self.note(StudyJournalEvent::Verified { leg: at, said: output_lines })?;
        for task in 0..self.order.study.tasks.len() {
            self.measure_task(at, &variant_spec, task)?;
        }
        Ok(LegOutcome::Measured)
    }

    /// Runs commands in their order; returns the lines of their output.
    pub(super) fn commands(
        &self,
        when: &'static str,
        commands: &[String],
        variant: usize,
    ) -> Result<Vec<String>, Error> {
        let at = self.command_context(variant);
        let mut output_lines = Vec::new();
        for command in commands {
            let output = self.runner.run(when, command, at, &self.ctx.cancel)?;
            let lines = output.lines().map(|line| line.trim_start_matches(['|', ' ']).to_owned());
            output_lines.extend(lines.filter(|line| !line.is_empty()));
            if !output.is_empty() {
                self.ctx.emit(CampaignEvent::Study(StudyEvent::Said(output)));
            }
        }
        Ok(output_lines)
    }

    pub(super) fn command_context(&self, variant: usize) -> StudyCommandContext<'_> {
        StudyCommandContext {
            variant: &self.order.study.variants[variant].name,
            plan: &self.order.plans[variant][0],
        }
    }

    /// Resets the data of a task, and measures the task.
    fn measure_task(&mut self, at: usize, variant_spec: &Variant, task: usize) -> Result<(), Error> {
        let StudyLeg { variant, .. } = self.legs[at];
        let name = self.order.study.tasks[task].name.clone();
        let plan = self.order.plans[variant][task].clone();
        self.ctx.emit(CampaignEvent::Study(StudyEvent::Resetting(name.clone())));
        let (load_s, rows) = match self.order.study.state {
            DataReset::Reload => {
                let (load_s, rows) = self.reload(&plan)?;
                (Some(load_s), Some(rows))
            }
            DataReset::Restore | DataReset::Clone => {
                let reset = self.order.study.reset.clone();
                self.commands("reset", &reset, variant)?;
                (None, None)
            }
        };
        let record = match self.order.study.tasks[task].run {
            true => Some(self.measure(at, variant_spec, task, plan)?),
            false => None,
        };
        let run = record.as_ref().map(|record| record.id.clone());
        self.note(StudyJournalEvent::Measured { leg: at, task, run, load_s, rows })?;
        self.ctx.emit(CampaignEvent::Study(StudyEvent::Measured(name, load_s, record)));
        Ok(())
    }

    /// Drops the data of `plan` and loads it again; returns the duration in seconds and the number of rows.
    fn reload(&mut self, plan: &Plan) -> Result<(f64, u64), Error> {
        let ctx = self.context_with_cancel(self.ctx.cancel.clone());
        let (ctx, is_ours) = (ctx.ctx(), self.progress.loaded || self.order.replace);
        let dropped = drop_data(&ctx, plan, |_| Ok(is_ours))?;
        if dropped.is_none() {
            return Err(Error::usage(
                "the target contains Dyno data that this study did not load",
                "`dyno drop` removes it, and so does --replace, before each measurement",
            ));
        }
        self.note(StudyJournalEvent::Loading)?;
        let loaded = load(&ctx, plan, false)?;
        let load_figures = |done: &LoadOutcome| match done {
            LoadOutcome::Data(report) => (report.seconds, report.rows_written),
            LoadOutcome::SetUp(set_up) => (set_up.seconds, set_up.rows_written),
        };
        let figures = loaded.iter().map(|loaded| load_figures(&loaded.done));
        Ok(figures.fold((0.0, 0), |(seconds, rows), (more_s, more)| (seconds + more_s, rows + more)))
    }

    fn measure(
        &self,
        at: usize,
        variant_spec: &Variant,
        task: usize,
        plan: Plan,
    ) -> Result<Arc<RunRecord>, Error> {
        let StudyLeg { variant, repeat } = self.legs[at];
        let ctx = self.context_with_cancel(self.ctx.cancel.clone());
        let ctx = ctx.ctx();
        let mut ready =
            PreparedCampaign::new(&ctx, plan, LockPurpose::Run, DataLoadPolicy::Never, |_| Ok(()))?;
        for (name, wanted) in &variant_spec.settings {
            let actual = ready.targets.first().identity.settings.get(name);
            if actual.is_none_or(|there| !is_same_setting(there, wanted)) {
                let shown = actual.map_or_else(|| "unknown".to_owned(), |there| format!("{there:?}"));
                let problem = format!(
                    "{}: the database's setting {name} is {shown}, not {wanted:?}",
                    variant_spec.name
                );
                return Err(Error::because(problem, "the variant is not in force"));
            }
        }
        self.check_left_over(variant, task, &ready.targets.first().identity)?;
        ready.marks = self.order.marks.clone();
        ready.marks.variant = Some(variant_spec.name.clone());
        let setting = |key: &str, value: &str| PointSetting { key: key.to_owned(), value: value.to_owned() };
        let part = PartOf {
            id: self.id.clone(),
            kind: SweepKind::Study,
            point: self.order.point(variant, task),
            repeat,
            side: None,
            settings: vec![
                setting("variant", &variant_spec.name),
                setting("task", &self.order.study.tasks[task].name),
            ],
        };
        let record = ready.measure(Some(&part))?;
        if record.status == dyno_record::Status::Interrupted {
            return Err(Error::because("the run", "was stopped"));
        }
        Ok(record)
    }
}

impl StudyRunner<'_> {
    /// Checks that no setting of another variant is in force, by comparison with this variant's first leg.
    fn check_left_over(&self, variant: usize, task: usize, identity: &Identity) -> Result<(), Error> {
        let variants = &self.order.study.variants;
        // A repeated base counts as the base.
        let group = |at: usize| if variants[at].again { self.order.study.base } else { at };
        let (mut first, mut others) = (None, Vec::new());
        for measured in self.progress.measured.iter().filter(|measured| measured.task == task) {
            let Some(run) = &measured.run else { continue };
            let platform = match self.repository.load(run) {
                Err(RepositoryError::NoRecord { .. }) => None,
                loaded => leftover_settings::record_settings(&loaded?),
            };
            let (Some(platform), of) = (platform, self.legs[measured.leg].variant) else { continue };
            match (group(of) == group(variant), &first) {
                (true, None) => first = Some(platform),
                (true, Some(_)) => {}
                (false, _) => others.push((variants[of].name.as_str(), platform)),
            }
        }
        let Some(first) = first else { return Ok(()) };
        let now = leftover_settings::platform_settings(identity, &dyno_host::facts(&[]));
        let left = leftover_settings::leftover_settings(&first, &now, &others);
        match left.is_empty() {
            true => Ok(()),
            false => {
                Err(Error::because(left.join("; "), "the revert commands of that variant did not undo it"))
            }
        }
    }
}
