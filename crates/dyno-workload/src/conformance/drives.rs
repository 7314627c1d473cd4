//! Checks every operation in both drives.

use dyno_engine::{BlockOp, BlockOpSchema, Extra, SliceDone, Target, TargetError};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_record::Advice;

use super::{AcknowledgedWork, OPS, WORK_UNIT, failed, failed_check, ops, passed, session};

/// Executes every operation singly, light and heavy; reads and updates also in schema 1.
pub(crate) fn client_drive(
    target: &dyn Target,
    spec: &DataSpec,
    commit: Commit,
    work: &mut AcknowledgedWork,
) -> Result<Advice, TargetError> {
    let name = format!("client {}", commit.name());
    let (mut wrong, mut timed, mut count) = (Vec::new(), 0, 0);
    for redo in Redo::ALL {
        let mut session = session(target, spec, DriveMode::Client, commit, redo)?;
        for place in [BlockOpSchema::First, BlockOpSchema::Own] {
            session.turn_to(place);
            // A session's own rows are in its own schema.
            let extra = Extra { churn: place == BlockOpSchema::Own, ..Extra::ALL };
            for (op, rows) in ops(extra, spec) {
                let outcome = session.execute(op).map_err(|error| failed(&error))?;
                if outcome.rows != rows {
                    wrong.push(format!("{op:?} affected {} rows instead of {rows}", outcome.rows));
                }
                timed += u64::from(outcome.commit_began_ns.is_some());
                count += 1;
                work.note(op, outcome.rows);
            }
        }
        session.edge().map_err(|error| failed(&error))?;
        let read_back = session.verify_last_update().map_err(|error| failed(&error))?;
        if read_back != Some((u64::from(WORK_UNIT), u64::from(WORK_UNIT))) {
            wrong.push(format!("the last update reads back as {read_back:?}"));
        }
        session.close();
    }
    Ok(match wrong.first() {
        Some(first) => failed_check(&name, format!("{} operations failed: {first}", wrong.len())),
        None => passed(
            &name,
            format!("{count} operations worked as expected; {timed} commits have their own time"),
        ),
    })
}

/// The result that a slice of `ops` must have.
pub(crate) fn whole(ops: &[(BlockOp, u64)]) -> SliceDone {
    let mut all = SliceDone::default();
    for (op, rows) in ops {
        *match op {
            BlockOp::Select { .. } => &mut all.rows_read[0],
            BlockOp::Lookup { .. } => &mut all.rows_read[1],
            BlockOp::Scan => &mut all.rows_read[2],
            BlockOp::Secondary { .. } => &mut all.rows_read[3],
            BlockOp::Update { .. } => &mut all.rows_updated,
            BlockOp::Insert { .. } => &mut all.churned.0,
            BlockOp::Delete { .. } => &mut all.churned.1,
        } += rows;
        all.commits += u64::from(op.writes());
    }
    all
}

/// Splits `all` operations into slices of one class each. One slice deletes what an earlier one inserted.
pub(crate) fn by_class(all: &[(BlockOp, u64)]) -> Vec<Vec<(BlockOp, u64)>> {
    let classes = all.len() / OPS as usize;
    (0..classes).map(|class| all.iter().skip(class).step_by(classes).copied().collect()).collect()
}

/// Executes the same operations in slices, each class alone and all together.
pub(crate) fn server_drive(
    target: &dyn Target,
    spec: &DataSpec,
    commit: Commit,
    work: &mut AcknowledgedWork,
) -> Result<Option<Advice>, TargetError> {
    if !target.capabilities().server_drive {
        return Ok(None);
    }
    let name = format!("server {}", commit.name());
    let mut session = session(target, spec, DriveMode::Server, commit, Redo::Heavy)?;
    let all = ops(Extra::ALL, spec);
    let classes = all.len() / OPS as usize;
    let mut slices = by_class(&all);
    slices.push(all);
    let mut wrong = None;
    for slice in &slices {
        let ops: Vec<BlockOp> = slice.iter().map(|(op, _)| *op).collect();
        let (done, wanted) = (session.slice(&ops).map_err(|error| failed(&error))?, whole(slice));
        if done != wanted {
            wrong = Some(format!("a slice did {done:?} instead of {wanted:?}"));
        }
        work.rows_read += done.rows_read.iter().sum::<u64>() + done.churned.1;
        work.rows_updated += done.rows_updated;
        work.commits += done.commits;
    }
    let (unit, count) = (u64::from(WORK_UNIT), 2 * classes as u64 * OPS);
    let read_back = session.verify_last_update().map_err(|error| failed(&error))?;
    if read_back != Some((unit, unit)) {
        wrong = Some(format!("the last update reads back as {read_back:?}"));
    }
    session.close();
    Ok(Some(match wrong {
        Some(wrong) => failed_check(&name, wrong),
        None => passed(&name, format!("{count} operations in {} slices worked as expected", slices.len())),
    }))
}
