//! Tables that a workload describes: columns with types and generators, filled row by row.
//!
//! A value is a pure function of the data's seed, the table's name, the row's number and the column's name.
//! Another engine, another number of connections or further columns do not change it.

mod column;
mod overflow;
mod read;
mod rows;
mod table;
mod type_check;

pub(super) use read::{DescribedTables, read};
pub use rows::TableRowMaker;
pub use table::{DescribedIndex, DescribedTable};
