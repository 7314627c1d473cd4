//! HTML reports: tables out of tags.

mod cell;
mod entity;
mod tables;
mod token;

pub(crate) use tables::read;
