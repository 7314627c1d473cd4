//! Drafts a workload from statements that a database has recorded.
//!
//! | file | job |
//! | --- | --- |
//! | `text` | converts a recorded text with its parameters for Dyno's own reader |
//! | `parameter_context` | what a parameter is compared with: a column, a limit |
//! | `repair` | replaces what servers write in place of literals and would not accept as SQL |
//! | `sorted` | which statements are not suitable for a workload, and why |
//! | `naming` | names of transactions and generators |
//! | `selection` | the statements with the most load, and those that are left out |
//! | `tables` | the tables that a statement names |
//! | `generator` | a generator from what the database knows about a column |
//! | `suggest` | what could replace a missing generator |
//! | `write`, `draws` | the files |

mod draws;
mod generator;
mod naming;
mod parameter_context;
mod repair;
mod selection;
mod sorted;
mod suggest;
mod tables;
mod text;
mod write;

pub use selection::{
    Picked, PickedStatement, SkippedStatement, StatementParameter, StatementPickOptions, pick,
};
pub use sorted::SkipReason;
pub use write::{DraftFacts, WorkloadDraft, draft};

#[cfg(test)]
mod tests;
