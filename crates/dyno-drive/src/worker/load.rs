//! A session that loads parts of a table: it waits until the counters of the window's begin are read, and again when there is nothing
//! left to load, so that the window's counters hold all of the load and nothing else.

use super::Worker;
use crate::counts::Counts;

/// The end of a rest that only another phase ends.
const FOR_GOOD_NS: u64 = u64::MAX;

impl Worker {
    /// Rests until there is something to do.
    pub(super) fn wait_for_work(&mut self, counts: &mut Counts) {
        let now_ns = self.clock.now_ns();
        self.recorder.think(counts, now_ns, FOR_GOOD_NS);
    }

    /// The counters of the window's begin are there: the load begins now.
    pub(super) fn begin_load(&mut self, counts: &mut Counts) {
        self.recorder.begin_late(self.clock.now_ns());
        self.next_part(counts);
    }

    /// Takes the next part, or rests for good.
    #[cold]
    pub(super) fn next_part(&mut self, counts: &mut Counts) {
        if self.actor.take_part() {
            return;
        }
        if self.ops_wanted.take().is_some() {
            self.shared.note_reached_ops();
        }
        self.wait_for_work(counts);
    }
}
