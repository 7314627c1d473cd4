//! Reads cumulative counters with plain queries of views on a connection of its own.
//!
//! The views depend on where the session is. In a container, `V$CON_…` counts the work of this container's
//! sessions, and `V$…` the whole instance, whose background processes write. On RAC, `GV$…` has a row per
//! instance, and the rows are summed. `sources` selects the views, and `portable` maps the results to the
//! common counters.

mod company;
mod histogram;
mod observer;
mod observer_reads;
mod portable;
mod run_constants;
mod sources;
mod statements;

pub(super) use observer::OracleObserver;
pub(super) use sources::{OracleInstanceContext, is_rac, sessions_in, unreadable};
#[cfg(test)]
pub(super) use statements::OracleStatementReader;
