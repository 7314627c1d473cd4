//! Creates, fills, checks and drops the tables that a workload describes.
//!
//! State tables in the database record what was created, and how far a load got. Every part of a table is
//! written in one transaction with its entry there. So a killed load continues after its last complete part,
//! and no row is written twice.

mod bulk;
mod create;
mod drop;
mod fill;
mod finish;
mod load;
mod require;
mod state_tables;

pub(crate) use bulk::{complete_bulk_load, make_empty};
pub(crate) use drop::{inventory, tear_down};
pub(crate) use load::{Replace, load};
pub(crate) use require::{holds, is_absent, require};
