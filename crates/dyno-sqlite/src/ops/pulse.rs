//! When a session publishes its counters of its own accord.
//!
//! The series of a run wants counters that move while sessions work, and the hot path wants no clock of ours. So short
//! operations look at the clock only once in a while, and publish when a tenth of a second has passed. After an edge
//! nothing is published for a while: the snapshot that belongs to the edge shall not see what came after it.

/// Time between two publications, in nanoseconds.
const EVERY_NS: u64 = 100_000_000;

/// Time after an edge in which nothing is published, in nanoseconds. Sessions reach an edge within one operation of
/// each other, and the snapshot follows.
pub(crate) const QUIET_NS: u64 = 250_000_000;

/// Rows that are read between two looks at the clock: some tens of microseconds of work at the least.
const ROWS_PER_LOOK: u64 = 64;

/// One session's pulse.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    rows_until_look: u64,
    due_ns: u64,
}

impl Pulse {
    /// Notes an operation of `rows`; whether it is time to look at the clock.
    #[inline]
    pub(super) fn beat(&mut self, rows: u64) -> bool {
        self.rows_until_look = self.rows_until_look.saturating_sub(rows.max(1));
        self.rows_until_look == 0
    }

    /// Whether it is time to publish.
    pub(super) fn due(&mut self, now_ns: u64) -> bool {
        self.rows_until_look = ROWS_PER_LOOK;
        let due = now_ns >= self.due_ns;
        if due {
            self.due_ns = now_ns + EVERY_NS;
        }
        due
    }

    /// Notes an edge.
    pub(super) fn edge(&mut self, now_ns: u64) {
        self.due_ns = now_ns + QUIET_NS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookups_look_at_the_clock_once_in_64_and_nothing_is_published_after_an_edge() {
        let mut pulse = Pulse::default();
        assert!(pulse.beat(1) && pulse.due(1));
        let looks = (0..6_400).filter(|_| pulse.beat(1) && !pulse.due(2)).count();
        assert_eq!(looks, 100);
        pulse.edge(1_000);
        assert!(!pulse.due(QUIET_NS));
        assert!(pulse.due(1_000 + QUIET_NS));
        assert!(!pulse.due(1_000 + QUIET_NS + EVERY_NS - 1));
        assert!(pulse.due(1_000 + QUIET_NS + EVERY_NS));
    }
}
