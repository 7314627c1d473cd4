//! Tests the PostgreSQL engine on real servers of several versions: connecting, loading, running, counting
//! and checking.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, and its helpers do too")]

mod conformance;
mod connect;
mod counters;
mod load;
mod ops;
mod parameters;
mod preflight;
mod server;
mod wire;
