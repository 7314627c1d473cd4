//! The model: what it remembers, how it differs from the usual, and what it has counted.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::recognition::{self, TableStatement};
use super::state::{ModelFaults, ModelState};
use super::statistics::Statistic;
use crate::{ScriptedAnswer, ScriptedCall, ScriptedRelease};

/// Answers of a test to statements of its own; absent where it knows none.
type TaughtAnswers = dyn Fn(ScriptedCall<'_>) -> Option<ScriptedAnswer> + Send + Sync;

/// What sessions asked a model for, as it counted it. Each is a count since the model was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelWork {
    /// Statements that came with their text.
    pub parses: u64,
    /// Statements executed, those inside of blocks included.
    pub executions: u64,
    /// Requests, each of which is a round trip.
    pub requests: u64,
    /// Commits of something that was changed.
    pub commits: u64,
    /// Blocks read, and read to be changed.
    pub logical_reads: u64,
    /// Waits for redo to be written.
    pub redo_syncs: u64,
}

/// How a model differs from the usual.
#[derive(Default)]
pub struct ModelOptions {
    /// The release that it says it is; the server in front of it is to speak as that one.
    pub release: ScriptedRelease,
    /// What it does wrong from the beginning.
    pub faults: ModelFaults,
    /// What answers before it: statements that it cannot know.
    pub taught: Option<Box<TaughtAnswers>>,
}

/// A database of one user, in a container, that starts empty.
pub struct ModelDatabase {
    state: Mutex<ModelState>,
    /// Woken whenever a transaction has ended.
    pub(super) released: Condvar,
    /// The statements on test tables that were seen, by their texts; `None` of any other.
    recognized: Mutex<HashMap<String, Option<TableStatement>>>,
    pub(super) taught: Option<Box<TaughtAnswers>>,
    pub(super) release: ScriptedRelease,
}

impl ModelDatabase {
    /// A database without tables, and without sessions.
    pub fn new(options: ModelOptions) -> Self {
        Self {
            state: Mutex::new(ModelState::new(options.faults)),
            released: Condvar::new(),
            recognized: Mutex::default(),
            taught: options.taught,
            release: options.release,
        }
    }

    /// Lets it do this wrong from now on.
    pub fn set_faults(&self, faults: ModelFaults) {
        self.state().faults = faults;
    }

    /// What sessions have done whose actions begin with `action`: `session ` for those of a run, `observer`, `load`.
    pub fn work_of(&self, action: &str) -> ModelWork {
        let totals = self.state().totals_of(action);
        ModelWork {
            parses: totals.get(Statistic::Parses),
            executions: totals.get(Statistic::Executions),
            requests: totals.get(Statistic::UserCalls),
            commits: totals.get(Statistic::Commits),
            logical_reads: totals.get(Statistic::LogicalReads),
            redo_syncs: totals.get(Statistic::RedoSyncs),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, ModelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn recognize(&self, sql: &str) -> Option<TableStatement> {
        let mut recognized = self.recognized.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(statement) = recognized.get(sql) {
            return statement.clone();
        }
        let statement = recognition::recognize(&in_single_spaces(sql));
        recognized.insert(sql.to_owned(), statement.clone());
        statement
    }

    pub(super) fn count_inner_executions(&self, session: u64, count: u64) {
        self.state().statistics(session).add(Statistic::Executions, count);
    }
}

/// `sql` with one space in place of each gap, and none at its ends.
pub(super) fn in_single_spaces(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}
