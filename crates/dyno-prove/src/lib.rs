//! Proofs: compare measurements with values known beforehand, or with what a database contains afterwards.
//!
//! - [`window`] drives a [`scripted`] database whose every operation, time and counter is known, and compares
//!   each recorded figure with the scripted one;
//! - an [`AckLedger`](dyno_drive::AckLedger) notes, row by row, what the database acknowledged to the sessions of
//!   a run;
//! - [`rows`] compares that ledger with the version counters in the rows themselves.

mod counted;
mod distribution;
mod figure;
pub mod rows;
mod scene;
pub mod scripted;
mod stalls;
mod window;

pub use figure::ProofFigure;
pub use rows::{RowComparison, RowVersionBaseline};
pub use window::window;
