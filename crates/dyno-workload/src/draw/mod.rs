//! Which operation comes next: an independent seeded draw for each one.
//!
//! Every operation draws its class and its keys anew, so shares hold over any stretch of a run and any percentage can
//! be had; the same seed and session give the same operations, on either drive.

mod churn;
mod space;
mod zipf;

use dyno_engine::data::mix;
use dyno_engine::{Op, Place};
use dyno_plan::{Bytes, DataSpec, Workload};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use churn::Churn;
use space::Space;

pub(crate) use space::uniform;

pub use zipf::Zipf;

/// 2^32, the scale of [`Draw`]'s thresholds.
const WHOLE: u64 = 1 << 32;

/// An operation with all that was drawn for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The operation.
    pub op: Op,
    /// Where it goes.
    pub place: Place,
    /// Whether it starts in the hot spot because its turn has come.
    pub hot: bool,
}

/// Draws one session's operations.
#[derive(Debug, Clone)]
pub struct Draw {
    rng: Xoshiro256PlusPlus,
    update_below: u64,
    insert_below: u64,
    delete_below: u64,
    scan_below: u64,
    lookup_below: u64,
    secondary_below: u64,
    /// First keys of ranges, keys, and values of the secondary key.
    starts: Space,
    rows: Space,
    groups: Space,
    /// Keys before the hot spot, and keys in it.
    hot_spot: (u64, u64),
    hot_spot_turn: Turn,
    hot_schema_turn: Turn,
    churn: Churn,
    /// Operations that write new values, so far.
    written: u64,
}

/// Whose turn comes every n-th time.
#[derive(Debug, Clone, Copy)]
struct Turn {
    every: u32,
    left: u32,
}

impl Turn {
    /// Every `every`-th time, 0 for never; sessions do not have their turns at the same time.
    fn new(every: u32, number: u32) -> Self {
        Self { every, left: if every == 0 { 0 } else { number % every + 1 } }
    }

    #[inline]
    fn comes(&mut self) -> bool {
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

impl Draw {
    /// The draws of session `number` (from 0 over all schemas), the `place`-th (from 0) of its schema.
    pub fn new(workload: &Workload, spec: &DataSpec, number: u32, place: u32) -> Self {
        let share = |pct: u32| u64::from(pct) * WHOLE / 100;
        let update_below = share(workload.update_pct);
        let insert_below = update_below + share(workload.churn_pct());
        let delete_below = insert_below + share(workload.churn_pct());
        // Shares of scans and lookups are of the reads, hence of what writes leave.
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
            starts: Space::new(starts, workload, spec.seed),
            rows: Space::new(spec.rows, workload, spec.seed),
            groups: Space::new(spec.groups(), workload, spec.seed),
            hot_spot: workload.hot_spot(Bytes(spec.block_size)).unwrap_or_default(),
            hot_spot_turn: Turn::new(workload.hot_spot_every, number),
            hot_schema_turn: Turn::new(workload.hot_schema_every, number),
            churn: Churn::new(spec.rows, place),
            written: 0,
        }
    }

    /// The next operation.
    #[inline]
    pub fn next_task(&mut self) -> Task {
        // Two draws in one: the upper half decides the class, and a second number the key.
        let class = self.rng.next_u64() >> 32;
        if self.update_below <= class && class < self.delete_below {
            self.written += 1;
            let op = self.churn.next(class < self.insert_below, self.written);
            // A session's own rows are in its own schema.
            return Task { op, place: Place::Own, hot: false };
        }
        let place = if self.hot_schema_turn.comes() { Place::First } else { Place::Own };
        let (op, hot) = if class >= self.secondary_below {
            let (first, hot) = self.start();
            (Op::Select { first }, hot)
        } else if class >= self.lookup_below {
            (Op::Secondary { value: self.groups.draw(&mut self.rng) }, false)
        } else if class >= self.scan_below {
            let (key, hot) = self.key();
            (Op::Lookup { key }, hot)
        } else if class >= self.delete_below {
            (Op::Scan, false)
        } else {
            self.written += 1;
            let (first, hot) = self.start();
            (Op::Update { first, number: self.written }, hot)
        };
        Task { op, place, hot }
    }

    /// The next operation alone.
    #[inline]
    pub fn next_op(&mut self) -> Op {
        self.next_task().op
    }

    /// `op`, the last one drawn, has not been done, and left nothing behind.
    pub fn undo(&mut self, op: Op) {
        self.churn.undo(op);
    }

    /// Of `ops`, the last ones drawn, nobody knows which have been done.
    pub fn doubt(&mut self, ops: &[Op]) {
        self.churn.doubt(ops);
    }

    /// The first key of a range.
    #[inline]
    fn start(&mut self) -> (u64, bool) {
        match self.hot_spot_turn.comes() {
            true => (self.hot(self.starts.len()), true),
            false => (self.starts.draw(&mut self.rng), false),
        }
    }

    /// A key.
    #[inline]
    fn key(&mut self) -> (u64, bool) {
        match self.hot_spot_turn.comes() {
            true => (self.hot(self.rows.len()), true),
            false => (self.rows.draw(&mut self.rng), false),
        }
    }

    /// A key of the hot spot that is not above `most`.
    fn hot(&mut self, most: u64) -> u64 {
        let (before, size) = self.hot_spot;
        let before = before.min(most - 1);
        before + uniform(&mut self.rng, size.clamp(1, most - before))
    }
}

#[cfg(test)]
mod tests;
