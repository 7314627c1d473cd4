//! Text reports: tables out of lines under rulers of dashes.

mod head;
mod lines;
mod open;
mod ruler;
mod tables;

pub(crate) use tables::read;
