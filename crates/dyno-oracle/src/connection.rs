//! One connection to the database for everything outside the hot path: statements with named binds, rows as
//! text.

use std::cell::Cell;
use std::sync::Arc;

use oracledb::{OracleNumber, ToDbValue};

use super::connect::{OracleConnectConfig, dial};
use super::driver_panics::catch_driver_panic;
use super::error::{OracleError, to_target_error};
use super::socket::{MARK_BYTES, find};
use super::sql;
use dyno_engine::net::Breaker;
use dyno_engine::net::sockopt::Keepalive;
pub(super) use dyno_engine::row::TextRow;
use dyno_engine::{Refusal as _, TargetError};

/// A value of a bind, by the bind's name.
pub(super) type Bind<'a> = (&'a str, &'a dyn ToDbValue);

/// The most rows that one fetch returns if many are expected.
const FETCH_ROWS: u32 = 1_000;

/// A connection with its driver handle and breaker.
pub(super) struct OracleConnection {
    /// `None` only while this value is dropped.
    driver: Option<oracledb::Connection>,
    /// Whether the driver has panicked: it is then never called again, not even to end the connection.
    has_panicked: Cell<bool>,
}

impl OracleConnection {
    /// Opens a connection, shown in V$SESSION with module `dyno` and this action.
    pub(super) fn open(config: &OracleConnectConfig, action: &str) -> Result<Self, TargetError> {
        let connection = Self { driver: Some(dial(config, action)?), has_panicked: Cell::new(false) };
        connection.run(&sql::SESSION_FORMATS.text(), &[])?;
        Ok(connection)
    }

    /// Like [`Self::open`]; `breaker` can interrupt the connection's calls.
    pub(super) fn open_guarded(
        config: &OracleConnectConfig,
        action: &str,
        breaker: &Arc<Breaker>,
    ) -> Result<Self, TargetError> {
        let breaks = breaker.breaks();
        let connection = Self::open(config, action)?;
        let long_text = " ".repeat(MARK_BYTES);
        let mark = || connection.run(&sql::MARK_SOCKET.text(), &[("long_text", &long_text.as_str())]).is_ok();
        let limit = |limit| connection.call(|driver| driver.set_call_timeout(limit));
        // Other threads wait for this search, so a hanging database must not block it for ever.
        limit(Some(config.connect_timeout))?;
        let socket = find(mark);
        limit(config.call_timeout)?;
        // If the socket cannot be identified, calls cannot be interrupted. They end by themselves or by the
        // URL's call-timeout.
        if let Some(socket) = socket {
            // Without keepalive probes a firewall may drop an idle connection. A socket that rejects the
            // option still works.
            let _ = socket.keep_alive(Keepalive::FREQUENT);
            breaker.guard(&socket, breaks).map_err(|error| TargetError::unreachable(error.to_string()))?;
        }
        Ok(connection)
    }

    /// The driver's connection, for the hot path, which wraps its calls in [`caught`] itself.
    pub(super) fn driver(&self) -> &oracledb::Connection {
        self.driver.as_ref().expect("it is there as long as this is")
    }

    /// Records that the driver has panicked.
    pub(super) fn mark_panicked(&self) {
        self.has_panicked.set(true);
    }

    /// Calls the driver and converts its errors and panics.
    fn call<T>(
        &self,
        call: impl FnOnce(&oracledb::Connection) -> Result<T, oracledb::Error>,
    ) -> Result<T, TargetError> {
        if self.has_panicked.get() {
            let message = "the driver has panicked on this connection before";
            return Err(TargetError::database(message));
        }
        match catch_driver_panic(|| call(self.driver())) {
            Ok(outcome) => outcome.map_err(|error| to_target_error(&error)),
            Err(reason) => {
                self.mark_panicked();
                Err(TargetError::database(reason))
            }
        }
    }

    /// The database's version: (19, 21) for 19.21.
    pub(super) fn version(&self) -> (usize, usize) {
        self.driver().version().map_or((0, 0), |version| (version.0, version.1))
    }

    /// The session id and serial number of this session in `V$SESSION`; `None` if the driver has panicked.
    pub(super) fn session_key(&self) -> Option<(usize, usize)> {
        self.call(|driver| Ok((driver.session_id()?, driver.serial_num()?))).ok()
    }

    /// The name of the instance that serves the connection, which the server sent at log-on; `None` without a
    /// connection.
    pub(super) fn instance(&self) -> Option<String> {
        self.driver.as_ref()?;
        let name = self.call(|driver| Ok(driver.instance_name()?.trim().to_owned())).ok()?;
        Some(name).filter(|name| !name.is_empty())
    }

    /// Returns the rows of a query.
    pub(super) fn rows(&self, sql: &str, binds: &[Bind<'_>]) -> Result<Vec<TextRow>, TargetError> {
        let mut rows = Vec::new();
        self.each(sql, binds, &mut |row| rows.push(row))?;
        Ok(rows)
    }

    /// Calls `visit` for every row of a query without storing the rows.
    pub(super) fn each(
        &self,
        sql: &str,
        binds: &[Bind<'_>],
        visit: &mut dyn FnMut(TextRow),
    ) -> Result<(), TargetError> {
        self.call(|driver| {
            let builder = driver.statement(sql)?;
            let statement = builder.prefetch_rows(FETCH_ROWS).fetch_array_size(FETCH_ROWS).build()?;
            for row in statement.query_named(binds)? {
                visit(read(&row?));
            }
            Ok(())
        })
    }

    /// The rows of a query, or the database's error if a privilege, the view, or a column of this version is
    /// missing.
    pub(super) fn rows_or_refusal(
        &self,
        sql: &str,
        binds: &[Bind<'_>],
    ) -> Result<Result<Vec<TextRow>, OracleError>, TargetError> {
        match self.rows(sql, binds) {
            Ok(rows) => Ok(Ok(rows)),
            Err(error) if is_lost(&error) => Err(error),
            Err(error) => match OracleError::of(&error).cloned() {
                Some(refusal) => Ok(Err(refusal)),
                None => Err(error),
            },
        }
    }

    /// The rows of a query, or `None` if the database rejects it for such a reason.
    pub(super) fn rows_if_allowed(
        &self,
        sql: &str,
        binds: &[Bind<'_>],
    ) -> Result<Option<Vec<TextRow>>, TargetError> {
        Ok(self.rows_or_refusal(sql, binds)?.ok())
    }

    /// Executes a statement or a block; returns the number of changed rows.
    pub(super) fn run(&self, sql: &str, binds: &[Bind<'_>]) -> Result<u64, TargetError> {
        let (rows, warning) = self.call(|driver| {
            let rows = driver.execute_named(sql, binds)?.rows_affected();
            Ok((rows, driver.last_warning()?))
        })?;
        if warning.is_some()
            && let Some(name) = created_name(sql)
        {
            return Err(self.compilation_errors(&name));
        }
        Ok(rows)
    }

    /// The compiler's errors for the object `name`, which was created but is invalid.
    #[cold]
    fn compilation_errors(&self, name: &str) -> TargetError {
        let rows = self.rows_or_refusal(&sql::COMPILATION_ERRORS.text(), &[("name", &name)]);
        let line = |row: &TextRow| {
            let column = |index| row.get(index).unwrap_or("?").to_owned();
            format!("line {}, column {}: {}", column(0), column(1), column(2).trim())
        };
        let lines = match rows {
            Ok(Ok(rows)) => rows.iter().map(line).collect::<Vec<_>>().join("; "),
            Ok(Err(refusal)) => refusal.to_string(),
            Err(error) => error.message,
        };
        let lines = if lines.is_empty() { "USER_ERRORS has no row".to_owned() } else { lines };
        TargetError::database(format!("{name} was created with compilation errors: {lines}"))
            .hint("correct its text, and check that this user has privileges on the objects in it")
    }

    /// Executes a block and returns the number in its OUT bind `out`.
    pub(super) fn number(&self, sql: &str, binds: &[Bind<'_>], out: &str) -> Result<i64, TargetError> {
        let number: &dyn ToDbValue = &oracledb::DB_TYPE_NUMBER;
        let binds: Vec<Bind<'_>> = binds.iter().copied().chain([(out, number)]).collect();
        self.call(|driver| driver.execute_named(sql, &binds)?.out_bind_data().get(0))
    }

    /// Executes a statement once per row of positional binds; returns the number of changed rows.
    pub(super) fn batch(&self, sql: &str, rows: &[&[&dyn ToDbValue]]) -> Result<u64, TargetError> {
        self.call(|driver| Ok(driver.execute_batch(sql, rows)?.rows_affected()))
    }

    /// Sets `words` as this session's client info, which other sessions can read.
    pub(super) fn set_client_info(&self, words: &str) -> Result<(), TargetError> {
        // The client info is sent with the next call.
        self.call(|driver| driver.set_client_info(words).and_then(|()| driver.ping()))
    }

    /// Commits the session's transaction.
    pub(super) fn commit(&self) -> Result<(), TargetError> {
        self.call(oracledb::Connection::commit)
    }

    /// Rolls back what was not committed.
    pub(super) fn rollback(&self) {
        // Even if this does not arrive, the database discards what was not committed.
        let _ = self.call(oracledb::Connection::rollback);
    }

    /// Ends the connection with the protocol's log-off.
    pub(super) fn close(self) {
        drop(self);
    }

    /// Like [`Self::close`], for a connection that will be replaced; nothing more is sent on it.
    pub(super) fn end(&mut self) {
        let Some(mut driver) = self.driver.take() else { return };
        // A lost connection needs no log-off. A driver that has panicked must not be called again.
        let is_closed = !self.has_panicked.get() && catch_driver_panic(|| driver.close()).is_ok();
        if !is_closed {
            std::mem::forget(driver);
        }
    }
}

impl Drop for OracleConnection {
    fn drop(&mut self) {
        self.end();
    }
}

fn is_lost(error: &TargetError) -> bool {
    error.kind == dyno_engine::TargetErrorKind::Unreachable
}

/// The object name in a CREATE statement, as in the catalog; `None` for other statements.
fn created_name(sql: &str) -> Option<String> {
    let mut words = sql.split_whitespace();
    if !words.next()?.eq_ignore_ascii_case("create") {
        return None;
    }
    let kinds = ["procedure", "function", "package", "trigger", "view", "type", "body"];
    let is_kind = |word: &str| kinds.iter().any(|kind| word.eq_ignore_ascii_case(kind));
    let mut words = words.skip_while(|word| !is_kind(word)).skip_while(|word| is_kind(word));
    let name = words.next()?.split('(').next()?;
    let name = name.rsplit('.').next()?;
    Some(match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => quoted.to_owned(),
        None => name.to_uppercase(),
    })
}

/// One row as text; NULL and the empty text, which Oracle does not distinguish, are `None`.
fn read(row: &oracledb::Row) -> TextRow {
    let number = |index| Some(row.get::<Option<OracleNumber>>(index).ok()?.map(|number| number.to_string()));
    let cell = |index| row.get::<Option<String>>(index).ok().or_else(|| number(index)).flatten();
    TextRow((0..row.columns().len()).map(cell).collect())
}
