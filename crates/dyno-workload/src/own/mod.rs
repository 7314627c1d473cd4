//! Users' own SQL: a workload is a folder.
//!
//! | file | job |
//! | --- | --- |
//! | `fault`, `names`, `table`, `options`, `folder` | what users wrote, with the place of everything, and what goes by an option |
//! | `sql` | statements and their parameters out of a file of SQL |
//! | `value`, `expr`, `draws` | values, expressions, and what is drawn |
//! | `scale`, `tables`, `bulk` | numbers that grow with the scale, the tables that are described, and the one that transactions load |
//! | `steps`, `assign`, `isolation`, `transaction`, `prepare`, `program`, `compile` | from the steps of a transaction to what is done one after the other |
//! | `scripts`, `expect`, `read_transaction`, `mixes`, `writing`, `read`, `workload`, `describe` | the whole, and what can be told of it |
//! | `outcome`, `safe`, `pipe`, `state`, `actor` | one session of it |
//! | `example`, `inside`, `sent` | folders to begin with, those that are run from inside the program, and those of another host |
//! | `suite` | the tests of a suite, each a page about a workload |
//! | `pgbench` | a workload from scripts of pgbench |
//! | `statements`, `quoted`, `undrawn` | a draft of a workload from statements that a database has seen, and what is left to say in it |

mod actor;
mod assign;
mod bulk;
mod compile;
mod describe;
mod draws;
pub mod example;
mod expect;
mod expr;
mod fault;
mod folder;
mod inside;
mod isolation;
mod mixes;
mod names;
mod options;
mod outcome;
pub mod pgbench;
mod pipe;
mod prepare;
mod program;
mod quoted;
mod read;
mod read_transaction;
mod safe;
mod scale;
mod scripts;
mod sent;
mod sql;
mod state;
pub mod statements;
mod steps;
pub mod suite;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod transaction;
mod undrawn;
mod value;
mod workload;
mod writing;

pub use actor::Actor;
pub use bulk::OwnBulk;
pub use describe::{DescribedDraw, DescribedStatement, DescribedTransaction};
pub use fault::Fault;
pub use inside::is_inside;
pub use outcome::{Amiss, Ended, Outcome};
pub use read::{Choice, Part};
pub use scripts::After;
pub use sent::{SentFolders, Unfit};
pub use state::Step;
pub use tables::{DescribedIndex, DescribedTable, RowMaker};
pub use transaction::Rated;
pub use workload::{Own, Single};
