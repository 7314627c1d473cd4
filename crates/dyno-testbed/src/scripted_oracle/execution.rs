//! Parses statements, executes them again, and fetches from them.

use std::collections::VecDeque;

use super::codec::{In, Out};
use super::conversation::Conversation;
use super::cursor::ScriptedCursor;
use super::failure::{RequestFailure, unexpected};
use super::messages::{Description, MESSAGE_ROW, RowHeader, put_bit_vector};
use super::request::{ExecuteRequest, read_executions};
use super::{ScriptedAnswer, ScriptedValue};

const MESSAGE_BIND_DIRECTIONS: u8 = 11;
const MESSAGE_WARNING: u8 = 15;

/// Flags of a bind's direction: its value is in the request, its value is returned.
const BIND_IN: u8 = 0x20;
const BIND_OUT: u8 = 0x10;

/// Number of bind values for a script when only a statement's columns are needed.
const BINDS_MAX: usize = 64;

/// Flags in front of rows.
const ROWS_FLAGS: u8 = 2;

/// Number of the warning that what was created has compilation errors.
const COMPILED_WITH_ERRORS: u64 = 24_344;

/// The error of a call that its client canceled.
const CANCELLED: (u32, &str) = (1_013, "ORA-01013: user requested cancel of current operation\n");

impl Conversation<'_> {
    /// Parses the statement if the request contains its text, and executes it.
    pub(super) fn execute(&mut self, message: &mut In<'_>, closed: &[u64]) -> Result<(), RequestFailure> {
        let request = ExecuteRequest::read(message, self.fields())?;
        self.close_cursors(closed);
        if request.is_definition {
            return self.define(request.cursor);
        }
        let bind_count = request.binds.len();
        let parses = request.sql.is_some();
        let mut number = request.cursor;
        if let Some(sql) = request.sql {
            self.shared.count(|counts| counts.parses += 1);
            number = self.next_cursor;
            self.next_cursor += 1;
            let cursor = ScriptedCursor {
                sql,
                directions: vec![BIND_IN; bind_count],
                binds: request.binds,
                columns: Vec::new(),
                is_defined: false,
                rows: VecDeque::new(),
                last_row: None,
            };
            self.cursors.insert(number, cursor);
        } else {
            self.shared.count(|counts| counts.re_executions += 1);
            let cursor = self.cursor(number)?;
            cursor.directions.resize(bind_count, BIND_IN);
            cursor.binds = request.binds;
        }
        if !request.is_executed {
            return self.describe(number);
        }
        self.answer_statement(number, &request.executions, request.fetched, parses)
    }

    /// Notes that the client wants LOBs as long texts and bytes; it fetches the rows afterwards.
    fn define(&mut self, number: u64) -> Result<(), RequestFailure> {
        self.cursor(number)?.is_defined = true;
        let mut out = Out::default();
        self.put_error(&mut out, 0, "", number, 0);
        self.send(out)
    }

    /// Answers the parse of a statement that is not executed: with its columns, if it has any.
    fn describe(&mut self, number: u64) -> Result<(), RequestFailure> {
        let unbound = vec![vec![ScriptedValue::Null; BINDS_MAX]];
        let (shared, session) = (self.shared, self.session());
        let answer = match shared.describe(session, &self.cursor(number)?.sql, &unbound) {
            ScriptedAnswer::CutOff(answer, _) => *answer,
            answer => answer,
        };
        let mut out = Out::default();
        match answer {
            ScriptedAnswer::Rows { columns, .. } => {
                Description::of(&columns).put(&mut out, self.fields());
                self.put_error(&mut out, 0, "", number, 0);
            }
            ScriptedAnswer::Refused(code, text) => self.put_error(&mut out, code, text, number, 0),
            ScriptedAnswer::RefusedWith(code, text) => self.put_error(&mut out, code, &text, number, 0),
            _ => self.put_error(&mut out, 0, "", number, 0),
        }
        self.send(out)
    }

    /// Executes a statement parsed before; binds that are only returned are not in the message.
    pub(super) fn execute_again(
        &mut self,
        message: &mut In<'_>,
        closed: &[u64],
        fetches: bool,
    ) -> Result<(), RequestFailure> {
        let (number, count) = (message.ub()?, message.ub()?);
        message.skip_ub(2)?;
        let cursor = self.cursor(number)?;
        let places: Vec<usize> =
            (0..cursor.binds.len()).filter(|&place| cursor.directions[place] & BIND_IN != 0).collect();
        let executions = read_executions(message, &cursor.binds, &places, if fetches { 1 } else { count })?;
        self.close_cursors(closed);
        self.shared.count(|counts| counts.re_executions += 1);
        self.answer_statement(number, &executions, if fetches { count } else { 0 }, false)
    }

    /// Answers a request for `rows` more rows of a cursor.
    pub(super) fn fetch(&mut self, cursor: u64, rows: u64) -> Result<(), RequestFailure> {
        let mut out = Out::default();
        self.put_rows(&mut out, cursor, rows)?;
        self.send(out)
    }

    fn cursor(&mut self, number: u64) -> Result<&mut ScriptedCursor, RequestFailure> {
        self.cursors.get_mut(&number).ok_or_else(|| unexpected(format!("cursor {number} is closed")))
    }

    fn answer_statement(
        &mut self,
        number: u64,
        executions: &[Vec<ScriptedValue>],
        fetched: u64,
        parses: bool,
    ) -> Result<(), RequestFailure> {
        let (shared, session) = (self.shared, self.session());
        let (answer, cut) = match shared.execute(session, &self.cursor(number)?.sql, executions, parses) {
            ScriptedAnswer::CutOff(answer, bytes) => (*answer, Some(bytes)),
            answer => (answer, None),
        };
        let mut out = Out::default();
        match answer {
            ScriptedAnswer::Rows { columns, rows } => {
                let cursor = self.cursor(number)?;
                (cursor.columns, cursor.rows, cursor.last_row) = (columns, rows.into(), None);
                if parses {
                    let description = Description::of(&cursor.columns);
                    description.put(&mut out, self.fields());
                }
                if fetched > 0 && !self.cursor(number)?.awaits_definition() {
                    self.put_rows(&mut out, number, fetched)?;
                } else {
                    self.put_error(&mut out, 0, "", number, 0);
                }
            }
            ScriptedAnswer::Returned(values) => {
                let count = self.cursor(number)?.binds.len();
                let first = count.saturating_sub(values.len());
                self.in_transaction = false;
                let placed: Vec<_> = (first..).zip(values).collect();
                self.put_returned(&mut out, number, &placed)?;
            }
            ScriptedAnswer::ReturnedAt(values) => self.put_returned(&mut out, number, &values)?,
            ScriptedAnswer::Refused(code, text) => self.put_error(&mut out, code, text, number, 0),
            ScriptedAnswer::RefusedWith(code, text) => self.put_error(&mut out, code, &text, number, 0),
            ScriptedAnswer::RefusedByMarker(code, text) => {
                self.break_answer()?;
                self.put_error(&mut out, code, text, number, 0);
            }
            ScriptedAnswer::AwaitBreak => {
                self.await_break()?;
                self.put_error(&mut out, CANCELLED.0, CANCELLED.1, number, 0);
            }
            ScriptedAnswer::Changed(rows) => {
                self.in_transaction = true;
                self.put_error(&mut out, 0, "", number, rows);
            }
            ScriptedAnswer::CreatedWithErrors => {
                let text = "ORA-24344: success with compilation error\n";
                out.u8(MESSAGE_WARNING)
                    .ub(COMPILED_WITH_ERRORS)
                    .ub(text.len() as u64)
                    .ub(0)
                    .bytes(text.as_bytes());
                self.put_error(&mut out, 0, "", number, 0);
            }
            ScriptedAnswer::Done => self.put_error(&mut out, 0, "", number, 0),
            ScriptedAnswer::Hang => return self.hang(),
            ScriptedAnswer::CutOff(..) => {
                return Err(unexpected("the script cuts an answer that it has cut".to_owned()));
            }
        }
        match cut {
            Some(bytes) => self.send_beginning(&out, bytes),
            None => self.send(out),
        }
    }

    /// Writes the returned values of a block's binds, in bind order.
    fn put_returned(
        &mut self,
        out: &mut Out,
        number: u64,
        values: &[(usize, ScriptedValue)],
    ) -> Result<(), RequestFailure> {
        let cursor = self.cursor(number)?;
        let count = cursor.binds.len();
        let is_out = |place| values.iter().any(|(out, _)| *out == place);
        cursor.directions = (0..count).map(|place| if is_out(place) { BIND_OUT } else { BIND_IN }).collect();
        out.u8(MESSAGE_BIND_DIRECTIONS).u8(0).ub(count as u64 % 256).ub(count as u64 / 256).ub(1).ub_zeros(3);
        out.raw(&cursor.directions).u8(MESSAGE_ROW);
        for (_, value) in values {
            out.value(value).ub(0);
        }
        self.put_error(out, 0, "", number, 1);
        Ok(())
    }

    /// Writes the next rows of a cursor. After the last row it reports the end of the data.
    fn put_rows(&mut self, out: &mut Out, number: u64, count: u64) -> Result<(), RequestFailure> {
        let leaves_out = self.shared.options.leaves_out_repeats;
        let cursor = self.cursor(number)?;
        let batch = cursor.rows.len().min(count as usize);
        let columns = cursor.columns.len() as u64;
        RowHeader { flags: ROWS_FLAGS, columns, rows: batch as u64, bit_vector: Vec::new() }.put(out);
        for row in cursor.rows.drain(..batch) {
            let last = cursor.last_row.take().filter(|_| leaves_out);
            let is_sent: Vec<bool> = (0..row.len())
                .map(|place| last.as_ref().is_none_or(|last| last[place] != row[place]))
                .collect();
            if last.is_some() {
                put_bit_vector(out, &is_sent);
            }
            out.u8(MESSAGE_ROW);
            for (place, value) in row.iter().enumerate().filter(|(place, _)| is_sent[*place]) {
                out.value(value);
                if cursor.columns[place].1.is_lob() {
                    // A long value is followed by an indicator and a return code.
                    out.ub_zeros(2);
                }
            }
            cursor.last_row = Some(row);
        }
        let batch = batch as u64;
        match batch < count {
            true => self.put_error(out, 1403, "ORA-01403: no data found\n", number, batch),
            false => self.put_error(out, 0, "", number, batch),
        }
        Ok(())
    }
}
