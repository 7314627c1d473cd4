//! Tables that a workload describes: columns with types and what they are filled with, row by row.
//!
//! A value is a pure function of the data's seed, the table's name, the row's number and the column's own name: another engine,
//! another number of connections or another column beside it changes nothing about it.

mod column;
mod fit;
mod overflow;
mod read;
mod rows;
mod table;

pub(super) use read::{Described, read};
pub use rows::RowMaker;
pub use table::{DescribedIndex, DescribedTable};
