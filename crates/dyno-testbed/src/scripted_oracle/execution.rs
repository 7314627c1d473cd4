//! Statements: parsed, executed again, and fetched from.

use std::collections::VecDeque;

use super::codec::{In, Out, bound};
use super::conversation::{Conversation, FIELD_VERSION, RequestFailure, unexpected};
use super::cursor::ScriptedCursor;
use super::{ScriptedAnswer, ScriptedType, ScriptedValue};

const MESSAGE_ROW_HEADER: u8 = 6;
const MESSAGE_ROW: u8 = 7;
const MESSAGE_BIND_DIRECTIONS: u8 = 11;
const MESSAGE_WARNING: u8 = 15;
const MESSAGE_DESCRIBE: u8 = 16;

/// Options of an execution: the text comes with it, it is executed, rows are fetched, it is a block or is none.
const OPTION_PARSE: u64 = 0x01;
const OPTION_EXECUTE: u64 = 0x20;
const OPTION_FETCH: u64 = 0x40;
const OPTION_BLOCK: u64 = 0x400;
const OPTION_NO_BLOCK: u64 = 0x8000;

/// Flags of a bind's direction: its value is in the request, its value comes back.
const BIND_IN: u8 = 0x20;
const BIND_OUT: u8 = 0x10;

/// Longest bind that is sent in its place.
const BIND_LENGTH_MAX: u64 = 32_767;

/// Values that a script is asked with where only a statement's columns are wanted.
const BINDS_MAX: usize = 64;

/// Number of the warning that what was created has compilation errors.
const COMPILED_WITH_ERRORS: u64 = 24_344;

/// The values of each execution: the binds at `places` are in the message.
fn values(
    message: &mut In<'_>,
    binds: &[(u8, u64)],
    places: &[usize],
) -> Result<Vec<Vec<ScriptedValue>>, RequestFailure> {
    let mut executions = Vec::new();
    while !message.is_empty() {
        if message.u8()? != MESSAGE_ROW {
            return Err(unexpected("binds without a row".to_owned()));
        }
        let mut row = vec![ScriptedValue::Null; binds.len()];
        for &place in places {
            row[place] = bound(binds[place].0, message.bytes()?);
        }
        executions.push(row);
    }
    if executions.is_empty() {
        executions.push(vec![ScriptedValue::Null; binds.len()]);
    }
    Ok(executions)
}

impl Conversation<'_> {
    /// Parses where the text came along, and executes.
    pub(super) fn execute(&mut self, message: &mut In<'_>, closed: &[u64]) -> Result<(), RequestFailure> {
        let options = message.ub()?;
        let mut number = message.ub()?;
        message.u8()?;
        message.skip_ub(1)?;
        message.u8()?;
        message.skip_ub(1)?;
        message.skip_u8(2)?;
        message.skip_ub(1)?;
        let fetched = message.ub()?;
        message.skip_ub(1)?;
        message.u8()?;
        let bind_count = message.ub()? as usize;
        message.skip_u8(7)?;
        message.skip_ub(1)?;
        message.skip_u8(3)?;
        message.skip_ub(1)?;
        message.u8()?;
        message.skip_ub(2)?;
        message.u8()?;
        message.skip_ub(1)?;
        message.u8()?;
        if FIELD_VERSION >= 8 {
            message.u8()?;
            message.skip_ub(1)?;
            message.u8()?;
            message.skip_ub(1)?;
            message.u8()?;
        }
        if FIELD_VERSION >= 9 {
            message.u8()?;
            message.skip_ub(1)?;
        }
        let parses = options & OPTION_PARSE != 0;
        let sql = if parses { Some(message.bytes()?) } else { None };
        message.skip_ub(13)?;
        let mut binds = Vec::with_capacity(bind_count);
        for _ in 0..bind_count {
            let kind = message.u8()?;
            message.skip_u8(3)?;
            let length = message.ub()?;
            message.skip_ub(5)?;
            message.u8()?;
            message.skip_ub(if FIELD_VERSION >= 8 { 2 } else { 1 })?;
            binds.push((kind, length));
        }
        let is_block = options & OPTION_BLOCK != 0 || (parses && options & OPTION_NO_BLOCK == 0);
        let mut places: Vec<usize> = (0..bind_count).collect();
        if !is_block {
            // What is long follows what is short.
            places.sort_by_key(|&place| binds[place].1 > BIND_LENGTH_MAX);
        }
        let executions = match bind_count {
            0 => vec![Vec::new()],
            _ => values(message, &binds, &places)?,
        };
        self.close_cursors(closed);
        if let Some(sql) = sql {
            self.shared.count(|counts| counts.parses += 1);
            number = self.next_cursor;
            self.next_cursor += 1;
            let cursor = ScriptedCursor {
                sql: String::from_utf8_lossy(&sql).into_owned(),
                directions: vec![BIND_IN; bind_count],
                binds,
                columns: Vec::new(),
                rows: VecDeque::new(),
            };
            self.cursors.insert(number, cursor);
        } else {
            self.shared.count(|counts| counts.re_executions += 1);
            let cursor = self.cursor(number)?;
            cursor.directions.resize(bind_count, BIND_IN);
            cursor.binds = binds;
        }
        if options & OPTION_EXECUTE == 0 {
            return self.describe(number);
        }
        let fetched = if options & OPTION_FETCH != 0 { fetched } else { 0 };
        self.answer_statement(number, &executions, fetched, parses)
    }

    /// Answers to a statement that was parsed and is not executed: with its columns, where it has some.
    fn describe(&mut self, number: u64) -> Result<(), RequestFailure> {
        let unbound = vec![vec![ScriptedValue::Null; BINDS_MAX]];
        let shared = self.shared;
        let answer = shared.ask(&self.cursor(number)?.sql, &unbound);
        let mut out = Out::default();
        match answer {
            ScriptedAnswer::Rows { columns, .. } => {
                put_columns(&mut out, &columns);
                self.put_error(&mut out, 0, "", number, 0);
            }
            ScriptedAnswer::Refused(code, text) => self.put_error(&mut out, code, text, number, 0),
            _ => self.put_error(&mut out, 0, "", number, 0),
        }
        self.send(&out)
    }

    /// Executes what was parsed before; binds that only come back are not in the message.
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
        let executions = values(message, &cursor.binds, &places)?;
        self.close_cursors(closed);
        self.shared.count(|counts| counts.re_executions += 1);
        self.answer_statement(number, &executions, if fetches { count } else { 0 }, false)
    }

    /// Answers a request for `rows` more rows of a cursor.
    pub(super) fn fetch(&mut self, cursor: u64, rows: u64) -> Result<(), RequestFailure> {
        let mut out = Out::default();
        self.put_rows(&mut out, cursor, rows)?;
        self.send(&out)
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
        let shared = self.shared;
        let answer = shared.ask(&self.cursor(number)?.sql, executions);
        let mut out = Out::default();
        match answer {
            ScriptedAnswer::Rows { columns, rows } => {
                let cursor = self.cursor(number)?;
                (cursor.columns, cursor.rows) = (columns, rows.into());
                if parses {
                    put_columns(&mut out, &cursor.columns);
                }
                if fetched > 0 {
                    self.put_rows(&mut out, number, fetched)?;
                } else {
                    self.put_error(&mut out, 0, "", number, 0);
                }
            }
            ScriptedAnswer::Returned(values) => {
                let cursor = self.cursor(number)?;
                let count = cursor.binds.len();
                let first = count.saturating_sub(values.len());
                let direction = |place| if place < first { BIND_IN } else { BIND_OUT };
                cursor.directions = (0..count).map(direction).collect();
                out.u8(MESSAGE_BIND_DIRECTIONS)
                    .u8(0)
                    .ub(count as u64 % 256)
                    .ub(count as u64 / 256)
                    .ub(1)
                    .ub_zeros(3);
                out.raw(&cursor.directions).u8(MESSAGE_ROW);
                for value in &values {
                    out.value(value).ub(0);
                }
                self.in_transaction = false;
                self.put_error(&mut out, 0, "", number, 1);
            }
            ScriptedAnswer::Refused(code, text) => self.put_error(&mut out, code, text, number, 0),
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
            ScriptedAnswer::CutOff(bytes) => {
                self.put_error(&mut out, 0, "", number, 0);
                out.0.truncate(bytes);
                self.send(&out)?;
                return Err(unexpected("it is cut off".to_owned()));
            }
            ScriptedAnswer::Hang => return self.hang(),
        }
        self.send(&out)
    }

    /// The next rows of a cursor. After its last one the database says that there are no more.
    fn put_rows(&mut self, out: &mut Out, number: u64, count: u64) -> Result<(), RequestFailure> {
        let cursor = self.cursor(number)?;
        let batch = cursor.rows.len().min(count as usize);
        out.u8(MESSAGE_ROW_HEADER).u8(2).ub(cursor.columns.len() as u64).ub(0).ub(batch as u64).ub_zeros(3);
        for row in cursor.rows.drain(..batch) {
            out.u8(MESSAGE_ROW);
            for value in &row {
                out.value(value);
            }
        }
        let batch = batch as u64;
        match batch < count {
            true => self.put_error(out, 1403, "ORA-01403: no data found\n", number, batch),
            false => self.put_error(out, 0, "", number, batch),
        }
        Ok(())
    }
}

/// Names and types of the columns of a query.
fn put_columns(out: &mut Out, columns: &[(&'static str, ScriptedType)]) {
    /// The number of the character set AL32UTF8 in the protocol.
    const CHARACTER_SET: u64 = 873;
    out.u8(MESSAGE_DESCRIBE).bytes(&[0; 23]).ub(100).ub(columns.len() as u64);
    if !columns.is_empty() {
        out.u8(1);
    }
    for (place, (name, kind)) in columns.iter().enumerate() {
        let (number, length, form, characters) = kind.on_the_wire();
        out.u8(number).zeros(3).ub(length).ub_zeros(4);
        out.ub(if form > 0 { CHARACTER_SET } else { 0 }).u8(form).ub(characters);
        if FIELD_VERSION >= 8 {
            out.ub(0);
        }
        out.u8(1).u8(name.len() as u8).text(name).text("").text("").ub(place as u64 + 1).ub(0);
    }
    out.ub_zeros(6);
}
