//! The events in the journal of a study.

use serde::{Deserialize, Serialize};

use crate::journal::{self, JournalEntry, JournalEvent};

/// The journal of a study.
pub(super) type StudyJournal = journal::Journal<StudyJournalEvent>;

/// An event of a study's journal, with its time.
pub(super) type StudyJournalEntry = JournalEntry<StudyJournalEvent>;

/// A part of a study that must be reverted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StudyUndoScope {
    /// The setup of the whole study.
    Setup,
    /// The leg with this position in the order.
    Leg(usize),
}

/// An event of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StudyJournalEvent {
    /// A process starts or resumes the study; `boot` identifies the start of the machine.
    Process { boot: String },
    /// From now on this part must be reverted.
    Opened(StudyUndoScope),
    /// This part was reverted without errors.
    Closed(StudyUndoScope),
    /// From now on a target may contain data of the study.
    Loading,
    /// The data of the study was dropped.
    Unloaded,
    /// The verify commands showed that the variant is in force, with this output.
    Verified { leg: usize, said: Vec<String> },
    /// A task of a leg was measured.
    Measured { leg: usize, task: usize, run: Option<String>, load_s: Option<f64>, rows: Option<u64> },
    /// All tasks of a leg were measured.
    Done { leg: usize },
    /// A leg failed, for this reason.
    Failed { leg: usize, why: String },
    /// A leg was left out, because its variant failed before.
    LeftOut { leg: usize },
    /// The machine must be restarted; `boot` identifies its current start.
    Reboot { leg: usize, boot: String },
    /// The machine was restarted, and the leg continues. If interrupted now, the leg starts again, because it
    /// would need another restart.
    Rebooted { leg: usize },
}

impl JournalEvent for StudyJournalEvent {
    fn is_process(&self) -> bool {
        matches!(self, Self::Process { .. })
    }
}
