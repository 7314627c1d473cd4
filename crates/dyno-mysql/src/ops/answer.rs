//! Parses the result of one request as its packets arrive.

use crate::wire::message::mark::{END, ERROR, OK};
use crate::wire::{
    MySqlColumnDef, MySqlConnection, MySqlFieldReader, MySqlOkPacket, MySqlWireError, refused,
};

/// Parser state for a result that may still be incomplete: of one statement, of several in one packet, or of
/// a procedure call, whose result sets precede its own end.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MySqlReplyReader {
    awaited: MySqlReplyStage,
    /// Whether rows contain their values as text.
    is_text: bool,
    /// Columns of the result that is arriving, and the definition of the first one.
    columns: u64,
    pub(super) column: MySqlColumnDef,
    /// The first column of the last row as a number: 0 without a row, `None` if it is not a number.
    number: Option<u64>,
    rows: u64,
}

/// The result of a request, as far as Dyno uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MySqlStatementResult {
    /// The first column of the last row as a number: 0 if it is NULL or there is no row, `None` if it is not
    /// an integer.
    pub(super) number: Option<u64>,
    /// Number of rows that were returned.
    pub(super) rows: u64,
    /// Number of rows that were changed.
    pub(super) changed: u64,
}

/// A part of a result that is passed to the caller.
#[derive(Debug, Clone, Copy)]
pub(super) enum MySqlResultPart<'a> {
    /// The definition of a column, and whether it is the first one.
    Column(bool, &'a [u8]),
    /// A row in its packet encoding.
    Row(&'a [u8]),
}

/// The next expected part of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum MySqlReplyStage {
    /// The header of a result set, or an OK that completes the request.
    #[default]
    Head,
    /// This many column definitions, followed by rows.
    Definitions(u64),
}

impl MySqlReplyReader {
    /// The parser for a statement whose first column had the definition `column` when it was last sent.
    #[inline]
    pub(super) fn expecting(column: MySqlColumnDef) -> Self {
        Self { column, number: Some(0), ..Self::default() }
    }

    /// Sets whether rows contain their values as text or in binary.
    #[inline]
    pub(super) fn with_text_rows(self, is_text: bool) -> Self {
        Self { is_text, ..self }
    }

    /// Parses the packets that have arrived and passes each part to `each`; returns `None` while the result
    /// is incomplete.
    ///
    /// # Errors
    /// The server returned an error and the connection remains usable, or the connection was lost.
    #[inline]
    pub(super) fn take(
        &mut self,
        connection: &mut MySqlConnection,
        mut each: impl FnMut(MySqlResultPart<'_>),
    ) -> Result<Option<MySqlStatementResult>, MySqlWireError> {
        let marked = connection.has_metadata_flag;
        while let Some((_, range)) = connection.line.inbound.cut()? {
            let body = connection.line.body(range);
            let ok_packet = match self.awaited {
                MySqlReplyStage::Head => self.head(marked, body)?,
                MySqlReplyStage::Definitions(0) => match *body {
                    [OK, ..] if !self.is_text => {
                        self.rows += 1;
                        self.number = self.column.number(body, self.columns);
                        each(MySqlResultPart::Row(body));
                        None
                    }
                    // No packet here is long enough for a text row to begin with this byte.
                    [END, ref rest @ ..] => Some(MySqlOkPacket::read(rest)?),
                    [first, ..] if self.is_text && first != ERROR => {
                        self.count_text_row(body);
                        each(MySqlResultPart::Row(body));
                        None
                    }
                    _ => return Err(no_row(body)),
                },
                MySqlReplyStage::Definitions(left) => {
                    let is_first = left == self.columns;
                    if is_first {
                        self.column = MySqlColumnDef::read(body)?;
                    }
                    each(MySqlResultPart::Column(is_first, body));
                    self.awaited = MySqlReplyStage::Definitions(left - 1);
                    None
                }
            };
            if let Some(final_packet) = ok_packet {
                if !final_packet.has_more_results() {
                    return Ok(Some(self.result(final_packet)));
                }
                self.awaited = MySqlReplyStage::Head;
            }
        }
        Ok(None)
    }

    /// Like [`MySqlReplyReader::take`], but waits for the complete result.
    pub(super) fn wait(
        mut self,
        connection: &mut MySqlConnection,
        mut each: impl FnMut(MySqlResultPart<'_>),
    ) -> Result<MySqlStatementResult, MySqlWireError> {
        loop {
            if let Some(told) = self.take(connection, &mut each)? {
                return Ok(told);
            }
            connection.line.fill()?;
        }
    }

    /// Parses the start of a result: its end, which is returned, or the number of column definitions that
    /// follow.
    #[inline]
    fn head(&mut self, marked: bool, body: &[u8]) -> Result<Option<MySqlOkPacket>, MySqlWireError> {
        let mut fields = MySqlFieldReader::new(body);
        match *body {
            [ERROR, ..] => return Err(refused(body)),
            [OK, ref rest @ ..] => return MySqlOkPacket::read(rest).map(Some),
            _ => self.columns = fields.number().unwrap_or(0),
        }
        let left_out = marked && fields.u8() == Some(0);
        self.awaited = MySqlReplyStage::Definitions(if left_out { 0 } else { self.columns });
        Ok(None)
    }

    #[inline(never)]
    fn count_text_row(&mut self, body: &[u8]) {
        self.rows += 1;
        self.number = self.column.written_number(body);
    }

    #[inline]
    fn result(&self, ok_packet: MySqlOkPacket) -> MySqlStatementResult {
        MySqlStatementResult { number: self.number, rows: self.rows, changed: ok_packet.rows_affected }
    }
}

#[cold]
fn no_row(body: &[u8]) -> MySqlWireError {
    if body.first() == Some(&ERROR) {
        refused(body)
    } else {
        MySqlWireError::protocol("no row where one was expected")
    }
}
