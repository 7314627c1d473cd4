//! Text reports: extracts tables from lines under rulers of dashes.

mod head;
mod lines;
mod open;
mod ruler;
mod tables;
mod wrapped;

pub(crate) use tables::read;
