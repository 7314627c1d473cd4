//! What the client drive writes: updates, inserts and deletes, each with its commit.

use dyno_plan::Commit;
use oracledb::{DB_TYPE_NUMBER, Error, ToDbValue};

use crate::connection::Connection;
use dyno_engine::clock::Clock;
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, TEXT_COLUMNS, UpdateValues};
use dyno_engine::layout::updated_columns;
use dyno_engine::session::{Done, SessionSetup};

/// The new values of one session's writes.
pub(super) struct Changes {
    pub(super) values: UpdateValues,
    /// The columns of one update, one after the other.
    fresh: Vec<u8>,
    /// Those of a whole row.
    row: Vec<u8>,
}

impl Changes {
    pub(super) fn new(setup: &SessionSetup) -> Self {
        let columns = |count: usize| vec![0; count * CLASSIC_COLUMN_BYTES];
        Self {
            values: setup.update_values(CLASSIC_COLUMN_BYTES),
            fresh: columns(updated_columns(setup.redo).count()),
            row: columns(TEXT_COLUMNS),
        }
    }

    /// The new columns of update `number`.
    pub(super) fn update(&mut self, number: u64) -> Vec<&str> {
        self.values.fill_columns(number, &mut self.fresh);
        cut(&self.fresh)
    }

    /// All columns of the row that operation `number` inserts.
    pub(super) fn insert(&mut self, number: u64) -> Vec<&str> {
        self.values.fill_columns(number, &mut self.row);
        cut(&self.row)
    }
}

fn cut(columns: &[u8]) -> Vec<&str> {
    let text = std::str::from_utf8(columns).expect("update values are ASCII");
    (0..text.len()).step_by(CLASSIC_COLUMN_BYTES).map(|at| &text[at..at + CLASSIC_COLUMN_BYTES]).collect()
}

/// Does a statement that changes rows, and commits: in a round trip of its own, or in the statement's own block, whose last
/// bind then takes the number of rows.
pub(super) fn change(
    connection: &Connection,
    commit: Commit,
    clock: &dyn Clock,
    sql: &str,
    mut binds: Vec<&dyn ToDbValue>,
) -> Result<Done, Error> {
    let driver = connection.driver();
    if commit == Commit::Plsql {
        binds.push(&DB_TYPE_NUMBER);
        let mut result = driver.execute(sql, &binds)?;
        return Ok(Done { rows: result.out_bind_data().get(0)?, commit_began_ns: None });
    }
    let rows = driver.execute(sql, &binds)?.rows_affected();
    let commit_began_ns = Some(clock.now_ns());
    driver.commit()?;
    Ok(Done { rows, commit_began_ns })
}
