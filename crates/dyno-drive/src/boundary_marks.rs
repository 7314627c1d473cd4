//! Records what a session had done when the database's counters were read at a window boundary.
//!
//! Counters and operations agree exactly only if both cover the same operations. No session has to stop for
//! that. From the time it reaches a boundary until the snapshot is requested, a session notes its work
//! whenever that becomes visible. The last such note is what the snapshot includes. If work may have become
//! visible during the reading, there are two notes, and the truth lies between them.

use serde::{Deserialize, Serialize};

use crate::lifetime_counts::LifetimeCounts;

/// How often a session publishes its work again while others have not reached the boundary.
pub(crate) const REFRESH_NS: u64 = 150_000_000;

/// What a session had done at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionMark {
    pub(crate) at_ns: u64,
    pub(crate) life: LifetimeCounts,
}

/// What the snapshot of a boundary includes of one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionMarkBounds {
    /// The lower bound; absent for a session that reached the boundary after the snapshot.
    pub(crate) low: Option<SessionMark>,
    /// The upper bound, if it may be higher.
    pub(crate) high: Option<SessionMark>,
    /// When the session requested that work up to `low` becomes visible. The server answered between that
    /// time and the mark's own time, which is much later if this process was suspended.
    #[serde(default)]
    pub(crate) asked_ns: u64,
    /// Whether the first mark after the snapshot arrived has been noted; later work is not in it.
    #[serde(default)]
    pub(crate) is_complete: bool,
}

impl SessionMarkBounds {
    /// Notes that work up to `mark` is visible, as the session requested at `asked_ns`. With `is_read` the
    /// snapshot was requested meanwhile, so it may or may not include this work.
    pub(crate) fn note_visible(&mut self, mark: SessionMark, asked_ns: u64, is_read: bool) {
        match (is_read, &self.low) {
            (false, _) => *self = Self { low: Some(mark), asked_ns, ..Self::default() },
            // It is unknown what the snapshot included before this session arrived.
            (true, None) => {}
            (true, Some(_)) => self.high = Some(mark),
        }
    }

    /// Completes the bounds: the snapshot arrived at `answered_ns`. A session that publishes its work has
    /// shown nothing since its last note, unless more than `held_back_ns` has passed, for which the server
    /// shows nothing on its own. Work of other sessions is visible at once.
    pub(crate) fn note_answered(&mut self, mark: SessionMark, answered_ns: u64, held_back_ns: Option<u64>) {
        let Some(low) = self.low.as_ref().filter(|_| !self.is_complete) else { return };
        // A single call that began after the last note was in progress during the whole reading.
        let shown = held_back_ns.is_none_or(|held_back_ns| {
            answered_ns.min(mark.at_ns).saturating_sub(self.asked_ns.min(low.at_ns)) > held_back_ns
                && mark.life.calls() > low.life.calls() + 1
        });
        // Also where a note was made while the counters were read: the operation after it may be included,
        // too.
        if shown {
            self.high = Some(mark);
        }
        self.is_complete = true;
    }

    /// The most that the snapshot can include.
    pub(crate) fn upper(&self) -> Option<&SessionMark> {
        self.high.as_ref().or(self.low.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD_BACK_NS: u64 = 250_000_000;

    fn mark(at_ns: u64, commits: u64) -> SessionMark {
        SessionMark {
            at_ns,
            life: LifetimeCounts { ops: vec![commits], commits, ..LifetimeCounts::default() },
        }
    }

    fn commits(marks: &SessionMarkBounds) -> (Option<u64>, Option<u64>) {
        let commits_of = |mark: Option<&SessionMark>| mark.map(|mark| mark.life.commits);
        (commits_of(marks.low.as_ref()), commits_of(marks.upper()))
    }

    #[test]
    fn snapshot_contains_last_mark_before_it() {
        let mut marks = SessionMarkBounds::default();
        marks.note_visible(mark(1, 10), 1, false);
        marks.note_visible(mark(REFRESH_NS, 20), REFRESH_NS, false);
        marks.note_answered(mark(REFRESH_NS + 5, 25), REFRESH_NS + 1, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(20), Some(20)));
    }

    #[test]
    fn work_visible_during_the_snapshot_may_be_included() {
        let mut marks = SessionMarkBounds::default();
        marks.note_visible(mark(1, 10), 1, false);
        marks.note_visible(mark(9, 12), 9, true);
        marks.note_answered(mark(20, 15), 10, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(10), Some(12)));
    }

    #[test]
    fn snapshot_may_include_work_done_during_its_read() {
        let mut marks = SessionMarkBounds::default();
        marks.note_visible(mark(1, 10), 1, false);
        marks.note_answered(mark(20, 15), 10, None);
        assert_eq!(commits(&marks), (Some(10), Some(15)));
    }

    #[test]
    fn an_operation_after_a_note_during_the_reading_may_be_included() {
        let mut marks = SessionMarkBounds::default();
        marks.note_visible(mark(1, 10), 1, false);
        marks.note_visible(mark(9, 12), 9, true);
        marks.note_answered(mark(20, 13), 10, None);
        marks.note_answered(mark(30, 25), 10, None);
        assert_eq!(commits(&marks), (Some(10), Some(13)));
    }

    #[test]
    fn long_snapshot_may_include_work_up_to_the_next_mark() {
        let mut marks = SessionMarkBounds::default();
        marks.note_visible(mark(1, 10), 1, false);
        marks.note_answered(mark(9 + HELD_BACK_NS, 90), 2 + HELD_BACK_NS, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(10), Some(90)));
    }

    #[test]
    fn session_suspended_while_noting_may_have_shown_more_work() {
        let mut marks = SessionMarkBounds::default();
        // It requested at 1, the server answered then, and the process received that long after.
        marks.note_visible(mark(2 + HELD_BACK_NS, 10), 1, false);
        marks.note_answered(mark(9 + HELD_BACK_NS, 35), 8 + HELD_BACK_NS, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(10), Some(35)));
    }

    #[test]
    fn work_after_snapshot_is_excluded_from_it() {
        let mut marks = SessionMarkBounds::default();
        marks.note_visible(mark(1, 10), 1, false);
        marks.note_answered(mark(2 + 10 * HELD_BACK_NS, 90), 5, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(10), Some(10)));
    }

    #[test]
    fn operation_in_progress_throughout_snapshot_is_not_counted() {
        let mut marks = SessionMarkBounds::default();
        marks.note_visible(mark(1, 10), 1, false);
        marks.note_answered(mark(9 + 10 * HELD_BACK_NS, 11), 2 + 10 * HELD_BACK_NS, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (Some(10), Some(10)));
    }

    #[test]
    fn late_session_makes_commit_bounds_unknown() {
        let mut marks = SessionMarkBounds::default();
        marks.note_visible(mark(1, 10), 1, true);
        marks.note_answered(mark(20, 15), 10, Some(HELD_BACK_NS));
        assert_eq!(commits(&marks), (None, None));
    }
}
