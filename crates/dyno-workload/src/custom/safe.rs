//! The point where a transaction with several commits resumes after a conflict: the start of the part that
//! was rolled back.

use super::draws::DrawSeeds;
use super::outcome::TransactionOutcome;
use super::value::{HeldValue, SessionValues};

/// Seeds, outcome, next instruction, and number of iterations.
type SavepointPosition = (DrawSeeds, TransactionOutcome, u32, u32);

/// The state of a session at the start of the current part, to restore after a rollback.
#[derive(Debug)]
pub(super) struct TransactionSavepoint {
    held: Box<[HeldValue]>,
    bytes: Box<[u8]>,
    at: SavepointPosition,
}

impl TransactionSavepoint {
    pub(super) fn new(hold: &SessionValues, at: SavepointPosition) -> Self {
        Self { held: hold.held.clone(), bytes: hold.bytes.clone(), at }
    }

    /// Saves the current state instead of the earlier one.
    pub(super) fn note(&mut self, hold: &SessionValues, at: SavepointPosition) {
        self.held.copy_from_slice(&hold.held);
        self.bytes.copy_from_slice(&hold.bytes);
        self.at = at;
    }

    /// Restores the values in `hold`; returns the saved position.
    pub(super) fn restore(&self, hold: &mut SessionValues) -> SavepointPosition {
        hold.held.copy_from_slice(&self.held);
        hold.bytes.copy_from_slice(&self.bytes);
        self.at
    }
}
