//! The state of a study in progress, shared by the code that executes and reverts legs.

use dyno_engine::Cancel;
use dyno_plan::study::StudyLeg;
use dyno_record::{Repository, SweepId};

use super::command::StudyCommandRunner;
use super::event_filter::FilteredStudyListener;
use super::journal::{StudyJournal, StudyJournalEntry, StudyJournalEvent};
use super::order::StudyDefinition;
use super::progress::StudyProgress;
use crate::campaign_context::{CampaignContext, Consent};
use crate::campaign_control::CampaignControl;
use crate::error::Error;

pub(super) struct StudyRunner<'a> {
    pub(super) ctx: &'a CampaignContext<'a>,
    pub(super) order: &'a StudyDefinition,
    pub(super) id: SweepId,
    pub(super) legs: Vec<StudyLeg>,
    pub(super) runner: StudyCommandRunner<'a>,
    pub(super) progress: StudyProgress,
    journal: StudyJournal,
    pub(super) repository: Repository,
    /// Number of legs that this process executed, and their total duration, s.
    pub(super) leg_times: (u32, f64),
}

impl<'a> StudyRunner<'a> {
    pub(super) fn new(
        ctx: &'a CampaignContext<'a>,
        order: &'a StudyDefinition,
        repository: Repository,
        id: SweepId,
    ) -> Result<Self, Error> {
        let (journal, entries) = StudyJournal::open(&order.folder)?;
        let runner = StudyCommandRunner {
            ctx,
            order,
            id: order.folder.file_name().and_then(|name| name.to_str()).unwrap_or_default(),
        };
        let (progress, legs) = (StudyProgress::of(&entries), order.legs());
        let mut walk =
            Self { ctx, order, id, legs, runner, progress, journal, repository, leg_times: (0, 0.0) };
        walk.note(StudyJournalEvent::Process { boot: boot_id() })?;
        Ok(walk)
    }

    /// Writes `event` to the journal, and updates the state.
    pub(super) fn note(&mut self, event: StudyJournalEvent) -> Result<(), Error> {
        let entry: StudyJournalEntry = self.journal.note(event)?;
        self.progress.add(&entry);
        Ok(())
    }

    /// Creates the context of a load or a run, which `cancel` can cancel.
    pub(super) fn context_with_cancel(&self, cancel: Cancel) -> StudyContext<'a> {
        StudyContext { parent: self.ctx, quiet: FilteredStudyListener(self.ctx.listener), cancel }
    }
}

/// The context of a load or a run of a study.
pub(super) struct StudyContext<'a> {
    parent: &'a CampaignContext<'a>,
    quiet: FilteredStudyListener<'a>,
    cancel: Cancel,
}

impl StudyContext<'_> {
    pub(super) fn ctx(&self) -> CampaignContext<'_> {
        CampaignContext {
            engines: self.parent.engines,
            repository: self.parent.repository.clone(),
            marks: self.parent.marks.clone(),
            consent: Consent { writes: self.parent.consent.writes, ..Consent::default() },
            cancel: self.cancel.clone(),
            steer: CampaignControl::default(),
            fleet: self.parent.fleet.clone(),
            agents: self.parent.agents.clone(),
            listener: &self.quiet,
        }
    }
}

/// Identifies the current start of the machine.
pub(super) fn boot_id() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}
