//! The hot path: one session's requests with the driver's blocking calls.
//!
//! **Statements.** Queries and statements that change rows use separate driver calls. A block (`BEGIN`,
//! `DECLARE`, `CALL`) with a numeric result returns it in its last bind. A procedure call becomes such a
//! block ([`called`]). Statements that change rows outside a transaction are followed by a commit.
//!
//! **Commits.** With `workload.commit = "wait"` and `"nowait"` the client drive sends an update and then its
//! commit. These are two round trips, as in an application without PL/SQL, so the commit has its own response
//! time. A setting of the session determines what the commit waits for. With `"plsql"` both run in one block,
//! at whose end PL/SQL waits. The server drive executes slices of operations in one block and commits there
//! as requested.

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

pub(super) use call::call_block;
pub(super) use session::OracleSession;
pub(super) use statements::blocks;

#[cfg(test)]
pub(super) use statements::OracleStatementTexts;
