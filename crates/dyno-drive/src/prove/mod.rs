//! Proofs: what is measured held against what is known beforehand, or against what a database itself holds afterwards.
//!
//! [`window`] drives a scripted database whose every operation, time and counter is known, and compares each recorded
//! figure with the scripted one.

mod distribution;
mod figure;
mod scene;
mod window;

pub use figure::Figure;
pub use window::window;
