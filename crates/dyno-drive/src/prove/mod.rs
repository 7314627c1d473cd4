//! Proofs: what is measured held against what is known beforehand, or against what a database itself holds afterwards.
//!
//! - [`window`] drives a scripted database whose every operation, time and counter is known, and compares each recorded
//!   figure with the scripted one;
//! - a [`Book`] notes, row by row, what the database acknowledged to the sessions of a run;
//! - [`rows`] holds that account against the version counters that the rows themselves carry.

mod counted;
mod distribution;
mod figure;
pub mod rows;
mod scene;
mod stalls;
mod window;

pub use crate::witness::Book;
pub use figure::Figure;
pub use rows::{Account, Start};
pub use window::window;
