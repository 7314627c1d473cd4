//! Tables that a workload describes, on a target: made, filled, looked at and dropped.
//!
//! A book in the database says what was made and how far it came. Every part of a table is written in one transaction with its
//! line in the book, so that a load which is killed goes on behind its last whole part, and nothing is there twice.

mod book;
mod bulk;
mod create;
mod drop;
mod fill;
mod finish;
mod load;
mod require;

pub(crate) use bulk::{loaded, make_empty};
pub(crate) use drop::{inventory, take_down};
pub(crate) use load::{Replace, load};
pub(crate) use require::{holds, require};
