//! Checks that data can be loaded, recognized, counted and removed.

use std::collections::BTreeSet;

use dyno_engine::advice::advice;
use dyno_engine::{BlockOp, Cancel, DataState, LoadOptions, LoadReport, Silent, Target, TargetError};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_record::{Advice, Severity};

use super::{AcknowledgedWork, OPS, ROWS, failed, failed_check, passed, session};

/// Number of rounds of inserts and deletes that show where new rows are placed.
const ROUNDS: u64 = 5;

pub(crate) fn load(target: &dyn Target, spec: &DataSpec, cancel: &Cancel) -> Result<LoadReport, TargetError> {
    let parallel = target.capabilities().load_parallel_max.min(2);
    let options =
        LoadOptions { parallel, replace: false, dyno_version: env!("CARGO_PKG_VERSION").to_owned() };
    target.block_data()?.load(spec, &options, &Silent, cancel)
}

pub(crate) fn loaded(target: &dyn Target, spec: &DataSpec, cancel: &Cancel) -> Result<Advice, TargetError> {
    let report = load(target, spec, cancel)?;
    let tables: Vec<String> = report
        .tables
        .iter()
        .map(|table| format!("{} {} rows in {} blocks", table.table, table.rows, table.blocks))
        .collect();
    let words = format!("{} in {:.1} s", tables.join(", "), report.seconds);
    let all_rows: u64 = report.tables.iter().map(|table| table.rows).sum();
    Ok(if all_rows == spec.total_rows() { passed("load", words) } else { failed_check("load", words) })
}

pub(crate) fn recognised(target: &dyn Target, spec: &DataSpec) -> Result<Advice, TargetError> {
    let again = load(target, spec, &Cancel::default())?.already;
    target.block_data()?.spot_check(spec, 7)?;
    Ok(if again {
        passed("recognise", "the data is recognized, and a sample of it matches what was loaded".to_owned())
    } else {
        failed_check("recognise", "a second load did not recognize the data of the first".to_owned())
    })
}

/// Checks that rows left behind by a session are counted and removed, so that the data is again what was loaded.
pub(crate) fn check_leftover_rows(
    target: &dyn Target,
    spec: &DataSpec,
    work: &mut AcknowledgedWork,
) -> Result<Advice, TargetError> {
    let mut session = session(target, spec, DriveMode::Client, Commit::Wait, Redo::Lite)?;
    for number in 0..OPS {
        let op = BlockOp::Insert { key: ROWS + 1 + number, number: OPS + number };
        let outcome = session.execute(op).map_err(|error| failed(&error))?;
        work.note(op, outcome.rows);
    }
    session.close();
    let data = target.block_data()?;
    let counted = data.leftover_rows(spec)?;
    let removed = data.delete_leftover_rows(spec)?;
    let after = data.leftover_rows(spec)?;
    data.spot_check(spec, 11)?;
    let words = format!("leftover rows: {counted} of {OPS} found, {removed} removed, {after} remaining");
    Ok(if (counted, removed, after) == (OPS, OPS, 0) {
        passed("left", words)
    } else {
        failed_check("left", words)
    })
}

/// Checks where rows are placed that are inserted after deletes: whether each row has its own block, and whether the table
/// reuses empty blocks or grows with each insert. `None` if the key decides the place of a row.
pub(crate) fn growth(
    target: &dyn Target,
    spec: &DataSpec,
    work: &mut AcknowledgedWork,
) -> Result<Option<Advice>, TargetError> {
    if target.block_data()?.leftover_row_blocks(spec)?.is_none() {
        return Ok(None);
    }
    let mut session = session(target, spec, DriveMode::Client, Commit::Wait, Redo::Lite)?;
    let (mut all, mut shared) = (BTreeSet::new(), 0);
    for round in 0..ROUNDS {
        for number in 0..OPS {
            let op = BlockOp::Insert { key: ROWS + 1 + number, number: OPS * (2 + round) + number };
            work.note(op, session.execute(op).map_err(|error| failed(&error))?.rows);
        }
        let places = target.block_data()?.leftover_row_blocks(spec)?.unwrap_or_default();
        let distinct_places: BTreeSet<String> = places.iter().cloned().collect();
        shared += places.len() - distinct_places.len();
        all.extend(distinct_places);
        for number in 0..OPS {
            let op = BlockOp::Delete { key: ROWS + 1 + number };
            work.note(op, session.execute(op).map_err(|error| failed(&error))?.rows);
        }
    }
    session.close();
    Ok(Some(grown(all.len() as u64, shared as u64)))
}

/// The finding for rows of all rounds in `blocks` blocks, of which `shared` already held another row.
fn grown(blocks: u64, shared: u64) -> Advice {
    let rows = OPS * ROUNDS;
    let words = format!(
        "{rows} rows were inserted and deleted again, {OPS} at a time: they lay in {blocks} blocks, and {shared} shared theirs with another"
    );
    if shared > 0 {
        let way_out = "rows that runs insert do not have a block of their own: consider this when you read \
                       the block figures of such runs";
        return advice("growth", Severity::Warn, words, way_out);
    }
    if blocks > 2 * OPS {
        let words = format!(
            "{words}; emptied blocks are not reused immediately, so the table grows under inserts and deletes"
        );
        let way_out = "give runs with insert_pct room to grow, and load again after long ones; on PostgreSQL vacuum makes room";
        return advice("growth", Severity::Note, words, way_out);
    }
    passed("growth", format!("{words}; emptied blocks are reused"))
}

pub(crate) fn dropped(target: &dyn Target) -> Advice {
    let outcome = target.block_data().and_then(|data| Ok((data.drop_all()?.len(), data.survey()?)));
    match outcome {
        Ok((items, DataState::Empty)) => {
            passed("drop", format!("{items} objects were removed, and nothing is left"))
        }
        Ok((items, _)) => {
            failed_check("drop", format!("{items} objects were removed, but data of Dyno still exists"))
        }
        Err(error) => advice("drop", Severity::Fail, error.message, "dyno drop"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_growth_is_distinguished_from_block_reuse() {
        assert_eq!(grown(OPS, 0).severity, Severity::Ok);
        assert_eq!(grown(OPS * ROUNDS, 0).severity, Severity::Note);
        assert_eq!(grown(OPS / 2, OPS).severity, Severity::Warn);
    }
}
