//! A connection with its prepared statements.

use super::READ_ONLY_TRANSACTION;
use super::columns::MySqlRowReader;
use super::simple::MySqlTextStatement;
use super::slice::MySqlSliceCalls;
use super::template::MySqlRequestTemplate;
use crate::connections::MySqlConnections;
use crate::own_connections::SharedSessionRegistry;
use crate::wire::{MySqlColumnDef, MySqlConnection, MySqlError, MySqlWireError};
use dyno_engine::error::ALLOW_WRITES;
use dyno_engine::net::Breaker;
use dyno_engine::{
    ConnectionPurpose, OpError, Refusal as _, ResultKind, SessionSetup, Statement, TargetError,
    TargetErrorKind, Value,
};
use dyno_plan::StatementProtocol;

pub(super) struct MySqlPreparedSession {
    pub(super) connection: MySqlConnection,
    /// The statements by [`StatementId`](dyno_engine::StatementId), each with the definition of its first
    /// column.
    pub(super) statements: Vec<(MySqlStatementMessage, MySqlColumnDef)>,
    /// Whether rows contain their values as text.
    pub(super) is_text: bool,
    /// The columns of the last row, for statements whose columns are used.
    pub(super) columns: MySqlRowReader,
    /// Slice calls for the session's own schema and, if operations use it too, for schema 1.
    pub(super) calls: Option<(MySqlSliceCalls, Option<MySqlSliceCalls>)>,
}

/// How one statement is sent.
#[derive(Debug)]
pub(super) enum MySqlStatementMessage {
    /// As an execution of the prepared statement.
    Bound(MySqlRequestTemplate),
    /// As text with its values inserted.
    Text(MySqlTextStatement),
}

impl MySqlStatementMessage {
    /// Returns the packet with these values.
    ///
    /// # Errors
    /// A value does not fit its parameter.
    #[inline]
    pub(super) fn bind(&mut self, values: &[Value<'_>]) -> Result<&[u8], Box<OpError>> {
        match self {
            Self::Bound(template) => template.bind(values),
            Self::Text(text) => text.bind(values),
        }
    }
}

/// Opens a connection and registers it in `sessions`; no statement has been sent yet.
pub(super) fn open_session_connection(
    connections: &MySqlConnections,
    setup: &SessionSetup,
    breaker: &Breaker,
    sessions: &SharedSessionRegistry,
) -> Result<MySqlConnection, TargetError> {
    let connection = connections.guarded(ConnectionPurpose::Session(setup), breaker)?;
    sessions.lock().remember_id(connection.id());
    Ok(connection)
}

/// Opens a connection and prepares every statement on it.
pub(super) fn prepare(
    connections: &MySqlConnections,
    setup: &SessionSetup,
    breaker: &Breaker,
    sessions: &SharedSessionRegistry,
) -> Result<MySqlPreparedSession, TargetError> {
    let mut connection = open_session_connection(connections, setup, breaker, sessions)?;
    connections.settle(&mut connection, ConnectionPurpose::Session(setup))?;
    let is_text = setup.protocol == StatementProtocol::Simple;
    // The result of a statement sent as text defines its columns each time, as for any client.
    let mut typed = !is_text;
    let mut statements = Vec::with_capacity(setup.statements.len());
    let mut columns = Vec::with_capacity(setup.statements.len());
    for statement in setup.statements.iter() {
        let Statement { name, sql, params, .. } = statement;
        let (mut column_defs, mut marks) = (Vec::new(), Vec::new());
        let mark = |body: &[u8]| marks.push(MySqlColumnDef::read(body).unwrap_or_default());
        let prepared = connection
            .prepare_with(sql, mark, |column| column_defs.push(column))
            .map_err(|error| not_prepared(error, setup, name))?;
        if usize::from(prepared.parameters) != params.len() {
            let (marks, types) = (prepared.parameters, params.len());
            let message = format!("statement {name} has {marks} parameter markers, but {types} types");
            return Err(TargetError::new(TargetErrorKind::Unsupported, message));
        }
        columns.push(column_defs);
        typed &= match statement.answer {
            ResultKind::Number => prepared.column.is_some_and(MySqlColumnDef::is_number),
            // The columns may have other types in the next result.
            ResultKind::Columns => false,
            ResultKind::Row | ResultKind::Rows | ResultKind::Changed { .. } => true,
        };
        let message = match is_text {
            false => MySqlStatementMessage::Bound(MySqlRequestTemplate::new(prepared, params)),
            true => {
                // The server has checked the statement; the prepared form is no longer needed.
                connection.forget(prepared)?;
                let text = MySqlTextStatement::new(sql, prepared, &marks, params);
                MySqlStatementMessage::Text(text.ok_or_else(|| unsupported_marks(name))?)
            }
        };
        statements.push((message, prepared.column.unwrap_or_default()));
    }
    let calls = setup.blocks.as_ref().filter(|_| setup.slices).map(|blocks| {
        let schema_calls = MySqlSliceCalls::prepare(&mut connection, blocks, blocks.schema)?;
        let first = blocks
            .uses_hot_schema()
            .then(|| MySqlSliceCalls::prepare(&mut connection, blocks, 1))
            .transpose()?;
        Ok((schema_calls, first))
    });
    let calls = calls.transpose().map_err(|error| not_prepared(error, setup, "of a slice"))?;
    if connection.has_metadata_flag && typed && !connection.is_mariadb() {
        // Column definitions that were sent at preparation need not be repeated with every result. MariaDB
        // omits them by itself for a client that caches them. For the results of a call they are not sent at
        // preparation.
        connection.simple("SET SESSION resultset_metadata = NONE")?;
    }
    Ok(MySqlPreparedSession {
        connection,
        statements,
        is_text,
        columns: MySqlRowReader::new(columns, is_text),
        calls,
    })
}

impl MySqlPreparedSession {
    /// Replaces the connection with `connection`, on which nothing is prepared yet.
    pub(super) fn replace_connection(&mut self, connection: MySqlConnection) {
        self.connection = connection;
        for (message, _) in &mut self.statements {
            if let MySqlStatementMessage::Bound(template) = message {
                template.forget();
            }
        }
    }

    /// Prepares the statement at `index` if it is not prepared on the current connection.
    ///
    /// # Errors
    /// The server returned an error, or the connection was lost.
    #[inline]
    pub(super) fn ensure_prepared(&mut self, index: usize, sql: &str) -> Result<(), MySqlWireError> {
        match self.statements.get_mut(index) {
            Some((MySqlStatementMessage::Bound(template), _)) if !template.is_prepared() => {
                template.prepare(self.connection.prepare(sql)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The error if values cannot be inserted into the text of the statement `name`.
fn unsupported_marks(name: &str) -> TargetError {
    let message = format!(
        "statement {name}: the server reads parameter markers at places where Dyno sees none, for example \
        in a comment that it executes; remove them, or use protocol = \"prepared\""
    );
    TargetError::new(TargetErrorKind::Unsupported, message)
}

/// The error if the statement `name` could not be prepared.
fn not_prepared(error: MySqlWireError, setup: &SessionSetup, name: &str) -> TargetError {
    let error = TargetError::from(error);
    let Some(number) = MySqlError::of(&error).map(|server| server.number) else { return error };
    if setup.read_only && number == READ_ONLY_TRANSACTION {
        return error.during(&format!("statement {name}")).hint(ALLOW_WRITES);
    }
    // A table, column, index or procedure does not exist.
    let is_missing = matches!(number, 1146 | 1054 | 1176 | 1305);
    let error = if setup.blocks.is_some() { error } else { error.during(&format!("statement {name}")) };
    setup.not_prepared(error, is_missing, "SELECT, INSERT, UPDATE, DELETE and EXECUTE on the database")
}
