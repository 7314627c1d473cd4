//! Generators: numbers, texts and other values for statements, each with a name.
//!
//! A value is a pure function of seed, session, transaction number and generator name. Other generators,
//! another engine or more hosts do not change it.

mod calendar;
mod draw;
mod generators;
mod null;
mod numbers;
mod random_text;
mod read;
mod read_number;
mod read_text;
mod reading;
mod template;

pub(super) use draw::{DrawDefinition, DrawFrequency, DrawSeeds, Draws};
pub(super) use generators::ValueGenerator;
pub(super) use null::{NULL, NULL_PARTS, null_share};
pub(super) use read::{read, read_columns};
pub(super) use reading::{COLUMN_BYTES_MAX, Constants, Names, numeric};
