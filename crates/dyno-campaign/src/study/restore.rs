//! Reverts what a study has changed: in reverse order, and even if some of the commands fail.
//!
//! A cancellation does not stop these commands, so changes are reverted in any case.

use dyno_engine::Cancel;
use dyno_plan::study::{DataReset, Need};

use super::journal::{StudyJournalEvent, StudyUndoScope};
use super::walk::StudyRunner;
use crate::drop::drop_data;
use crate::error::Error;
use crate::event::{CampaignEvent, StudyEvent};

/// Reasons for reverting, as events report them.
pub(super) const MEASURED: &str = "it is measured";
pub(super) const FAILED: &str = "it failed";
pub(super) const STOPPED: &str = "the study stops";
pub(super) const CUT_OFF: &str = "an earlier process of the study did not revert it";
pub(super) const ENDED: &str = "the study is over";

impl StudyRunner<'_> {
    /// Reverts `open` and records that; if a command fails, the others still run.
    ///
    /// # Errors
    /// Something could not be reverted: it stays open, and nothing else may start.
    pub(super) fn restore(&mut self, open: StudyUndoScope, why: &'static str) -> Result<(), Error> {
        let (name, variant) = match open {
            StudyUndoScope::Setup => ("setup".to_owned(), self.order.study.base),
            StudyUndoScope::Leg(leg) => {
                let variant = self.legs[leg].variant;
                (self.order.study.variants[variant].name.clone(), variant)
            }
        };
        self.ctx.emit(CampaignEvent::Study(StudyEvent::Reverting(name.clone(), why)));
        if matches!(open, StudyUndoScope::Leg(_)) {
            self.drop_study_data(variant);
        }
        let at = self.command_context(variant);
        let mut failed: Vec<String> = Vec::new();
        for (when, command) in self.undo_commands(open, variant) {
            match self.runner.run(when, &command, at, &Cancel::default()) {
                Ok(said) if said.is_empty() => {}
                Ok(said) => self.ctx.emit(CampaignEvent::Study(StudyEvent::Said(said))),
                Err(error) => failed.push(error.words()),
            }
        }
        if !failed.is_empty() {
            return Err(Error::because(
                format!(
                    "{name} could not be reverted; fix the cause, then `dyno study resume {}` tries again",
                    self.id
                ),
                failed.join("; "),
            ));
        }
        self.note(StudyJournalEvent::Closed(open))?;
        self.ctx.emit(CampaignEvent::Study(StudyEvent::Reverted(name)));
        Ok(())
    }

    /// Returns the commands that revert `open`, in order.
    fn undo_commands(&self, open: StudyUndoScope, variant: usize) -> Vec<(&'static str, String)> {
        let study = &self.order.study;
        let back = |when: &'static str, commands: &[String]| -> Vec<(&'static str, String)> {
            commands.iter().rev().map(|command| (when, command.clone())).collect()
        };
        if open == StudyUndoScope::Setup {
            return back("cleanup", &study.setup.revert);
        }
        let variant_spec = &study.variants[variant];
        let mut all = back("serve back", &study.serve.revert);
        all.extend(variant_spec.parts.iter().rev().flat_map(|part| back("revert", &part.revert)));
        // If every leg has a server of its own, there is none to restart.
        if variant_spec.needs(Need::RestartDatabase) {
            all.extend(study.restart.iter().map(|command| ("restart", command.clone())));
        }
        all
    }

    /// Drops the data of the study, if its server still answers. The data of a server that ended with its
    /// variant is already gone.
    fn drop_study_data(&mut self, variant: usize) {
        if self.order.study.state != DataReset::Reload || !self.progress.loaded {
            return;
        }
        let owner = self.context_with_cancel(Cancel::default());
        let ctx = owner.ctx();
        let mut stays = None;
        for plan in self.order.plans[variant].iter().rev() {
            if let Err(error) = drop_data(&ctx, plan, |_| Ok(true)) {
                stays = Some(error.words());
            }
        }
        match stays {
            None => drop(self.note(StudyJournalEvent::Unloaded)),
            // The data of a leg's own server disappears with it; on other servers the next leg drops the
            // data.
            Some(_) if !self.order.study.serve.apply.is_empty() => {}
            Some(why) => self.ctx.emit(CampaignEvent::Study(StudyEvent::DataStays(why))),
        }
    }
}
