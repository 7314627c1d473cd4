//! Data: loaded, known again, counted, and removed.

use std::collections::BTreeSet;

use dyno_engine::advice::advice;
use dyno_engine::{Cancel, DataState, LoadOptions, LoadReport, Op, Silent, Target, TargetError};
use dyno_plan::{Commit, DataSpec, Drive, Redo};
use dyno_record::{Advice, Severity};

use super::{OPS, ROWS, Work, bad, failed, good, session};

/// Rounds in which rows are inserted and deleted, to see where they go.
const ROUNDS: u64 = 5;

pub(crate) fn load(target: &dyn Target, spec: &DataSpec) -> Result<LoadReport, TargetError> {
    let parallel = target.capabilities().load_parallel_max.min(2);
    let options =
        LoadOptions { parallel, replace: false, dyno_version: env!("CARGO_PKG_VERSION").to_owned() };
    target.load(spec, &options, &Silent, &Cancel::default())
}

pub(crate) fn loaded(target: &dyn Target, spec: &DataSpec) -> Result<Advice, TargetError> {
    let report = load(target, spec)?;
    let tables: Vec<String> = report
        .tables
        .iter()
        .map(|table| format!("{} {} rows in {} blocks", table.table, table.rows, table.blocks))
        .collect();
    let words = format!("{} in {:.1} s", tables.join(", "), report.seconds);
    let all_rows: u64 = report.tables.iter().map(|table| table.rows).sum();
    Ok(if all_rows == spec.total_rows() { good("load", words) } else { bad("load", words) })
}

pub(crate) fn recognised(target: &dyn Target, spec: &DataSpec) -> Result<Advice, TargetError> {
    let again = load(target, spec)?.already;
    target.spot_check(spec, 7)?;
    Ok(if again {
        good("recognise", "the data is known again, and a sample of it is what was loaded".to_owned())
    } else {
        bad("recognise", "a second load did not know the data of the first".to_owned())
    })
}

/// Whether rows that a session leaves behind are counted, and removed so that the data is what was loaded.
pub(crate) fn left(target: &dyn Target, spec: &DataSpec, work: &mut Work) -> Result<Advice, TargetError> {
    let mut session = session(target, spec, Drive::Client, Commit::Wait, Redo::Lite)?;
    for number in 0..OPS {
        let op = Op::Insert { key: ROWS + 1 + number, number: OPS + number };
        let done = session.execute(op).map_err(|error| failed(&error))?;
        work.note(op, done.rows);
    }
    session.close();
    let counted = target.own_rows(spec)?;
    let removed = target.sweep_up(spec)?;
    let after = target.own_rows(spec)?;
    target.spot_check(spec, 11)?;
    let words =
        format!("of {OPS} rows left behind {counted} were counted, {removed} removed, {after} stayed");
    Ok(if (counted, removed, after) == (OPS, OPS, 0) { good("left", words) } else { bad("left", words) })
}

/// Where rows go that are inserted after others have been deleted: whether each has a block to itself, and whether the
/// table takes emptied blocks again or grows with each insert. Nothing where a row's key decides its place.
pub(crate) fn growth(
    target: &dyn Target,
    spec: &DataSpec,
    work: &mut Work,
) -> Result<Option<Advice>, TargetError> {
    if target.own_places(spec)?.is_none() {
        return Ok(None);
    }
    let mut session = session(target, spec, Drive::Client, Commit::Wait, Redo::Lite)?;
    let (mut all, mut shared) = (BTreeSet::new(), 0);
    for round in 0..ROUNDS {
        for number in 0..OPS {
            let op = Op::Insert { key: ROWS + 1 + number, number: OPS * (2 + round) + number };
            work.note(op, session.execute(op).map_err(|error| failed(&error))?.rows);
        }
        let places = target.own_places(spec)?.unwrap_or_default();
        let own: BTreeSet<String> = places.iter().cloned().collect();
        shared += places.len() - own.len();
        all.extend(own);
        for number in 0..OPS {
            let op = Op::Delete { key: ROWS + 1 + number };
            work.note(op, session.execute(op).map_err(|error| failed(&error))?.rows);
        }
    }
    session.close();
    Ok(Some(grown(all.len() as u64, shared as u64)))
}

/// What it means that rows of all rounds lay in so many `blocks`, and so many of them in one that held another, too.
fn grown(blocks: u64, shared: u64) -> Advice {
    let rows = OPS * ROUNDS;
    let words = format!(
        "{rows} rows were inserted and deleted again, {OPS} at a time: they lay in {blocks} blocks, and {shared} shared theirs with another"
    );
    if shared > 0 {
        let way_out = "one row per block does not hold for rows that runs insert: read what such runs say of blocks with that in mind";
        return advice("growth", Severity::Warn, words, way_out);
    }
    if blocks > 2 * OPS {
        let words = format!(
            "{words}; emptied blocks are not taken again at once, so the table grows under inserts and deletes"
        );
        let way_out = "give runs with insert_pct room to grow, and load anew after long ones; on PostgreSQL vacuum makes room";
        return advice("growth", Severity::Note, words, way_out);
    }
    good("growth", format!("{words}; emptied blocks are taken again"))
}

pub(crate) fn dropped(target: &dyn Target) -> Advice {
    let gone = target.drop_all().and_then(|items| Ok((items.len(), target.survey()?)));
    match gone {
        Ok((items, DataState::Empty)) => {
            good("drop", format!("{items} objects were removed, and nothing is left"))
        }
        Ok((items, _)) => {
            bad("drop", format!("{items} objects were removed, and data of Dyno's is still there"))
        }
        Err(error) => advice("drop", Severity::Fail, error.message, "dyno drop"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_from_blocks_that_are_taken_again() {
        assert_eq!(grown(OPS, 0).severity, Severity::Ok);
        assert_eq!(grown(OPS * ROUNDS, 0).severity, Severity::Note);
        assert_eq!(grown(OPS / 2, OPS).severity, Severity::Warn);
    }
}
