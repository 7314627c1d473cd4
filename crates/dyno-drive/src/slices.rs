//! Server drive: operations travel in slices, and the loop over them runs inside the database.
//!
//! The operations are drawn here, by the same stream of draws as on the client drive, so both drives do the same work. A
//! slice's length aims at a fixed time: long enough to make the call's cost vanish, short enough that the window's edges
//! and the database's counters, which move between slices, stay sharp.

use dyno_record::OpClass;
use dyno_target::{Clock, Op, OpError, Session};

use crate::draw::Draw;
use crate::recorder::{Recorder, Timing};
use crate::worker::class_of;

/// The time that a slice aims at.
const SLICE_NS: u64 = 50_000_000;
/// Operations in the first slice, and in the longest.
const SLICE_OPS: (usize, usize) = (16, 16_384);

/// One session's slices.
pub(crate) struct SliceLoop {
    ops: Vec<Op>,
    len: usize,
}

impl SliceLoop {
    pub(crate) fn new() -> Self {
        Self { ops: Vec::with_capacity(SLICE_OPS.1), len: SLICE_OPS.0 }
    }

    /// Draws and does one slice.
    pub(crate) fn one(
        &mut self,
        session: &mut dyn Session,
        draw: &mut Draw,
        recorder: &mut Recorder,
        clock: &dyn Clock,
    ) -> Result<(), Box<OpError>> {
        self.ops.clear();
        self.ops.extend((0..self.len).map(|_| draw.next_op()));
        let began_ns = clock.now_ns();
        let done = session.slice(&self.ops)?;
        let ended_ns = clock.now_ns();
        let mut counts = [0u64; 4];
        for &op in &self.ops {
            counts[class_of(op) as usize] += 1;
        }
        let [selects, lookups, scans] = done.rows_read;
        let parts = [
            (OpClass::Select, counts[OpClass::Select as usize], selects),
            (OpClass::Lookup, counts[OpClass::Lookup as usize], lookups),
            (OpClass::Scan, counts[OpClass::Scan as usize], scans),
            (OpClass::Update, counts[OpClass::Update as usize], done.rows_updated),
        ];
        recorder.slice(Timing { due_ns: began_ns, began_ns, ended_ns }, &parts, done.commits);
        self.len = next_len(self.len, ended_ns - began_ns);
        Ok(())
    }
}

/// The next slice's length after one of `len` operations took `took_ns`: towards [`SLICE_NS`], at most doubling or
/// halving, so that one odd slice does not decide.
fn next_len(len: usize, took_ns: u64) -> usize {
    let ideal = (len as f64 * SLICE_NS as f64 / took_ns.max(1) as f64) as usize;
    ideal.clamp(len / 2, len * 2).clamp(1, SLICE_OPS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_grows_and_shrinks_towards_its_time() {
        assert_eq!(next_len(16, 1_000), 32);
        assert_eq!(next_len(1_000, SLICE_NS), 1_000);
        assert_eq!(next_len(1_000, SLICE_NS * 100), 500);
        assert_eq!(next_len(1, SLICE_NS * 100), 1);
        assert_eq!(next_len(SLICE_OPS.1, 1), SLICE_OPS.1);
    }
}
