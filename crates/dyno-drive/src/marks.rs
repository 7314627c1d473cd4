//! Where a session stood when the database's counters were read at an edge of the window.
//!
//! Counters and operations agree to the unit only if both speak of the same operations. Which ones a snapshot holds is known
//! without stopping anybody: from the moment an edge is reached until its snapshot is asked for, a session notes what it has
//! done whenever that becomes visible, and the last such note is what the snapshot holds of it. Where a session may have
//! become visible while the snapshot was read, there are two notes, and the truth lies between them.

use serde::{Deserialize, Serialize};

use crate::life::Life;

/// How often a session makes its work visible again while others are still on their way to an edge.
pub(crate) const REFRESH_NS: u64 = 150_000_000;

/// What a session had done at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) at_ns: u64,
    pub(crate) life: Life,
}

/// What an edge's snapshot holds of one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Marks {
    /// At least this; nothing is known of a session that reached the edge after the snapshot.
    pub(crate) low: Option<Mark>,
    /// At most this, where it may be more.
    pub(crate) high: Option<Mark>,
    /// When the session asked for the work up to `low` to be visible. The server answered any time between that and the mark's own
    /// moment, which is much later where this process was suspended.
    #[serde(default)]
    pub(crate) asked_ns: u64,
}

impl Marks {
    /// What was done by `mark` is visible, for which the session asked at `asked_ns`. `is_read`: the snapshot was asked for
    /// meanwhile, so it may hold this or not.
    pub(crate) fn visible(&mut self, mark: Mark, asked_ns: u64, is_read: bool) {
        match (is_read, &self.low) {
            (false, _) => *self = Self { low: Some(mark), high: None, asked_ns },
            // What it held before this session came is not known.
            (true, None) => {}
            (true, Some(_)) => self.high = Some(mark),
        }
    }

    /// The snapshot has been there since `answered_ns`. A session that makes its work visible had shown nothing since its last
    /// note, unless more than the `held_back_ns` had passed for which it shows nothing by itself; what any other does is
    /// visible at once.
    pub(crate) fn settle(&mut self, mark: Mark, answered_ns: u64, held_back_ns: Option<u64>) {
        let Some(low) = &self.low else { return };
        // One call that began after the last note was under way all the time that the snapshot was read.
        let shown = held_back_ns.is_none_or(|held_back_ns| {
            answered_ns.min(mark.at_ns).saturating_sub(self.asked_ns.min(low.at_ns)) > held_back_ns
                && mark.life.calls() > low.life.calls() + 1
        });
        if self.high.is_none() && shown {
            self.high = Some(mark);
        }
    }

    /// The most that the snapshot can hold.
    pub(crate) fn most(&self) -> Option<&Mark> {
        self.high.as_ref().or(self.low.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD_BACK_NS: u64 = 250_000_000;

    fn mark(at_ns: u64, commits: u64) -> Mark {
        Mark { at_ns, life: Life { ops: vec![commits], commits, ..Life::default() } }
    }

    fn commits(marks: &Marks) -> (Option<u64>, Option<u64>) {
        let of = |mark: Option<&Mark>| mark.map(|mark| mark.life.commits);
        (of(marks.low.as_ref()), of(marks.most()))
    }

    #[test]
    fn the_last_note_before_the_snapshot_is_what_it_holds() {
        let mut marks = Marks::default();
        marks.visible(mark(1, 10), 1, false);
        marks.visible(mark(REFRESH_NS, 20), REFRESH_NS, false);
        marks.settle(mark(REFRESH_NS + 5, 25), REFRESH_NS + 1, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(20), Some(20)));
    }

    #[test]
    fn what_became_visible_meanwhile_may_be_in_it() {
        let mut marks = Marks::default();
        marks.visible(mark(1, 10), 1, false);
        marks.visible(mark(9, 12), 9, true);
        marks.settle(mark(20, 15), 10, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(10), Some(12)));
    }

    #[test]
    fn where_work_is_visible_at_once_it_may_hold_all_that_was_done_while_it_was_read() {
        let mut marks = Marks::default();
        marks.visible(mark(1, 10), 1, false);
        marks.settle(mark(20, 15), 10, None);
        assert_eq!(commits(&marks), (Some(10), Some(15)));
    }

    #[test]
    fn a_long_reading_leaves_open_what_sessions_showed_by_themselves() {
        let mut marks = Marks::default();
        marks.visible(mark(1, 10), 1, false);
        marks.settle(mark(9 + HELD_BACK_NS, 90), 2 + HELD_BACK_NS, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(10), Some(90)));
    }

    #[test]
    fn a_session_that_was_suspended_in_its_note_may_have_shown_more_at_once() {
        let mut marks = Marks::default();
        // It asked at 1, the server answered then, and the process heard of it long after.
        marks.visible(mark(2 + HELD_BACK_NS, 10), 1, false);
        marks.settle(mark(9 + HELD_BACK_NS, 35), 8 + HELD_BACK_NS, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(10), Some(35)));
    }

    #[test]
    fn what_a_session_did_after_the_snapshot_was_there_is_not_in_it() {
        let mut marks = Marks::default();
        marks.visible(mark(1, 10), 1, false);
        marks.settle(mark(2 + 10 * HELD_BACK_NS, 90), 5, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(10), Some(10)));
    }

    #[test]
    fn an_operation_that_was_under_way_all_the_time_is_not_in_it() {
        let mut marks = Marks::default();
        marks.visible(mark(1, 10), 1, false);
        marks.settle(mark(9 + 10 * HELD_BACK_NS, 11), 2 + 10 * HELD_BACK_NS, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(10), Some(10)));
    }

    #[test]
    fn of_a_session_that_came_too_late_nothing_is_known() {
        let mut marks = Marks::default();
        marks.visible(mark(1, 10), 1, true);
        marks.settle(mark(20, 15), 10, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (None, None));
    }
}
