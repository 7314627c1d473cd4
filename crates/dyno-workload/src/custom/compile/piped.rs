//! Counts how often a transaction waits for the server if its requests are sent together.

use super::{RoundTrips, TransactionCompiler, add_trips};
use crate::custom::steps::TransactionStep;

/// Queued requests at one point of a transaction: definitely, and possibly.
#[derive(Debug, Clone, Copy, Default)]
struct PendingRequests {
    any: (bool, bool),
    /// A queued request whose rows must be checked before the commit.
    unchecked: (bool, bool),
}

impl PendingRequests {
    fn or(self, other: Self) -> Self {
        let or = |x: (bool, bool), y: (bool, bool)| (x.0 && y.0, x.1 || y.1);
        Self { any: or(self.any, other.any), unchecked: or(self.unchecked, other.unchecked) }
    }
}

fn optional_trip((surely, maybe): (bool, bool)) -> RoundTrips {
    (u64::from(surely), Some(u64::from(maybe)))
}

impl TransactionCompiler<'_> {
    /// Round trips of a database transaction with these steps if its requests are sent together.
    pub(super) fn pipelined_trips(&self, steps: &[TransactionStep]) -> RoundTrips {
        let mut pending = PendingRequests { any: (true, true), ..PendingRequests::default() };
        let trips = self.piped_steps(steps, &mut pending);
        // One round trip for requests to check, then one for the commit with all queued requests.
        add_trips(add_trips(trips, optional_trip(pending.unchecked)), (1, Some(1)))
    }

    fn piped_steps(&self, steps: &[TransactionStep], pending: &mut PendingRequests) -> RoundTrips {
        let mut trips = (0, Some(0));
        for step in steps {
            let step_trips = match step {
                TransactionStep::Run { read: None, count: None, rows, .. } => {
                    pending.any = (true, true);
                    if rows.is_some() {
                        pending.unchecked = (true, true);
                    }
                    (0, Some(0))
                }
                TransactionStep::Run { .. } => {
                    *pending = PendingRequests::default();
                    (1, Some(1))
                }
                TransactionStep::Sleep { .. } => optional_trip(std::mem::take(pending).any),
                TransactionStep::If { then, otherwise, .. } => {
                    let mut other = *pending;
                    let (one, two) =
                        (self.piped_steps(then, pending), self.piped_steps(otherwise, &mut other));
                    *pending = pending.or(other);
                    (one.0.min(two.0), one.1.zip(two.1).map(|(x, y)| x.max(y)))
                }
                TransactionStep::Repeat { times, steps, .. } => {
                    let before = *pending;
                    let inner = self.piped_steps(steps, pending);
                    let turns = self.repeat_bounds(&times.expr);
                    if turns.is_none_or(|(least, _)| least == 0) {
                        *pending = pending.or(before);
                    }
                    let most = match inner.1 {
                        Some(0) => Some(0),
                        inner => turns.zip(inner).map(|((_, most), inner)| most.saturating_mul(inner)),
                    };
                    (turns.map_or(0, |(least, _)| least).saturating_mul(inner.0), most)
                }
                TransactionStep::Rollback { .. }
                | TransactionStep::Set { .. }
                | TransactionStep::Tally(_) => (0, Some(0)),
                TransactionStep::Transaction { steps, .. } => self.piped_steps(steps, pending),
            };
            trips = add_trips(trips, step_trips);
        }
        trips
    }
}
