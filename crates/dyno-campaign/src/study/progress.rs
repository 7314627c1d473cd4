//! What the journal means: what has to be undone, what is done, and what was measured.

use std::collections::{BTreeMap, BTreeSet};

use super::journal::{Entry, Open, What};

/// A task that was measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub(super) leg: usize,
    pub(super) task: usize,
    pub(super) run: Option<String>,
    pub(super) load_s: Option<f64>,
}

/// How far a study is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Progress {
    /// What has to be undone, the last one first.
    pub(super) open: Vec<Open>,
    /// Legs that need not be run again.
    pub(super) done: BTreeSet<usize>,
    /// Legs that were not begun, since their variant had failed before.
    pub(super) left_out: BTreeSet<usize>,
    /// Why legs failed.
    pub(super) failed: BTreeMap<usize, String>,
    /// Whether there may be data of the study's on a target.
    pub(super) loaded: bool,
    /// What was measured, of legs that were measured as a whole or may still be.
    pub(super) measured: Vec<Measured>,
    /// What showed that variants were in force, by leg.
    pub(super) verified: BTreeMap<usize, Vec<String>>,
    /// The leg that waits for the machine to be started anew, and how it was started.
    pub(super) reboot: Option<(usize, String)>,
    /// Legs in the order in which they were begun, with the moments.
    pub(super) begun: Vec<(String, usize)>,
}

impl Progress {
    /// What `entries` come to.
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut progress = Self::default();
        entries.iter().for_each(|entry| progress.add(entry));
        progress
    }

    /// Goes on by an entry.
    pub(super) fn add(&mut self, entry: &Entry) {
        match &entry.what {
            What::Process { .. } => {}
            What::Opened(open) => {
                self.open.push(*open);
                if let Open::Leg(leg) = open {
                    self.begun.push((entry.at.clone(), *leg));
                    // A leg that is begun anew is measured anew.
                    self.measured.retain(|measured| measured.leg != *leg);
                    self.failed.remove(leg);
                }
            }
            What::Closed(open) => {
                self.open.retain(|other| other != open);
                if let (Open::Leg(leg), Some((waiting, _))) = (open, &self.reboot)
                    && leg == waiting
                {
                    self.reboot = None;
                }
            }
            What::Loading => self.loaded = true,
            What::Unloaded => self.loaded = false,
            What::Verified { leg, said } => {
                self.verified.insert(*leg, said.clone());
            }
            What::Measured { leg, task, run, load_s, .. } => {
                let measured = Measured { leg: *leg, task: *task, run: run.clone(), load_s: *load_s };
                self.measured.push(measured);
            }
            What::Done { leg } => {
                self.done.insert(*leg);
                self.reboot = None;
            }
            What::Failed { leg, why } => {
                self.done.insert(*leg);
                self.failed.insert(*leg, why.clone());
                self.reboot = None;
            }
            What::LeftOut { leg } => {
                self.done.insert(*leg);
                self.left_out.insert(*leg);
            }
            What::Reboot { leg, boot } => self.reboot = Some((*leg, boot.clone())),
            What::Rebooted { .. } => self.reboot = None,
        }
    }

    /// The next leg of `count`, in order.
    pub(super) fn next(&self, count: usize) -> Option<usize> {
        (0..count).find(|leg| !self.done.contains(leg))
    }

    /// Failures in a row at the end of what was done.
    pub(super) fn failures_in_row(&self) -> usize {
        let begun = self.done.iter().rev().filter(|leg| !self.left_out.contains(leg));
        begun.take_while(|leg| self.failed.contains_key(leg)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(whats: Vec<What>) -> Progress {
        let entry = |what| Entry { at: "t".to_owned(), what };
        Progress::of(&whats.into_iter().map(entry).collect::<Vec<_>>())
    }

    fn measured(leg: usize, load_s: f64) -> What {
        What::Measured { leg, task: 0, run: None, load_s: Some(load_s), rows: None }
    }

    #[test]
    fn what_was_opened_and_not_closed_is_undone_in_reverse_order() {
        let opened = |leg| What::Opened(Open::Leg(leg));
        let progress = of(vec![
            What::Opened(Open::Setup),
            opened(0),
            What::Done { leg: 0 },
            What::Closed(Open::Leg(0)),
            opened(1),
        ]);
        assert_eq!(progress.open, [Open::Setup, Open::Leg(1)]);
        assert_eq!(progress.next(3), Some(1), "a leg that was cut off is run again");
        assert_eq!(progress.next(1), None);
    }

    #[test]
    fn a_leg_that_is_begun_anew_forgets_what_was_measured_of_it() {
        let opened = || What::Opened(Open::Leg(0));
        let progress =
            of(vec![opened(), measured(0, 1.0), What::Closed(Open::Leg(0)), opened(), measured(0, 2.0)]);
        assert_eq!(progress.measured.iter().map(|m| m.load_s).collect::<Vec<_>>(), [Some(2.0)]);
    }

    #[test]
    fn failures_count_until_something_succeeds() {
        let failed = |leg| What::Failed { leg, why: "x".to_owned() };
        assert_eq!(of(vec![failed(0), What::Done { leg: 1 }, failed(2), failed(3)]).failures_in_row(), 2);
        assert_eq!(of(vec![What::Done { leg: 0 }]).failures_in_row(), 0);
    }

    #[test]
    fn a_leg_waits_for_a_reboot_until_it_is_closed() {
        let reboot = || What::Reboot { leg: 2, boot: "b".to_owned() };
        assert_eq!(of(vec![reboot()]).reboot, Some((2, "b".to_owned())));
        assert_eq!(of(vec![reboot(), What::Closed(Open::Leg(2))]).reboot, None);
        assert_eq!(of(vec![reboot(), What::Done { leg: 2 }]).reboot, None);
        assert_eq!(of(vec![reboot(), What::Rebooted { leg: 2 }]).reboot, None);
    }
}
