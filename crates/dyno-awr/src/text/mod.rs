//! Text reports: tables out of lines under rulers of dashes.

mod head;
mod lines;
mod open;
mod ruler;
mod tables;
mod wrapped;

pub(crate) use tables::read;
