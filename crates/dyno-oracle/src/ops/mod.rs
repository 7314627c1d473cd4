//! The hot path: one session's requests by the driver's blocking calls.
//!
//! **Statements.** Queries are queried, whatever changes rows is executed, and a block (`BEGIN`, `DECLARE`, `CALL`) that answers
//! with a number tells it in its last bind; so does a procedure that is called, by a block ([`called`]). What changes rows outside of a
//! transaction is committed behind it.
//!
//! **Commits.** With `workload.commit = "wait"` and `"nowait"` the client drive sends an update and then its commit, two round
//! trips as an application without PL/SQL makes them, so the commit has a response time of its own. What the commit waits
//! for is a setting of the session. With `"plsql"` both run in one block, whose end is where PL/SQL waits. The server drive
//! runs slices of operations in one block, and commits there in the way that was asked for.

mod answer;
mod binds;
mod broken_call;
mod call;
#[cfg(test)]
mod call_limit_tests;
mod loops;
mod session;
mod slice;
mod statements;

pub(super) use call::called;
pub(super) use session::OraSession;
pub(super) use statements::blocks;

#[cfg(test)]
pub(super) use statements::Texts;
