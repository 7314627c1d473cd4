//! Records what must not change during a run: settings, and when the test tables and their dependent objects
//! were last altered.

use dyno_record::{SETTINGS, SHAPE, Snapshot};

use super::super::connection::{OracleConnection, TextRow};
use super::super::identity::shaping_of;
use super::super::sql;
use dyno_engine::TargetError;

/// Fills settings and definitions; records what this user may not read.
pub(super) fn fill(connection: &OracleConnection, snapshot: &mut Snapshot) -> Result<(), TargetError> {
    match connection.rows_if_allowed(&sql::SETTINGS.text(), &[])? {
        Some(rows) => snapshot.settings = shaping_of(&rows),
        None => {
            let reason = "V$PARAMETER cannot be read: GRANT SELECT ON SYS.V_$PARAMETER".to_owned();
            snapshot.unread.insert(SETTINGS.to_owned(), reason);
        }
    }
    match connection.rows_if_allowed(&sql::COUNTERS_SHAPE.text(), &[])? {
        Some(rows) => rows.iter().for_each(|row| note(snapshot, row)),
        None => {
            snapshot.unread.insert(SHAPE.to_owned(), "USER_OBJECTS cannot be read".to_owned());
        }
    }
    Ok(())
}

/// Stores a row of type, name, the segment's number and the time of the last DDL.
fn note(snapshot: &mut Snapshot, row: &TextRow) {
    let (Some(kind), Some(name)) = (row.get(0), row.get(1)) else { return };
    let mark = format!("{} {}", row.get(2).unwrap_or("-"), row.get(3).unwrap_or("-"));
    snapshot.shape.insert(format!("{} {name}", kind.to_lowercase()), mark);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_objects_are_identified_by_id_and_ddl_time() {
        let mut snapshot = Snapshot::default();
        let cells = ["INDEX", "MINE", "7001", "2026-03-21 14:25:01"].map(|cell| Some(cell.to_owned()));
        note(&mut snapshot, &TextRow(cells.to_vec()));
        assert_eq!(snapshot.shape["index MINE"], "7001 2026-03-21 14:25:01");
    }
}
