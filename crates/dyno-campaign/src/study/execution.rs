//! Executes the legs of a study, and reverts each leg before the next one, even after errors.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Instant;

use dyno_analyze::Conclusion;
use dyno_plan::study::StudyLeg;
use dyno_record::{StartedSweep, SweepId, SweepKind, SweepState};

use super::journal::{StudyJournalEvent, StudyUndoScope};
use super::leg::LegOutcome;
use super::order::StudyDefinition;
use super::restore::{CUT_OFF, ENDED, FAILED, MEASURED, STOPPED};
use super::walk::{StudyRunner, boot_id};
use super::{command, conclusion, consent, device, leftover_process};
use crate::campaign_context::CampaignContext;
use crate::error::{Error, ErrorKind};
use crate::event::{CampaignEvent, StudyEvent};
use crate::names;

/// Number of consecutive failed legs after which the study gives up; with more variants, that of one leg for
/// each variant.
const FAILURES_MAX: usize = 3;

/// Number of failed repeats after which a variant is left out, because further repeats would fail, too.
const FAILED_MAX: usize = 2;

/// How a study ended for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StudyEnd {
    /// All legs were executed or left out.
    Done,
    /// The study was cancelled, and everything is reverted.
    Stopped,
    /// Too many consecutive legs failed.
    GivenUp,
    /// The machine must be restarted before the study can continue.
    NeedsReboot,
    /// Everything was reverted, as requested with `only_restore`.
    Restored,
}

/// The result of executing a study.
#[derive(Debug)]
pub struct StudyOutcome {
    /// The name of the study.
    pub id: SweepId,
    /// How the study ended for now.
    pub after: StudyEnd,
    /// The conclusion so far; absent if nothing was measured.
    pub conclusion: Option<Conclusion>,
}

/// Starts the study of `order`.
///
/// # Errors
/// The study is impossible here, or the user does not consent to its commands; then nothing was started. Or
/// something could not be reverted.
pub fn run(ctx: &CampaignContext<'_>, order: &StudyDefinition) -> Result<StudyOutcome, Error> {
    order.refuse()?;
    device::check_devices(order)?;
    let order = &StudyDefinition { disks: device::disks(order), ..order.clone() };
    consent::require(ctx, order)?;
    let repository = ctx.repository()?;
    make_folder(&order.folder)?;
    let definition = serde_json::to_value(order)?;
    let target = order.plans[order.study.base][0].target.url.to_string();
    let runs = order.legs().len() * order.study.tasks.iter().filter(|task| task.run).count();
    let id = names::with_unique_name(|now, random| {
        let study = StartedSweep {
            id: dyno_record::new_sweep_id(SweepKind::Study, now, random),
            kind: SweepKind::Study,
            started_at: dyno_record::rfc3339(now),
            target: target.clone(),
            runs_planned: u32::try_from(runs).ok(),
            definition: definition.clone(),
        };
        repository.begin_sweep(&study).map(|()| study.id)
    })?;
    StudyRunner::new(ctx, order, repository, id)?.run_to_end(false)
}

/// Resumes the study `id`. First reverts everything that an earlier process did not revert; with
/// `only_restore` it then stops.
///
/// # Errors
/// Those of [`run`].
pub fn resume(
    ctx: &CampaignContext<'_>,
    id: &str,
    order: &StudyDefinition,
    only_restore: bool,
) -> Result<StudyOutcome, Error> {
    order.refuse()?;
    if !only_restore {
        device::require_same_disks(order)?;
    }
    consent::require(ctx, order)?;
    let repository = ctx.repository()?;
    if !order.folder.is_dir() {
        make_folder(&order.folder)?;
    }
    repository.resume_sweep(id)?;
    StudyRunner::new(ctx, order, repository, id.to_owned())?.run_to_end(only_restore)
}

impl StudyRunner<'_> {
    /// Executes the remaining legs, and stores in the repository how the study ended.
    fn run_to_end(mut self, only_restore: bool) -> Result<StudyOutcome, Error> {
        self.ctx.emit(CampaignEvent::Reached);
        let (folder, legs) = (self.order.folder.clone(), (self.progress.done.len(), self.legs.len()));
        self.ctx.emit(CampaignEvent::Study(StudyEvent::Begun { id: self.id.clone(), folder, legs }));
        let went = self.run_legs_and_restore(only_restore);
        let conclusion = self.conclude(matches!(went, Ok(StudyEnd::Done)));
        let state =
            if matches!(went, Ok(StudyEnd::Done)) { SweepState::Done } else { SweepState::Interrupted };
        let noted = self.repository.end_sweep(&self.id, state);
        let after = went?;
        noted?;
        Ok(StudyOutcome { id: self.id, after, conclusion: conclusion? })
    }

    fn run_legs_and_restore(&mut self, only_restore: bool) -> Result<StudyEnd, Error> {
        command::write_pieces(&self.order.folder)?;
        let rebooted = self.restore_interrupted(only_restore)?;
        if only_restore {
            return Ok(StudyEnd::Restored);
        }
        let Some(rebooted) = rebooted else { return Ok(StudyEnd::NeedsReboot) };
        if !self.progress.open.contains(&StudyUndoScope::Setup)
            && self.progress.next(self.legs.len()).is_some()
        {
            self.note(StudyJournalEvent::Opened(StudyUndoScope::Setup))?;
            let setup = self.order.study.setup.apply.clone();
            if let Err(error) = self.commands("setup", &setup, self.order.study.base) {
                self.restore(StudyUndoScope::Setup, FAILED)?;
                return Err(error);
            }
        }
        let after = self.run_legs(rebooted);
        // If a leg could not be reverted, nothing else is changed.
        let may_close = self.progress.open == [StudyUndoScope::Setup];
        if may_close && !matches!(after, Ok(StudyEnd::NeedsReboot)) {
            self.restore(
                StudyUndoScope::Setup,
                if matches!(after, Ok(StudyEnd::Done)) { ENDED } else { STOPPED },
            )?;
        }
        after
    }

    /// Reverts what an earlier process did not revert. Returns the leg that waited for a restart of the
    /// machine, if it has restarted; `None` if it has not.
    fn restore_interrupted(&mut self, all: bool) -> Result<Option<Option<usize>>, Error> {
        let left = leftover_process::kill_leftover_processes(&self.order.folder, self.runner.id);
        if left > 0 {
            self.ctx.emit(CampaignEvent::Study(StudyEvent::EndedLeft(left)));
        }
        if let (Some((leg, before)), false) = (self.progress.reboot.clone(), all)
            && self.progress.open.contains(&StudyUndoScope::Leg(leg))
        {
            if before == boot_id() {
                return Ok(None);
            }
            self.note(StudyJournalEvent::Rebooted { leg })?;
            return Ok(Some(Some(leg)));
        }
        for open in self.progress.open.clone().into_iter().rev() {
            self.restore(open, CUT_OFF)?;
        }
        Ok(Some(None))
    }

    fn run_legs(&mut self, mut rebooted: Option<usize>) -> Result<StudyEnd, Error> {
        while let Some(at) = self.progress.next(self.legs.len()) {
            if self.ctx.cancel.is_cancelled() {
                self.restore_open(at, STOPPED)?;
                return Ok(StudyEnd::Stopped);
            }
            if self.progress.failures_in_row() >= FAILURES_MAX.max(self.order.study.variants.len()) {
                return Ok(StudyEnd::GivenUp);
            }
            if self.keeps_failing(at) {
                self.note(StudyJournalEvent::LeftOut { leg: at })?;
                continue;
            }
            let is_rebooted = rebooted.take() == Some(at);
            self.announce(at);
            let began = Instant::now();
            match self.run_leg(at, is_rebooted)? {
                StudyEnd::Done => {}
                after => return Ok(after),
            }
            self.leg_times = (self.leg_times.0 + 1, self.leg_times.1 + began.elapsed().as_secs_f64());
            self.conclude(false)?;
        }
        Ok(StudyEnd::Done)
    }

    /// Whether all executed legs of this leg's variant have failed, often enough to leave the variant out.
    fn keeps_failing(&self, at: usize) -> bool {
        let is_same_variant = |leg: &&usize| self.legs[**leg].variant == self.legs[at].variant;
        let failed = self.progress.failed.keys().filter(is_same_variant).count();
        failed >= FAILED_MAX
            && failed
                == self.progress.done.difference(&self.progress.left_out).filter(is_same_variant).count()
    }

    /// Executes one leg, and reverts it.
    fn run_leg(&mut self, at: usize, is_rebooted: bool) -> Result<StudyEnd, Error> {
        let name = self.order.study.variants[self.legs[at].variant].name.clone();
        let went = self.measure_leg(at, is_rebooted);
        let is_stopped = self.ctx.cancel.is_cancelled();
        let (after, why) = match went {
            Ok(LegOutcome::NeedsReboot) => return Ok(StudyEnd::NeedsReboot),
            Ok(LegOutcome::Measured) => {
                self.note(StudyJournalEvent::Done { leg: at })?;
                (StudyEnd::Done, MEASURED)
            }
            Err(error) if is_stopped || error.kind() == ErrorKind::Interrupted => {
                (StudyEnd::Stopped, STOPPED)
            }
            // The repository would fail again, and a wrong request concerns all legs.
            Err(error @ (Error::Repository(_) | Error::Usage { .. })) => {
                self.restore_open(at, FAILED)?;
                return Err(error);
            }
            Err(error) => {
                let words = error.words();
                self.ctx.emit(CampaignEvent::Study(StudyEvent::Failed(name, words.clone())));
                self.note(StudyJournalEvent::Failed { leg: at, why: words })?;
                (StudyEnd::Done, FAILED)
            }
        };
        self.restore_open(at, why)?;
        Ok(after)
    }

    fn restore_open(&mut self, at: usize, why: &'static str) -> Result<(), Error> {
        match self.progress.open.contains(&StudyUndoScope::Leg(at)) {
            true => self.restore(StudyUndoScope::Leg(at), why),
            false => Ok(()),
        }
    }

    fn announce(&self, at: usize) {
        let StudyLeg { variant, repeat } = self.legs[at];
        let left = self.legs.len() - self.progress.done.len();
        let left_s =
            (self.leg_times.0 > 0).then(|| self.leg_times.1 / f64::from(self.leg_times.0) * left as f64);
        let variant = self.order.study.variants[variant].name.clone();
        let (number, of) = (at + 1, self.legs.len());
        self.ctx.emit(CampaignEvent::Study(StudyEvent::Leg { number, of, variant, repeat, left_s }));
    }

    /// Stores the conclusion so far.
    fn conclude(&self, is_done: bool) -> Result<Option<Conclusion>, Error> {
        let conclusion =
            conclusion::conclude_so_far(&self.repository, &self.id, self.order, &self.progress, is_done)?;
        if let Some(conclusion) = &conclusion {
            self.repository.conclude(&self.id, &serde_json::to_value(conclusion)?)?;
        }
        Ok(conclusion)
    }
}

/// Creates the study's folder. Other users may pass through it but not list it, because a server of another
/// user may store its files there.
fn make_folder(path: &Path) -> Result<(), Error> {
    let failed = |error: std::io::Error| {
        Error::because(format!("the folder {} cannot be created", path.display()), error)
    };
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above).map_err(failed)?;
    }
    std::fs::DirBuilder::new().mode(0o711).create(path).map_err(failed)?;
    // The entry in the parent folder must be as durable as the content.
    let above = path.parent().map(std::fs::File::open).transpose().map_err(failed)?;
    above.map_or(Ok(()), |above| above.sync_all()).map_err(failed)
}
