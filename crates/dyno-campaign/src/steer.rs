//! What whoever leads runs that belong together may ask of them while they go on, beside the wish to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks a campaign to rest before its next run, or to leave out the point of the run under way.
#[derive(Debug, Clone, Default)]
pub struct Steer {
    paused: Arc<AtomicBool>,
    skip: Arc<AtomicBool>,
}

impl Steer {
    /// Whether no run shall begin; the one under way is not touched.
    pub fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Relaxed);
    }

    /// Whether no run shall begin.
    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Breaks off the run under way, and leaves out what else there is of its point.
    pub fn skip(&self) {
        self.skip.store(true, Ordering::Relaxed);
    }

    /// Whether the point of the run under way is left out.
    pub fn is_skipping(&self) -> bool {
        self.skip.load(Ordering::Relaxed)
    }

    /// Another run begins, of which nothing was asked yet.
    pub(crate) fn begin(&self) {
        self.skip.store(false, Ordering::Relaxed);
    }

    /// The flag itself, for the run under way.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.skip)
    }
}
