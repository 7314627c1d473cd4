//! The messages that answer a statement, written and read.

use super::ScriptedType;
use super::codec::Out;
#[cfg(test)]
use super::codec::{In, Short};
use super::release::FieldVersion;

pub(super) const MESSAGE_ERROR: u8 = 4;
pub(super) const MESSAGE_ROW_HEADER: u8 = 6;
pub(super) const MESSAGE_ROW: u8 = 7;
pub(super) const MESSAGE_PARAMETERS: u8 = 8;
pub(super) const MESSAGE_STATUS: u8 = 9;
pub(super) const MESSAGE_DESCRIBE: u8 = 16;
pub(super) const MESSAGE_BIT_VECTOR: u8 = 21;
const MESSAGE_SERVER_PIGGYBACK: u8 = 23;
pub(super) const MESSAGE_END_OF_RESPONSE: u8 = 29;

/// The number of the character set AL32UTF8.
const CHARACTER_SET: u64 = 873;

/// A column of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DescribedColumn {
    pub(super) name: String,
    /// 1 for VARCHAR2, 2 for NUMBER.
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) precision: u8,
    pub(super) scale: u8,
    /// Maximum bytes of a value.
    pub(super) buffer: u64,
    /// Number and form of the character set; 0 if the type has none.
    pub(super) character_set: u64,
    pub(super) form: u8,
    /// Maximum characters of a value.
    pub(super) characters: u64,
}

impl DescribedColumn {
    pub(super) fn of(name: &str, kind: ScriptedType) -> Self {
        let (number, buffer, form, characters) = kind.on_the_wire();
        let character_set = if form > 0 { CHARACTER_SET } else { 0 };
        let name = name.to_owned();
        Self { name, kind: number, flags: 0, precision: 0, scale: 0, buffer, character_set, form, characters }
    }

    fn put(&self, out: &mut Out, fields: FieldVersion) {
        out.u8(self.kind).u8(self.flags).u8(self.precision).u8(self.scale).ub(self.buffer);
        // Array elements, content flags, and identifier and version of an object type.
        out.ub_zeros(4).ub(self.character_set).u8(self.form).ub(self.characters);
        if fields >= FieldVersion::R12_2 {
            out.ub(0);
        }
        // Nullable; then schema and name of an object type, column position, flags.
        out.u8(1).u8(self.name.len() as u8).text(&self.name).ub_zeros(4);
        if fields >= FieldVersion::R23_DOMAINS {
            out.ub_zeros(2);
        }
        if fields >= FieldVersion::R23_ANNOTATIONS {
            out.ub(0);
        }
        if fields >= FieldVersion::R23_VECTORS {
            out.ub(0).zeros(2);
        }
    }

    #[cfg(test)]
    fn read(message: &mut In<'_>, fields: FieldVersion) -> Result<Self, Short> {
        let (kind, flags, precision, scale) = (message.u8()?, message.u8()?, message.u8()?, message.u8()?);
        let buffer = message.ub()?;
        message.skip_ub(4)?;
        let (character_set, form, characters) = (message.ub()?, message.u8()?, message.ub()?);
        if fields >= FieldVersion::R12_2 {
            message.ub()?;
        }
        message.skip_u8(2)?;
        let name = String::from_utf8_lossy(&message.text()?).into_owned();
        message.text()?;
        message.text()?;
        message.skip_ub(2)?;
        if fields >= FieldVersion::R23_DOMAINS {
            message.text()?;
            message.text()?;
        }
        if fields >= FieldVersion::R23_ANNOTATIONS {
            message.ub()?;
        }
        if fields >= FieldVersion::R23_VECTORS {
            message.ub()?;
            message.skip_u8(2)?;
        }
        Ok(Self { name, kind, flags, precision, scale, buffer, character_set, form, characters })
    }
}

/// The columns of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Description {
    /// 16 bytes of the statement and 7 bytes of a date.
    pub(super) identity: Vec<u8>,
    /// Maximum bytes of a row.
    pub(super) row_bytes: u64,
    /// The byte before the columns, if there are any.
    pub(super) mark: u8,
    pub(super) columns: Vec<DescribedColumn>,
    /// The date in DATE format; empty if the server sends none.
    pub(super) date: Vec<u8>,
    /// Flags, then limits of numbers and characters.
    pub(super) limits: [u64; 4],
}

impl Description {
    pub(super) fn of(columns: &[(&str, ScriptedType)]) -> Self {
        Self {
            identity: vec![0; 23],
            row_bytes: 100,
            mark: 1,
            columns: columns.iter().map(|(name, kind)| DescribedColumn::of(name, *kind)).collect(),
            date: Vec::new(),
            limits: [0; 4],
        }
    }

    pub(super) fn put(&self, out: &mut Out, fields: FieldVersion) {
        out.u8(MESSAGE_DESCRIBE).bytes(&self.identity).ub(self.row_bytes).ub(self.columns.len() as u64);
        if !self.columns.is_empty() {
            out.u8(self.mark);
        }
        for column in &self.columns {
            column.put(out, fields);
        }
        put_counted(out, &self.date);
        for limit in self.limits {
            out.ub(limit);
        }
        out.ub(0);
    }

    /// Reads one after its kind.
    #[cfg(test)]
    pub(super) fn read(message: &mut In<'_>, fields: FieldVersion) -> Result<Self, Short> {
        let (identity, row_bytes, count) = (message.bytes()?, message.ub()?, message.ub()?);
        let mark = if count > 0 { message.u8()? } else { 0 };
        let columns = (0..count).map(|_| DescribedColumn::read(message, fields)).collect::<Result<_, _>>()?;
        let date = message.text()?;
        let limits = [message.ub()?, message.ub()?, message.ub()?, message.ub()?];
        message.text()?;
        Ok(Self { identity, row_bytes, mark, columns, date, limits })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowHeader {
    pub(super) flags: u8,
    pub(super) columns: u64,
    /// Number of rows that the client requested.
    pub(super) rows: u64,
    /// Which columns of the first row carry their own values; empty if all do.
    pub(super) bit_vector: Vec<u8>,
}

impl RowHeader {
    pub(super) fn put(&self, out: &mut Out) {
        out.u8(MESSAGE_ROW_HEADER).u8(self.flags).ub(self.columns).ub(0).ub(self.rows).ub(0);
        put_counted(out, &self.bit_vector);
        out.ub(0);
    }

    /// Reads one after its kind.
    #[cfg(test)]
    pub(super) fn read(message: &mut In<'_>) -> Result<Self, Short> {
        let (flags, columns) = (message.u8()?, message.ub()?);
        message.ub()?;
        let rows = message.ub()?;
        message.ub()?;
        let bit_vector = message.text()?;
        message.text()?;
        Ok(Self { flags, columns, rows, bit_vector })
    }
}

/// Writes which columns of the next row carry their own values; the others repeat the row before.
pub(super) fn put_bit_vector(out: &mut Out, is_sent: &[bool]) {
    let mut bits = vec![0_u8; is_sent.len().div_ceil(8)];
    for (place, _) in is_sent.iter().enumerate().filter(|(_, is_sent)| **is_sent) {
        bits[place / 8] |= 1 << (place % 8);
    }
    let sent = is_sent.iter().filter(|is_sent| **is_sent).count() as u64;
    out.u8(MESSAGE_BIT_VECTOR).ub(sent).raw(&bits);
}

/// How a call ended: successfully, or with the database's error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CallEnd {
    /// Status of the call: 1, plus 2 if a transaction is open.
    pub(super) status: u64,
    pub(super) sequence: u64,
    pub(super) row: u64,
    pub(super) cursor: u64,
    /// Position of the error in the statement, in bytes.
    pub(super) position: u64,
    /// Kind of the statement, and flags.
    pub(super) flags: [u8; 6],
    /// The request's number in its conversation.
    pub(super) call: u8,
    /// Number of executions of the statement.
    pub(super) iterations: u64,
    /// Error number; 0 after success.
    pub(super) number: u32,
    pub(super) rows: u64,
    /// Kind and checksum of the statement, since version 20c.
    pub(super) statement: [u64; 2],
    /// Error text with all its lines; empty after success.
    pub(super) text: String,
}

impl CallEnd {
    pub(super) fn put(&self, out: &mut Out, fields: FieldVersion) {
        let short = if self.number < 65_536 { u64::from(self.number) } else { 0 };
        out.u8(MESSAGE_ERROR).ub(self.status).ub(self.sequence).ub(self.row).ub(short).ub_zeros(2);
        // After the flags: a row address, the operating system's error and a statement number.
        out.ub(self.cursor).ub(self.position).raw(&self.flags).zeros(7);
        out.u8(self.call).ub(0).ub(self.iterations);
        // A logical row address, and three arrays of errors.
        out.ub_zeros(4).ub(u64::from(self.number)).ub(self.rows);
        if fields >= FieldVersion::R20C {
            out.ub(self.statement[0]).ub(self.statement[1]);
        }
        if self.number > 0 {
            out.bytes(self.text.as_bytes());
        }
    }

    /// Reads one after its kind.
    #[cfg(test)]
    pub(super) fn read(message: &mut In<'_>, fields: FieldVersion) -> Result<Self, Short> {
        let (status, sequence, row) = (message.ub()?, message.ub()?, message.ub()?);
        message.skip_ub(3)?;
        let (cursor, position) = (message.ub()?, message.ub()?);
        let flags = message.raw(6)?.try_into().expect("they are six");
        message.skip_ub(2)?;
        message.skip_u8(1)?;
        message.skip_ub(3)?;
        message.skip_u8(1)?;
        let call = message.u8()?;
        message.skip_ub(1)?;
        let iterations = message.ub()?;
        message.skip_ub(4)?;
        let (number, rows) = (message.ub()? as u32, message.ub()?);
        let statement = match fields >= FieldVersion::R20C {
            true => [message.ub()?, message.ub()?],
            false => [0; 2],
        };
        let text = if number > 0 { message.bytes()? } else { Vec::new() };
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Self {
            status,
            sequence,
            row,
            cursor,
            position,
            flags,
            call,
            iterations,
            number,
            rows,
            statement,
            text,
        })
    }
}

/// Writes the session state that a server sends before an answer: the transaction's logical identifier, and
/// the current schema.
pub(super) fn put_session_state(out: &mut Out, schema: &str) {
    const TRANSACTION: u8 = 7;
    const STATE: u8 = 5;
    const CURRENT_SCHEMA: u64 = 168;
    out.u8(MESSAGE_SERVER_PIGGYBACK).u8(TRANSACTION).text("identifier");
    // Counts of types, then one pair of a text and zero bytes, and flags.
    out.u8(MESSAGE_SERVER_PIGGYBACK).u8(STATE).ub(0).u8(0).ub(1).u8(0);
    out.text(schema).text("").ub(CURRENT_SCHEMA).ub(0);
}

/// Writes bytes after their length twice; an empty value has one length.
fn put_counted(out: &mut Out, bytes: &[u8]) {
    out.ub(bytes.len() as u64);
    if !bytes.is_empty() {
        out.bytes(bytes);
    }
}
