//! Manages the observer and the sampler of one target, and their failures.

use std::sync::Arc;
use std::time::Duration;

use dyno_observe::TargetSnapshot;
use dyno_observe::WaitCounts;
use dyno_record::Waits;

use crate::observe::{ObserverThread, SamplerThread, SnapshotReply, SnapshotRequest};
use crate::snapshot_status::SnapshotStatus;

/// Observer and sampler of one target.
pub(crate) struct Watcher {
    /// The target's name as a prefix of errors; empty if there is only one target.
    label: String,
    observer: ObserverThread,
    /// Why the observer is not used any more.
    lost: Option<String>,
    /// Whether it is used again after a failure; it then opens a new connection.
    reopens: bool,
    /// The number of the last request.
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

    /// Requests a snapshot, unless the observer is lost.
    pub(crate) fn request(&mut self, snapshot_request: SnapshotRequest) {
        if self.lost.is_none() {
            self.number += 1;
            self.observer.request(SnapshotRequest { number: self.number, ..snapshot_request });
        }
    }

    /// The state of the boundary snapshots.
    pub(crate) fn snapshot_status(&self) -> &Arc<SnapshotStatus> {
        self.observer.snapshot_status()
    }

    /// The outcome of the request within `patience`; `None` while it is pending.
    pub(crate) fn answer(&mut self, patience: Duration) -> Option<Result<TargetSnapshot, String>> {
        if let Some(lost) = &self.lost {
            return Some(Err(lost.clone()));
        }
        match self.observer.answer(self.number, patience) {
            SnapshotReply::Taken(taken) => Some(Ok(*taken)),
            SnapshotReply::Failed(reason) => {
                Some(Err(self.mark_lost(&format!("the counters could not be read: {reason}"))))
            }
            SnapshotReply::NotYet => None,
        }
    }

    /// Stops using the observer, unless it opens a new connection.
    pub(crate) fn mark_lost(&mut self, reason: &str) -> String {
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

    /// The sampler's results so far, or why there are none.
    pub(crate) fn waits_so_far(&self) -> Waits {
        match (&self.sampler, &self.waits) {
            (Some(sampler), _) => sampler.waits_so_far(),
            (None, Some(waits)) => waits.clone(),
            (None, None) => Waits::Absent { absent: "no wait sampler runs".to_owned() },
        }
    }

    /// The same as counts per wait; empty without a sampler.
    pub(crate) fn wait_counts(&self) -> WaitCounts {
        self.sampler.as_ref().map(SamplerThread::wait_counts).unwrap_or_default()
    }

    /// Ends the sampler and returns its results.
    pub(crate) fn finish_sampler(&mut self, patience: Duration) -> Option<Waits> {
        match self.sampler.take() {
            Some(sampler) => Some(sampler.finish(patience)),
            None => self.waits.take(),
        }
    }
}
