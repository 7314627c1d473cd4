//! What Dyno's own connections have done, by the server's own count.
//!
//! Status variables are the whole server's: whoever reads them cannot tell this run from another client. But each connection
//! may ask for its own share. So every session tells it here at each edge of the window and when it closes, and the
//! observer holds the sum beside the server's. That needs neither `performance_schema` nor a right.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::wire::message::mark::{END, ERROR};
use super::wire::{Connection, Fields, Row, WireError, refused, row};

/// Asks for a connection's own share.
pub(super) const OWN_STATUS: &str = "SHOW SESSION STATUS WHERE Variable_name IN ('Rows_read', 'Handler_commit',
    'Handler_prepare', 'Handler_write', 'Handler_update', 'Handler_delete', 'Handler_read_first', 'Handler_read_key',
    'Handler_read_last', 'Handler_read_next', 'Handler_read_prev', 'Handler_read_rnd', 'Handler_read_rnd_next', 'Select_range')";

/// A connection's own share of the server's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Share {
    /// Rows read; on MariaDB only.
    pub(crate) rows_read: u64,
    /// Rows that storage engines were asked for, found or not.
    pub(crate) rows_asked_for: u64,
    /// Reads of ranges, each of which asks once more than it has rows.
    pub(crate) ranges: u64,
    /// Rows inserted, updated and deleted.
    pub(crate) rows_written: u64,
    /// Commits of storage engines, and what was prepared for them.
    pub(crate) commits: u64,
    pub(crate) prepares: u64,
}

impl Share {
    /// Reads the answer to [`OWN_STATUS`].
    pub(crate) fn of(rows: &[Row]) -> Self {
        let mut share = Self::default();
        for row in rows {
            if let (Some(name), Some(value)) = (row.get(0), row.parse(1)) {
                share.note(name, value);
            }
        }
        share
    }

    fn note(&mut self, name: &str, value: u64) {
        let field = match name {
            "Rows_read" => &mut self.rows_read,
            "Select_range" => &mut self.ranges,
            "Handler_commit" => &mut self.commits,
            "Handler_prepare" => &mut self.prepares,
            "Handler_write" | "Handler_update" | "Handler_delete" => &mut self.rows_written,
            _ => &mut self.rows_asked_for,
        };
        *field += value;
    }

    /// Transactions: where there is a binlog, a write is one in two engines, each of which has prepared before.
    pub(crate) fn transactions(self) -> u64 {
        self.commits.saturating_sub(self.prepares / 2)
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            rows_read: self.rows_read + other.rows_read,
            rows_asked_for: self.rows_asked_for + other.rows_asked_for,
            ranges: self.ranges + other.ranges,
            rows_written: self.rows_written + other.rows_written,
            commits: self.commits + other.commits,
            prepares: self.prepares + other.prepares,
        }
    }
}

/// Asks a connection for its own share.
pub(crate) fn ask(connection: &mut Connection) -> Result<Share, WireError> {
    connection.ask(OWN_STATUS).map(|rows| Share::of(&rows))
}

/// The answer to [`OWN_STATUS`], as its pieces arrive.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ShareReply {
    share: Share,
    /// Column definitions still to come; none before the head.
    definitions: Option<u64>,
}

impl ShareReply {
    /// Takes in what has arrived; `None` if that is not all of the answer.
    ///
    /// # Errors
    /// The server refused, and the connection is in step; or it is lost.
    pub(super) fn take(&mut self, connection: &mut Connection) -> Result<Option<Share>, WireError> {
        let marked = connection.marked;
        while let Some((_, range)) = connection.line.inbound.cut()? {
            let body = connection.line.body(range);
            match (body.first(), self.definitions) {
                (Some(&ERROR), _) => return Err(refused(body)),
                (_, None) => {
                    let mut fields = Fields::new(body);
                    let columns = fields.number().unwrap_or(0);
                    self.definitions = Some(if marked && fields.u8() == Some(0) { 0 } else { columns });
                }
                (_, Some(left @ 1..)) => self.definitions = Some(left - 1),
                (Some(&END), Some(0)) => return Ok(Some(self.share)),
                (_, Some(0)) => {
                    let row = row(body, 2).ok_or_else(|| WireError::protocol("a row that ends too early"))?;
                    if let (Some(name), Some(value)) = (row.get(0), row.parse(1)) {
                        self.share.note(name, value);
                    }
                }
            }
        }
        Ok(None)
    }
}

/// What a connection's operations have acknowledged, for everybody to see at every moment; its session alone writes it.
#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    operations: AtomicU64,
    beside: AtomicI64,
    rows_read: AtomicU64,
    rows_written: AtomicU64,
}

/// The same at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Done {
    /// Transactions that were work.
    pub(super) operations: u64,
    /// Those that the server counts beside them: each step of a transaction, each look, and what a procedure does; below 0
    /// where it counts none for an operation.
    pub(super) beside: i64,
    pub(super) rows_read: u64,
    pub(super) rows_written: u64,
}

impl Done {
    /// What the server counts as transactions.
    pub(super) fn transactions(self) -> u64 {
        self.operations.saturating_add_signed(self.beside)
    }
}

impl Acknowledged {
    /// Adds what has ended well.
    #[inline]
    pub(super) fn add(&self, done: Done) {
        let Done { operations, beside, rows_read, rows_written } = done;
        let all = [
            (&self.operations, operations),
            (&self.rows_read, rows_read),
            (&self.rows_written, rows_written),
        ];
        for (count, by) in all {
            // Only its session writes it, so load and store lose nothing.
            count.store(count.load(Ordering::Relaxed) + by, Ordering::Relaxed);
        }
        self.beside.store(self.beside.load(Ordering::Relaxed) + beside, Ordering::Relaxed);
    }

    /// All of it so far.
    pub(super) fn so_far(&self) -> Done {
        Done {
            operations: self.operations.load(Ordering::Relaxed),
            beside: self.beside.load(Ordering::Relaxed),
            rows_read: self.rows_read.load(Ordering::Relaxed),
            rows_written: self.rows_written.load(Ordering::Relaxed),
        }
    }
}

/// An open connection: what it last told, what it had acknowledged then, and what it has by now.
#[derive(Debug)]
struct Open {
    /// What it told before its first operation: preparing looks things up in the dictionary, which are rows too.
    prepared: Share,
    told: Option<(Share, Done)>,
    acknowledged: Arc<Acknowledged>,
}

impl Open {
    /// What the server has counted for it by now. Since it last told each operation was a transaction, and cost as many rows
    /// as those before.
    fn by_now(&self) -> Option<Share> {
        let (share, then) = self.told?;
        let now = self.acknowledged.so_far();
        let touched = |done: Done| done.rows_read + done.rows_written;
        let scaled = |counted: u64, then: u64, since: u64| match then {
            0 => since,
            then => (counted as f64 * since as f64 / then as f64).round() as u64,
        };
        let since = touched(now).saturating_sub(touched(then));
        let written = now.rows_written.saturating_sub(then.rows_written);
        // What one row costs is what operations made of those before, without what their preparation cost once.
        let by_rows = |counted: u64, before: u64| {
            counted + scaled(counted.saturating_sub(before), touched(then), since)
        };
        let before = self.prepared;
        Some(Share {
            rows_read: by_rows(share.rows_read, before.rows_read),
            rows_asked_for: by_rows(share.rows_asked_for, before.rows_asked_for),
            ranges: if touched(then) == 0 { share.ranges } else { by_rows(share.ranges, before.ranges) },
            rows_written: share.rows_written + scaled(share.rows_written, then.rows_written, written),
            commits: share.commits + now.transactions().saturating_sub(then.transactions()),
            prepares: share.prepares,
        })
    }
}

/// Connections of sessions that are remembered behind their end: a list of the server's connections may be older than that.
const MET_MAX: usize = 16_384;

/// What the server has counted for single executions of a statement.
#[derive(Debug, Clone, Copy, Default)]
struct Costs {
    /// Executions, and transactions, without the first: what a statement meets for the first time is looked up in the dictionary.
    executions: u64,
    transactions: u64,
    met: bool,
}

/// What all of Dyno's sessions on one server have done, as far as they have told.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// Connections that are open.
    open: BTreeMap<u32, Open>,
    /// Some that are or were; the server numbers them upwards.
    met: BTreeSet<u32>,
    /// What those did that are closed.
    closed: Share,
    /// Whether one was lost without having told.
    lost: bool,
    /// Whether other processes have sessions of the same run, of which nothing is known here.
    elsewhere: bool,
    /// Connections of Dyno's that are no sessions: they look, and do not work.
    looking: BTreeSet<u32>,
    /// What statements cost, by their texts.
    costs: BTreeMap<String, Costs>,
}

/// Shared by sessions, observer and sampler.
pub(crate) type Sessions = Arc<Mutex<Own>>;

/// Opens the books.
pub(crate) fn open_books(sessions: &Sessions) -> MutexGuard<'_, Own> {
    // Numbers are whole at every moment, so a panic elsewhere does not spoil them.
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Own {
    /// Whether a connection is that of a session, or was a moment ago.
    pub(crate) fn has(&self, id: u32) -> bool {
        self.open.contains_key(&id) || self.met.contains(&id)
    }

    /// Whether a connection is Dyno's, and only looks.
    pub(crate) fn looks(&self, id: u32) -> bool {
        self.looking.contains(&id)
    }

    /// An observer or sampler has connected.
    pub(crate) fn looker(&mut self, id: u32) {
        self.looking.insert(id);
    }

    /// A connection is a session's, from its first statement on: it may be seen at work before its books are open, and after.
    pub(super) fn met(&mut self, id: u32) {
        self.met.insert(id);
        if self.met.len() > MET_MAX {
            self.met.pop_first();
        }
    }

    /// A session has connected, and counts there what it acknowledges.
    pub(super) fn opened(&mut self, id: u32, acknowledged: Arc<Acknowledged>) {
        self.open.insert(id, Open { prepared: Share::default(), told: None, acknowledged });
    }

    /// A session tells its share.
    pub(super) fn told(&mut self, id: u32, share: Share) {
        if let Some(open) = self.open.get_mut(&id) {
            let done = open.acknowledged.so_far();
            if done == Done::default() {
                open.prepared = share;
            }
            open.told = Some((share, done));
        }
    }

    /// A session closes with its last word; without one what it did is not known any more.
    pub(super) fn closed(&mut self, id: u32, share: Option<Share>) {
        self.open.remove(&id);
        self.met(id);
        match share {
            Some(share) => self.closed = self.closed.and(share),
            None => self.lost = true,
        }
    }

    /// Says whether other processes have sessions of the run.
    pub(crate) fn driven_elsewhere(&mut self, elsewhere: bool) {
        self.elsewhere = elsewhere;
    }

    /// Whether other processes have sessions of the run, so that a connection that is not known here may be the run's.
    pub(crate) fn are_elsewhere(&self) -> bool {
        self.elsewhere
    }

    /// One execution of a statement was so many transactions.
    pub(super) fn cost(&mut self, sql: &str, transactions: u64) {
        if let Some(costs) = self.costs.get_mut(sql) {
            costs.executions += u64::from(costs.met);
            costs.transactions += if costs.met { transactions } else { 0 };
            costs.met = true;
        } else {
            self.costs.insert(sql.to_owned(), Costs { met: true, ..Costs::default() });
        }
    }

    /// Transactions that one execution of a statement is, on average, where that was seen.
    pub(super) fn costs(&self, sql: &str) -> Option<f64> {
        let costs = self.costs.get(sql).filter(|costs| costs.executions > 0)?;
        Some(costs.transactions as f64 / costs.executions as f64)
    }

    /// All of them together by now, where each has told and there are no others.
    pub(crate) fn sum(&self) -> Option<Share> {
        if self.lost || self.elsewhere {
            return None;
        }
        self.open.values().try_fold(self.closed, |sum, open| Some(sum.and(open.by_now()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: u64) -> Share {
        Share { rows_read: rows, ..Share::default() }
    }

    #[test]
    fn what_a_session_did_stays_when_it_is_closed() {
        let mut own = Own::default();
        own.opened(1, Arc::default());
        assert_eq!(own.sum(), None, "it has not told yet");
        own.told(1, read(5));
        own.opened(2, Arc::default());
        own.told(2, read(7));
        assert_eq!(own.sum(), Some(read(12)));
        own.closed(1, Some(read(6)));
        assert_eq!(own.sum(), Some(read(13)));
        assert!(own.has(1) && own.has(2), "who looked before may see it still");
        (3..3 + MET_MAX as u32).for_each(|id| own.closed(id, Some(Share::default())));
        assert!(!own.has(1) && own.has(2) && own.has(3));
    }

    #[test]
    fn what_was_acknowledged_since_is_counted_as_the_server_counts_it() {
        let (mut own, acknowledged) = (Own::default(), Arc::<Acknowledged>::default());
        own.opened(1, Arc::clone(&acknowledged));
        acknowledged.add(Done { operations: 10, beside: 0, rows_read: 80, rows_written: 20 });
        // A read passes a spacer with each row, and a write is one in two engines.
        let told = Share {
            rows_read: 200,
            rows_asked_for: 210,
            ranges: 10,
            rows_written: 40,
            commits: 14,
            prepares: 4,
        };
        own.told(1, told);
        assert_eq!(own.sum(), Some(told));
        acknowledged.add(Done { operations: 3, beside: 2, rows_read: 40, rows_written: 10 });
        let sum = own.sum().unwrap();
        assert_eq!((sum.rows_read, sum.rows_asked_for, sum.ranges), (300, 315, 15));
        assert_eq!((sum.rows_written, sum.transactions()), (60, 17));
    }

    #[test]
    fn what_was_prepared_once_is_not_scaled_with_the_operations() {
        let (mut own, acknowledged) = (Own::default(), Arc::<Acknowledged>::default());
        own.opened(1, Arc::clone(&acknowledged));
        let asked = |rows_asked_for| Share { rows_asked_for, ..Share::default() };
        own.told(1, asked(48));
        acknowledged.add(Done { operations: 1, beside: 0, rows_read: 8, rows_written: 0 });
        own.told(1, asked(48 + 17));
        acknowledged.add(Done { operations: 10, beside: 0, rows_read: 80, rows_written: 0 });
        assert_eq!(own.sum().unwrap().rows_asked_for, 48 + 17 + 170);
    }

    #[test]
    fn one_that_was_lost_makes_the_sum_unknown() {
        let mut own = Own::default();
        own.opened(1, Arc::default());
        own.told(1, read(5));
        own.closed(1, None);
        assert_eq!(own.sum(), None);
    }

    #[test]
    fn rows_asked_for_are_all_kinds_of_reads() {
        let mut share = Share::default();
        for name in ["Handler_read_key", "Handler_read_next", "Handler_update", "Handler_commit"] {
            share.note(name, 2);
        }
        assert_eq!((share.rows_asked_for, share.rows_written, share.commits), (4, 2, 2));
    }
}
