//! The hot path: one session's operations by the driver's blocking calls.
//!
//! **Commits.** With `workload.commit = "wait"` and `"nowait"` the client drive sends an update and then its commit, two round
//! trips as an application without PL/SQL makes them, so the commit has a response time of its own. What the commit waits
//! for is a setting of the session. With `"plsql"` both run in one block, whose end is where PL/SQL waits. The server drive
//! runs slices of operations in one block, and commits there in the way that was asked for.

mod changes;
mod session;
mod slice;
mod statements;

pub(super) use session::OraSession;

#[cfg(test)]
pub(super) use statements::Texts;
