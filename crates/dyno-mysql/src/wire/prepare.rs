//! Preparing a statement.

use super::column::Column;
use super::connection::Connection;
use super::error::WireError;
use super::fields::Fields;
use super::message::{self, command};

/// A statement that the server has prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prepared {
    /// Its number on this connection.
    pub(crate) id: u32,
    /// Parameters.
    pub(crate) parameters: u16,
    /// The first column of its rows, as far as that is known before it is executed.
    pub(crate) column: Option<Column>,
}

impl Connection {
    /// Prepares `sql`.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Prepared, WireError> {
        self.prepare_with(sql, |_| (), |_| ())
    }

    /// The same, and shows each `mark` of a parameter as the server defines it, and `each` column of its rows, as far as that is
    /// known before it is executed.
    pub(crate) fn prepare_with(
        &mut self,
        sql: &str,
        mut mark: impl FnMut(&[u8]),
        mut each: impl FnMut(Column),
    ) -> Result<Prepared, WireError> {
        message::command(&mut self.line.out, command::STMT_PREPARE, sql);
        self.line.send()?;
        let body = self.next_body()?;
        let mut fields = Fields::new(body);
        let mut read = || {
            fields.u8()?;
            Some((fields.u32()?, fields.u16()?, fields.u16()?))
        };
        let (id, columns, parameters) =
            read().ok_or_else(|| WireError::protocol("the answer to a preparation that ends too early"))?;
        // Definitions of parameters and of columns; without the packets that once stood behind them.
        for _ in 0..parameters {
            mark(self.next_body()?);
        }
        let mut column = None;
        for number in 0..columns {
            let body = self.next_body()?;
            let own = Column::read(body)?;
            if number == 0 {
                column = Some(own);
            }
            each(own);
        }
        Ok(Prepared { id, parameters, column })
    }

    /// Lets the server forget what it has `prepared`.
    pub(crate) fn forget(&mut self, prepared: Prepared) -> Result<(), WireError> {
        message::packet(&mut self.line.out, 0, |out| {
            out.push(command::STMT_CLOSE);
            out.extend_from_slice(&prepared.id.to_le_bytes());
        });
        self.line.send()
    }
}
