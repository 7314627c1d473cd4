//! The model database: its memory, its options, and its counts.

use std::collections::HashMap;

use parking_lot::{Condvar, Mutex};

use super::recognition::{self, TableStatement};
use super::state::{ModelFaults, ModelState};
use super::statistics::Statistic;
use crate::scripted_oracle::{RecordedServer, UserTables};
use crate::{ScriptedAnswer, ScriptedCall, ScriptedRelease};

/// A test's answers to its own statements; absent for an unknown statement.
type TaughtAnswers = dyn Fn(ScriptedCall<'_>) -> Option<ScriptedAnswer> + Send + Sync;

/// Work that sessions requested from a model. Each is a count since the model was created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelWork {
    /// Statements sent with their text.
    pub parses: u64,
    /// Executed statements, including those inside blocks.
    pub executions: u64,
    /// Requests; each is one round trip.
    pub requests: u64,
    /// Commits of transactions with changes.
    pub commits: u64,
    /// Blocks read, including those read for a change.
    pub logical_reads: u64,
    /// Waits for a redo write.
    pub redo_syncs: u64,
}

/// How a model differs from the default.
#[derive(Default)]
pub struct ModelOptions {
    /// The release that it reports; the server in front of it must speak the same one.
    pub release: ScriptedRelease,
    /// Faults that it injects from the start.
    pub faults: ModelFaults,
    /// Answers that take precedence, for statements that the model cannot know.
    pub taught: Option<Box<TaughtAnswers>>,
    /// The instances of a cluster, to which sessions log on in turn; a name may be repeated. Empty for one
    /// instance.
    pub instances: Vec<&'static str>,
    /// A server whose version and settings it reports.
    pub recorded: Option<RecordedServer>,
    /// Executes the statements that the model does not know.
    pub user_tables: Option<UserTables>,
}

/// A database with one user in a container. It starts empty.
pub struct ModelDatabase {
    pub(super) state: Mutex<ModelState>,
    /// Notified whenever a transaction has ended.
    pub(super) released: Condvar,
    /// Statements on test tables seen so far, by text; `None` for any other statement.
    recognized: Mutex<HashMap<String, Option<TableStatement>>>,
    pub(super) taught: Option<Box<TaughtAnswers>>,
    pub(super) instances: Vec<&'static str>,
    pub(super) user_tables: Option<UserTables>,
    pub(super) recorded: Option<RecordedServer>,
    pub(super) release: ScriptedRelease,
}

impl ModelDatabase {
    /// Creates a database without tables and sessions.
    pub fn new(options: ModelOptions) -> Self {
        let mut state = ModelState::new(options.faults);
        state.counts_empty_commits =
            options.recorded.as_ref().is_some_and(RecordedServer::counts_empty_commits);
        Self {
            state: Mutex::new(state),
            released: Condvar::new(),
            recognized: Mutex::default(),
            taught: options.taught,
            instances: options.instances,
            user_tables: options.user_tables,
            recorded: options.recorded,
            release: options.release,
        }
    }

    /// Sets the faults that it injects from now on.
    pub fn set_faults(&self, faults: ModelFaults) {
        self.state.lock().faults = faults;
    }

    /// Sets whether it counts commits of sessions that have changed nothing; at first it does not.
    pub fn set_counts_empty_commits(&self, counts: bool) {
        self.state.lock().counts_empty_commits = counts;
    }

    /// Work of sessions whose actions begin with `action`: `session ` for those of a run, `observer`, `load`.
    pub fn work_of(&self, action: &str) -> ModelWork {
        let totals = self.state.lock().totals_of(action);
        ModelWork {
            parses: totals.get(Statistic::Parses),
            executions: totals.get(Statistic::Executions),
            requests: totals.get(Statistic::UserCalls),
            commits: totals.get(Statistic::Commits),
            logical_reads: totals.get(Statistic::LogicalReads),
            redo_syncs: totals.get(Statistic::RedoSyncs),
        }
    }

    pub(super) fn recognize(&self, sql: &str) -> Option<TableStatement> {
        let mut recognized = self.recognized.lock();
        if let Some(statement) = recognized.get(sql) {
            return statement.clone();
        }
        let statement = recognition::recognize(&in_single_spaces(sql));
        recognized.insert(sql.to_owned(), statement.clone());
        statement
    }

    pub(super) fn count_inner_executions(&self, session: u64, count: u64) {
        self.state.lock().statistics(session).add(Statistic::Executions, count);
    }
}

/// Replaces each gap in `sql` with one space and trims its ends.
pub(super) fn in_single_spaces(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}
