//! Custom workloads: a workload is a folder with the user's SQL.
//!
//! | file | job |
//! | --- | --- |
//! | `fault`, `names`, `table`, `options`, `folder` | reading the user's files, with places for errors; options and values that depend on them |
//! | `sql` | parsing SQL files into statements and parameters |
//! | `value`, `expr`, `draws` | values, expressions, and generators |
//! | `scale`, `tables`, `bulk` | numbers that depend on the scale, described tables, and the table that transactions load |
//! | `steps`, `assign`, `isolation`, `transaction`, `prepare`, `program`, `compile` | compiling the steps of a transaction into a linear program |
//! | `scripts`, `expect`, `read_transaction`, `mixes`, `writing`, `read`, `workload`, `describe` | the workload as a whole, and its description |
//! | `outcome`, `safe`, `pipe`, `state`, `actor` | executing it in one session |
//! | `example`, `embedded`, `sent_folders` | example folders, embedded workloads, and workloads from another host |
//! | `suite` | the tests of a suite, each with a page about its workload |
//! | `missing_generators` | finding what the user must complete in a draft |
//! | `syntax` | what crates need that write workloads |

mod actor;
mod assign;
mod bulk;
mod compile;
mod describe;
mod draws;
mod embedded;
pub mod example;
mod expect;
mod expr;
mod fault;
mod folder;
mod isolation;
mod missing_generators;
mod mixes;
mod names;
mod options;
mod outcome;
mod pipe;
mod prepare;
mod program;
mod read;
mod read_transaction;
mod safe;
mod scale;
mod scripts;
mod sent_folders;
mod sql;
mod state;
mod steps;
pub mod suite;
pub mod syntax;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod transaction;
mod value;
mod workload;
mod writing;

pub use actor::CustomActor;
pub use bulk::CustomBulkLoad;
pub use describe::{DescribedDraw, DescribedStatement, DescribedTransaction};
pub use embedded::is_inside;
pub use fault::WorkloadError;
pub use outcome::{RowCountMismatch, TransactionEnd, TransactionOutcome};
pub use read::{TransactionFilter, WorkloadChoice};
pub use scripts::InvariantTiming;
pub use sent_folders::{SentFolderError, SentFolders};
pub use state::ActorStep;
pub use tables::{DescribedIndex, DescribedTable, TableRowMaker};
pub use transaction::RatedTransaction;
pub use workload::{CustomWorkload, Single};
