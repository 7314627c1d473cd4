//! A draft of a workload from statements that a database has seen.
//!
//! | file | job |
//! | --- | --- |
//! | `text` | a text of a server with its parameters, as Dyno's own reader reads it |
//! | `places` | what a parameter is held against: a column, a limit |
//! | `repair` | what servers write into texts in place of literals, and would not take again |
//! | `sorted` | which statements are none for a workload, and why |
//! | `called` | names of transactions and draws |
//! | `picked` | the heaviest statements, and what was left out |
//! | `suggest`, `write` | the files |

mod called;
mod picked;
mod places;
mod repair;
mod sorted;
mod suggest;
mod text;
mod write;

pub use picked::{Chosen, Left, Options, Parameter, Picked, pick};
pub use sorted::Why;
pub use write::{Draft, draft};
