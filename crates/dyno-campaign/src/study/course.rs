//! From one leg to the next, with everything put back between them, whatever happens.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Instant;

use dyno_analyze::Conclusion;
use dyno_plan::study::Leg;
use dyno_record::{StartedSweep, SweepId, SweepKind, SweepState};

use super::journal::{Open, What};
use super::leg::Went;
use super::order::Order;
use super::restore::{CUT_OFF, ENDED, FAILED, MEASURED, STOPPED};
use super::walk::{Walk, boot};
use super::{command, concluded, consent, device, left};
use crate::error::{Error, ErrorKind};
use crate::event::{Event, StudyEvent};
use crate::lead::Lead;
use crate::names;

/// Legs that may fail one after the other; of more variants, all of them once.
const FAILURES_MAX: usize = 3;

/// Repeats of a variant that may fail before it is left out: what fails so often fails again.
const FAILED_MAX: usize = 2;

/// How a study ended for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// All legs are done.
    Done,
    /// It was to stop, and everything is put back.
    Stopped,
    /// Legs failed one after the other.
    GivenUp,
    /// The machine has to be started anew.
    NeedsReboot,
    /// Everything was put back, and no more was asked for.
    Restored,
}

/// What came of a study.
#[derive(Debug)]
pub struct Walked {
    /// Its name.
    pub id: SweepId,
    /// How it ended.
    pub after: After,
    /// What it comes to by now; nothing where nothing was measured.
    pub conclusion: Option<Conclusion>,
}

/// Begins the study of `order`.
///
/// # Errors
/// It cannot be done here, or its commands are not agreed to: then nothing was begun. Or something could not be put back.
pub fn run(lead: &Lead<'_>, order: &Order) -> Result<Walked, Error> {
    order.refuse()?;
    device::check(order)?;
    let order = &Order { disks: device::disks(order), ..order.clone() };
    consent::require(lead, order)?;
    let repository = lead.repository()?;
    make_folder(&order.folder)?;
    let definition = serde_json::to_value(order)?;
    let target = order.plans[order.study.base][0].target.url.to_string();
    let runs = order.legs().len() * order.study.tasks.iter().filter(|task| task.run).count();
    let id = names::drawn(|now, random| {
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
    Walk::new(lead, order, repository, id)?.go(false)
}

/// Goes on with the study `id`: first everything that an earlier process did not come to is put back. With `only_restore` that is all.
///
/// # Errors
/// As [`run`].
pub fn resume(lead: &Lead<'_>, id: &str, order: &Order, only_restore: bool) -> Result<Walked, Error> {
    order.refuse()?;
    if !only_restore {
        device::are_known(order)?;
    }
    consent::require(lead, order)?;
    let repository = lead.repository()?;
    if !order.folder.is_dir() {
        make_folder(&order.folder)?;
    }
    repository.resume_sweep(id)?;
    Walk::new(lead, order, repository, id.to_owned())?.go(only_restore)
}

impl Walk<'_> {
    /// Does what is left; whatever ends it, it is noted in the repository.
    fn go(mut self, only_restore: bool) -> Result<Walked, Error> {
        self.lead.tell(Event::Reached);
        let (folder, legs) = (self.order.folder.clone(), (self.progress.done.len(), self.legs.len()));
        self.lead.tell(Event::Study(StudyEvent::Begun { id: self.id.clone(), folder, legs }));
        let went = self.walk(only_restore);
        let conclusion = self.conclude(matches!(went, Ok(After::Done)));
        let state = if matches!(went, Ok(After::Done)) { SweepState::Done } else { SweepState::Interrupted };
        let noted = self.repository.end_sweep(&self.id, state);
        let after = went?;
        noted?;
        Ok(Walked { id: self.id, after, conclusion: conclusion? })
    }

    fn walk(&mut self, only_restore: bool) -> Result<After, Error> {
        command::write_pieces(&self.order.folder)?;
        let rebooted = self.put_back(only_restore)?;
        if only_restore {
            return Ok(After::Restored);
        }
        let Some(rebooted) = rebooted else { return Ok(After::NeedsReboot) };
        if !self.progress.open.contains(&Open::Setup) && self.progress.next(self.legs.len()).is_some() {
            self.note(What::Opened(Open::Setup))?;
            let setup = self.order.study.setup.apply.clone();
            if let Err(error) = self.commands("setup", &setup, self.order.study.base) {
                self.restore(Open::Setup, FAILED)?;
                return Err(error);
            }
        }
        let after = self.legs(rebooted);
        // Behind a leg that could not be put back nothing else is touched.
        let may_close = self.progress.open == [Open::Setup];
        if may_close && !matches!(after, Ok(After::NeedsReboot)) {
            self.restore(Open::Setup, if matches!(after, Ok(After::Done)) { ENDED } else { STOPPED })?;
        }
        after
    }

    /// Puts back what an earlier process did not come to. Returns the leg that has waited for the machine to be started anew, if there
    /// is one and it was; nothing where it was not.
    fn put_back(&mut self, all: bool) -> Result<Option<Option<usize>>, Error> {
        let left = left::end(&self.order.folder, self.runner.id);
        if left > 0 {
            self.lead.tell(Event::Study(StudyEvent::EndedLeft(left)));
        }
        if let (Some((leg, before)), false) = (self.progress.reboot.clone(), all)
            && self.progress.open.contains(&Open::Leg(leg))
        {
            if before == boot() {
                return Ok(None);
            }
            self.note(What::Rebooted { leg })?;
            return Ok(Some(Some(leg)));
        }
        for open in self.progress.open.clone().into_iter().rev() {
            self.restore(open, CUT_OFF)?;
        }
        Ok(Some(None))
    }

    fn legs(&mut self, mut rebooted: Option<usize>) -> Result<After, Error> {
        while let Some(at) = self.progress.next(self.legs.len()) {
            if self.lead.cancel.is_cancelled() {
                self.restore_open(at, STOPPED)?;
                return Ok(After::Stopped);
            }
            if self.progress.failures_in_row() >= FAILURES_MAX.max(self.order.study.variants.len()) {
                return Ok(After::GivenUp);
            }
            if self.is_hopeless(at) {
                self.note(What::LeftOut { leg: at })?;
                continue;
            }
            let is_rebooted = rebooted.take() == Some(at);
            self.announce(at);
            let began = Instant::now();
            match self.one(at, is_rebooted)? {
                After::Done => {}
                after => return Ok(after),
            }
            self.pace = (self.pace.0 + 1, self.pace.1 + began.elapsed().as_secs_f64());
            self.conclude(false)?;
        }
        Ok(After::Done)
    }

    /// Whether the variant of a leg has failed so often, and never anything else, that it is left out.
    fn is_hopeless(&self, at: usize) -> bool {
        let of = |leg: &&usize| self.legs[**leg].variant == self.legs[at].variant;
        let failed = self.progress.failed.keys().filter(of).count();
        failed >= FAILED_MAX
            && failed == self.progress.done.difference(&self.progress.left_out).filter(of).count()
    }

    /// One leg, with everything put back.
    fn one(&mut self, at: usize, is_rebooted: bool) -> Result<After, Error> {
        let name = self.order.study.variants[self.legs[at].variant].name.clone();
        let went = self.leg(at, is_rebooted);
        let is_stopped = self.lead.cancel.is_cancelled();
        let (after, why) = match went {
            Ok(Went::NeedsReboot) => return Ok(After::NeedsReboot),
            Ok(Went::Measured) => {
                self.note(What::Done { leg: at })?;
                (After::Done, MEASURED)
            }
            Err(error) if is_stopped || error.kind() == ErrorKind::Interrupted => (After::Stopped, STOPPED),
            // What cannot be noted now cannot be noted later; what is wrong with the request is wrong for all.
            Err(error @ (Error::Repository(_) | Error::Usage { .. })) => {
                self.restore_open(at, FAILED)?;
                return Err(error);
            }
            Err(error) => {
                let words = error.words();
                self.lead.tell(Event::Study(StudyEvent::Failed(name, words.clone())));
                self.note(What::Failed { leg: at, why: words })?;
                (After::Done, FAILED)
            }
        };
        self.restore_open(at, why)?;
        Ok(after)
    }

    fn restore_open(&mut self, at: usize, why: &'static str) -> Result<(), Error> {
        match self.progress.open.contains(&Open::Leg(at)) {
            true => self.restore(Open::Leg(at), why),
            false => Ok(()),
        }
    }

    fn announce(&self, at: usize) {
        let Leg { variant, repeat } = self.legs[at];
        let left = self.legs.len() - self.progress.done.len();
        let left_s = (self.pace.0 > 0).then(|| self.pace.1 / f64::from(self.pace.0) * left as f64);
        let variant = self.order.study.variants[variant].name.clone();
        let (number, of) = (at + 1, self.legs.len());
        self.lead.tell(Event::Study(StudyEvent::Leg { number, of, variant, repeat, left_s }));
    }

    /// Stores what it comes to by now.
    fn conclude(&self, is_done: bool) -> Result<Option<Conclusion>, Error> {
        let conclusion = concluded::of(&self.repository, &self.id, self.order, &self.progress, is_done)?;
        if let Some(conclusion) = &conclusion {
            self.repository.conclude(&self.id, &serde_json::to_value(conclusion)?)?;
        }
        Ok(conclusion)
    }
}

/// Makes the study's folder, which others may pass through and not read: a server of another user's may have its files in it.
fn make_folder(path: &Path) -> Result<(), Error> {
    let failed = |error: std::io::Error| {
        Error::because(format!("the folder {} cannot be made", path.display()), error)
    };
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above).map_err(failed)?;
    }
    std::fs::DirBuilder::new().mode(0o711).create(path).map_err(failed)?;
    // Its entry is to last as long as what it holds.
    let above = path.parent().map(std::fs::File::open).transpose().map_err(failed)?;
    above.map_or(Ok(()), |above| above.sync_all()).map_err(failed)
}
