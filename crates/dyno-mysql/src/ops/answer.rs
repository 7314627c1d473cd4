//! Reading the answer to one operation, as its pieces arrive.

use crate::wire::message::mark::{END, ERROR, OK};
use crate::wire::{Connection, Ended, Fields, WireError, refused};

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

/// An answer of which a part may be here: to a statement that changes rows, or whose rows have one column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reply {
    answer: Answer,
    awaited: Awaited,
}

/// What comes next of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Awaited {
    /// Its head, or all of it.
    #[default]
    Head,
    /// This many column definitions, then rows.
    Definitions(u64),
}

impl Reply {
    /// Takes in what has arrived; `None` if that is not all of the answer.
    ///
    /// # Errors
    /// The server refused, and the connection is in step; or it is lost.
    #[inline]
    pub(super) fn take(&mut self, connection: &mut Connection) -> Result<Option<Answer>, WireError> {
        let marked = connection.marked;
        while let Some((_, range)) = connection.line.inbound.cut()? {
            let body = connection.line.body(range);
            self.awaited = match self.awaited {
                Awaited::Head => match head(marked, body)? {
                    Head::Over(ended) => {
                        return Ok(Some(Answer { value: 0, rows: ended.rows_affected }));
                    }
                    Head::Rows(definitions) => Awaited::Definitions(definitions),
                },
                Awaited::Definitions(0) => match body.first() {
                    Some(&OK) => {
                        self.answer.rows += 1;
                        if let Some(value) = body.get(ROW_HEAD..).and_then(|values| values.first_chunk()) {
                            self.answer.value = u64::from_le_bytes(*value);
                        }
                        Awaited::Definitions(0)
                    }
                    Some(&END) => return Ok(Some(self.answer)),
                    _ => return Err(no_row(body)),
                },
                Awaited::Definitions(left) => Awaited::Definitions(left - 1),
            };
        }
        Ok(None)
    }
}

/// Reads the answer to a call: one row of so many `results`, all numbers, then the call's own end.
pub(super) fn read_call(connection: &mut Connection, results: usize) -> Result<Vec<u64>, WireError> {
    let mut numbers = None;
    loop {
        let marked = connection.marked;
        let (_, range) = connection.line.receive()?;
        match head(marked, connection.line.body(range))? {
            Head::Over(_) => return numbers.ok_or_else(|| WireError::protocol("no result of a slice")),
            Head::Rows(definitions) => {
                for _ in 0..definitions {
                    connection.line.receive()?;
                }
            }
        }
        loop {
            let (_, range) = connection.line.receive()?;
            let body = connection.line.body(range);
            match body.first() {
                Some(&OK) => numbers = Some(numbers_of(body, results)),
                Some(&END) => break,
                _ => return Err(no_row(body)),
            }
        }
    }
}

fn numbers_of(body: &[u8], results: usize) -> Vec<u64> {
    // The row's mark, then a bit for each column behind two that are not used.
    let head = 1 + (results + 2).div_ceil(8);
    let (numbers, rest) = body.get(head..).unwrap_or_default().as_chunks::<8>();
    // Another shape has another count of numbers.
    let whole = numbers.iter().filter(|_| rest.is_empty() && numbers.len() == results);
    whole.map(|number| u64::from_le_bytes(*number)).collect()
}

/// How an answer begins.
enum Head {
    /// With a result of rows: this many column definitions follow first.
    Rows(u64),
    /// With its end: there are no rows.
    Over(Ended),
}

#[inline]
fn head(marked: bool, body: &[u8]) -> Result<Head, WireError> {
    match *body {
        [ERROR, ..] => Err(refused(body)),
        [OK, ref rest @ ..] => Ok(Head::Over(Ended::read(rest)?)),
        [_, 0] if marked => Ok(Head::Rows(0)),
        _ => Ok(Head::Rows(Fields::new(body).number().unwrap_or(0))),
    }
}

#[cold]
fn no_row(body: &[u8]) -> WireError {
    if body.first() == Some(&ERROR) { refused(body) } else { WireError::protocol("no row where one was due") }
}
