//! Prepares statements on the server.

use super::column::MySqlColumnDef;
use super::connection::MySqlConnection;
use super::error::MySqlWireError;
use super::fields::MySqlFieldReader;
use super::message::{self, command};

/// A statement that the server has prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MySqlPreparedStatement {
    /// The statement's number on this connection.
    pub(crate) id: u32,
    /// Number of parameters in the statement.
    pub(crate) parameters: u16,
    /// The first column of its rows; absent if unknown before execution.
    pub(crate) column: Option<MySqlColumnDef>,
}

impl MySqlConnection {
    /// Prepares `sql` without reporting its definitions.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<MySqlPreparedStatement, MySqlWireError> {
        self.prepare_with(sql, |_| (), |_| ())
    }

    /// Prepares `sql`. Passes the server's definition of each parameter to `mark`, and each column of the
    /// rows, as far as known before execution, to `each`.
    pub(crate) fn prepare_with(
        &mut self,
        sql: &str,
        mut mark: impl FnMut(&[u8]),
        mut each: impl FnMut(MySqlColumnDef),
    ) -> Result<MySqlPreparedStatement, MySqlWireError> {
        message::command(&mut self.line.out, command::STMT_PREPARE, sql);
        self.line.send()?;
        let body = self.next_body()?;
        let mut fields = MySqlFieldReader::new(body);
        let mut read = || {
            fields.u8()?;
            Some((fields.u32()?, fields.u16()?, fields.u16()?))
        };
        let (id, columns, parameters) =
            read().ok_or_else(|| MySqlWireError::protocol("a truncated answer to a prepare request"))?;
        // Definitions of parameters and columns, without the end-of-list packets of older protocols.
        for _ in 0..parameters {
            mark(self.next_body()?);
        }
        let mut column = None;
        for number in 0..columns {
            let body = self.next_body()?;
            let definition = MySqlColumnDef::read(body)?;
            if number == 0 {
                column = Some(definition);
            }
            each(definition);
        }
        Ok(MySqlPreparedStatement { id, parameters, column })
    }

    /// Deallocates a prepared statement on the server.
    pub(crate) fn forget(&mut self, prepared: MySqlPreparedStatement) -> Result<(), MySqlWireError> {
        message::packet(&mut self.line.out, 0, |out| {
            out.push(command::STMT_CLOSE);
            out.extend_from_slice(&prepared.id.to_le_bytes());
        });
        self.line.send()
    }
}
