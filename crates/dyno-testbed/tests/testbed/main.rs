//! What the other tests rely on: servers, packages, and rules of the sources that no compiler checks.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod galera;
mod mysql;
mod packages;
mod postgres;
mod sources;
