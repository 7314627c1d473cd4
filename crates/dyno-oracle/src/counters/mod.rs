//! Cumulative counters, read by plain queries on views on a connection of its own.
//!
//! Which views answer depends on where the session is: in a container of a container database `V$CON_…` counts what this
//! container's sessions do and `V$…` the whole instance, whose background processes write; on RAC `GV$…` has a row for
//! each instance, and they are added up. `sources` chooses, `portable` turns what came into the common vocabulary.

mod company;
mod histogram;
mod observer;
mod observer_reads;
mod portable;
mod sources;
mod standing;

pub(super) use observer::OraObserver;
pub(super) use sources::{Surroundings, is_rac, sessions_in, unreadable};
