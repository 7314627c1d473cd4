//! The statements of a session, prepared once.

use rusqlite::{Connection, ffi};

use crate::fault::Fault;
use crate::raw::Statement as Raw;
use dyno_engine::statement::{misfit, unknown};
use dyno_engine::{Commits, Done, LastRow, OpError, Statement, StatementId, Value};

/// Every statement that a session runs.
pub(super) struct Statements {
    /// Each with what it is prepared as, when it is.
    own: Vec<(Option<Raw>, Statement)>,
    /// Whether some write.
    pub(super) writes: bool,
    begin: Raw,
    commit: Raw,
    rollback: Raw,
    /// The columns that were read last.
    pub(super) row: LastRow,
}

impl Statements {
    /// Prepares `statements`. Where there are some that write, transactions take the lock for it when they begin: one that
    /// has read before it writes could not wait for others without holding them up.
    pub(super) fn prepare(conn: &Connection, statements: &[Statement]) -> Result<Self, Box<Fault>> {
        let own: Vec<(Option<Raw>, Statement)> = statements
            .iter()
            .map(|statement| Ok((Some(prepare(conn, statement)?), statement.clone())))
            .collect::<Result<_, Box<Fault>>>()?;
        let writes = own.iter().flat_map(|(raw, _)| raw).any(|raw| !raw.is_readonly());
        Self::with(conn, own, writes)
    }

    /// The same, where each is prepared at its first use; `writes` is whether some write.
    pub(super) fn at_first_use(
        conn: &Connection,
        statements: &[Statement],
        writes: bool,
    ) -> Result<Self, Box<Fault>> {
        Self::with(conn, statements.iter().map(|statement| (None, statement.clone())).collect(), writes)
    }

    fn with(conn: &Connection, own: Vec<(Option<Raw>, Statement)>, writes: bool) -> Result<Self, Box<Fault>> {
        Ok(Self {
            writes,
            own,
            begin: Raw::prepare(conn, if writes { "BEGIN IMMEDIATE" } else { "BEGIN" })?,
            commit: Raw::prepare(conn, "COMMIT")?,
            rollback: Raw::prepare(conn, "ROLLBACK")?,
            row: LastRow::default(),
        })
    }

    /// Runs a statement with `values`. What commits does so in a transaction of its own, unless one has begun; `now_ns` tells
    /// when the commit begins.
    #[inline]
    pub(super) fn execute(
        &mut self,
        conn: &Connection,
        id: StatementId,
        values: &[Value<'_>],
        now_ns: impl FnOnce() -> u64,
    ) -> Result<Done, Box<OpError>> {
        let Self { own, begin, commit, row, .. } = self;
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
        // The values are there before the lock is taken: others wait for it.
        raw.bind(values).map_err(|fault| fault.into_op())?;
        if *commits == Commits::Nothing || !conn.is_autocommit() {
            let rows = raw.answer(*answer, row).map_err(|fault| fault.into_op())?;
            return Ok(Done { rows, commit_began_ns: None });
        }
        begin.step().map_err(|fault| fault.into_op())?;
        let changed = raw.answer(*answer, row);
        let commit_began_ns = now_ns();
        let committed = changed.and_then(|rows| commit.step().map(|()| rows));
        match committed {
            Ok(rows) => Ok(Done { rows, commit_began_ns: Some(commit_began_ns) }),
            Err(fault) => {
                // A second failure would hide the first.
                let _ = self.rollback(conn);
                Err(fault.into_op())
            }
        }
    }

    /// Begins a transaction.
    pub(super) fn begin(&mut self) -> Result<(), Box<Fault>> {
        self.begin.step()
    }

    /// Commits it.
    pub(super) fn commit(&mut self) -> Result<(), Box<Fault>> {
        self.commit.step()
    }

    /// Takes it back, if SQLite has not done so by itself.
    pub(super) fn rollback(&mut self, conn: &Connection) -> Result<(), Box<Fault>> {
        if conn.is_autocommit() { Ok(()) } else { self.rollback.step() }
    }

    /// Runs of all statements since this was last asked.
    pub(super) fn take_runs(&mut self) -> u64 {
        let Self { own, begin, commit, rollback, .. } = self;
        let own = own.iter_mut().filter_map(|(raw, _)| raw.as_mut());
        own.chain([begin, commit, rollback]).map(Raw::take_runs).sum()
    }
}

/// Prepares a statement with as many parameters as it has types: one that is left out would be NULL without a word.
fn prepare(conn: &Connection, Statement { name, sql, params, .. }: &Statement) -> Result<Raw, Box<Fault>> {
    let raw = Raw::prepare(conn, sql)?;
    let (marks, types) = (raw.parameters(), params.len());
    if marks == types {
        return Ok(raw);
    }
    let message = format!("statement {name} has {marks} marks of parameters, and {types} types");
    Err(Box::new(Fault { code: ffi::SQLITE_RANGE, message }))
}
