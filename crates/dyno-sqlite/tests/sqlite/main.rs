//! Tests the SQLite engine: loading, running, counting and checking, in files and in memory.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, and its helpers do too")]

mod common;
mod conformance;
mod direct;
mod load;
mod preflight;
mod session;
