//! Who watches one target: its observer and its sampler, and what became of them.

use std::sync::Arc;
use std::time::Duration;

use dyno_record::Waits;

use crate::looks::Looks;
use crate::observe::{Answer, Asked, ObserverThread, SamplerThread, Taken};
use crate::samples::Counted;

/// Observer and sampler of one target.
pub(crate) struct Watcher {
    /// The target, before what is wrong with it; empty where there is only one.
    label: String,
    observer: ObserverThread,
    /// Why the observer is not asked any more.
    lost: Option<String>,
    /// Whether it is asked again after a failure: it then opens a new connection.
    reopens: bool,
    /// The number of the last question.
    number: u64,
    sampler: Option<SamplerThread>,
    waits: Option<Waits>,
}

impl Watcher {
    pub(crate) fn new(
        label: String,
        observer: ObserverThread,
        sampler: Option<SamplerThread>,
        no_waits: Option<Waits>,
        reopens: bool,
    ) -> Self {
        Self { label, observer, lost: None, reopens, number: 0, sampler, waits: no_waits }
    }

    /// Asks for a snapshot, if anybody still answers.
    pub(crate) fn request(&mut self, asked: Asked) {
        if self.lost.is_none() {
            self.number += 1;
            self.observer.request(Asked { number: self.number, ..asked });
        }
    }

    /// What became of the snapshots of the window's edges.
    pub(crate) fn looks(&self) -> &Arc<Looks> {
        self.observer.looks()
    }

    /// What came of the request within `patience`; nothing so far is `None`.
    pub(crate) fn answer(&mut self, patience: Duration) -> Option<Result<Taken, String>> {
        if let Some(lost) = &self.lost {
            return Some(Err(lost.clone()));
        }
        match self.observer.answer(self.number, patience) {
            Answer::Taken(taken) => Some(Ok(*taken)),
            Answer::Failed(reason) => {
                Some(Err(self.lose(&format!("the counters could not be read: {reason}"))))
            }
            Answer::NotYet => None,
        }
    }

    /// Asks the observer no more, unless it opens a new connection.
    pub(crate) fn lose(&mut self, reason: &str) -> String {
        let reason = format!("{}{reason}", self.label);
        if !self.reopens {
            self.lost = Some(reason.clone());
        }
        reason
    }

    pub(crate) fn resume_sampler(&self) {
        if let Some(sampler) = &self.sampler {
            sampler.resume();
        }
    }

    pub(crate) fn pause_sampler(&self, patience: Duration) {
        if let Some(sampler) = &self.sampler {
            sampler.pause(patience);
        }
    }

    /// What the sampler has seen so far, or why there is none.
    pub(crate) fn waits_so_far(&self) -> Waits {
        match (&self.sampler, &self.waits) {
            (Some(sampler), _) => sampler.so_far(),
            (None, Some(waits)) => waits.clone(),
            (None, None) => Waits::Absent { absent: "nobody samples".to_owned() },
        }
    }

    /// The same, wait by wait; nothing where nobody samples.
    pub(crate) fn sampled(&self) -> Counted {
        self.sampler.as_ref().map(SamplerThread::counted).unwrap_or_default()
    }

    /// Ends the sampler and says what it saw.
    pub(crate) fn finish_sampler(&mut self, patience: Duration) -> Option<Waits> {
        match self.sampler.take() {
            Some(sampler) => Some(sampler.finish(patience)),
            None => self.waits.take(),
        }
    }
}
