//! A session that loads batches of a table. It waits until the counters of the window's begin are read, and
//! again when nothing is left to load. The window's counters then include the whole load and nothing else.

use super::SessionWorker;
use crate::counts::ThreadCounts;

/// The end of a pause that only a change of phase ends.
const FOR_GOOD_NS: u64 = u64::MAX;

impl SessionWorker {
    /// Pauses until there is a batch to load.
    pub(super) fn wait_for_work(&mut self, counts: &mut ThreadCounts) {
        let now_ns = self.clock.now_ns();
        self.recorder.think(counts, now_ns, FOR_GOOD_NS);
    }

    /// Begins the load: the counters of the window's begin have been read.
    pub(super) fn begin_load(&mut self, counts: &mut ThreadCounts) {
        self.recorder.begin_late(self.clock.now_ns());
        self.next_part(counts);
    }

    /// Takes the next batch, or pauses until the run ends.
    #[cold]
    pub(super) fn next_part(&mut self, counts: &mut ThreadCounts) {
        if self.actor.take_part() {
            return;
        }
        if self.ops_wanted.take().is_some() {
            self.shared.note_reached_ops();
        }
        self.wait_for_work(counts);
    }
}
