//! Records when an agent last received a message from its controller; the receiving thread writes it, the
//! agent's thread reads it.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::messages::Leader;

/// State shared between the receiving thread and the agent's thread.
#[derive(Default)]
pub(crate) struct LeaderContact {
    /// Id of the controller; absent while the agent is free.
    leader: Mutex<Option<String>>,
    at_ns: AtomicU64,
}

impl LeaderContact {
    /// Notes a message of this controller; ignores other controllers.
    pub(crate) fn note(&self, leader: &str, at_ns: u64) {
        let current_leader = self.leader.lock();
        if current_leader.as_deref() == Some(leader) {
            self.at_ns.fetch_max(at_ns, Ordering::AcqRel);
        }
    }

    /// Follows this controller from now on, or none.
    pub(crate) fn follow(&self, leader: Option<&Leader>, at_ns: u64) {
        *self.leader.lock() = leader.map(|leader| leader.id.clone());
        self.at_ns.store(at_ns, Ordering::Release);
    }

    /// When the controller last sent a message.
    pub(crate) fn at_ns(&self) -> u64 {
        self.at_ns.load(Ordering::Acquire)
    }
}
