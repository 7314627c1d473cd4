//! The state that follows from the journal: what must be reverted, what is done, and what was measured.

use std::collections::{BTreeMap, BTreeSet};

use super::journal::{StudyJournalEntry, StudyJournalEvent, StudyUndoScope};

/// A measured task of a leg.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StudyMeasurement {
    pub(super) leg: usize,
    pub(super) task: usize,
    pub(super) run: Option<String>,
    pub(super) load_s: Option<f64>,
}

/// The state of a study.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct StudyProgress {
    /// What must be reverted, in the order in which it was opened.
    pub(super) open: Vec<StudyUndoScope>,
    /// Legs that need not run again.
    pub(super) done: BTreeSet<usize>,
    /// Legs that were left out, because their variant failed before.
    pub(super) left_out: BTreeSet<usize>,
    /// Why legs failed, by leg.
    pub(super) failed: BTreeMap<usize, String>,
    /// Whether a target may contain data of the study.
    pub(super) loaded: bool,
    /// Measured tasks of legs that are complete or may still be completed.
    pub(super) measured: Vec<StudyMeasurement>,
    /// Output of the verify commands, by leg.
    pub(super) verified: BTreeMap<usize, Vec<String>>,
    /// The leg that waits for a restart of the machine, and the boot id before it.
    pub(super) reboot: Option<(usize, String)>,
    /// Legs in the order in which they started, with the times.
    pub(super) begun: Vec<(String, usize)>,
}

impl StudyProgress {
    /// Computes the state from journal entries.
    pub(super) fn of(entries: &[StudyJournalEntry]) -> Self {
        let mut progress = Self::default();
        entries.iter().for_each(|entry| progress.add(entry));
        progress
    }

    /// Updates the state from one entry.
    pub(super) fn add(&mut self, entry: &StudyJournalEntry) {
        match &entry.what {
            StudyJournalEvent::Process { .. } => {}
            StudyJournalEvent::Opened(open) => {
                self.open.push(*open);
                if let StudyUndoScope::Leg(leg) = open {
                    self.begun.push((entry.at.clone(), *leg));
                    // A leg that starts again is measured again.
                    self.measured.retain(|measured| measured.leg != *leg);
                    self.failed.remove(leg);
                }
            }
            StudyJournalEvent::Closed(open) => {
                self.open.retain(|other| other != open);
                if let (StudyUndoScope::Leg(leg), Some((waiting, _))) = (open, &self.reboot)
                    && leg == waiting
                {
                    self.reboot = None;
                }
            }
            StudyJournalEvent::Loading => self.loaded = true,
            StudyJournalEvent::Unloaded => self.loaded = false,
            StudyJournalEvent::Verified { leg, said } => {
                self.verified.insert(*leg, said.clone());
            }
            StudyJournalEvent::Measured { leg, task, run, load_s, .. } => {
                let measured = StudyMeasurement { leg: *leg, task: *task, run: run.clone(), load_s: *load_s };
                self.measured.push(measured);
            }
            StudyJournalEvent::Done { leg } => {
                self.done.insert(*leg);
                self.reboot = None;
            }
            StudyJournalEvent::Failed { leg, why } => {
                self.done.insert(*leg);
                self.failed.insert(*leg, why.clone());
                self.reboot = None;
            }
            StudyJournalEvent::LeftOut { leg } => {
                self.done.insert(*leg);
                self.left_out.insert(*leg);
            }
            StudyJournalEvent::Reboot { leg, boot } => self.reboot = Some((*leg, boot.clone())),
            StudyJournalEvent::Rebooted { .. } => self.reboot = None,
        }
    }

    /// Returns the next leg of `count`, in order.
    pub(super) fn next(&self, count: usize) -> Option<usize> {
        (0..count).find(|leg| !self.done.contains(leg))
    }

    /// Number of consecutive failures at the end of the executed legs.
    pub(super) fn failures_in_row(&self) -> usize {
        let attempted = self.done.iter().rev().filter(|leg| !self.left_out.contains(leg));
        attempted.take_while(|leg| self.failed.contains_key(leg)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(whats: Vec<StudyJournalEvent>) -> StudyProgress {
        let entry = |what| StudyJournalEntry { at: "t".to_owned(), what };
        StudyProgress::of(&whats.into_iter().map(entry).collect::<Vec<_>>())
    }

    fn measured(leg: usize, load_s: f64) -> StudyJournalEvent {
        StudyJournalEvent::Measured { leg, task: 0, run: None, load_s: Some(load_s), rows: None }
    }

    #[test]
    fn open_undo_scopes_are_undone_in_reverse_order() {
        let opened = |leg| StudyJournalEvent::Opened(StudyUndoScope::Leg(leg));
        let progress = of(vec![
            StudyJournalEvent::Opened(StudyUndoScope::Setup),
            opened(0),
            StudyJournalEvent::Done { leg: 0 },
            StudyJournalEvent::Closed(StudyUndoScope::Leg(0)),
            opened(1),
        ]);
        assert_eq!(progress.open, [StudyUndoScope::Setup, StudyUndoScope::Leg(1)]);
        assert_eq!(progress.next(3), Some(1), "an interrupted leg is run again");
        assert_eq!(progress.next(1), None);
    }

    #[test]
    fn restarted_study_leg_discards_its_measurements() {
        let opened = || StudyJournalEvent::Opened(StudyUndoScope::Leg(0));
        let progress = of(vec![
            opened(),
            measured(0, 1.0),
            StudyJournalEvent::Closed(StudyUndoScope::Leg(0)),
            opened(),
            measured(0, 2.0),
        ]);
        assert_eq!(progress.measured.iter().map(|m| m.load_s).collect::<Vec<_>>(), [Some(2.0)]);
    }

    #[test]
    fn failures_in_row_reset_after_success() {
        let failed = |leg| StudyJournalEvent::Failed { leg, why: "x".to_owned() };
        assert_eq!(
            of(vec![failed(0), StudyJournalEvent::Done { leg: 1 }, failed(2), failed(3)]).failures_in_row(),
            2
        );
        assert_eq!(of(vec![StudyJournalEvent::Done { leg: 0 }]).failures_in_row(), 0);
    }

    #[test]
    fn leg_waits_for_reboot_until_rebooted_or_closed() {
        let reboot = || StudyJournalEvent::Reboot { leg: 2, boot: "b".to_owned() };
        assert_eq!(of(vec![reboot()]).reboot, Some((2, "b".to_owned())));
        assert_eq!(of(vec![reboot(), StudyJournalEvent::Closed(StudyUndoScope::Leg(2))]).reboot, None);
        assert_eq!(of(vec![reboot(), StudyJournalEvent::Done { leg: 2 }]).reboot, None);
        assert_eq!(of(vec![reboot(), StudyJournalEvent::Rebooted { leg: 2 }]).reboot, None);
    }
}
