//! Reads a client's requests to execute a statement.

use super::ScriptedValue;
use super::codec::{In, Short, value_of};
use super::failure::{RequestFailure, unexpected};
use super::messages::MESSAGE_ROW;
use super::release::FieldVersion;

/// Options of an execution: it contains the text, it executes, it fetches rows, it is a PL/SQL block or not.
const OPTION_PARSE: u64 = 0x01;
const OPTION_EXECUTE: u64 = 0x20;
const OPTION_FETCH: u64 = 0x40;
const OPTION_BLOCK: u64 = 0x400;
const OPTION_NO_BLOCK: u64 = 0x8000;

/// Longest bind that is sent in its normal position.
const BIND_LENGTH_MAX: u64 = 32_767;

/// A request to parse or execute a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExecuteRequest {
    /// The cursor it refers to, if the statement is already parsed.
    pub(super) cursor: u64,
    /// Text of the statement, if it must be parsed.
    pub(super) sql: Option<String>,
    pub(super) is_executed: bool,
    /// Whether it only says how the client wants the values of an open cursor.
    pub(super) is_definition: bool,
    /// Number of rows to return with the answer.
    pub(super) fetched: u64,
    /// Type and length of each bind.
    pub(super) binds: Vec<(u8, u64)>,
    /// The binds of each execution.
    pub(super) executions: Vec<Vec<ScriptedValue>>,
}

impl ExecuteRequest {
    /// Reads one after its head.
    pub(super) fn read(message: &mut In<'_>, fields: FieldVersion) -> Result<Self, RequestFailure> {
        let (options, cursor) = (message.ub()?, message.ub()?);
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
        message.skip_u8(6)?;
        let defined_count = message.ub()?;
        message.skip_ub(1)?;
        message.skip_u8(3)?;
        message.skip_ub(1)?;
        message.u8()?;
        message.skip_ub(2)?;
        message.u8()?;
        message.skip_ub(1)?;
        message.u8()?;
        if fields >= FieldVersion::R12_2 {
            message.u8()?;
            message.skip_ub(1)?;
            message.u8()?;
            message.skip_ub(1)?;
            message.u8()?;
        }
        if fields >= FieldVersion::R12_2_CHUNKS {
            message.u8()?;
            message.skip_ub(1)?;
        }
        let parses = options & OPTION_PARSE != 0;
        let sql = if parses { Some(String::from_utf8_lossy(&message.bytes()?).into_owned()) } else { None };
        message.skip_ub(1)?;
        let count = message.ub()?;
        message.skip_ub(5)?;
        let is_query = message.ub()? == 1;
        message.skip_ub(5)?;
        let mut binds = Vec::with_capacity(bind_count.min(1_000));
        for _ in 0..bind_count {
            binds.push(read_type(message, fields)?);
        }
        for _ in 0..defined_count {
            read_type(message, fields)?;
        }
        let is_block = options & OPTION_BLOCK != 0 || (parses && options & OPTION_NO_BLOCK == 0);
        let mut places: Vec<usize> = (0..bind_count).collect();
        if !is_block {
            // Long binds follow the short ones.
            places.sort_by_key(|&place| binds[place].1 > BIND_LENGTH_MAX);
        }
        let executions = read_executions(message, &binds, &places, if is_query { 1 } else { count })?;
        let fetched = if options & OPTION_FETCH != 0 { fetched } else { 0 };
        let is_executed = options & OPTION_EXECUTE != 0;
        Ok(Self { cursor, sql, is_executed, is_definition: defined_count > 0, fetched, binds, executions })
    }
}

/// Reads the type and length of a bind, or of a column as the client wants it.
fn read_type(message: &mut In<'_>, fields: FieldVersion) -> Result<(u8, u64), Short> {
    let kind = message.u8()?;
    message.skip_u8(3)?;
    let length = message.ub()?;
    message.skip_ub(5)?;
    message.u8()?;
    message.skip_ub(if fields >= FieldVersion::R12_2 { 2 } else { 1 })?;
    Ok((kind, length))
}

/// The values of `count` executions: the binds at `places` are in the message, the others are NULL.
pub(super) fn read_executions(
    message: &mut In<'_>,
    binds: &[(u8, u64)],
    places: &[usize],
    count: u64,
) -> Result<Vec<Vec<ScriptedValue>>, RequestFailure> {
    if places.is_empty() {
        return Ok(vec![vec![ScriptedValue::Null; binds.len()]]);
    }
    let mut executions = Vec::new();
    for _ in 0..count.max(1) {
        if message.u8()? != MESSAGE_ROW {
            return Err(unexpected("binds without a row".to_owned()));
        }
        let mut row = vec![ScriptedValue::Null; binds.len()];
        for &place in places {
            row[place] = value_of(binds[place].0, message.bytes()?);
        }
        executions.push(row);
    }
    Ok(executions)
}
