//! Reading the answer to one request, as its pieces arrive.

use crate::wire::message::mark::{END, ERROR, OK};
use crate::wire::{Column, Connection, Ended, Fields, WireError, refused};

/// An answer of which a part may be here: to a statement, to several in one packet, or to a call of a procedure, whose results
/// come before its own end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reply {
    awaited: Awaited,
    /// Whether rows come with their values written out.
    is_text: bool,
    /// Columns of the result that is coming, and what the first of them is.
    columns: u64,
    pub(super) column: Column,
    /// What the last row's first column is as a number: 0 without a row, `None` where it is none.
    number: Option<u64>,
    rows: u64,
}

/// What the server answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    /// The number in the first column of the last row: 0 where it is NULL or there is no row, `None` where it is no integer.
    pub(super) number: Option<u64>,
    /// Rows that came.
    pub(super) rows: u64,
    /// Rows that were changed.
    pub(super) changed: u64,
}

/// A part of an answer that is shown.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    /// The definition of a column, and whether it is the first.
    Column(bool, &'a [u8]),
    /// A row.
    Row(&'a [u8]),
}

/// What comes next of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Awaited {
    /// The head of a result, or all of it.
    #[default]
    Head,
    /// This many column definitions, then rows.
    Definitions(u64),
}

impl Reply {
    /// The answer to a statement whose first column was this when it was last told.
    #[inline]
    pub(super) fn to(column: Column) -> Self {
        Self { column, number: Some(0), ..Self::default() }
    }

    /// The same, whose rows come with their values in binary, or written out.
    #[inline]
    pub(super) fn written(self, is_text: bool) -> Self {
        Self { is_text, ..self }
    }

    /// Takes in what has arrived, and shows `each` part; `None` if that is not all of the answer.
    ///
    /// # Errors
    /// The server refused, and the connection is in step; or it is lost.
    #[inline]
    pub(super) fn take(
        &mut self,
        connection: &mut Connection,
        mut each: impl FnMut(Part<'_>),
    ) -> Result<Option<Told>, WireError> {
        let marked = connection.marked;
        while let Some((_, range)) = connection.line.inbound.cut()? {
            let body = connection.line.body(range);
            let ended = match self.awaited {
                Awaited::Head => self.head(marked, body)?,
                Awaited::Definitions(0) => match *body {
                    [OK, ..] if !self.is_text => {
                        self.rows += 1;
                        self.number = self.column.number(body, self.columns);
                        each(Part::Row(body));
                        None
                    }
                    // No packet here is so long that a value in a row of text could begin like this.
                    [END, ref rest @ ..] => Some(Ended::read(rest)?),
                    [first, ..] if self.is_text && first != ERROR => {
                        self.row_of_text(body);
                        each(Part::Row(body));
                        None
                    }
                    _ => return Err(no_row(body)),
                },
                Awaited::Definitions(left) => {
                    let is_first = left == self.columns;
                    if is_first {
                        self.column = Column::read(body)?;
                    }
                    each(Part::Column(is_first, body));
                    self.awaited = Awaited::Definitions(left - 1);
                    None
                }
            };
            if let Some(ended) = ended {
                if !ended.more_follow() {
                    return Ok(Some(self.told(ended)));
                }
                self.awaited = Awaited::Head;
            }
        }
        Ok(None)
    }

    /// As [`Reply::take`], and waits until all of it is there.
    pub(super) fn wait(
        mut self,
        connection: &mut Connection,
        mut each: impl FnMut(Part<'_>),
    ) -> Result<Told, WireError> {
        loop {
            if let Some(told) = self.take(connection, &mut each)? {
                return Ok(told);
            }
            connection.line.fill()?;
        }
    }

    /// How a result begins: with its end, which it returns, or with what tells how many column definitions follow first.
    #[inline]
    fn head(&mut self, marked: bool, body: &[u8]) -> Result<Option<Ended>, WireError> {
        let mut fields = Fields::new(body);
        match *body {
            [ERROR, ..] => return Err(refused(body)),
            [OK, ref rest @ ..] => return Ended::read(rest).map(Some),
            _ => self.columns = fields.number().unwrap_or(0),
        }
        let left_out = marked && fields.u8() == Some(0);
        self.awaited = Awaited::Definitions(if left_out { 0 } else { self.columns });
        Ok(None)
    }

    #[inline(never)]
    fn row_of_text(&mut self, body: &[u8]) {
        self.rows += 1;
        self.number = self.column.written_number(body);
    }

    #[inline]
    fn told(&self, ended: Ended) -> Told {
        Told { number: self.number, rows: self.rows, changed: ended.rows_affected }
    }
}

#[cold]
fn no_row(body: &[u8]) -> WireError {
    if body.first() == Some(&ERROR) { refused(body) } else { WireError::protocol("no row where one was due") }
}
