//! Chooses the next operation of a session by an independent random draw with a seed.
//!
//! Each operation draws its class and keys independently, so shares hold in any part of a run and any percentage is possible.
//! Equal seeds and session numbers give equal operations on either drive.

mod churn;
mod space;
mod zipf;

use dyno_engine::data::mix;
use dyno_engine::{BlockOp, BlockOpSchema};
use dyno_plan::{Bytes, DataSpec, WorkloadSettings};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use churn::Churn;
use space::KeySpace;

pub(crate) use space::uniform;

pub use zipf::Zipf;

/// 2^32, the scale of the thresholds in [`OperationGenerator`].
const WHOLE: u64 = 1 << 32;

/// An operation with all its drawn values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawnOperation {
    pub op: BlockOp,
    /// The schema that it uses.
    pub place: BlockOpSchema,
    /// Whether it starts in the hot spot because it is the n-th operation.
    pub hot: bool,
}

/// Draws the operations of one session.
#[derive(Debug, Clone)]
pub struct OperationGenerator {
    rng: Xoshiro256PlusPlus,
    update_below: u64,
    insert_below: u64,
    delete_below: u64,
    scan_below: u64,
    lookup_below: u64,
    secondary_below: u64,
    /// First keys of ranges, keys, and values of the secondary key.
    starts: KeySpace,
    rows: KeySpace,
    groups: KeySpace,
    /// Number of keys before the hot spot, and in it.
    hot_spot: (u64, u64),
    hot_spot_turn: TurnCounter,
    hot_schema_turn: TurnCounter,
    churn: Churn,
    /// Number of operations so far that write new values.
    written: u64,
}

/// Selects every n-th operation of a session.
#[derive(Debug, Clone, Copy)]
struct TurnCounter {
    every: u32,
    left: u32,
}

impl TurnCounter {
    /// Selects every `every`-th operation, 0 for none; sessions start at different positions.
    fn new(every: u32, number: u32) -> Self {
        Self { every, left: if every == 0 { 0 } else { number % every + 1 } }
    }

    #[inline]
    fn is_due(&mut self) -> bool {
        if self.every == 0 {
            return false;
        }
        self.left -= 1;
        if self.left == 0 {
            self.left = self.every;
            return true;
        }
        false
    }
}

impl OperationGenerator {
    /// The draws of session `number` (from 0 over all schemas), which has the index `place` (from 0) in its schema.
    pub fn new(workload: &WorkloadSettings, spec: &DataSpec, number: u32, place: u32) -> Self {
        let share = |pct: u32| u64::from(pct) * WHOLE / 100;
        let update_below = share(workload.update_pct);
        let insert_below = update_below + share(workload.churn_pct());
        let delete_below = insert_below + share(workload.churn_pct());
        // Shares of scans and lookups are shares of the reads, that is, of what writes leave.
        let of_reads = |pct: u32| (WHOLE - delete_below) * u64::from(pct) / 100;
        let scan_below = delete_below + of_reads(workload.scan_pct);
        let lookup_below = scan_below + of_reads(workload.lookup_pct);
        let starts = spec.rows - u64::from(workload.work_unit).min(spec.rows) + 1;
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(mix(mix(workload.seed()) ^ u64::from(number))),
            update_below,
            insert_below,
            delete_below,
            scan_below,
            lookup_below,
            secondary_below: lookup_below + of_reads(workload.secondary_pct),
            starts: KeySpace::new(starts, workload, spec.seed),
            rows: KeySpace::new(spec.rows, workload, spec.seed),
            groups: KeySpace::new(spec.groups(), workload, spec.seed),
            hot_spot: workload.hot_spot(Bytes(spec.block_size)).unwrap_or_default(),
            hot_spot_turn: TurnCounter::new(workload.hot_spot_every, number),
            hot_schema_turn: TurnCounter::new(workload.hot_schema_every, number),
            churn: Churn::new(spec.rows, place),
            written: 0,
        }
    }

    /// Draws the next operation with its schema.
    #[inline]
    pub fn next_task(&mut self) -> DrawnOperation {
        // One random number decides the class with its upper half; a second one decides the key.
        let class = self.rng.next_u64() >> 32;
        if self.update_below <= class && class < self.delete_below {
            self.written += 1;
            let op = self.churn.next(class < self.insert_below, self.written);
            // A session's own rows are in its own schema.
            return DrawnOperation { op, place: BlockOpSchema::Own, hot: false };
        }
        let place = if self.hot_schema_turn.is_due() { BlockOpSchema::First } else { BlockOpSchema::Own };
        let (op, hot) = if class >= self.secondary_below {
            let (first, hot) = self.start();
            (BlockOp::Select { first }, hot)
        } else if class >= self.lookup_below {
            (BlockOp::Secondary { value: self.groups.draw(&mut self.rng) }, false)
        } else if class >= self.scan_below {
            let (key, hot) = self.key();
            (BlockOp::Lookup { key }, hot)
        } else if class >= self.delete_below {
            (BlockOp::Scan, false)
        } else {
            self.written += 1;
            let (first, hot) = self.start();
            (BlockOp::Update { first, number: self.written }, hot)
        };
        DrawnOperation { op, place, hot }
    }

    /// Draws the next operation without its schema.
    #[inline]
    pub fn next_op(&mut self) -> BlockOp {
        self.next_task().op
    }

    /// Undoes `op`, the last drawn operation, which was not executed.
    pub fn undo(&mut self, op: BlockOp) {
        self.churn.undo(op);
    }

    /// Handles `ops`, the last drawn operations, whose outcome is unknown.
    pub fn mark_in_doubt(&mut self, ops: &[BlockOp]) {
        self.churn.mark_in_doubt(ops);
    }

    /// Draws the first key of a range; true if it is in the hot spot.
    #[inline]
    fn start(&mut self) -> (u64, bool) {
        match self.hot_spot_turn.is_due() {
            true => (self.hot(self.starts.len()), true),
            false => (self.starts.draw(&mut self.rng), false),
        }
    }

    /// Draws a key; true if it is in the hot spot.
    #[inline]
    fn key(&mut self) -> (u64, bool) {
        match self.hot_spot_turn.is_due() {
            true => (self.hot(self.rows.len()), true),
            false => (self.rows.draw(&mut self.rng), false),
        }
    }

    /// A key of the hot spot that is at most `most`.
    fn hot(&mut self, most: u64) -> u64 {
        let (before, size) = self.hot_spot;
        let before = before.min(most - 1);
        before + uniform(&mut self.rng, size.clamp(1, most - before))
    }
}

#[cfg(test)]
mod tests;
