//! Figures of one target: by part of the run, and by class.

use crate::packed::Packed;
use crate::tally::Tally;
use crate::thread_result::{ClassResult, HotCounts, PhaseResult, Times};

/// Phases of a target that have tallies at the same time: sessions are seldom in more than two. Beyond that the earliest
/// phase's are packed.
const OPEN_MAX: usize = 4;

/// On one target.
#[derive(Debug)]
pub(super) struct OfTarget {
    pub(super) parts: Vec<Part>,
    pub(super) times: Times,
    pub(super) hot: HotCounts,
}

/// Of the operations that were due in one part of a run.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// By number of the class; nothing as long as nothing counts.
    pub(super) totals: Vec<ClassTotals>,
    /// What there was before that.
    pub(super) packed: PhaseResult,
}

/// One class's figures, on their way to a [`ClassResult`].
#[derive(Debug, Default)]
pub(super) struct ClassTotals {
    pub(super) count: u64,
    pub(super) errors: u64,
    pub(super) rows: u64,
    pub(super) rolled_back: u64,
    pub(super) empty_polls: u64,
    pub(super) tallied: u64,
    /// Attempts that the database took back and that began again.
    pub(super) retries: u64,
    /// Statements that write, and those of them that changed no row.
    pub(super) write_statements: u64,
    pub(super) empty_writes: u64,
    /// Operations that lost their connection while a commit was under way.
    pub(super) in_doubt: u64,
    pub(super) service: Option<Tally>,
    pub(super) response: Option<Tally>,
    pub(super) before: (f64, f64),
}

impl ClassTotals {
    fn result(&self) -> ClassResult {
        let packed = |tally: &Option<Tally>| tally.as_ref().map(Packed::of).unwrap_or_default();
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

    /// Forgets everything, and keeps the tallies' memory.
    fn clear(&mut self) {
        [&mut self.service, &mut self.response].into_iter().flatten().for_each(Tally::clear);
        (self.count, self.errors, self.rows, self.before) = (0, 0, 0, (0.0, 0.0));
        (self.write_statements, self.empty_writes, self.empty_polls) = (0, 0, 0);
        (self.rolled_back, self.tallied, self.retries, self.in_doubt) = (0, 0, 0, 0);
    }

    #[inline]
    pub(super) fn time(&mut self, service_ns: u64) {
        self.service.get_or_insert_with(Tally::precise).record(service_ns);
    }
}

impl Part {
    /// Packs what there is, and gives its totals away, which are empty then.
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

impl OfTarget {
    pub(super) fn new(parts: usize) -> Self {
        let parts = (0..parts).map(|_| Part::default()).collect();
        Self { parts, times: Times::default(), hot: HotCounts::default() }
    }

    /// Gives a part totals of so many classes.
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
