//! HTML reports: extracts tables from tags.

mod cell;
mod entity;
mod plain;
mod tables;
mod tag;
mod token;

pub(crate) use plain::plain;
pub(crate) use tables::read;
