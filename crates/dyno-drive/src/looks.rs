//! What became of the snapshots that belong to the window's two ends: the observer notes it, sessions ask.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// What became of the snapshot that belongs to an edge of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Look {
    /// Nobody has asked for its counters.
    Before,
    /// They are being read: what becomes visible now may be in them or not.
    Asked,
    /// They are there.
    Answered,
}

/// The looks at one target: at the window's begin (0) and at its end (1).
#[derive(Debug, Default)]
pub(crate) struct Looks {
    looks: [AtomicU8; 2],
    answered_ns: [AtomicU64; 2],
}

impl Looks {
    /// The counters at an edge are asked for next.
    pub(crate) fn asked(&self, edge: usize) {
        self.looks[edge].store(Look::Asked as u8, Ordering::SeqCst);
    }

    /// The counters at an edge are there, or will never be; only the first word counts.
    pub(crate) fn answered(&self, edge: usize, now_ns: u64) {
        if self.at(edge) != Look::Answered {
            self.answered_ns[edge].store(now_ns, Ordering::SeqCst);
            self.looks[edge].store(Look::Answered as u8, Ordering::SeqCst);
        }
    }

    /// When the counters at an edge were there.
    pub(crate) fn answered_ns(&self, edge: usize) -> u64 {
        self.answered_ns[edge].load(Ordering::SeqCst)
    }

    /// What became of the snapshot of an edge.
    pub(crate) fn at(&self, edge: usize) -> Look {
        match self.looks[edge].load(Ordering::SeqCst) {
            0 => Look::Before,
            1 => Look::Asked,
            _ => Look::Answered,
        }
    }
}
