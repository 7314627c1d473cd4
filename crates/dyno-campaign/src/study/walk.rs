//! A study under way: what its legs, its restoring and its course share.

use dyno_engine::Cancel;
use dyno_plan::study::Leg;
use dyno_record::{Repository, SweepId};

use super::command::Commands;
use super::journal::{Entry, Journal, What};
use super::order::Order;
use super::progress::Progress;
use super::quiet::Quiet;
use crate::error::Error;
use crate::lead::{Consent, Lead};
use crate::steer::Steer;

/// A study under way.
pub(super) struct Walk<'a> {
    pub(super) lead: &'a Lead<'a>,
    pub(super) order: &'a Order,
    pub(super) id: SweepId,
    pub(super) legs: Vec<Leg>,
    pub(super) runner: Commands<'a>,
    pub(super) progress: Progress,
    journal: Journal,
    pub(super) repository: Repository,
    /// Legs of this process, and the seconds that they took.
    pub(super) pace: (u32, f64),
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        lead: &'a Lead<'a>,
        order: &'a Order,
        repository: Repository,
        id: SweepId,
    ) -> Result<Self, Error> {
        let (journal, entries) = Journal::open(&order.folder)?;
        let runner = Commands {
            lead,
            order,
            id: order.folder.file_name().and_then(|name| name.to_str()).unwrap_or_default(),
        };
        let (progress, legs) = (Progress::of(&entries), order.legs());
        let mut walk = Self { lead, order, id, legs, runner, progress, journal, repository, pace: (0, 0.0) };
        walk.note(What::Process { boot: boot() })?;
        Ok(walk)
    }

    /// Notes `what` on disk, and goes on by it.
    pub(super) fn note(&mut self, what: What) -> Result<(), Error> {
        let entry: Entry = self.journal.note(what)?;
        self.progress.add(&entry);
        Ok(())
    }

    /// What a load or a run is led by, until `cancel` is asked.
    pub(super) fn part_lead(&self, cancel: Cancel) -> PartLead<'a> {
        PartLead { of: self.lead, quiet: Quiet(self.lead.listener), cancel }
    }
}

/// Leads a load or a run of a study.
pub(super) struct PartLead<'a> {
    of: &'a Lead<'a>,
    quiet: Quiet<'a>,
    cancel: Cancel,
}

impl PartLead<'_> {
    pub(super) fn lead(&self) -> Lead<'_> {
        Lead {
            engines: self.of.engines,
            repository: self.of.repository.clone(),
            marks: self.of.marks.clone(),
            consent: Consent { writes: self.of.consent.writes, ..Consent::default() },
            cancel: self.cancel.clone(),
            steer: Steer::default(),
            fleet: self.of.fleet.clone(),
            agents: self.of.agents.clone(),
            listener: &self.quiet,
        }
    }
}

/// The mark of this start of the machine.
pub(super) fn boot() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}
