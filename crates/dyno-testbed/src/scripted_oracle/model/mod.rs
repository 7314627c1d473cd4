//! A small database behind the scripted server: it remembers and counts what clients load and do, so that
//! Dyno's own counts can be checked against it.
//!
//! It knows no SQL. It recognizes the statements of Dyno's engine by their texts, and answers any other with
//! ORA-00900 and its beginning. It is a test double: it shows that Dyno and the protocol agree, but nothing
//! about an Oracle database.
//!
//! - [`rows`] is a table with one row per block, [`notes`] a table of a load's notes, [`catalog`] all tables;
//! - [`state`] holds sessions, transactions and user locks, [`statistics`] their counters;
//! - [`recognition`] identifies a statement by its text, [`slice_text`] a block of operations, [`copy_text`] a
//!   copy of a table;
//! - [`statements`] and [`slices`] execute them through [`operations`] on rows; [`surveys`] reads tables
//!   outside of operations, [`copies`] copies one into another;
//! - [`cursors`] counts what each statement has done;
//! - [`dictionary`], [`views`], [`facts`] and [`probes`] answer everything else.
//!
//! **What it counts.** Each row read counts one logical read, plus two for an index lookup, or plus one for a
//! table scan; each changed row counts one more. Redo of an update is its new values and 160 bytes per row;
//! that of a commit is 120 bytes. Each executed statement counts one execution, alone or in a block; each
//! statement sent with its text counts one parse. A commit or rollback counts only after a change. Nothing is
//! read from storage, and a wait for the log takes 1 µs.

mod answers;
mod catalog;
mod clock;
mod cluster;
mod copies;
mod copy_text;
mod cursors;
mod database;
mod dictionary;
mod facts;
mod notes;
mod operations;
mod probes;
mod recognition;
mod rows;
mod slice_text;
mod slices;
mod state;
mod statements;
mod statistics;
mod surveys;
mod views;

use std::time::Instant;

use super::user_tables::Executed;
use crate::{ScriptedAnswer, ScriptedCall, ScriptedDatabase, SessionLabels};

use cursors::CursorBegin;
use database::in_single_spaces;
pub use database::{ModelDatabase, ModelOptions, ModelWork};
pub use state::ModelFaults;
use state::{CommitWay, TransactionEnding};
use statistics::Statistic;

impl ModelDatabase {
    /// Answers a statement that does not concern test tables.
    fn answer(&self, session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer {
        self.answer_of_model(session, call)
            .or_else(|| self.use_user_tables(session, call))
            .unwrap_or_else(|| answers::unknown(&in_single_spaces(call.sql)))
    }

    /// As [`Self::answer`]; absent for a statement that the model does not know.
    fn answer_of_model(&self, session: u64, call: ScriptedCall<'_>) -> Option<ScriptedAnswer> {
        let words = in_single_spaces(call.sql);
        let binds = call.executions.first().map_or(&[][..], Vec::as_slice);
        if let Some(way) = commit_way_set(&words) {
            self.state.lock().session(session).commit_way = way;
            return Some(ScriptedAnswer::Done);
        }
        if words.starts_with("SET TRANSACTION ISOLATION LEVEL ") || words == "SET TRANSACTION READ ONLY" {
            return Some(self.use_user_tables(session, call).unwrap_or(ScriptedAnswer::Done));
        }
        if let Some(statement) = words.strip_prefix("EXPLAIN PLAN FOR ") {
            self.state.lock().session(session).explained = statement.to_owned();
            return Some(ScriptedAnswer::Done);
        }
        if words == "SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY)" {
            return Some(plan_shown(&self.state.lock().session(session).explained));
        }
        self.list_instances(session, &words)
            .or_else(|| facts::answer(self.release, self.recorded.as_ref(), session, &words))
            .or_else(|| self.view(session, &words, binds))
            .or_else(|| self.survey(session, &words, binds))
            .or_else(|| self.define(session, &words, binds))
            .or_else(|| self.look_up(session, &words, binds))
            .or_else(|| probes::answer(&words, binds))
    }

    /// Lets the user's tables answer, if there are any.
    fn use_user_tables(&self, session: u64, call: ScriptedCall<'_>) -> Option<ScriptedAnswer> {
        let Executed { answer, has_changes } =
            self.user_tables.as_ref()?.execute(session, call.sql, call.executions);
        self.state.lock().session(session).has_other_changes |= has_changes;
        Some(answer)
    }
}

/// The plan of a statement on test tables, as its hint requests it.
fn plan_shown(statement: &str) -> ScriptedAnswer {
    let way = if statement.contains("/*+ INDEX(") { "INDEX RANGE SCAN" } else { "TABLE ACCESS FULL" };
    answers::rows(&["PLAN_TABLE_OUTPUT"], vec![vec![answers::text(way)]])
}

/// How the session's commits are written from now on, if the statement sets that.
fn commit_way_set(words: &str) -> Option<CommitWay> {
    let (_, way) =
        words.strip_prefix("ALTER SESSION SET COMMIT_LOGGING = ")?.split_once(" COMMIT_WAIT = ")?;
    Some(if way == "'NOWAIT'" { CommitWay::NoWait } else { CommitWay::Wait })
}

impl ScriptedDatabase for ModelDatabase {
    fn log_on(&self) -> u64 {
        self.state.lock().log_on()
    }

    fn instance(&self, session: u64) -> &'static str {
        self.instance_of(session)
    }

    fn count_request(&self, session: u64) {
        self.state.lock().statistics(session).add(Statistic::UserCalls, 1);
    }

    fn label(&self, session: u64, labels: &SessionLabels) {
        let mut state = self.state.lock();
        let merged = &mut state.session(session).labels;
        let SessionLabels { module, action, client_info } = labels.clone();
        merged.module = module.or(merged.module.take());
        merged.action = action.or(merged.action.take());
        merged.client_info = client_info.or(merged.client_info.take());
    }

    fn describe(&self, session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer {
        self.state.lock().statistics(session).add(Statistic::Parses, 1);
        if let Some(answer) = self.taught.as_ref().and_then(|taught| taught(call)) {
            return answer;
        }
        match self.recognize(call.sql) {
            Some(statement) => self.describe_statement(&statement),
            // A statement other than a query has no columns and must not be executed.
            None if !call.sql.trim_start().starts_with("SELECT") => ScriptedAnswer::Done,
            None => match (self.answer_of_model(session, call), &self.user_tables) {
                (Some(answer), _) => answer,
                (None, Some(tables)) => tables.describe(session, call.sql),
                (None, None) => answers::unknown(&in_single_spaces(call.sql)),
            },
        }
    }

    fn execute(&self, session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer {
        let began = Instant::now();
        let begin = {
            let mut state = self.state.lock();
            let caller = state.session(session);
            caller.is_active = true;
            caller.statistics.add(Statistic::Executions, 1);
            caller.statistics.add(Statistic::Parses, u64::from(call.is_parsed));
            CursorBegin::of(caller)
        };
        let taught = self.taught.as_ref().and_then(|taught| taught(call));
        let answer = taught.unwrap_or_else(|| match self.recognize(call.sql) {
            Some(statement) => self.run_statement(session, &statement, call.executions),
            None => self.answer(session, call),
        });
        let mut state = self.state.lock();
        state.end_call(session);
        let caller = state.session(session);
        // Any change leaves a transaction to end.
        caller.has_other_changes |= matches!(answer, ScriptedAnswer::Changed(1..));
        caller.is_active = false;
        let elapsed_ns = began.elapsed().as_nanos() as u64;
        caller.statistics.call_ns += elapsed_ns;
        state.note_cursor(session, in_single_spaces(call.sql), begin, (&answer, elapsed_ns));
        answer
    }

    fn end_transaction(&self, session: u64, commits: bool) {
        if let Some(tables) = &self.user_tables {
            tables.end_transaction(session, commits);
        }
        let mut state = self.state.lock();
        let way = state.session(session).commit_way;
        let ending = if commits { TransactionEnding::Commit(way) } else { TransactionEnding::Rollback };
        state.end_transaction(session, ending);
        state.end_call(session);
        drop(state);
        self.released.notify_all();
    }

    fn log_off(&self, session: u64) {
        if let Some(tables) = &self.user_tables {
            tables.log_off(session);
        }
        self.state.lock().log_off(session);
        self.released.notify_all();
    }
}

#[cfg(test)]
mod tests;
