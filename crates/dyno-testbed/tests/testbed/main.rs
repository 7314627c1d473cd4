//! Tests of what other tests rely on: servers, packages, and source rules that no compiler checks.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod galera;
mod links;
mod mysql;
mod packages;
mod postgres;
mod sources;
