//! Controls a campaign in progress: pause, continue, or skip a point.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks a campaign to pause before its next run, or to skip the point of the current run.
#[derive(Debug, Clone, Default)]
pub struct CampaignControl {
    paused: Arc<AtomicBool>,
    skip: Arc<AtomicBool>,
}

impl CampaignControl {
    /// Pauses the campaign or lets it continue; the current run is not affected.
    pub fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Relaxed);
    }

    /// Whether the campaign is to pause before its next run.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Stops the current run, and skips the remaining runs of its point.
    pub fn skip(&self) {
        self.skip.store(true, Ordering::Relaxed);
    }

    /// Whether the point of the current run is to be skipped.
    pub fn is_skipping(&self) -> bool {
        self.skip.load(Ordering::Relaxed)
    }

    /// Clears the request to skip, because another run begins.
    pub(crate) fn begin(&self) {
        self.skip.store(false, Ordering::Relaxed);
    }

    /// The flag that stops the current run.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.skip)
    }
}
