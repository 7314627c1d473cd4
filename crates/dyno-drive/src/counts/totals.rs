//! Stores the figures of one target: by part of the run, and by class.

use crate::packed::Packed;
use crate::tally::LatencyTally;
use crate::thread_result::{ClassResult, HotCounts, PhaseResult, SessionTimes};

/// The most phases of a target that have tallies at the same time; sessions are seldom in more than two.
/// Beyond that, the earliest phase is packed.
const OPEN_MAX: usize = 4;

#[derive(Debug)]
pub(super) struct TargetTotals {
    pub(super) parts: Vec<PhaseTotals>,
    pub(super) times: SessionTimes,
    pub(super) hot: HotCounts,
}

/// The figures of the operations that were due in one part of a run.
#[derive(Debug, Default)]
pub(super) struct PhaseTotals {
    /// By class number; empty while nothing counts.
    pub(super) totals: Vec<ClassTotals>,
    /// The packed figures of earlier totals.
    pub(super) packed: PhaseResult,
}

/// One class's figures before they become a [`ClassResult`].
#[derive(Debug, Default)]
pub(super) struct ClassTotals {
    pub(super) count: u64,
    pub(super) errors: u64,
    pub(super) rows: u64,
    pub(super) rolled_back: u64,
    pub(super) empty_polls: u64,
    pub(super) tallied: u64,
    /// Attempts that the database rolled back and that were retried.
    pub(super) retries: u64,
    /// Statements that write, and how many of them changed no row.
    pub(super) write_statements: u64,
    pub(super) empty_writes: u64,
    /// Operations that lost their connection while a commit was in progress.
    pub(super) in_doubt: u64,
    pub(super) service: Option<LatencyTally>,
    pub(super) response: Option<LatencyTally>,
    pub(super) before: (f64, f64),
}

impl ClassTotals {
    fn result(&self) -> ClassResult {
        let packed = |tally: &Option<LatencyTally>| tally.as_ref().map(Packed::of).unwrap_or_default();
        ClassResult {
            count: self.count,
            errors: self.errors,
            rows: self.rows,
            rolled_back: self.rolled_back,
            empty_polls: self.empty_polls,
            tallied: self.tallied,
            retries: self.retries,
            write_statements: self.write_statements,
            empty_writes: self.empty_writes,
            in_doubt: self.in_doubt,
            service: packed(&self.service),
            response: packed(&self.response),
            before: self.before,
        }
    }

    /// Clears all figures, and keeps the tallies' memory.
    fn clear(&mut self) {
        [&mut self.service, &mut self.response].into_iter().flatten().for_each(LatencyTally::clear);
        (self.count, self.errors, self.rows, self.before) = (0, 0, 0, (0.0, 0.0));
        (self.write_statements, self.empty_writes, self.empty_polls) = (0, 0, 0);
        (self.rolled_back, self.tallied, self.retries, self.in_doubt) = (0, 0, 0, 0);
    }

    #[inline]
    pub(super) fn time(&mut self, service_ns: u64) {
        self.service.get_or_insert_with(LatencyTally::precise).record(service_ns);
    }
}

impl PhaseTotals {
    /// Packs the present figures, and returns the totals empty for reuse.
    pub(super) fn pack(&mut self) -> Vec<ClassTotals> {
        let mut totals = std::mem::take(&mut self.totals);
        if !totals.is_empty() {
            self.packed.classes.resize_with(totals.len(), ClassResult::default);
            for (sum, totals) in self.packed.classes.iter_mut().zip(&mut totals) {
                sum.add(&totals.result());
                totals.clear();
            }
        }
        totals
    }
}

impl TargetTotals {
    pub(super) fn new(parts: usize) -> Self {
        let parts = (0..parts).map(|_| PhaseTotals::default()).collect();
        Self { parts, times: SessionTimes::default(), hot: HotCounts::default() }
    }

    /// Gives a part totals for this many classes.
    #[cold]
    pub(super) fn open(&mut self, part: usize, classes: usize) {
        let mut open = self.parts.iter().enumerate().filter(|(_, part)| !part.totals.is_empty());
        let (first, count) = (open.next().map(|(at, _)| at), open.count() + 1);
        self.parts[part].totals = match first.filter(|_| count >= OPEN_MAX) {
            Some(first) => self.parts[first].pack(),
            None => (0..classes).map(|_| ClassTotals::default()).collect(),
        };
    }
}
