//! What is drawn: numbers, texts and whatever else statements are given, each under a name.
//!
//! A value is a pure function of seed, session, number of the transaction and the draw's own name: another draw, another
//! engine or another number of hosts changes nothing about it.

mod calendar;
mod draw;
mod law;
mod null;
mod numbers;
mod read;
mod read_number;
mod read_text;
mod reading;
mod template;
mod texts;

pub(super) use draw::{Draw, Draws, Keys, When};
pub(super) use law::Law;
pub(super) use null::{NULL, NULL_PARTS, null_share};
pub(super) use read::{read, read_columns};
pub(super) use reading::{COLUMN_BYTES_MAX, Constants, Names, numeric};
