//! Every operation, in both drives.

use dyno_engine::{Extra, Op, Place, SliceDone, Target, TargetError};
use dyno_plan::{Commit, DataSpec, Drive, Redo};
use dyno_record::Advice;

use super::{OPS, WORK_UNIT, Work, bad, failed, good, ops, session};

/// Every operation, one at a time, light and heavy; reads and updates in schema 1 too.
pub(crate) fn client_drive(
    target: &dyn Target,
    spec: &DataSpec,
    commit: Commit,
    work: &mut Work,
) -> Result<Advice, TargetError> {
    let name = format!("client {}", commit.name());
    let (mut wrong, mut timed, mut count) = (Vec::new(), 0, 0);
    for redo in Redo::ALL {
        let mut session = session(target, spec, Drive::Client, commit, redo)?;
        for place in [Place::First, Place::Own] {
            session.turn_to(place);
            // Rows of their own are in the sessions' own schema.
            let extra = Extra { churn: place == Place::Own, ..Extra::ALL };
            for (op, rows) in ops(extra, spec) {
                let done = session.execute(op).map_err(|error| failed(&error))?;
                if done.rows != rows {
                    wrong.push(format!("{op:?} did {} rows and not {rows}", done.rows));
                }
                timed += u64::from(done.commit_began_ns.is_some());
                count += 1;
                work.note(op, done.rows);
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
        Some(first) => bad(&name, format!("{} operations went wrong: {first}", wrong.len())),
        None => good(
            &name,
            format!("{count} operations did what they should; {timed} commits have a time of their own"),
        ),
    })
}

/// What a slice of `ops` must have done.
pub(crate) fn whole(ops: &[(Op, u64)]) -> SliceDone {
    let mut all = SliceDone::default();
    for (op, rows) in ops {
        *match op {
            Op::Select { .. } => &mut all.rows_read[0],
            Op::Lookup { .. } => &mut all.rows_read[1],
            Op::Scan => &mut all.rows_read[2],
            Op::Secondary { .. } => &mut all.rows_read[3],
            Op::Update { .. } => &mut all.rows_updated,
            Op::Insert { .. } => &mut all.churned.0,
            Op::Delete { .. } => &mut all.churned.1,
        } += rows;
        all.commits += u64::from(op.writes());
    }
    all
}

/// `all` operations in slices of one class each. What is inserted in one slice is deleted in the next.
pub(crate) fn by_class(all: &[(Op, u64)]) -> Vec<Vec<(Op, u64)>> {
    let classes = all.len() / OPS as usize;
    (0..classes).map(|class| all.iter().skip(class).step_by(classes).copied().collect()).collect()
}

/// The same operations in slices, each class alone and all together.
pub(crate) fn server_drive(
    target: &dyn Target,
    spec: &DataSpec,
    commit: Commit,
    work: &mut Work,
) -> Result<Option<Advice>, TargetError> {
    if !target.capabilities().server_drive {
        return Ok(None);
    }
    let name = format!("server {}", commit.name());
    let mut session = session(target, spec, Drive::Server, commit, Redo::Heavy)?;
    let all = ops(Extra::ALL, spec);
    let classes = all.len() / OPS as usize;
    let mut slices = by_class(&all);
    slices.push(all);
    let mut wrong = None;
    for slice in &slices {
        let ops: Vec<Op> = slice.iter().map(|(op, _)| *op).collect();
        let (done, wanted) = (session.slice(&ops).map_err(|error| failed(&error))?, whole(slice));
        if done != wanted {
            wrong = Some(format!("a slice did {done:?} and not {wanted:?}"));
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
        Some(wrong) => bad(&name, wrong),
        None => good(&name, format!("{count} operations in {} slices did what they should", slices.len())),
    }))
}
