//! When an agent last heard of its leader: noted on the thread that hears, read on the one that acts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::messages::Leader;

/// What the thread that hears and the one that acts share.
#[derive(Default)]
pub(crate) struct LeaderHeard {
    /// The leader's number, and when it was last heard.
    leader: Mutex<Option<String>>,
    at_ns: AtomicU64,
}

impl LeaderHeard {
    /// This leader was heard then; another's messages mean nothing.
    pub(crate) fn note(&self, leader: &str, at_ns: u64) {
        let own = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        if own.as_deref() == Some(leader) {
            self.at_ns.fetch_max(at_ns, Ordering::AcqRel);
        }
    }

    /// Follows this leader from now on, or nobody.
    pub(crate) fn follow(&self, leader: Option<&Leader>, at_ns: u64) {
        *self.leader.lock().unwrap_or_else(PoisonError::into_inner) = leader.map(|leader| leader.id.clone());
        self.at_ns.store(at_ns, Ordering::Release);
    }

    /// When it was last heard.
    pub(crate) fn at_ns(&self) -> u64 {
        self.at_ns.load(Ordering::Acquire)
    }
}
