//! A small database behind the scripted server: it remembers what clients load and do, and counts it, so that
//! Dyno's own counts can be checked against it.
//!
//! It knows no SQL. It recognizes the statements that Dyno's engine sends by their texts, and answers any other with ORA-00900
//! and its beginning. It is a test double: it shows that Dyno and the protocol agree, and nothing of what an Oracle database does.
//!
//! - [`rows`] is a table of one row per block, [`notes`] one of a load's notes, [`catalog`] all of them;
//! - [`state`] has sessions, transactions and user locks, [`statistics`] what is counted of them;
//! - [`statements`] and [`slices`] are the operations of a run, [`operations`] what they do to rows, [`surveys`] looks beside them;
//! - [`dictionary`], [`views`], [`facts`] and [`probes`] answer everything else.
//!
//! **What it counts.** A logical read for each row read, and two more for the way through an index, or one where a table is
//! scanned; one more for each row changed. Redo of an update is its new values and 160 bytes per row, that of a commit 120
//! bytes. An execution for each statement that is executed, alone or in a block; a parse for each that comes with its text. A commit or
//! rollback only where something was changed. Nothing is read from storage, and a wait for the log takes 1 µs.

mod answers;
mod catalog;
mod clock;
mod dictionary;
mod facts;
mod notes;
mod operations;
mod probes;
mod rows;
mod slices;
mod state;
mod statements;
mod statistics;
mod surveys;
mod views;

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::{ScriptedAnswer, ScriptedCall, ScriptedDatabase, ScriptedRelease, SessionLabels};

pub use state::ModelFaults;
use state::{CommitWay, ModelState, TransactionEnding};
use statements::TableStatement;
use statistics::Statistic;

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
    released: Condvar,
    /// The statements on test tables that were seen, by their texts; `None` of any other.
    recognized: Mutex<HashMap<String, Option<TableStatement>>>,
    taught: Option<Box<TaughtAnswers>>,
    release: ScriptedRelease,
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

    fn state(&self) -> MutexGuard<'_, ModelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recognize(&self, sql: &str) -> Option<TableStatement> {
        let mut recognized = self.recognized.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(statement) = recognized.get(sql) {
            return statement.clone();
        }
        let statement = statements::recognize(&in_single_spaces(sql));
        recognized.insert(sql.to_owned(), statement.clone());
        statement
    }

    fn count_inner_executions(&self, session: u64, count: u64) {
        self.state().statistics(session).add(Statistic::Executions, count);
    }

    /// The answer to a statement that is none on test tables.
    fn answer(&self, session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer {
        let words = in_single_spaces(call.sql);
        let binds = call.executions.first().map_or(&[][..], Vec::as_slice);
        if let Some(way) = commit_way_set(&words) {
            self.state().session(session).commit_way = way;
            return ScriptedAnswer::Done;
        }
        if words.starts_with("SET TRANSACTION ISOLATION LEVEL ") || words == "SET TRANSACTION READ ONLY" {
            return ScriptedAnswer::Done;
        }
        facts::answer(self.release, session, &words)
            .or_else(|| self.view(session, &words, binds))
            .or_else(|| self.survey(session, &words, binds))
            .or_else(|| self.define(session, &words, binds))
            .or_else(|| self.look_up(&words, binds))
            .or_else(|| probes::answer(&words, binds))
            .unwrap_or_else(|| answers::unknown(&words))
    }
}

fn in_single_spaces(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How commits of the session are written from now on, where a statement says so.
fn commit_way_set(words: &str) -> Option<CommitWay> {
    let (_, way) =
        words.strip_prefix("ALTER SESSION SET COMMIT_LOGGING = ")?.split_once(" COMMIT_WAIT = ")?;
    Some(if way == "'NOWAIT'" { CommitWay::NoWait } else { CommitWay::Wait })
}

impl ScriptedDatabase for ModelDatabase {
    fn log_on(&self) -> u64 {
        self.state().log_on()
    }

    fn count_request(&self, session: u64) {
        self.state().statistics(session).add(Statistic::UserCalls, 1);
    }

    fn label(&self, session: u64, labels: &SessionLabels) {
        let mut state = self.state();
        let merged = &mut state.session(session).labels;
        let SessionLabels { module, action, client_info } = labels.clone();
        merged.module = module.or(merged.module.take());
        merged.action = action.or(merged.action.take());
        merged.client_info = client_info.or(merged.client_info.take());
    }

    fn describe(&self, session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer {
        self.state().statistics(session).add(Statistic::Parses, 1);
        if let Some(answer) = self.taught.as_ref().and_then(|taught| taught(call)) {
            return answer;
        }
        match self.recognize(call.sql) {
            Some(statement) => self.describe_statement(&statement),
            // What is no query has no columns, and must not be done.
            None if !call.sql.trim_start().starts_with("SELECT") => ScriptedAnswer::Done,
            None => self.answer(session, call),
        }
    }

    fn execute(&self, session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer {
        let began = Instant::now();
        {
            let mut state = self.state();
            let caller = state.session(session);
            caller.is_active = true;
            caller.statistics.add(Statistic::Executions, 1);
            caller.statistics.add(Statistic::Parses, u64::from(call.is_parsed));
        }
        let taught = self.taught.as_ref().and_then(|taught| taught(call));
        let answer = taught.unwrap_or_else(|| match self.recognize(call.sql) {
            Some(statement) => self.run_statement(session, &statement, call.executions),
            None => self.answer(session, call),
        });
        let mut state = self.state();
        state.end_call(session);
        let caller = state.session(session);
        // Whatever was changed, there is a transaction to end.
        caller.has_other_changes |= matches!(answer, ScriptedAnswer::Changed(1..));
        caller.is_active = false;
        caller.statistics.call_ns += began.elapsed().as_nanos() as u64;
        answer
    }

    fn end_transaction(&self, session: u64, commits: bool) {
        let mut state = self.state();
        let way = state.session(session).commit_way;
        let ending = if commits { TransactionEnding::Commit(way) } else { TransactionEnding::Rollback };
        state.end_transaction(session, ending);
        state.end_call(session);
        drop(state);
        self.released.notify_all();
    }

    fn log_off(&self, session: u64) {
        self.state().log_off(session);
        self.released.notify_all();
    }
}

#[cfg(test)]
mod tests;
