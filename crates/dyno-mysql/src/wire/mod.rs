//! Implements the MySQL client/server protocol on a blocking socket.
//!
//! Dyno implements the protocol itself, as it does for PostgreSQL. A driver crate allocates and copies for
//! convenience, which costs processor time per operation. MySQL and MariaDB speak the same protocol with
//! small differences, which are handled only here. [`MySqlConnection`] is the convenient interface for everything
//! outside the hot path.

mod column;
mod connection;
mod error;
mod fields;
mod local;
pub(super) mod message;
mod prepare;
mod protocol;

pub(super) use column::{MySqlColumnDef, values, written_values};
pub use connection::MySqlConnection;
pub(super) use connection::{Greeting, MySqlOkPacket};
pub(super) use dyno_engine::net::describe;
pub use dyno_engine::row::TextRow;
pub use error::MySqlError;
pub(super) use error::{MySqlWireError, refused};
pub(super) use fields::{MySqlFieldReader, row};
pub(super) use local::FILE_PACKET_BYTES;
pub(super) use prepare::MySqlPreparedStatement;
