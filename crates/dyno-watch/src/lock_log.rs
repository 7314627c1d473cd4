//! Sessions that blocked others, and the longest transactions, over all readings.

use std::collections::BTreeMap;

use dyno_engine::lock_waits::{BlockingSession, LockWaits, OpenTransaction};
use dyno_record::{LockBlocker, LongTransaction};

/// The most sessions and transactions in a record.
const BLOCKERS_MAX: usize = 20;
const TRANSACTIONS_MAX: usize = 10;
/// The most that are remembered meanwhile; those that matter least make room.
const REMEMBERED_MAX: usize = 1_000;

#[derive(Default)]
pub(crate) struct LockLog {
    /// By id and name: the server may use an id again.
    blockers: BTreeMap<(String, String), LockBlocker>,
    /// By the id of the session and the second in which the transaction began.
    transactions: BTreeMap<(String, i64), LongTransaction>,
    /// Why lock waits were not read.
    pub(crate) unread: Option<String>,
}

impl LockLog {
    /// Adds what was read `at_s` after the begin.
    pub(crate) fn add(&mut self, at_s: f64, read: Option<Result<LockWaits, String>>) {
        match read {
            Some(Ok(waits)) => {
                waits.blocking().into_iter().for_each(|head| self.add_blocker(at_s, head));
                waits.transactions.into_iter().for_each(|open| self.add_transaction(at_s, open));
            }
            Some(Err(why)) => self.unread = Some(why),
            None => {}
        }
    }

    fn add_blocker(&mut self, at_s: f64, head: BlockingSession) {
        let BlockingSession { session, object, waiting, depth } = head;
        let key = (session.id.clone(), session.name.clone());
        if self.blockers.len() >= REMEMBERED_MAX && !self.blockers.contains_key(&key) {
            let least = self.blockers.iter().min_by_key(|(_, blocker)| blocker.readings);
            let least = least.map(|(key, _)| key.clone());
            least.and_then(|least| self.blockers.remove(&least));
        }
        let blocker = self.blockers.entry(key).or_insert_with(|| LockBlocker {
            session: session.id,
            name: session.name,
            from_s: at_s,
            ..LockBlocker::default()
        });
        blocker.until_s = at_s;
        blocker.readings += 1;
        blocker.chain_max = blocker.chain_max.max(depth as u64);
        if waiting as u64 > blocker.waiting_max {
            blocker.waiting_max = waiting as u64;
            (blocker.state, blocker.object) = (session.state, object);
        }
    }

    fn add_transaction(&mut self, at_s: f64, open: OpenTransaction) {
        let OpenTransaction { session, age_s } = open;
        // The same transaction at two readings: its begin differs by the delay of the answers.
        let begin_s = (at_s - age_s).round() as i64;
        let key = |begin_s| (session.id.clone(), begin_s);
        let mut near = [begin_s, begin_s - 1, begin_s + 1].map(key).into_iter();
        let seen = near.find(|key| self.transactions.contains_key(key));
        let transaction = LongTransaction {
            session: session.id.clone(),
            name: session.name.clone(),
            state: session.state.clone(),
            age_s,
            at_s,
        };
        self.transactions.insert(seen.unwrap_or_else(|| key(begin_s)), transaction);
        if self.transactions.len() > REMEMBERED_MAX {
            let shortest = self.transactions.iter().min_by(|a, b| a.1.age_s.total_cmp(&b.1.age_s));
            let shortest = shortest.map(|(key, _)| key.clone());
            shortest.and_then(|shortest| self.transactions.remove(&shortest));
        }
    }

    /// As a record holds them.
    pub(crate) fn into_record(self) -> (Vec<LockBlocker>, Vec<LongTransaction>) {
        let mut blockers: Vec<LockBlocker> = self.blockers.into_values().collect();
        blockers.sort_by_key(|blocker| std::cmp::Reverse((blocker.readings, blocker.waiting_max)));
        blockers.truncate(BLOCKERS_MAX);
        let mut transactions: Vec<LongTransaction> = self.transactions.into_values().collect();
        transactions.sort_by(|a, b| b.age_s.total_cmp(&a.age_s));
        transactions.truncate(TRANSACTIONS_MAX);
        (blockers, transactions)
    }
}

#[cfg(test)]
mod tests {
    use dyno_engine::lock_waits::{BlockedSession, SessionIdentity};

    use super::*;

    fn session(id: &str, state: &str) -> SessionIdentity {
        SessionIdentity { id: id.into(), name: "app shop@web1".into(), state: state.into() }
    }

    fn waits(waiters: &[&str], transactions: &[(&str, f64)]) -> Option<Result<LockWaits, String>> {
        let blocked = waiters.iter().map(|waiter| BlockedSession {
            waiter: (*waiter).into(),
            blocker: session("7", if waiters.len() > 1 { "idle in transaction" } else { "active" }),
            object: "shop.stock".into(),
        });
        let open = |(id, age_s): &(&str, f64)| OpenTransaction { session: session(id, ""), age_s: *age_s };
        let transactions = transactions.iter().map(open).collect();
        Some(Ok(LockWaits { blocked: blocked.collect(), transactions }))
    }

    #[test]
    fn blocker_is_counted_once_with_its_worst_reading() {
        let mut log = LockLog::default();
        log.add(1.0, waits(&["1"], &[]));
        log.add(2.0, waits(&["1", "2", "3"], &[]));
        log.add(3.0, waits(&[], &[]));
        log.add(4.0, waits(&["1"], &[]));
        let (blockers, _) = log.into_record();
        let [blocker] = &blockers[..] else { panic!("{blockers:?}") };
        assert_eq!((blocker.from_s, blocker.until_s, blocker.readings), (1.0, 4.0, 3));
        assert_eq!((blocker.waiting_max, blocker.chain_max), (3, 1));
        assert_eq!((blocker.state.as_str(), blocker.object.as_str()), ("idle in transaction", "shop.stock"));
    }

    #[test]
    fn transaction_keeps_its_last_age_and_a_later_one_is_another() {
        let mut log = LockLog::default();
        log.add(10.0, waits(&[], &[("7", 5.0), ("8", 0.2)]));
        log.add(11.0, waits(&[], &[("7", 6.1)]));
        log.add(20.0, waits(&[], &[("7", 2.0)]));
        let (_, transactions) = log.into_record();
        let ages: Vec<(&str, f64)> =
            transactions.iter().map(|open| (open.session.as_str(), open.age_s)).collect();
        assert_eq!(ages, [("7", 6.1), ("7", 2.0), ("8", 0.2)]);
    }

    #[test]
    fn refused_lock_waits_have_a_reason() {
        let mut log = LockLog::default();
        log.add(1.0, Some(Err("no privilege".into())));
        log.add(2.0, None);
        assert_eq!(log.unread.as_deref(), Some("no privilege"));
        assert_eq!(log.into_record(), (Vec::new(), Vec::new()));
    }
}
