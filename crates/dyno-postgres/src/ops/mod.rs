//! The hot path: one session's operations on a blocking socket.
//!
//! Every operation is one `write` of a prepared message with its keys filled in, and one `read` of the
//! complete result. An update needs a second `read` for the commit. Nothing is allocated after the session
//! has been opened.
//!
//! **Where a commit begins.** An update is sent as Bind, Execute, Flush, Sync in one write. The statement
//! runs in the implicit transaction that Sync ends. Flush makes the server send the statement's
//! CommandComplete before it commits. The client therefore sees the end of the update and the end of the
//! commit as two arrivals without a second round trip. If one `read` returns both, the boundary was not
//! visible, and Dyno does not estimate it.
//!
//! **Plans.** [`SESSION_SETTINGS`] keep the plans of all operations constant from the first execution on, so
//! a run measures the platform and not changes of plan.

mod answer;
mod batch;
mod columns;
mod encode;
mod inferred;
mod method;
mod opening;
mod procedures;
mod session;
mod simple;
mod slice;
mod statements;
mod template;

pub use crate::connections::SESSION_SETTINGS;
pub(crate) use inferred::InferredTypes;
pub use method::blocks;
pub use procedures::slice_sql;
pub use session::PostgresSession;
pub(crate) use simple::literal;

/// The subset of [`SESSION_SETTINGS`] that an operation through a pooler makes for itself: the ones that
/// determine its plan. Setting the search path would force a new plan each time, and the statements use fully
/// qualified names.
const LOCAL_SETTINGS: [&str; 4] =
    ["plan_cache_mode", "enable_seqscan", "max_parallel_workers_per_gather", "jit"];

/// The SQLSTATE for a write in a read-only transaction.
const READ_ONLY_TRANSACTION: &str = "25006";
