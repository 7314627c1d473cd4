//! Reading the answer to one operation.

use crate::mysql::wire::{Connection, Ended, Fields, Metadata, WireError};

/// First bytes of packets: a row in binary or an OK, an OK that ends rows, an error.
const OK: u8 = 0x00;
const END: u8 = 0xfe;
const ERROR: u8 = 0xff;

/// Flag bytes in front of the values of a binary row of up to five columns: the row's mark, and which are NULL.
const ROW_HEAD: usize = 2;

/// What the server answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// The number in the last row, where the row is one 64-bit number.
    pub(super) value: u64,
    /// Rows that came, or rows that were changed.
    pub(super) rows: u64,
}

/// Reads the answer to a statement that changes rows, or whose rows have one column.
#[inline]
pub(super) fn read(connection: &mut Connection) -> Result<Answer, WireError> {
    if let Begun::Over(ended) = begin(connection)? {
        return Ok(Answer { value: 0, rows: ended.rows_affected });
    }
    let mut answer = Answer::default();
    loop {
        let (_, range) = connection.next()?;
        let body = connection.inbound.body(range);
        match body.first() {
            Some(&OK) => {
                answer.rows += 1;
                if let Some(value) = body.get(ROW_HEAD..).and_then(|values| values.first_chunk()) {
                    answer.value = u64::from_le_bytes(*value);
                }
            }
            Some(&END) => return Ok(answer),
            _ => return Err(no_row(body)),
        }
    }
}

/// Reads the answer to a call: one row of five numbers, then the call's own end.
pub(super) fn read_call(connection: &mut Connection) -> Result<[u64; 5], WireError> {
    let mut numbers = None;
    loop {
        if let Begun::Over(_) = begin(connection)? {
            return numbers.ok_or_else(|| WireError::protocol("no result of a slice"));
        }
        loop {
            let (_, range) = connection.next()?;
            let body = connection.inbound.body(range);
            match body.first() {
                Some(&OK) => numbers = Some(five(body)?),
                Some(&END) => break,
                _ => return Err(no_row(body)),
            }
        }
    }
}

fn five(body: &[u8]) -> Result<[u64; 5], WireError> {
    let values = body.get(ROW_HEAD..).unwrap_or_default();
    let (chunks, rest) = values.as_chunks::<8>();
    let numbers: Option<[u64; 5]> =
        chunks.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect::<Vec<_>>().try_into().ok();
    numbers
        .filter(|_| rest.is_empty())
        .ok_or_else(|| WireError::protocol("a slice's result of another shape"))
}

/// How an answer began.
enum Begun {
    /// With a result's head, its column definitions taken.
    Rows,
    /// With its end: there are no rows.
    Over(Ended),
}

#[inline]
fn begin(connection: &mut Connection) -> Result<Begun, WireError> {
    let mark = connection.metadata;
    let (_, range) = connection.next()?;
    let body = connection.inbound.body(range);
    let definitions = match (mark, body) {
        (_, [ERROR, ..]) => return Err(WireError::refused(body)),
        // A mark and a number of columns are two bytes; an OK has seven or more.
        (Metadata::MarkInFront, &[follow, columns]) => u64::from(columns) * u64::from(follow),
        (_, [OK, rest @ ..]) => return Ok(Begun::Over(Ended::read(rest)?)),
        (Metadata::MarkBehind, &[columns, follow]) => u64::from(columns) * u64::from(follow),
        _ => Fields::new(body).number().unwrap_or(0),
    };
    for _ in 0..definitions {
        connection.next()?;
    }
    Ok(Begun::Rows)
}

#[cold]
fn no_row(body: &[u8]) -> WireError {
    if body.first() == Some(&ERROR) {
        WireError::refused(body)
    } else {
        WireError::protocol("no row where one was due")
    }
}
