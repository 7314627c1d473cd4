//! Loads Dyno's data into a database server; engines with a server share this code.
//!
//! Each engine defines how to create, fill and measure a table. The shared code recognizes existing data,
//! resumes after the last complete chunk, loads over parallel connections, records measured figures, and
//! checks rows.

mod faults;
mod load;
mod loading;
mod meta;
mod table;

pub use faults::{checked_key, ends_fault, group_fault, keys_fault, once_fault};
pub use load::{LoadSteps, refused};
pub use loading::{ChunkPositions, LoadTotals, ParallelLoad, all_taken};
pub use meta::{LayoutMetadata, MARK, MetadataLocation, chunks, fresh_mark, pairs};
pub use table::{RowText, TestTable, columns, text_columns, updated_columns};
