//! The hot path: one session's requests on a blocking socket.
//!
//! Every statement is one `write` of a packet with its values filled in, and one `read` of the complete
//! result. Nothing is allocated while values keep their lengths.
//!
//! **Commits.** A statement outside a transaction runs in autocommit, like an update of sysbench or a single
//! statement of an application. The server sends one reply, after the commit. The boundary between the
//! statement and its commit is therefore not visible to the client, and Dyno does not estimate it. The
//! server's own counters of syncs give their time. Transactions begin and end with statements as text, each
//! of which is a round trip.

mod answer;
mod columns;
mod packets;
mod procedures;
mod ready;
mod session;
mod simple;
mod slice;
mod statements;
mod template;
mod thread;
mod transaction_counts;

pub use crate::connections::SESSION_SETTINGS;
pub(super) use procedures::slice_sql;
pub use session::MySqlSession;
pub(super) use statements::blocks;

/// The error number for a write in a read-only transaction.
const READ_ONLY_TRANSACTION: u16 = 1792;
