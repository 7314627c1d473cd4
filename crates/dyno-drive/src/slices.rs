//! Server drive: operations travel in slices, and the loop over them runs inside the database.
//!
//! The operations are drawn here, by the same stream of draws as on the client drive, so both drives do the same work. A
//! slice's length aims at a fixed time: long enough to make the call's cost vanish, short enough that the window's edges
//! and the database's counters, which move between slices, stay sharp.

use dyno_engine::{Clock, Op, OpError, Place, Session, SliceDone};
use dyno_workload::{ClassId, Think, blocks};

use crate::counts::{Counts, Timing};
use crate::recorder::{PartOfSlice, Recorder};

/// The time that a slice aims at.
const SLICE_NS: u64 = 40_000_000;
/// Operations in the first slice, and in the longest.
const SLICE_OPS: (usize, usize) = (16, 16_384);

/// Where a slice is counted: by its session, and by its thread.
pub(crate) struct Recorded<'a> {
    pub(crate) recorder: &'a mut Recorder,
    pub(crate) counts: &'a mut Counts,
}

/// One session's slices.
pub(crate) struct SliceLoop {
    ops: Vec<Op>,
    /// Those of the slice that go to schema 1.
    hot: Vec<Op>,
    len: usize,
}

impl SliceLoop {
    pub(crate) fn new() -> Self {
        Self { ops: Vec::with_capacity(SLICE_OPS.1), hot: Vec::new(), len: SLICE_OPS.0 }
    }

    /// Draws and does one slice. Operations that go to schema 1 are a call of their own; a slice ends with an operation
    /// that is followed by a sleep.
    pub(crate) fn one(
        &mut self,
        session: &mut dyn Session,
        actor: &mut blocks::Actor,
        think: &mut Think,
        recorded: Recorded<'_>,
        clock: &dyn Clock,
    ) -> Result<(), Box<OpError>> {
        let Recorded { recorder, counts } = recorded;
        let blocks::Actor { draws: draw, operator, .. } = actor;
        self.ops.clear();
        self.hot.clear();
        let mut sleep_ns = None;
        let mut drawn = 0;
        while drawn < self.len && sleep_ns.is_none() {
            let task = draw.next_task();
            recorder.drawn(counts, task);
            match task.place {
                Place::Own => self.ops.push(task.op),
                Place::First => self.hot.push(task.op),
            }
            drawn += 1;
            sleep_ns = think.draw();
        }
        let began_ns = clock.now_ns();
        // What was done of a slice that failed is unknown, whatever the error says of its last operation.
        let own = || operator.slice(session, &self.ops, Place::Own);
        call(&self.ops, own, (&mut *recorder, &mut *counts), clock).inspect_err(|_| draw.doubt(&self.ops))?;
        call(
            &self.hot,
            || operator.slice(session, &self.hot, Place::First),
            (&mut *recorder, &mut *counts),
            clock,
        )?;
        let ended_ns = clock.now_ns();
        // A slice that a sleep has cut short says nothing about how long one should be.
        if sleep_ns.is_none() {
            self.len = next_len(self.len, ended_ns - began_ns);
        }
        if let Some(length_ns) = sleep_ns {
            recorder.think(counts, ended_ns, think.until_ns(length_ns, began_ns, ended_ns));
        }
        Ok(())
    }
}

/// Does `ops` in one call, `slice`, and counts them.
fn call(
    ops: &[Op],
    slice: impl FnOnce() -> Result<SliceDone, Box<OpError>>,
    (recorder, counts): (&mut Recorder, &mut Counts),
    clock: &dyn Clock,
) -> Result<(), Box<OpError>> {
    if ops.is_empty() {
        return Ok(());
    }
    let began_ns = clock.now_ns();
    let SliceDone { rows_read, rows_updated, churned, commits } = slice()?;
    let ended_ns = clock.now_ns();
    let [selects, lookups, scans, by_secondary] = rows_read;
    let parts = [
        (ClassId::SELECT, selects),
        (ClassId::LOOKUP, lookups),
        (ClassId::SCAN, scans),
        (ClassId::SECONDARY, by_secondary),
        (ClassId::UPDATE, rows_updated),
        (ClassId::INSERT, churned.0),
        (ClassId::DELETE, churned.1),
    ];
    let mut each = vec![0; recorder.classes().count()];
    for op in ops {
        each[ClassId::of(*op).index()] += 1;
    }
    let parts: Vec<PartOfSlice> =
        parts.into_iter().map(|(class, rows)| (class, each[class.index()], rows)).collect();
    recorder.slice(counts, Timing { due_ns: began_ns, began_ns, ended_ns }, &parts, commits);
    Ok(())
}

/// The next slice's length after one of `len` operations took `took_ns`: towards [`SLICE_NS`], at most doubling, so that one
/// quick slice does not decide; where operations have become slow, the next slice is as short as it has to be.
fn next_len(len: usize, took_ns: u64) -> usize {
    let ideal = (len as f64 * SLICE_NS as f64 / took_ns.max(1) as f64) as usize;
    ideal.min(len * 2).clamp(1, SLICE_OPS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_grows_and_shrinks_towards_its_time() {
        assert_eq!(next_len(16, 1_000), 32);
        assert_eq!(next_len(1_000, SLICE_NS), 1_000);
        assert_eq!(next_len(1_000, SLICE_NS * 100), 10);
        assert_eq!(next_len(1, SLICE_NS * 100), 1);
        assert_eq!(next_len(SLICE_OPS.1, 1), SLICE_OPS.1);
    }
}
