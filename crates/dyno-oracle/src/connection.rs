//! One connection to the database for everything but the hot path: statements with named binds, rows as text.

use std::cell::Cell;
use std::sync::Arc;

use oracledb::{OracleNumber, ToDbValue};

use super::connect::{ConnectConfig, dial};
use super::error::{OraError, target};
use super::shelter::caught;
use super::socket::{MARK_BYTES, find};
use super::sql;
use dyno_engine::net::Breaker;
use dyno_engine::net::sockopt::Keepalive;
pub(super) use dyno_engine::row::Row;
use dyno_engine::{Refusal as _, TargetError};

/// A value of a bind, by the bind's name.
pub(super) type Bind<'a> = (&'a str, &'a dyn ToDbValue);

/// Rows that one answer brings at most, where many are expected.
const FETCH_ROWS: u32 = 1_000;

/// One connection.
pub(super) struct Connection {
    /// Taken only when this is dropped.
    driver: Option<oracledb::Connection>,
    /// Whether the driver has panicked: it is then asked nothing more, not even to end.
    spoilt: Cell<bool>,
}

impl Connection {
    /// Opens one, seen in V$SESSION as module `dyno` with this action.
    pub(super) fn open(config: &ConnectConfig, action: &str) -> Result<Self, TargetError> {
        let connection = Self { driver: Some(dial(config, action)?), spoilt: Cell::new(false) };
        connection.run(&sql::SESSION_FORMATS.text(), &[])?;
        Ok(connection)
    }

    /// The same, and `breaker` can break off what it does.
    pub(super) fn open_guarded(
        config: &ConnectConfig,
        action: &str,
        breaker: &Arc<Breaker>,
    ) -> Result<Self, TargetError> {
        let breaks = breaker.breaks();
        let connection = Self::open(config, action)?;
        let long_text = " ".repeat(MARK_BYTES);
        let mark = || connection.run(&sql::MARK_SOCKET.text(), &[("long_text", &long_text.as_str())]).is_ok();
        let limit = |limit| connection.call(|driver| driver.set_call_timeout(limit));
        // Others wait their turn meanwhile, so a database that hangs here must not hold it for ever.
        limit(Some(config.connect_timeout))?;
        let socket = find(mark);
        limit(config.call_timeout)?;
        // Where the socket cannot be told, calls cannot be broken off; they end by themselves or by the URL's call-timeout.
        if let Some(socket) = socket {
            // Without probes something on the way may end a connection that rests. One that takes none works on.
            let _ = socket.keep_alive(Keepalive::FREQUENT);
            breaker.guard(&socket, breaks).map_err(|error| TargetError::unreachable(error.to_string()))?;
        }
        Ok(connection)
    }

    /// The driver's own, for the hot path, whose calls are in [`caught`] of their own.
    pub(super) fn driver(&self) -> &oracledb::Connection {
        self.driver.as_ref().expect("it is there as long as this is")
    }

    /// The driver has panicked.
    pub(super) fn spoil(&self) {
        self.spoilt.set(true);
    }

    /// Calls the driver.
    fn call<T>(
        &self,
        call: impl FnOnce(&oracledb::Connection) -> Result<T, oracledb::Error>,
    ) -> Result<T, TargetError> {
        if self.spoilt.get() {
            let message = "the driver has panicked on this connection before";
            return Err(TargetError::database(message));
        }
        match caught(|| call(self.driver())) {
            Ok(outcome) => outcome.map_err(|error| target(&error)),
            Err(reason) => {
                self.spoil();
                Err(TargetError::database(reason))
            }
        }
    }

    /// The version: (19, 21) for 19.21.
    pub(super) fn version(&self) -> (usize, usize) {
        self.driver().version().map_or((0, 0), |version| (version.0, version.1))
    }

    /// The numbers by which `V$SESSION` knows this session: its own and its serial number. `None` if the driver has panicked.
    pub(super) fn session_key(&self) -> Option<(usize, usize)> {
        self.call(|driver| Ok((driver.session_id()?, driver.serial_num()?))).ok()
    }

    /// The rows of a query.
    pub(super) fn rows(&self, sql: &str, binds: &[Bind<'_>]) -> Result<Vec<Row>, TargetError> {
        let mut rows = Vec::new();
        self.each(sql, binds, &mut |row| rows.push(row))?;
        Ok(rows)
    }

    /// Tells `visit` of every row of a query, without keeping them.
    pub(super) fn each(
        &self,
        sql: &str,
        binds: &[Bind<'_>],
        visit: &mut dyn FnMut(Row),
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

    /// The rows of a query, or the refusal where the database refuses it: no right, no such view, or a view that lacks a column in
    /// this version.
    pub(super) fn rows_or_refusal(
        &self,
        sql: &str,
        binds: &[Bind<'_>],
    ) -> Result<Result<Vec<Row>, OraError>, TargetError> {
        match self.rows(sql, binds) {
            Ok(rows) => Ok(Ok(rows)),
            Err(error) if is_lost(&error) => Err(error),
            Err(error) => match OraError::of(&error).cloned() {
                Some(refusal) => Ok(Err(refusal)),
                None => Err(error),
            },
        }
    }

    /// The rows of a query, or `None` where the database refuses it.
    pub(super) fn rows_if_allowed(
        &self,
        sql: &str,
        binds: &[Bind<'_>],
    ) -> Result<Option<Vec<Row>>, TargetError> {
        Ok(self.rows_or_refusal(sql, binds)?.ok())
    }

    /// Runs a statement or a block; how many rows it changed.
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

    /// What the compiler says of the object `name`, which was created and cannot be used.
    #[cold]
    fn compilation_errors(&self, name: &str) -> TargetError {
        let rows = self.rows_or_refusal(&sql::COMPILATION_ERRORS.text(), &[("name", &name)]);
        let line = |row: &Row| {
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
            .hint("correct its text, and check that this user may use the objects in it")
    }

    /// Runs a block whose OUT bind `out` is a number, and returns that.
    pub(super) fn number(&self, sql: &str, binds: &[Bind<'_>], out: &str) -> Result<i64, TargetError> {
        let number: &dyn ToDbValue = &oracledb::DB_TYPE_NUMBER;
        let binds: Vec<Bind<'_>> = binds.iter().copied().chain([(out, number)]).collect();
        self.call(|driver| driver.execute_named(sql, &binds)?.out_bind_data().get(0))
    }

    /// Runs a statement once for each row of positional binds; how many rows it changed.
    pub(super) fn batch(&self, sql: &str, rows: &[&[&dyn ToDbValue]]) -> Result<u64, TargetError> {
        self.call(|driver| Ok(driver.execute_batch(sql, rows)?.rows_affected()))
    }

    /// Tells others `words` about this session.
    pub(super) fn introduce(&self, words: &str) -> Result<(), TargetError> {
        // They travel with the next call.
        self.call(|driver| driver.set_client_info(words).and_then(|()| driver.ping()))
    }

    /// Commits.
    pub(super) fn commit(&self) -> Result<(), TargetError> {
        self.call(oracledb::Connection::commit)
    }

    /// Takes back what was not committed.
    pub(super) fn rollback(&self) {
        // Whether or not this arrives, what is not committed is gone.
        let _ = self.call(oracledb::Connection::rollback);
    }

    /// Ends it in the protocol's own way.
    pub(super) fn close(self) {
        drop(self);
    }

    /// The same, where another one takes its place: nothing is asked of it afterwards.
    pub(super) fn end(&mut self) {
        let Some(mut driver) = self.driver.take() else { return };
        // A connection that is gone needs no ending; one on which the driver has panicked would ask it once more.
        let ended = !self.spoilt.get() && caught(|| driver.close()).is_ok();
        if !ended {
            std::mem::forget(driver);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end();
    }
}

fn is_lost(error: &TargetError) -> bool {
    error.kind == dyno_engine::TargetErrorKind::Unreachable
}

/// The name that a CREATE statement gives, as the catalog has it; `None` of other statements.
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

/// One row as text; NULL, which an empty text is too, is `None`.
fn read(row: &oracledb::Row) -> Row {
    let number = |index| Some(row.get::<Option<OracleNumber>>(index).ok()?.map(|number| number.to_string()));
    let cell = |index| row.get::<Option<String>>(index).ok().or_else(|| number(index)).flatten();
    Row((0..row.columns().len()).map(cell).collect())
}
