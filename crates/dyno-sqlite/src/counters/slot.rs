//! Where sessions leave their counters for the observer.
//!
//! SQLite keeps its cache counters in each connection, where only the connection's own thread may read them. So a
//! session copies them into a slot that it shares with the target, at both ends of the window and a few times a second
//! in between. A slot has one writer, so publishing takes no lock; a session that ends leaves its counts in the slot,
//! and the next one carries them on, so the sum over slots is what all sessions ever did.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What one session's connection counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Pages found in the connection's cache.
    pub(crate) hits: u64,
    /// Pages that were not there.
    pub(crate) misses: u64,
    /// Pages written from the cache.
    pub(crate) writes: u64,
    /// Pages among them that were written in the middle of a transaction, to make room.
    pub(crate) spills: u64,
    /// Transactions that wrote and were committed.
    pub(crate) commits: u64,
    /// Transactions rolled back.
    pub(crate) rollbacks: u64,
    /// Runs of prepared statements.
    pub(crate) runs: u64,
    /// Rows inserted, updated or deleted.
    pub(crate) changes: u64,
}

const FIELDS: usize = 8;

impl Counts {
    fn fields(self) -> [u64; FIELDS] {
        let Self { hits, misses, writes, spills, commits, rollbacks, runs, changes } = self;
        [hits, misses, writes, spills, commits, rollbacks, runs, changes]
    }

    fn from_fields([hits, misses, writes, spills, commits, rollbacks, runs, changes]: [u64; FIELDS]) -> Self {
        Self { hits, misses, writes, spills, commits, rollbacks, runs, changes }
    }
}

/// One session's counters, as last published, and its commits by now.
#[derive(Debug, Default)]
struct Slot {
    published: [AtomicU64; FIELDS],
    commits_by_now: AtomicU64,
}

/// All slots of one target, and those that no session uses now.
#[derive(Debug, Default)]
struct Slots {
    all: Vec<Arc<Slot>>,
    idle: Vec<Arc<Slot>>,
}

/// The slots of one target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registry(Arc<Mutex<Slots>>);

impl Registry {
    fn slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a new session's counters.
    pub(crate) fn check_in(&self) -> Publisher {
        let mut slots = self.slots();
        let slot = slots.idle.pop().unwrap_or_else(|| {
            let slot = Arc::new(Slot::default());
            slots.all.push(Arc::clone(&slot));
            slot
        });
        Publisher { registry: self.clone(), slot }
    }

    /// Whether there are sessions now.
    pub(super) fn is_at_work(&self) -> bool {
        let slots = self.slots();
        slots.all.len() > slots.idle.len()
    }

    /// What all sessions have published, those that have ended included.
    pub(crate) fn sum(&self) -> Counts {
        let mut sum = [0; FIELDS];
        for slot in &self.slots().all {
            for (total, field) in sum.iter_mut().zip(&slot.published) {
                *total += field.load(Ordering::Relaxed);
            }
        }
        Counts::from_fields(sum)
    }

    /// Commits of all sessions by now, whether they have published them or not.
    pub(super) fn commits_by_now(&self) -> u64 {
        self.slots().all.iter().map(|slot| slot.commits_by_now.load(Ordering::Relaxed)).sum()
    }
}

/// One session's access to its slot; gives the slot back when it goes.
#[derive(Debug)]
pub(crate) struct Publisher {
    registry: Registry,
    slot: Arc<Slot>,
}

impl Publisher {
    /// What counts this session's commits at once.
    pub(crate) fn committed(&self) -> Committed {
        Committed(Arc::clone(&self.slot))
    }

    /// Adds what was counted since the last time.
    pub(crate) fn add(&self, counts: Counts) {
        for (field, by) in self.slot.published.iter().zip(counts.fields()) {
            // Only this session writes the slot, so load and store lose nothing.
            field.store(field.load(Ordering::Relaxed) + by, Ordering::Relaxed);
        }
    }
}

/// Counts the commits of a session at once.
#[derive(Debug)]
pub(crate) struct Committed(Arc<Slot>);

impl Committed {
    /// One more.
    pub(crate) fn add_one(&self) {
        let count = &self.0.commits_by_now;
        // Only this session writes the slot, so load and store lose nothing.
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.registry.slots().idle.push(Arc::clone(&self.slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_ended_stay_in_the_sum_and_their_slots_are_used_again() {
        let registry = Registry::default();
        for round in 1..=3 {
            let (a, b) = (registry.check_in(), registry.check_in());
            a.add(Counts { hits: 10, commits: 1, ..Counts::default() });
            b.add(Counts { hits: 5, changes: 7, ..Counts::default() });
            b.add(Counts { hits: 5, ..Counts::default() });
            let sum = registry.sum();
            assert_eq!((sum.hits, sum.commits, sum.changes), (20 * round, round, 7 * round));
        }
        assert_eq!(registry.slots().all.len(), 2);
    }
}
