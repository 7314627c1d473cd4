//! How often a transaction waits for the server where requests are sent together.

use super::{Maker, Trips, plus};
use crate::own::steps::Step;

/// What is kept at a place of a transaction: surely, and at most.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    any: (bool, bool),
    /// Something whose rows have to be looked at before the commit.
    unchecked: (bool, bool),
}

impl Kept {
    fn or(self, other: Self) -> Self {
        let or = |x: (bool, bool), y: (bool, bool)| (x.0 && y.0, x.1 || y.1);
        Self { any: or(self.any, other.any), unchecked: or(self.unchecked, other.unchecked) }
    }
}

fn once((surely, maybe): (bool, bool)) -> Trips {
    (u64::from(surely), Some(u64::from(maybe)))
}

impl Maker<'_> {
    /// Round trips of a transaction of the database with these steps whose requests are sent together.
    pub(super) fn piped(&self, steps: &[Step]) -> Trips {
        let mut kept = Kept { any: (true, true), ..Kept::default() };
        let trips = self.piped_steps(steps, &mut kept);
        // What has to be looked at, and then the commit with all that is kept.
        plus(plus(trips, once(kept.unchecked)), (1, Some(1)))
    }

    fn piped_steps(&self, steps: &[Step], kept: &mut Kept) -> Trips {
        let mut trips = (0, Some(0));
        for step in steps {
            let own = match step {
                Step::Run { read: None, count: None, rows, .. } => {
                    kept.any = (true, true);
                    if rows.is_some() {
                        kept.unchecked = (true, true);
                    }
                    (0, Some(0))
                }
                Step::Run { .. } => {
                    *kept = Kept::default();
                    (1, Some(1))
                }
                Step::Sleep { .. } => once(std::mem::take(kept).any),
                Step::If { then, otherwise, .. } => {
                    let mut other = *kept;
                    let (one, two) = (self.piped_steps(then, kept), self.piped_steps(otherwise, &mut other));
                    *kept = kept.or(other);
                    (one.0.min(two.0), one.1.zip(two.1).map(|(x, y)| x.max(y)))
                }
                Step::Repeat { times, steps, .. } => {
                    let before = *kept;
                    let inner = self.piped_steps(steps, kept);
                    let turns = self.turns(&times.expr);
                    if turns.is_none_or(|(least, _)| least == 0) {
                        *kept = kept.or(before);
                    }
                    let most = match inner.1 {
                        Some(0) => Some(0),
                        inner => turns.zip(inner).map(|((_, most), inner)| most.saturating_mul(inner)),
                    };
                    (turns.map_or(0, |(least, _)| least).saturating_mul(inner.0), most)
                }
                Step::Rollback { .. } | Step::Set { .. } | Step::Tally(_) => (0, Some(0)),
                Step::Transaction { steps, .. } => self.piped_steps(steps, kept),
            };
            trips = plus(trips, own);
        }
        trips
    }
}
