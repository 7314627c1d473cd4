//! A connection, and what is prepared on it.

use super::columns::Columns;
use super::simple::Text;
use super::slice::Calls;
use super::template::Template;
use super::{READ_ONLY_TRANSACTION, settings_sql};
use crate::connect::ConnectConfig;
use crate::own::{Sessions, open_books};
use crate::wire::{Column, Connection, MyError, WireError};
use dyno_engine::error::ALLOW_WRITES;
use dyno_engine::net::Breaker;
use dyno_engine::{
    Answer, OpError, Refusal as _, SessionSetup, Statement, TargetError, TargetErrorKind, Value,
};
use dyno_plan::Protocol;

/// A connection, and what is prepared on it.
pub(super) struct Ready {
    pub(super) connection: Connection,
    /// By [`StatementId`](dyno_engine::StatementId), with what the first column of its answer is.
    pub(super) statements: Vec<(Message, Column)>,
    /// Whether rows of their answers come with their values written out.
    pub(super) is_text: bool,
    /// The columns of the last row, of statements whose columns are read.
    pub(super) columns: Columns,
    /// Loops on the own schema and, where operations go there too, on schema 1.
    pub(super) calls: Option<(Calls, Option<Calls>)>,
}

/// What brings one statement.
#[derive(Debug)]
pub(super) enum Message {
    /// The execution of what is prepared.
    Bound(Template),
    /// Its text.
    Text(Text),
}

impl Message {
    /// The packet with these values.
    ///
    /// # Errors
    /// What is wrong with the values.
    #[inline]
    pub(super) fn bind(&mut self, values: &[Value<'_>]) -> Result<&[u8], Box<OpError>> {
        match self {
            Self::Bound(template) => template.bind(values),
            Self::Text(text) => text.bind(values),
        }
    }
}

/// A connection on which nothing was asked yet, known to `sessions` as one of theirs.
pub(super) fn connected(
    config: &ConnectConfig,
    setup: &SessionSetup,
    breaker: &Breaker,
    sessions: &Sessions,
) -> Result<Connection, TargetError> {
    let connection = Connection::open_guarded(config, &format!("dyno session {}", setup.number), breaker)?;
    open_books(sessions).met(connection.id());
    Ok(connection)
}

/// A connection on which everything is prepared.
pub(super) fn prepare(
    config: &ConnectConfig,
    setup: &SessionSetup,
    breaker: &Breaker,
    sessions: &Sessions,
) -> Result<Ready, TargetError> {
    let mut connection = connected(config, setup, breaker, sessions)?;
    connection.simple(&settings_sql(&connection, setup))?;
    let is_text = setup.protocol == Protocol::Simple;
    // What a text brings defines its columns each time, as for any client.
    let mut typed = !is_text;
    let mut statements = Vec::with_capacity(setup.statements.len());
    let mut columns = Vec::with_capacity(setup.statements.len());
    for statement in setup.statements.iter() {
        let Statement { name, sql, params, .. } = statement;
        let (mut own, mut marks) = (Vec::new(), Vec::new());
        let mark = |body: &[u8]| marks.push(Column::read(body).unwrap_or_default());
        let prepared = connection
            .prepare_with(sql, mark, |column| own.push(column))
            .map_err(|error| not_prepared(error, setup, name))?;
        if usize::from(prepared.parameters) != params.len() {
            let (marks, types) = (prepared.parameters, params.len());
            let message = format!("statement {name} has {marks} marks of parameters, and {types} types");
            return Err(TargetError::new(TargetErrorKind::Unsupported, message));
        }
        columns.push(own);
        typed &= match statement.answer {
            Answer::Number => prepared.column.is_some_and(Column::is_number),
            // They may be others with values of other types.
            Answer::Columns => false,
            Answer::Row | Answer::Rows | Answer::Changed { .. } => true,
        };
        let message = match is_text {
            false => Message::Bound(Template::new(prepared, params)),
            true => {
                // The server has looked at it, and that was all.
                connection.forget(prepared)?;
                let text = Text::new(sql, prepared, &marks, params);
                Message::Text(text.ok_or_else(|| not_written(name))?)
            }
        };
        statements.push((message, prepared.column.unwrap_or_default()));
    }
    let calls = setup.blocks.as_ref().filter(|_| setup.slices).map(|blocks| {
        let own = Calls::prepare(&mut connection, blocks, blocks.schema)?;
        let first = blocks.also_first().then(|| Calls::prepare(&mut connection, blocks, 1)).transpose()?;
        Ok((own, first))
    });
    let calls = calls.transpose().map_err(|error| not_prepared(error, setup, "of a slice"))?;
    if connection.marked && typed && !connection.is_mariadb() {
        // Definitions of columns, told at the preparation, need not be told with every answer. MariaDB leaves them out by
        // itself where a client keeps them. Of a call's results they are not told at the preparation.
        connection.simple("SET SESSION resultset_metadata = NONE")?;
    }
    Ok(Ready { connection, statements, is_text, columns: Columns::new(columns, is_text), calls })
}

impl Ready {
    /// Takes `connection` in the place of the one that was: nothing is prepared on it yet.
    pub(super) fn renew(&mut self, connection: Connection) {
        self.connection = connection;
        for (message, _) in &mut self.statements {
            if let Message::Bound(template) = message {
                template.forget();
            }
        }
    }

    /// Prepares the statement at `index`, which was prepared on another connection, where it is not on this one.
    ///
    /// # Errors
    /// The server refuses, or the connection is lost.
    #[inline]
    pub(super) fn prepared(&mut self, index: usize, sql: &str) -> Result<(), WireError> {
        match self.statements.get_mut(index) {
            Some((Message::Bound(template), _)) if !template.is_prepared() => {
                template.prepare(self.connection.prepare(sql)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Why the values of the statement `name` cannot be written into it.
fn not_written(name: &str) -> TargetError {
    let message = format!(
        "statement {name}: the server sees marks of parameters where none are to be seen, as in a comment that it executes;          take them out, or use protocol = \"prepared\""
    );
    TargetError::new(TargetErrorKind::Unsupported, message)
}

/// Why the statement `name` could not be prepared.
fn not_prepared(error: WireError, setup: &SessionSetup, name: &str) -> TargetError {
    let error = TargetError::from(error);
    let Some(number) = MyError::of(&error).map(|server| server.number) else { return error };
    if setup.read_only && number == READ_ONLY_TRANSACTION {
        return error.during(&format!("statement {name}")).hint(ALLOW_WRITES);
    }
    // No such table, column, index or procedure.
    let is_missing = matches!(number, 1146 | 1054 | 1176 | 1305);
    let error = if setup.blocks.is_some() { error } else { error.during(&format!("statement {name}")) };
    setup.not_prepared(error, is_missing, "SELECT, INSERT, UPDATE, DELETE and EXECUTE on the database")
}
