//! The engine against servers of the test bed that speak Oracle's protocol and answer by a script: what reaches the server, and what
//! comes of its answers. They are doubles: no test here shows what an Oracle database does.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod answers;
mod awr;
mod connect;
mod counters;
mod errors;
mod faults;
mod refusals;
mod sessions;
