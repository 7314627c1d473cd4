//! Sessions that wait for locks, the sessions that hold them, and open transactions, at one moment.

use std::collections::{BTreeMap, BTreeSet};

/// A session of the server, in the server's words.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionIdentity {
    /// The process or connection id, by which an administrator ends it.
    pub id: String,
    /// Program, user and host, as far as they are known: `nightly etl@db2`.
    pub name: String,
    /// What it does: `idle in transaction`, `Sleep`; may be empty.
    pub state: String,
}

/// A session that waits for a lock of another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockedSession {
    /// The id of the session that waits.
    pub waiter: String,
    /// The session that holds the lock, or waits for it ahead.
    pub blocker: SessionIdentity,
    /// The locked object, if the server names it.
    pub object: String,
}

/// A transaction that is open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenTransaction {
    /// The session that it belongs to.
    pub session: SessionIdentity,
    /// Seconds since it began, by the server's clock.
    pub age_s: f64,
}

/// All that blocks or may block on a server at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LockWaits {
    /// Each session that waits, once for each session that blocks it directly.
    pub blocked: Vec<BlockedSession>,
    /// The oldest open transactions of other sessions than Dyno's observers, oldest first.
    pub transactions: Vec<OpenTransaction>,
}

/// A session at the head of a wait chain: it blocks others and does not wait itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockingSession {
    /// The session itself.
    pub session: SessionIdentity,
    /// The locked object of the first session that waits for it directly; may be empty.
    pub object: String,
    /// Sessions that wait for it, directly or behind another one.
    pub waiting: usize,
    /// Sessions in its longest chain, without itself.
    pub depth: usize,
}

impl LockWaits {
    /// The sessions at the heads of wait chains, the one that blocks most first. Sessions that wait for each
    /// other in a circle are all heads: the server ends one of them.
    pub fn blocking(&self) -> Vec<BlockingSession> {
        let waiting: BTreeSet<&str> = self.blocked.iter().map(|blocked| blocked.waiter.as_str()).collect();
        let mut heads: BTreeMap<&str, BlockingSession> = BTreeMap::new();
        for of_heads in [true, false] {
            let reached: BTreeSet<&str> = heads.keys().flat_map(|head| self.behind(head).0).collect();
            // Without a head there is a circle of sessions.
            let is_open = |blocked: &&BlockedSession| match of_heads {
                true => !waiting.contains(blocked.blocker.id.as_str()),
                false => !reached.contains(blocked.waiter.as_str()) && self.is_in_circle(&blocked.blocker.id),
            };
            for blocked in self.blocked.iter().filter(is_open) {
                let id = blocked.blocker.id.as_str();
                let (behind, depth) = self.behind(id);
                let head = || BlockingSession {
                    session: blocked.blocker.clone(),
                    object: blocked.object.clone(),
                    waiting: behind.len(),
                    depth,
                };
                heads.entry(id).or_insert_with(head);
            }
        }
        let mut heads: Vec<BlockingSession> = heads.into_values().collect();
        heads.sort_by_key(|head| std::cmp::Reverse(head.waiting));
        heads
    }

    fn is_in_circle(&self, id: &str) -> bool {
        let behind = self.behind(id).0;
        let waits_for = self.blocked.iter().filter(|blocked| blocked.waiter == id);
        waits_for.map(|blocked| blocked.blocker.id.as_str()).any(|blocker| behind.contains(blocker))
    }

    /// The sessions that wait for `head`, directly or not, and the length of the longest chain.
    fn behind(&self, head: &str) -> (BTreeSet<&str>, usize) {
        let (mut all, mut level, mut depth) = (BTreeSet::new(), BTreeSet::from([head]), 0);
        loop {
            let waits = |blocked: &&BlockedSession| level.contains(blocked.blocker.id.as_str());
            let next = self.blocked.iter().filter(waits).map(|blocked| blocked.waiter.as_str());
            let next: BTreeSet<&str> = next.filter(|waiter| *waiter != head && all.insert(*waiter)).collect();
            if next.is_empty() {
                return (all, depth);
            }
            (level, depth) = (next, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(pairs: &[(&str, &str)]) -> LockWaits {
        let blocked = pairs.iter().map(|(waiter, blocker)| BlockedSession {
            waiter: (*waiter).to_owned(),
            blocker: SessionIdentity { id: (*blocker).to_owned(), ..SessionIdentity::default() },
            object: String::new(),
        });
        LockWaits { blocked: blocked.collect(), transactions: Vec::new() }
    }

    fn heads(pairs: &[(&str, &str)]) -> Vec<(String, usize, usize)> {
        let heads = waits(pairs).blocking().into_iter();
        heads.map(|head| (head.session.id, head.waiting, head.depth)).collect()
    }

    #[test]
    fn head_of_a_wait_chain_blocks_all_sessions_behind_it() {
        // 1 and 2 wait for 3, which waits for 20; 40 waits for 50.
        let pairs = [("1", "3"), ("2", "3"), ("3", "20"), ("40", "50")];
        assert_eq!(heads(&pairs), [("20".to_owned(), 3, 2), ("50".to_owned(), 1, 1)]);
        // A session may wait for several at once, and is counted once for each head.
        assert_eq!(heads(&[("1", "8"), ("1", "9")]), [("8".to_owned(), 1, 1), ("9".to_owned(), 1, 1)]);
        assert_eq!(heads(&[]), []);
    }

    #[test]
    fn sessions_that_wait_in_a_circle_are_all_heads() {
        let circle = heads(&[("1", "2"), ("2", "1"), ("3", "1"), ("4", "3"), ("9", "8")]);
        let ids: Vec<&str> = circle.iter().map(|(id, ..)| id.as_str()).collect();
        assert_eq!(ids, ["1", "2", "8"], "{circle:?}");
        assert_eq!(circle[0].1, 3, "{circle:?}");
    }
}
