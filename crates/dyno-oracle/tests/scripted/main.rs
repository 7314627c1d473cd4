//! Tests the engine with scripted servers that speak Oracle's protocol: what reaches the server, and how the
//! engine handles its replies. They are doubles: no test here shows how an Oracle database behaves.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod answers;
mod awr;
mod connect;
mod counters;
mod errors;
mod faults;
mod refusals;
mod sessions;
