//! Where a transaction of several commits goes on when one of its parts is taken back for a conflict: at the part's beginning.

use super::draws::Keys;
use super::outcome::Outcome;
use super::value::{Held, Hold};

/// What values are drawn with, what has come of the transaction, what comes next in its code, and how many turns it has made.
type At = (Keys, Outcome, u32, u32);

/// What a session held before the part that is under way, which is all that is left of it when it is taken back.
#[derive(Debug)]
pub(super) struct Safe {
    held: Box<[Held]>,
    bytes: Box<[u8]>,
    at: At,
}

impl Safe {
    pub(super) fn new(hold: &Hold, at: At) -> Self {
        Self { held: hold.held.clone(), bytes: hold.bytes.clone(), at }
    }

    /// Takes the place of what was noted before.
    pub(super) fn note(&mut self, hold: &Hold, at: At) {
        self.held.copy_from_slice(&hold.held);
        self.bytes.copy_from_slice(&hold.bytes);
        self.at = at;
    }

    /// Gives `hold` back what it held, and tells where that was.
    pub(super) fn restore(&self, hold: &mut Hold) -> At {
        hold.held.copy_from_slice(&self.held);
        hold.bytes.copy_from_slice(&self.bytes);
        self.at
    }
}
