//! Slots in which sessions publish their counters for the observer.
//!
//! SQLite keeps its cache counters in each connection, where only the connection's own thread may read them.
//! A session therefore copies them into a slot that it shares with the target, at both window boundaries and
//! a few times per second in between. A slot has one writer, so publishing takes no lock. A session that ends
//! leaves its counts in the slot, and the next one adds to them. The sum over all slots is therefore the work
//! of all sessions so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// The counts of one session's connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SqliteSessionCounts {
    /// Pages found in the connection's cache.
    pub(crate) hits: u64,
    /// Pages that were not in the connection's cache.
    pub(crate) misses: u64,
    /// Pages written from the cache.
    pub(crate) writes: u64,
    /// Pages among the writes that were written during a transaction to free space in the cache.
    pub(crate) spills: u64,
    /// Transactions that wrote and were committed.
    pub(crate) commits: u64,
    /// Transactions that were rolled back.
    pub(crate) rollbacks: u64,
    /// Executions of prepared statements since opening.
    pub(crate) runs: u64,
    /// Rows inserted, updated or deleted.
    pub(crate) changes: u64,
}

const FIELDS: usize = 8;

impl SqliteSessionCounts {
    fn fields(self) -> [u64; FIELDS] {
        let Self { hits, misses, writes, spills, commits, rollbacks, runs, changes } = self;
        [hits, misses, writes, spills, commits, rollbacks, runs, changes]
    }

    fn from_fields([hits, misses, writes, spills, commits, rollbacks, runs, changes]: [u64; FIELDS]) -> Self {
        Self { hits, misses, writes, spills, commits, rollbacks, runs, changes }
    }
}

/// One session's counters as last published, and its current number of commits.
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
pub(crate) struct SqliteSessionRegistry(Arc<Mutex<Slots>>);

impl SqliteSessionRegistry {
    /// Assigns a slot for a new session's counters.
    pub(crate) fn register(&self) -> Publisher {
        let mut slots = self.0.lock();
        let slot = slots.idle.pop().unwrap_or_else(|| {
            let slot = Arc::new(Slot::default());
            slots.all.push(Arc::clone(&slot));
            slot
        });
        Publisher { registry: self.clone(), slot }
    }

    /// Whether any session exists now.
    pub(super) fn has_sessions(&self) -> bool {
        let slots = self.0.lock();
        slots.all.len() > slots.idle.len()
    }

    /// The published counts of all sessions, including those that have ended.
    pub(crate) fn sum(&self) -> SqliteSessionCounts {
        let mut sum = [0; FIELDS];
        for slot in &self.0.lock().all {
            for (total, field) in sum.iter_mut().zip(&slot.published) {
                *total += field.load(Ordering::Relaxed);
            }
        }
        SqliteSessionCounts::from_fields(sum)
    }

    /// Commits of all sessions so far, published or not.
    pub(super) fn commits_by_now(&self) -> u64 {
        self.0.lock().all.iter().map(|slot| slot.commits_by_now.load(Ordering::Relaxed)).sum()
    }
}

/// One session's access to its slot; dropping it returns the slot.
#[derive(Debug)]
pub(crate) struct Publisher {
    registry: SqliteSessionRegistry,
    slot: Arc<Slot>,
}

impl Publisher {
    /// A handle that counts this session's commits immediately.
    pub(crate) fn committed(&self) -> SqliteCommitCounter {
        SqliteCommitCounter(Arc::clone(&self.slot))
    }

    /// Adds the counts since the last publication.
    pub(crate) fn add(&self, counts: SqliteSessionCounts) {
        for (field, by) in self.slot.published.iter().zip(counts.fields()) {
            // Only this session writes the slot, so a separate load and store lose nothing.
            field.store(field.load(Ordering::Relaxed) + by, Ordering::Relaxed);
        }
    }
}

/// Counts the commits of a session immediately.
#[derive(Debug)]
pub(crate) struct SqliteCommitCounter(Arc<Slot>);

impl SqliteCommitCounter {
    /// Counts one more commit.
    pub(crate) fn add_one(&self) {
        let count = &self.0.commits_by_now;
        // Only this session writes the slot, so a separate load and store lose nothing.
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.registry.0.lock().idle.push(Arc::clone(&self.slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_sessions_stay_in_sum_and_slots_are_reused() {
        let registry = SqliteSessionRegistry::default();
        for round in 1..=3 {
            let (a, b) = (registry.register(), registry.register());
            a.add(SqliteSessionCounts { hits: 10, commits: 1, ..SqliteSessionCounts::default() });
            b.add(SqliteSessionCounts { hits: 5, changes: 7, ..SqliteSessionCounts::default() });
            b.add(SqliteSessionCounts { hits: 5, ..SqliteSessionCounts::default() });
            let sum = registry.sum();
            assert_eq!((sum.hits, sum.commits, sum.changes), (20 * round, round, 7 * round));
        }
        assert_eq!(registry.0.lock().all.len(), 2);
    }
}
