//! The server drive: sends operations in slices, and the loop over them runs inside the database.
//!
//! Operations are drawn here, from the same random stream as on the client drive, so both drives do the same
//! work. The length of a slice is adapted to a fixed time. It is long enough to make the cost of the call
//! negligible, and short enough for precise window boundaries: the database's counters move between slices.

use dyno_engine::{BlockOp, BlockOpSchema, Clock, OpError, Session, SliceDone};
use dyno_workload::{ClassId, SessionThinkTime, blocks};

use crate::counts::{ThreadCounts, Timing};
use crate::recorder::{PartOfSlice, Recorder};

/// The target duration of a slice.
const SLICE_NS: u64 = 40_000_000;
/// Operations in the first slice, and in the longest.
const SLICE_OPS: (usize, usize) = (16, 16_384);

/// The recorders of a slice: that of its session, and that of its thread.
pub(crate) struct RecordingContext<'a> {
    pub(crate) recorder: &'a mut Recorder,
    pub(crate) counts: &'a mut ThreadCounts,
}

/// Draws and executes the slices of one session.
pub(crate) struct SliceLoop {
    ops: Vec<BlockOp>,
    /// The slice's operations on schema 1.
    hot: Vec<BlockOp>,
    len: usize,
}

impl SliceLoop {
    pub(crate) fn new() -> Self {
        Self { ops: Vec::with_capacity(SLICE_OPS.1), hot: Vec::new(), len: SLICE_OPS.0 }
    }

    /// Draws and executes one slice. Operations on schema 1 need a call of their own. A slice ends with an
    /// operation that is followed by a sleep.
    pub(crate) fn run_slice(
        &mut self,
        session: &mut dyn Session,
        actor: &mut blocks::BlockActor,
        think: &mut SessionThinkTime,
        recorded: RecordingContext<'_>,
        clock: &dyn Clock,
    ) -> Result<(), Box<OpError>> {
        let RecordingContext { recorder, counts } = recorded;
        let blocks::BlockActor { draws: draw, operator, .. } = actor;
        self.ops.clear();
        self.hot.clear();
        let mut sleep_ns = None;
        let mut drawn = 0;
        while drawn < self.len && sleep_ns.is_none() {
            let task = draw.next_task();
            recorder.drawn(counts, task);
            match task.place {
                BlockOpSchema::Own => self.ops.push(task.op),
                BlockOpSchema::First => self.hot.push(task.op),
            }
            drawn += 1;
            sleep_ns = think.draw();
        }
        let began_ns = clock.now_ns();
        // The completed work of a failed slice is unknown, whatever the error says about its last operation.
        let own_slice = || operator.slice(session, &self.ops, BlockOpSchema::Own);
        call(&self.ops, own_slice, (&mut *recorder, &mut *counts), clock)
            .inspect_err(|_| draw.mark_in_doubt(&self.ops))?;
        call(
            &self.hot,
            || operator.slice(session, &self.hot, BlockOpSchema::First),
            (&mut *recorder, &mut *counts),
            clock,
        )?;
        let ended_ns = clock.now_ns();
        // The time of a slice that a sleep has shortened is not used to adapt the length.
        if sleep_ns.is_none() {
            self.len = next_len(self.len, ended_ns - began_ns);
        }
        if let Some(length_ns) = sleep_ns {
            recorder.think(counts, ended_ns, think.until_ns(length_ns, began_ns, ended_ns));
        }
        Ok(())
    }
}

/// Executes `ops` in one call, `slice`, and counts them.
fn call(
    ops: &[BlockOp],
    slice: impl FnOnce() -> Result<SliceDone, Box<OpError>>,
    (recorder, counts): (&mut Recorder, &mut ThreadCounts),
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
    let mut ops_by_class = vec![0; recorder.classes().count()];
    for op in ops {
        ops_by_class[ClassId::of(*op).index()] += 1;
    }
    let parts: Vec<PartOfSlice> =
        parts.into_iter().map(|(class, rows)| (class, ops_by_class[class.index()], rows)).collect();
    recorder.slice(counts, Timing { due_ns: began_ns, began_ns, ended_ns }, &parts, commits);
    Ok(())
}

/// The next slice's length after one of `len` operations took `took_ns`: closer to [`SLICE_NS`], but at most
/// doubled, so that one quick slice does not decide. If operations have become slow, the length drops at
/// once.
fn next_len(len: usize, took_ns: u64) -> usize {
    let ideal = (len as f64 * SLICE_NS as f64 / took_ns.max(1) as f64) as usize;
    ideal.min(len * 2).clamp(1, SLICE_OPS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slice_length_adapts_towards_its_target_time() {
        assert_eq!(next_len(16, 1_000), 32);
        assert_eq!(next_len(1_000, SLICE_NS), 1_000);
        assert_eq!(next_len(1_000, SLICE_NS * 100), 10);
        assert_eq!(next_len(1, SLICE_NS * 100), 1);
        assert_eq!(next_len(SLICE_OPS.1, 1), SLICE_OPS.1);
    }
}
