//! Where a transaction of several commits goes on when one of its parts is taken back for a conflict: at the part's beginning.

use super::draws::Keys;
use super::state::{Outcome, State};
use super::value::Held;

/// What a session held before the part that is under way, which is all that is left of it when it is taken back.
#[derive(Debug)]
pub(super) struct Safe {
    held: Box<[Held]>,
    bytes: Box<[u8]>,
    keys: Keys,
    outcome: Outcome,
    next: u32,
    turns: u32,
}

impl State {
    /// Notes where it is: behind this, all is taken back together, and all before it stays.
    pub(super) fn secure(&mut self) {
        let Self { hold, keys, outcome, next, turns, pipe, .. } = self;
        let (keys, outcome, next, turns) = (*keys, *outcome, *next, *turns);
        match &mut pipe.safe {
            Some(safe) => {
                safe.held.copy_from_slice(&hold.held);
                safe.bytes.copy_from_slice(&hold.bytes);
                (safe.keys, safe.outcome, safe.next, safe.turns) = (keys, outcome, next, turns);
            }
            none => {
                let (held, bytes) = (hold.held.clone(), hold.bytes.clone());
                *none = Some(Safe { held, bytes, keys, outcome, next, turns });
            }
        }
    }

    /// Goes back there. What counts, such as a sequence, goes on.
    pub(super) fn return_to_safe(&mut self) {
        let Some(safe) = &self.pipe.safe else { return };
        self.hold.held.copy_from_slice(&safe.held);
        self.hold.bytes.copy_from_slice(&safe.bytes);
        (self.keys, self.outcome, self.next, self.turns) = (safe.keys, safe.outcome, safe.next, safe.turns);
        (self.asked, self.is_open, self.has_written) = (None, false, false);
    }
}
