//! The model's state: tables, sessions with their transactions and statistics, and user locks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::catalog::{Catalog, Contents};
use super::cursors::{CursorBegin, CursorCache};
use super::statistics::{Statistic, Statistics};
use crate::{ScriptedAnswer, SessionLabels};

/// Faults that a model injects, so that tests see them detected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelFaults {
    /// Every nth commit of changed test tables reports success but is rolled back and not counted. `None` and
    /// 0 disable the fault.
    pub lost_commit_every: Option<u64>,
}

/// When a commit's redo is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum CommitWay {
    /// Written before the commit is answered.
    #[default]
    Wait,
    /// Written at the log writer's next write.
    NoWait,
    /// Written once for all commits of a call, when the call ends.
    AtCallEnd,
}

/// How a transaction ends, and when a commit's redo is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionEnding {
    Commit(CommitWay),
    Rollback,
}

/// Unwritten redo bytes at which the log writer writes without a request.
const LOG_BUFFER_BYTES: u64 = 1 << 20;

/// Redo bytes of a commit itself.
const COMMIT_REDO_BYTES: u64 = 120;

#[derive(Debug, Default)]
pub(super) struct ModelSession {
    pub(super) labels: SessionLabels,
    pub(super) statistics: Statistics,
    /// Rows changed by its transaction, by table and key.
    pub(super) changed: Vec<(Arc<str>, i64)>,
    /// Tables into which its transaction has copied rows in one statement.
    pub(super) appended: Vec<Arc<str>>,
    /// Whether its transaction has other changes: notes, or changes by a test's own statements.
    pub(super) has_other_changes: bool,
    /// How its separately requested commits are written.
    pub(super) commit_way: CommitWay,
    pub(super) is_active: bool,
    /// The statement for which it last requested a plan.
    pub(super) explained: String,
    /// The session that holds the row locks it waits for.
    pub(super) waits_for: Option<u64>,
    /// Whether a commit of the current call waits for the call's end.
    owes_sync: bool,
}

#[derive(Debug, Default)]
pub(super) struct ModelState {
    pub(super) catalog: Catalog,
    pub(super) sessions: BTreeMap<u64, ModelSession>,
    /// Statistics of ended sessions, by action.
    ended: BTreeMap<String, Statistics>,
    /// Statistics of background processes, which belong to no session.
    background: Statistics,
    last_session: u64,
    unwritten_redo: u64,
    commits: u64,
    /// Holders of user locks and their modes, by lock number.
    pub(super) user_locks: BTreeMap<i64, Vec<(u64, i64)>>,
    pub(super) cursors: CursorCache,
    pub(super) faults: ModelFaults,
    /// Whether a commit counts that changed nothing.
    pub(super) counts_empty_commits: bool,
}

impl ModelState {
    pub(super) fn new(faults: ModelFaults) -> Self {
        Self { faults, ..Self::default() }
    }

    pub(super) fn log_on(&mut self) -> u64 {
        self.last_session += 1;
        let number = 100 + self.last_session;
        let mut session = ModelSession::default();
        session.statistics.add(Statistic::Logons, 1);
        self.sessions.insert(number, session);
        number
    }

    /// Rolls back uncommitted changes and removes the session; its statistics remain.
    pub(super) fn log_off(&mut self, session: u64) {
        self.end_transaction(session, TransactionEnding::Rollback);
        if let Some(session) = self.sessions.remove(&session) {
            let action = session.labels.action.unwrap_or_default();
            self.ended.entry(action).or_default().merge(&session.statistics);
        }
        for holders in self.user_locks.values_mut() {
            holders.retain(|(holder, _)| *holder != session);
        }
    }

    pub(super) fn session(&mut self, number: u64) -> &mut ModelSession {
        self.sessions.entry(number).or_default()
    }

    /// Notes in the cursor cache that `session` has executed a statement.
    pub(super) fn note_cursor(
        &mut self,
        session: u64,
        words: String,
        begin: CursorBegin,
        outcome: (&ScriptedAnswer, u64),
    ) {
        let Self { sessions, cursors, .. } = self;
        cursors.note(words, sessions.entry(session).or_default(), begin, outcome);
    }

    pub(super) fn statistics(&mut self, session: u64) -> &mut Statistics {
        &mut self.session(session).statistics
    }

    /// Statistics of all sessions, including ended ones.
    pub(super) fn totals(&self) -> Statistics {
        self.totals_of("")
    }

    /// Statistics of sessions whose actions begin with `action`.
    pub(super) fn totals_of(&self, action: &str) -> Statistics {
        let mut totals = Statistics::default();
        let ended_sessions = self.ended.iter().filter(|(own, _)| own.starts_with(action));
        ended_sessions.for_each(|(_, statistics)| totals.merge(statistics));
        let is_it = |session: &&ModelSession| {
            session.labels.action.as_deref().unwrap_or_default().starts_with(action)
        };
        self.sessions.values().filter(is_it).for_each(|session| totals.merge(&session.statistics));
        totals
    }

    /// Statistics of all sessions and background processes.
    pub(super) fn instance_totals(&self) -> Statistics {
        let mut totals = self.totals();
        totals.merge(&self.background);
        totals
    }

    /// Whether `session` waits for `other`, directly or indirectly.
    pub(super) fn waits_on(&self, session: u64, other: u64) -> bool {
        let next = |session: &u64| self.sessions.get(session).and_then(|session| session.waits_for);
        std::iter::successors(Some(session), next).any(|waited| waited == other)
    }

    pub(super) fn in_transaction(&self, session: u64) -> bool {
        self.sessions
            .get(&session)
            .is_some_and(|session| session.has_other_changes || !session.changed.is_empty())
    }

    /// Ends the open transaction of `session`, if any. A commit lost by a fault is rolled back and not
    /// counted.
    pub(super) fn end_transaction(&mut self, session: u64, ending: TransactionEnding) {
        if !self.in_transaction(session) {
            if self.counts_empty_commits && matches!(ending, TransactionEnding::Commit(_)) {
                self.statistics(session).add(Statistic::Commits, 1);
            }
            return;
        }
        let mut commits = matches!(ending, TransactionEnding::Commit(_));
        let is_lost = commits && !self.session(session).changed.is_empty() && self.loses_this_commit();
        commits &= !is_lost;
        self.session(session).appended.clear();
        let changed = std::mem::take(&mut self.session(session).changed);
        for (table, key) in changed {
            if let Some(rows) = self.catalog.rows_mut(&table) {
                rows.end(session, key, commits);
            }
        }
        if std::mem::take(&mut self.session(session).has_other_changes) {
            for table in self.catalog.tables.values_mut() {
                if let Contents::Notes(notes) = &mut table.contents {
                    notes.end(session, commits);
                }
            }
        }
        match ending {
            TransactionEnding::Commit(_) if is_lost => {}
            TransactionEnding::Commit(way) => self.count_commit(session, way),
            TransactionEnding::Rollback => self.statistics(session).add(Statistic::Rollbacks, 1),
        }
    }

    fn loses_this_commit(&mut self) -> bool {
        self.commits += 1;
        self.faults.lost_commit_every.is_some_and(|every| every > 0 && self.commits.is_multiple_of(every))
    }

    fn count_commit(&mut self, session: u64, way: CommitWay) {
        let statistics = self.statistics(session);
        statistics.add(Statistic::Commits, 1);
        statistics.add(Statistic::RedoEntries, 1);
        statistics.add(Statistic::RedoSize, COMMIT_REDO_BYTES);
        self.note_redo(COMMIT_REDO_BYTES);
        match way {
            CommitWay::Wait => self.sync_redo(session),
            CommitWay::NoWait => {}
            CommitWay::AtCallEnd => self.session(session).owes_sync = true,
        }
    }

    /// Adds unwritten redo; the log writer writes it when enough has accumulated.
    pub(super) fn note_redo(&mut self, bytes: u64) {
        self.unwritten_redo += bytes;
        if self.unwritten_redo >= LOG_BUFFER_BYTES {
            self.write_redo();
        }
    }

    fn write_redo(&mut self) {
        self.unwritten_redo = 0;
        self.background.add(Statistic::RedoWrites, 1);
    }

    /// Writes all redo while `session` waits. Nothing is really written, so the wait has the shortest
    /// possible time.
    fn sync_redo(&mut self, session: u64) {
        self.write_redo();
        let statistics = self.statistics(session);
        statistics.add(Statistic::RedoSyncs, 1);
        statistics.add(Statistic::RedoSyncTime, 1);
    }

    /// Ends a call: writes the redo of commits that waited for the call's end.
    pub(super) fn end_call(&mut self, session: u64) {
        if std::mem::take(&mut self.session(session).owes_sync) {
            self.sync_redo(session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted_oracle::model::rows::StoredRow;

    fn insert(state: &mut ModelState, session: u64, key: i64) {
        let row = StoredRow { version: 0, columns: Vec::new() };
        assert!(state.catalog.rows_mut("T").unwrap().insert(session, key, row));
        state.session(session).changed.push(("T".into(), key));
    }

    fn state() -> (ModelState, u64) {
        let mut state = ModelState::default();
        state.catalog.create_table("T", "( custid NUMBER", "now");
        let session = state.log_on();
        (state, session)
    }

    #[test]
    fn commit_mode_determines_redo_syncs_in_oracle_model() {
        for (way, syncs) in [(CommitWay::Wait, 3), (CommitWay::NoWait, 0), (CommitWay::AtCallEnd, 1)] {
            let (mut state, session) = state();
            for key in 0..3 {
                insert(&mut state, session, key);
                state.end_transaction(session, TransactionEnding::Commit(way));
            }
            state.end_call(session);
            // There is no transaction to commit.
            state.end_transaction(session, TransactionEnding::Commit(way));
            let totals = state.instance_totals();
            assert_eq!(totals.get(Statistic::Commits), 3, "{way:?}");
            assert_eq!(totals.get(Statistic::RedoSyncs), syncs, "{way:?}");
            assert_eq!(totals.get(Statistic::RedoWrites), syncs, "{way:?}");
        }
    }

    #[test]
    fn session_logoff_rolls_back_and_keeps_its_counts() {
        let (mut state, session) = state();
        insert(&mut state, session, 1);
        state.end_transaction(session, TransactionEnding::Commit(CommitWay::Wait));
        insert(&mut state, session, 2);
        state.user_locks.entry(7).or_default().push((session, 6));
        state.log_off(session);
        let totals = state.totals();
        assert_eq!((totals.get(Statistic::Commits), totals.get(Statistic::Rollbacks)), (1, 1));
        assert_eq!(state.catalog.rows("T").unwrap().count(0, 0, 9), 1);
        assert!(state.user_locks[&7].is_empty());
    }

    #[test]
    fn lost_commits_are_rolled_back_and_not_counted() {
        let (mut state, session) = state();
        state.faults = ModelFaults { lost_commit_every: Some(2) };
        for key in 0..4 {
            insert(&mut state, session, key);
            state.end_transaction(session, TransactionEnding::Commit(CommitWay::Wait));
        }
        assert_eq!(state.totals().get(Statistic::Commits), 2);
        assert_eq!(state.catalog.rows("T").unwrap().count(0, 0, 9), 2);
    }
}
