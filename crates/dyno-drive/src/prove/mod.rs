//! Proofs: what is measured held against what is known beforehand, or against what a database itself holds afterwards.
//!
//! - [`window`] drives a scripted database whose every operation, time and counter is known, and compares each recorded
//!   figure with the scripted one;
//! - [`witness`] stands between a run and its target and notes, row by row, what the database acknowledged;
//! - [`rows`] holds that account against the version counters that the rows themselves carry.

mod counted;
mod distribution;
mod figure;
pub mod rows;
mod scene;
mod stalls;
mod window;
pub mod witness;

pub use figure::Figure;
pub use rows::{Account, Start};
pub use window::window;
pub use witness::{Book, Witness};
