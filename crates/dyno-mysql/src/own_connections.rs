//! What Dyno's own connections have done, by the server's own count.
//!
//! Status variables are the whole server's: whoever reads them cannot tell this run from another client. But each connection
//! may ask for its own share. So every session tells it here at each edge of the window and when it closes, and the
//! observer holds the sum beside the server's. That needs neither `performance_schema` nor a right.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::wire::message::mark::{END, ERROR};
use super::wire::{MySqlConnection, MySqlFieldReader, MySqlWireError, TextRow, refused, row};

/// Asks for a connection's own share.
pub(super) const SESSION_STATUS_SQL: &str = "SHOW SESSION STATUS WHERE Variable_name IN ('Rows_read', 'Handler_commit',
    'Handler_prepare', 'Handler_write', 'Handler_update', 'Handler_delete', 'Handler_read_first', 'Handler_read_key',
    'Handler_read_last', 'Handler_read_next', 'Handler_read_prev', 'Handler_read_rnd', 'Handler_read_rnd_next', 'Select_range')
    AND (SELECT 1 AS dyno_monitoring)";

/// A connection's own share of the server's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MySqlSessionStatus {
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

impl MySqlSessionStatus {
    /// Reads the answer to [`OWN_STATUS`].
    pub(crate) fn from_rows(rows: &[TextRow]) -> Self {
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
    pub(crate) fn plus(self, other: Self) -> Self {
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
pub(crate) fn read_session_status(
    connection: &mut MySqlConnection,
) -> Result<MySqlSessionStatus, MySqlWireError> {
    connection.ask(SESSION_STATUS_SQL).map(|rows| MySqlSessionStatus::from_rows(&rows))
}

/// The answer to [`OWN_STATUS`], as its pieces arrive.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MySqlSessionStatusReply {
    share: MySqlSessionStatus,
    /// Column definitions still to come; none before the head.
    definitions: Option<u64>,
}

impl MySqlSessionStatusReply {
    /// Takes in what has arrived; `None` if that is not all of the answer.
    ///
    /// # Errors
    /// The server refused, and the connection is in step; or it is lost.
    pub(super) fn take(
        &mut self,
        connection: &mut MySqlConnection,
    ) -> Result<Option<MySqlSessionStatus>, MySqlWireError> {
        let marked = connection.has_metadata_flag;
        while let Some((_, range)) = connection.line.inbound.cut()? {
            let body = connection.line.body(range);
            match (body.first(), self.definitions) {
                (Some(&ERROR), _) => return Err(refused(body)),
                (_, None) => {
                    let mut fields = MySqlFieldReader::new(body);
                    let columns = fields.number().unwrap_or(0);
                    self.definitions = Some(if marked && fields.u8() == Some(0) { 0 } else { columns });
                }
                (_, Some(left @ 1..)) => self.definitions = Some(left - 1),
                (Some(&END), Some(0)) => return Ok(Some(self.share)),
                (_, Some(0)) => {
                    let row = row(body, 2).ok_or_else(|| MySqlWireError::protocol("a truncated row"))?;
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
pub(super) struct MySqlAckCounters {
    operations: AtomicU64,
    extra_transactions: AtomicI64,
    rows_read: AtomicU64,
    rows_written: AtomicU64,
}

/// The same at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MySqlAckCounts {
    /// Transactions that were work.
    pub(super) operations: u64,
    /// Those that the server counts beside them: each step of a transaction, each look, and what a procedure does; below 0
    /// where it counts none for an operation.
    pub(super) extra_transactions: i64,
    pub(super) rows_read: u64,
    pub(super) rows_written: u64,
}

impl MySqlAckCounts {
    /// What the server counts as transactions.
    pub(super) fn transactions(self) -> u64 {
        self.operations.saturating_add_signed(self.extra_transactions)
    }
}

impl MySqlAckCounters {
    /// Adds what has ended well.
    #[inline]
    pub(super) fn add(&self, counts: MySqlAckCounts) {
        let MySqlAckCounts { operations, extra_transactions: beside, rows_read, rows_written } = counts;
        let all = [
            (&self.operations, operations),
            (&self.rows_read, rows_read),
            (&self.rows_written, rows_written),
        ];
        for (count, by) in all {
            // Only its session writes it, so load and store lose nothing.
            count.store(count.load(Ordering::Relaxed) + by, Ordering::Relaxed);
        }
        self.extra_transactions
            .store(self.extra_transactions.load(Ordering::Relaxed) + beside, Ordering::Relaxed);
    }

    /// All of it so far.
    pub(super) fn snapshot(&self) -> MySqlAckCounts {
        MySqlAckCounts {
            operations: self.operations.load(Ordering::Relaxed),
            extra_transactions: self.extra_transactions.load(Ordering::Relaxed),
            rows_read: self.rows_read.load(Ordering::Relaxed),
            rows_written: self.rows_written.load(Ordering::Relaxed),
        }
    }
}

/// An open connection: what it last told, what it had acknowledged then, and what it has by now.
#[derive(Debug)]
struct MySqlOpenSession {
    /// What it told before its first operation: preparing looks things up in the dictionary, which are rows too.
    prepared: MySqlSessionStatus,
    last_report: Option<(MySqlSessionStatus, MySqlAckCounts)>,
    acknowledged: Arc<MySqlAckCounters>,
}

impl MySqlOpenSession {
    /// What the server has counted for it by now. Since it last told each operation was a transaction, and cost as many rows
    /// as those before.
    fn estimate_status(&self) -> Option<MySqlSessionStatus> {
        let (share, then) = self.last_report?;
        let now = self.acknowledged.snapshot();
        let touched = |done: MySqlAckCounts| done.rows_read + done.rows_written;
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
        Some(MySqlSessionStatus {
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
const RECENT_IDS_MAX: usize = 16_384;

/// What the server has counted for single executions of a statement.
#[derive(Debug, Clone, Copy, Default)]
struct MySqlStatementCosts {
    /// Executions, and transactions, without the first: what a statement meets for the first time is looked up in the dictionary.
    executions: u64,
    transactions: u64,
    is_warm: bool,
}

/// What all of Dyno's sessions on one server have done, as far as they have told.
#[derive(Debug, Default)]
pub(crate) struct MySqlSessionRegistry {
    /// Connections that are open.
    open: BTreeMap<u32, MySqlOpenSession>,
    /// Some that are or were; the server numbers them upwards.
    recent_ids: BTreeSet<u32>,
    /// What those did that are closed.
    closed_total: MySqlSessionStatus,
    /// Whether one was lost without having told.
    has_lost_session: bool,
    /// Whether other processes have sessions of the same run, of which nothing is known here.
    has_remote_sessions: bool,
    /// Connections of Dyno's that are no sessions: they look, and do not work.
    observer_ids: BTreeSet<u32>,
    /// How often the sampler has asked for the process list.
    process_lists: u64,
    /// What statements cost, by their texts.
    costs: BTreeMap<String, MySqlStatementCosts>,
}

/// Shared by sessions, observer and sampler.
pub(crate) type SharedSessionRegistry = Arc<Mutex<MySqlSessionRegistry>>;

impl MySqlSessionRegistry {
    /// Whether a connection is that of a session, or was a moment ago.
    pub(crate) fn is_session(&self, id: u32) -> bool {
        self.open.contains_key(&id) || self.recent_ids.contains(&id)
    }

    /// Whether a connection is Dyno's, and only looks.
    pub(crate) fn is_observer(&self, id: u32) -> bool {
        self.observer_ids.contains(&id)
    }

    /// An observer or sampler has connected.
    pub(crate) fn add_observer(&mut self, id: u32) {
        self.observer_ids.insert(id);
    }

    /// The sampler is about to ask for the process list.
    pub(crate) fn add_process_list(&mut self) {
        self.process_lists += 1;
    }

    /// How often the sampler has asked for the process list.
    pub(crate) fn process_lists(&self) -> u64 {
        self.process_lists
    }

    /// A connection is a session's, from its first statement on: it may be seen at work before its books are open, and after.
    pub(super) fn remember_id(&mut self, id: u32) {
        self.recent_ids.insert(id);
        if self.recent_ids.len() > RECENT_IDS_MAX {
            self.recent_ids.pop_first();
        }
    }

    /// A session has connected, and counts there what it acknowledges.
    pub(super) fn add_session(&mut self, id: u32, acknowledged: Arc<MySqlAckCounters>) {
        self.open.insert(
            id,
            MySqlOpenSession { prepared: MySqlSessionStatus::default(), last_report: None, acknowledged },
        );
    }

    /// A session tells its share.
    pub(super) fn record_status(&mut self, id: u32, share: MySqlSessionStatus) {
        if let Some(open) = self.open.get_mut(&id) {
            let counts = open.acknowledged.snapshot();
            if counts == MySqlAckCounts::default() {
                open.prepared = share;
            }
            open.last_report = Some((share, counts));
        }
    }

    /// A session closes with its last word; without one what it did is not known any more.
    pub(super) fn remove_session(&mut self, id: u32, share: Option<MySqlSessionStatus>) {
        self.open.remove(&id);
        self.remember_id(id);
        match share {
            Some(share) => self.closed_total = self.closed_total.plus(share),
            None => self.has_lost_session = true,
        }
    }

    /// Says whether other processes have sessions of the run.
    pub(crate) fn set_remote_sessions(&mut self, elsewhere: bool) {
        self.has_remote_sessions = elsewhere;
    }

    /// Whether other processes have sessions of the run, so that a connection that is not known here may be the run's.
    pub(crate) fn has_remote_sessions(&self) -> bool {
        self.has_remote_sessions
    }

    /// One execution of a statement was so many transactions.
    pub(super) fn record_cost(&mut self, sql: &str, transactions: u64) {
        if let Some(costs) = self.costs.get_mut(sql) {
            costs.executions += u64::from(costs.is_warm);
            costs.transactions += if costs.is_warm { transactions } else { 0 };
            costs.is_warm = true;
        } else {
            self.costs.insert(
                sql.to_owned(),
                MySqlStatementCosts { is_warm: true, ..MySqlStatementCosts::default() },
            );
        }
    }

    /// Transactions that one execution of a statement is, on average, where that was seen.
    pub(super) fn mean_cost(&self, sql: &str) -> Option<f64> {
        let costs = self.costs.get(sql).filter(|costs| costs.executions > 0)?;
        Some(costs.transactions as f64 / costs.executions as f64)
    }

    /// All of them together by now, where each has told and there are no others.
    pub(crate) fn sum(&self) -> Option<MySqlSessionStatus> {
        if self.has_lost_session || self.has_remote_sessions {
            return None;
        }
        self.open.values().try_fold(self.closed_total, |sum, open| Some(sum.plus(open.estimate_status()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: u64) -> MySqlSessionStatus {
        MySqlSessionStatus { rows_read: rows, ..MySqlSessionStatus::default() }
    }

    #[test]
    fn counts_of_closed_sessions_are_kept() {
        let mut registry = MySqlSessionRegistry::default();
        registry.add_session(1, Arc::default());
        assert_eq!(registry.sum(), None, "it has not told yet");
        registry.record_status(1, read(5));
        registry.add_session(2, Arc::default());
        registry.record_status(2, read(7));
        assert_eq!(registry.sum(), Some(read(12)));
        registry.remove_session(1, Some(read(6)));
        assert_eq!(registry.sum(), Some(read(13)));
        assert!(registry.is_session(1), "who looked before may see it still");
        assert!(registry.is_session(2), "who looked before may see it still");
        (3..3 + RECENT_IDS_MAX as u32)
            .for_each(|id| registry.remove_session(id, Some(MySqlSessionStatus::default())));
        assert!(!registry.is_session(1));
        assert!(registry.is_session(2));
        assert!(registry.is_session(3));
    }

    #[test]
    fn acknowledged_operations_are_converted_to_server_counts() {
        let (mut registry, acknowledged) =
            (MySqlSessionRegistry::default(), Arc::<MySqlAckCounters>::default());
        registry.add_session(1, Arc::clone(&acknowledged));
        acknowledged.add(MySqlAckCounts {
            operations: 10,
            extra_transactions: 0,
            rows_read: 80,
            rows_written: 20,
        });
        // A read passes a spacer with each row, and a write is one in two engines.
        let status = MySqlSessionStatus {
            rows_read: 200,
            rows_asked_for: 210,
            ranges: 10,
            rows_written: 40,
            commits: 14,
            prepares: 4,
        };
        registry.record_status(1, status);
        assert_eq!(registry.sum(), Some(status));
        acknowledged.add(MySqlAckCounts {
            operations: 3,
            extra_transactions: 2,
            rows_read: 40,
            rows_written: 10,
        });
        let sum = registry.sum().unwrap();
        assert_eq!((sum.rows_read, sum.rows_asked_for, sum.ranges), (300, 315, 15));
        assert_eq!((sum.rows_written, sum.transactions()), (60, 17));
    }

    #[test]
    fn one_time_preparation_is_not_scaled_with_operations() {
        let (mut registry, acknowledged) =
            (MySqlSessionRegistry::default(), Arc::<MySqlAckCounters>::default());
        registry.add_session(1, Arc::clone(&acknowledged));
        let status_with =
            |rows_asked_for| MySqlSessionStatus { rows_asked_for, ..MySqlSessionStatus::default() };
        registry.record_status(1, status_with(48));
        acknowledged.add(MySqlAckCounts {
            operations: 1,
            extra_transactions: 0,
            rows_read: 8,
            rows_written: 0,
        });
        registry.record_status(1, status_with(48 + 17));
        acknowledged.add(MySqlAckCounts {
            operations: 10,
            extra_transactions: 0,
            rows_read: 80,
            rows_written: 0,
        });
        assert_eq!(registry.sum().unwrap().rows_asked_for, 48 + 17 + 170);
    }

    #[test]
    fn lost_connection_makes_own_sum_unknown() {
        let mut registry = MySqlSessionRegistry::default();
        registry.add_session(1, Arc::default());
        registry.record_status(1, read(5));
        registry.remove_session(1, None);
        assert_eq!(registry.sum(), None);
    }

    #[test]
    fn rows_read_counts_all_handler_reads() {
        let mut share = MySqlSessionStatus::default();
        for name in ["Handler_read_key", "Handler_read_next", "Handler_update", "Handler_commit"] {
            share.note(name, 2);
        }
        assert_eq!((share.rows_asked_for, share.rows_written, share.commits), (4, 2, 2));
    }
}
