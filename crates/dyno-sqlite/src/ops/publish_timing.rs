//! Decides when a session publishes its counters between window boundaries.
//!
//! The series of a run needs counters that change while sessions work, and the hot path must not read the
//! clock for each operation. Short operations therefore read the clock only now and then, and publish after a
//! tenth of a second. After a window boundary nothing is published for a while, because the boundary's
//! snapshot must not include later work.

/// Time between two publications, in nanoseconds.
const EVERY_NS: u64 = 100_000_000;

/// Time in nanoseconds after a window boundary in which nothing is published. Sessions reach a boundary
/// within one operation of each other, and the snapshot follows.
pub(crate) const QUIET_NS: u64 = 250_000_000;

/// Rows that are read between two readings of the clock, which is at least some tens of microseconds of work.
const ROWS_PER_LOOK: u64 = 64;

/// The publication timer of one session.
#[derive(Debug, Default)]
pub(super) struct SqlitePublishTimer {
    rows_until_look: u64,
    due_ns: u64,
}

impl SqlitePublishTimer {
    /// Records an operation of `rows`; returns whether to read the clock.
    #[inline]
    pub(super) fn should_check_clock(&mut self, rows: u64) -> bool {
        self.rows_until_look = self.rows_until_look.saturating_sub(rows.max(1));
        self.rows_until_look == 0
    }

    /// Whether it is time to publish.
    pub(super) fn is_due(&mut self, now_ns: u64) -> bool {
        self.rows_until_look = ROWS_PER_LOOK;
        let due = now_ns >= self.due_ns;
        if due {
            self.due_ns = now_ns + EVERY_NS;
        }
        due
    }

    /// Records a window boundary, after which publication pauses.
    pub(super) fn delay_after_edge(&mut self, now_ns: u64) {
        self.due_ns = now_ns + QUIET_NS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publish_timer_samples_clock_and_pauses_after_boundary() {
        let mut pulse = SqlitePublishTimer::default();
        assert!(pulse.should_check_clock(1));
        assert!(pulse.is_due(1));
        let looks = (0..6_400).filter(|_| pulse.should_check_clock(1) && !pulse.is_due(2)).count();
        assert_eq!(looks, 100);
        pulse.delay_after_edge(1_000);
        assert!(!pulse.is_due(QUIET_NS));
        assert!(pulse.is_due(1_000 + QUIET_NS));
        assert!(!pulse.is_due(1_000 + QUIET_NS + EVERY_NS - 1));
        assert!(pulse.is_due(1_000 + QUIET_NS + EVERY_NS));
    }
}
