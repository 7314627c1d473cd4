//! Putting everything back: the last thing first, each command whatever of the others was done.
//!
//! A stop that was asked for does not reach these commands: what was changed is put back also then.

use dyno_engine::Cancel;
use dyno_plan::study::{DataReset, Need};

use super::journal::{Open, What};
use super::walk::Walk;
use crate::drop::drop_data;
use crate::error::Error;
use crate::event::{Event, StudyEvent};

/// Why something is put back.
pub(super) const MEASURED: &str = "it is measured";
pub(super) const FAILED: &str = "it failed";
pub(super) const STOPPED: &str = "the study is to stop";
pub(super) const CUT_OFF: &str = "an earlier process of the study did not come to it";
pub(super) const ENDED: &str = "the study is over";

impl Walk<'_> {
    /// Undoes `open`, and notes that; where a command fails the others are run all the same.
    ///
    /// # Errors
    /// Something could not be undone: it stays open, and nothing else may be begun.
    pub(super) fn restore(&mut self, open: Open, why: &'static str) -> Result<(), Error> {
        let (name, variant) = match open {
            Open::Setup => ("setup".to_owned(), self.order.study.base),
            Open::Leg(leg) => {
                let variant = self.legs[leg].variant;
                (self.order.study.variants[variant].name.clone(), variant)
            }
        };
        self.lead.tell(Event::Study(StudyEvent::Reverting(name.clone(), why)));
        if matches!(open, Open::Leg(_)) {
            self.unload(variant);
        }
        let at = self.at(variant);
        let mut failed: Vec<String> = Vec::new();
        for (when, command) in self.undoing(open, variant) {
            match self.runner.run(when, &command, at, &Cancel::default()) {
                Ok(said) if said.is_empty() => {}
                Ok(said) => self.lead.tell(Event::Study(StudyEvent::Said(said))),
                Err(error) => failed.push(error.words()),
            }
        }
        if !failed.is_empty() {
            return Err(Error::because(
                format!(
                    "{name} could not be put back; see to it, then `dyno study resume {}` tries it again",
                    self.id
                ),
                failed.join("; "),
            ));
        }
        self.note(What::Closed(open))?;
        self.lead.tell(Event::Study(StudyEvent::Reverted(name)));
        Ok(())
    }

    /// The commands that undo `open`, in their order.
    fn undoing(&self, open: Open, variant: usize) -> Vec<(&'static str, String)> {
        let study = &self.order.study;
        let back = |when: &'static str, commands: &[String]| -> Vec<(&'static str, String)> {
            commands.iter().rev().map(|command| (when, command.clone())).collect()
        };
        if open == Open::Setup {
            return back("cleanup", &study.setup.revert);
        }
        let of = &study.variants[variant];
        let mut all = back("serve back", &study.serve.revert);
        all.extend(of.parts.iter().rev().flat_map(|part| back("revert", &part.revert)));
        // Where every leg has a server of its own, none is left to be started anew.
        if of.needs(Need::RestartDatabase) {
            all.extend(study.restart.iter().map(|command| ("restart", command.clone())));
        }
        all
    }

    /// Drops the data of the study, where its server still answers: of one that is gone with the variant nothing is left.
    fn unload(&mut self, variant: usize) {
        if self.order.study.state != DataReset::Reload || !self.progress.loaded {
            return;
        }
        let owner = self.part_lead(Cancel::default());
        let lead = owner.lead();
        let mut stays = None;
        for plan in self.order.plans[variant].iter().rev() {
            if let Err(error) = drop_data(&lead, plan, |_| Ok(true)) {
                stays = Some(error.words());
            }
        }
        match stays {
            None => drop(self.note(What::Unloaded)),
            // What a server of the leg's own held goes with it; of others the next leg drops it.
            Some(_) if !self.order.study.serve.apply.is_empty() => {}
            Some(why) => self.lead.tell(Event::Study(StudyEvent::DataStays(why))),
        }
    }
}
