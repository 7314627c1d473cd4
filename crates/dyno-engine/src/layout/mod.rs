//! Dyno's data in a database that keeps it in tables: what engines with a server of their own load alike.
//!
//! Each engine says how a table is made, filled and measured; that a load recognises what is there, resumes after its last
//! whole chunk, works on several connections and notes what it measured is the same for all, and so is what may be wrong with
//! a row.

mod faults;
mod load;
mod loading;
mod meta;
mod table;

pub use faults::{checked_key, ends_fault, group_fault, keys_fault, once_fault};
pub use load::{Steps, refused};
pub use loading::{Chunks, Loading, Written, all_taken};
pub use meta::{Home, MARK, Notes, chunks, fresh_mark, pairs};
pub use table::{RowText, Table, columns, text_columns, updated_columns};
