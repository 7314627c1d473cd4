//! The statements of a session, prepared once.

use rusqlite::{Connection, ffi};

use crate::fault::SqliteError;
use crate::raw::SqlitePreparedStatement as Raw;
use dyno_engine::statement::{misfit, unknown};
use dyno_engine::{Commits, LastRow, OpError, RequestCompletion, Statement, StatementId, Value};

/// Every statement that a session executes.
pub(super) struct SqliteSessionStatements {
    /// Each statement with its prepared form, which is absent until it is prepared.
    prepared: Vec<(Option<Raw>, Statement)>,
    /// Whether any statement of the session writes.
    pub(super) writes: bool,
    begin: Raw,
    commit: Raw,
    rollback: Raw,
    /// The columns of the last result.
    pub(super) row: LastRow,
}

impl SqliteSessionStatements {
    /// Prepares `statements`. If some of them write, transactions take the write lock when they begin: a
    /// transaction that has read before it writes could not wait for others without blocking them.
    pub(super) fn prepare(conn: &Connection, statements: &[Statement]) -> Result<Self, Box<SqliteError>> {
        let prepared: Vec<(Option<Raw>, Statement)> = statements
            .iter()
            .map(|statement| Ok((Some(prepare(conn, statement)?), statement.clone())))
            .collect::<Result<_, Box<SqliteError>>>()?;
        let writes = prepared.iter().flat_map(|(raw, _)| raw).any(|raw| !raw.is_readonly());
        Self::with(conn, prepared, writes)
    }

    /// Like [`Self::prepare`], but prepares each statement at its first use; `writes` states whether some
    /// write.
    pub(super) fn at_first_use(
        conn: &Connection,
        statements: &[Statement],
        writes: bool,
    ) -> Result<Self, Box<SqliteError>> {
        Self::with(conn, statements.iter().map(|statement| (None, statement.clone())).collect(), writes)
    }

    fn with(
        conn: &Connection,
        prepared: Vec<(Option<Raw>, Statement)>,
        writes: bool,
    ) -> Result<Self, Box<SqliteError>> {
        Ok(Self {
            writes,
            prepared,
            begin: Raw::prepare(conn, if writes { "BEGIN IMMEDIATE" } else { "BEGIN" })?,
            commit: Raw::prepare(conn, "COMMIT")?,
            rollback: Raw::prepare(conn, "ROLLBACK")?,
            row: LastRow::default(),
        })
    }

    /// Executes a statement with `values`. A statement that commits does so in its own transaction, unless
    /// one is open; `now_ns` returns the time at which the commit begins.
    #[inline]
    pub(super) fn execute(
        &mut self,
        conn: &Connection,
        id: StatementId,
        values: &[Value<'_>],
        now_ns: impl FnOnce() -> u64,
    ) -> Result<RequestCompletion, Box<OpError>> {
        let Self { prepared: own, begin, commit, row, .. } = self;
        let Some((raw, statement)) = own.get_mut(id.index()) else { return Err(unknown(id)) };
        let statement = &*statement;
        let Statement { params, answer, commits, .. } = statement;
        if values.len() != params.len() || !values.iter().zip(params).all(|(value, &of)| value.fits(of)) {
            return Err(misfit(params, values));
        }
        let raw = match raw {
            Some(raw) => raw,
            None => raw.insert(prepare(conn, statement).map_err(|fault| fault.into_op())?),
        };
        // The values are bound before the lock is taken, because others wait for it.
        raw.bind(values).map_err(|fault| fault.into_op())?;
        if *commits == Commits::Nothing || !conn.is_autocommit() {
            let rows = raw.answer(*answer, row).map_err(|fault| fault.into_op())?;
            return Ok(RequestCompletion { rows, commit_began_ns: None });
        }
        begin.step().map_err(|fault| fault.into_op())?;
        let changed = raw.answer(*answer, row);
        let commit_began_ns = now_ns();
        let committed = changed.and_then(|rows| commit.step().map(|()| rows));
        match committed {
            Ok(rows) => Ok(RequestCompletion { rows, commit_began_ns: Some(commit_began_ns) }),
            Err(fault) => {
                // A second error would hide the first.
                let _ = self.rollback(conn);
                Err(fault.into_op())
            }
        }
    }

    /// Begins a transaction on the connection.
    pub(super) fn begin(&mut self) -> Result<(), Box<SqliteError>> {
        self.begin.step()
    }

    /// Commits the open transaction of the connection.
    pub(super) fn commit(&mut self) -> Result<(), Box<SqliteError>> {
        self.commit.step()
    }

    /// Rolls back the transaction unless SQLite has already done so.
    pub(super) fn rollback(&mut self, conn: &Connection) -> Result<(), Box<SqliteError>> {
        if conn.is_autocommit() { Ok(()) } else { self.rollback.step() }
    }

    /// Executions of all statements since the last call.
    pub(super) fn take_runs(&mut self) -> u64 {
        let Self { prepared, begin, commit, rollback, .. } = self;
        let raw_statements = prepared.iter_mut().filter_map(|(raw, _)| raw.as_mut());
        raw_statements.chain([begin, commit, rollback]).map(Raw::take_runs).sum()
    }
}

/// Prepares a statement and checks that it has as many parameters as types: a missing value would silently be
/// NULL.
fn prepare(
    conn: &Connection,
    Statement { name, sql, params, .. }: &Statement,
) -> Result<Raw, Box<SqliteError>> {
    let raw = Raw::prepare(conn, sql)?;
    let (marks, types) = (raw.parameters(), params.len());
    if marks == types {
        return Ok(raw);
    }
    let message = format!("statement {name} has {marks} parameter markers, but {types} types");
    Err(Box::new(SqliteError { code: ffi::SQLITE_RANGE, message }))
}
