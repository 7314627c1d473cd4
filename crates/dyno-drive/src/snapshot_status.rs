//! Tracks the snapshots of the two window boundaries: the observer updates their stage, sessions read it.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The stage of the snapshot of a window boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum SnapshotStage {
    /// Its counters have not been requested.
    Before,
    /// Its counters are being read: work that becomes visible now may or may not be included.
    Asked,
    /// Its counters have arrived.
    Answered,
}

/// The snapshots of one target at the window's begin (0) and end (1).
#[derive(Debug, Default)]
pub(crate) struct SnapshotStatus {
    stages: [AtomicU8; 2],
    answered_ns: [AtomicU64; 2],
}

impl SnapshotStatus {
    /// Notes that the counters at a boundary are requested next.
    pub(crate) fn note_requested(&self, edge: usize) {
        self.stages[edge].store(SnapshotStage::Asked as u8, Ordering::SeqCst);
    }

    /// Notes that the counters at a boundary have arrived, or never will; only the first call counts.
    pub(crate) fn note_answered(&self, edge: usize, now_ns: u64) {
        if self.stage(edge) != SnapshotStage::Answered {
            self.answered_ns[edge].store(now_ns, Ordering::SeqCst);
            self.stages[edge].store(SnapshotStage::Answered as u8, Ordering::SeqCst);
        }
    }

    /// When the counters at a boundary arrived.
    pub(crate) fn answered_ns(&self, edge: usize) -> u64 {
        self.answered_ns[edge].load(Ordering::SeqCst)
    }

    /// The stage of the snapshot of a boundary.
    pub(crate) fn stage(&self, edge: usize) -> SnapshotStage {
        match self.stages[edge].load(Ordering::SeqCst) {
            0 => SnapshotStage::Before,
            1 => SnapshotStage::Asked,
            _ => SnapshotStage::Answered,
        }
    }
}
