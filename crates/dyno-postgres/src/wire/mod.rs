//! Implements PostgreSQL's frontend/backend protocol 3.0 on a blocking socket.
//!
//! A driver crate allocates and copies for convenience. The hot path must not, and must see when bytes arrive
//! (where a commit begins). So Dyno writes messages into one buffer and reads them in place from another.
//! [`PostgresConnection`] is the convenient interface for everything outside the hot path:
//!
//! ```no_run
//! # use std::time::Duration;
//! # use dyno_engine::{OpenOptions, TargetError};
//! # use dyno_postgres::{connect::PostgresConnectConfig, wire::PostgresConnection};
//! # fn main() -> Result<(), TargetError> {
//! # let url = "postgres://dyno@localhost/bench".parse().unwrap();
//! # let options = OpenOptions { password: None, connect_timeout: Duration::from_secs(5) };
//! let config = PostgresConnectConfig::from_url(&url, &options)?;
//! let mut connection = PostgresConnection::open(&config, "dyno load")?;
//! connection.simple("SET work_mem = '64MB'; SET statement_timeout = 0")?;
//! let rows = connection.query("SELECT relname FROM pg_class WHERE oid::text = $1", &["1259"])?;
//! assert_eq!(rows[0].get(0), Some("pg_class"));
//! let mut copy = connection.copy_in("COPY dyno.rows_1 FROM STDIN")?;
//! copy.send(b"1\tone\n")?;
//! assert_eq!(copy.finish()?, 1);
//! connection.close();
//! # Ok(()) }
//! ```
//!
//! The server's errors keep all their fields: `PostgresError::of(&error)` returns severity, SQLSTATE, detail and hint
//! of a [`TargetError`](dyno_engine::TargetError), whose kind follows from the SQLSTATE.

mod cancel;
mod connection;
mod copy;
mod error;
mod fields;
pub(super) mod message;
mod protocol;

pub use cancel::CancelToken;
pub use connection::PostgresConnection;
pub(super) use connection::message_rows;
pub use copy::CopyIn;
pub(super) use dyno_engine::net::describe;
pub(super) use dyno_engine::net::{Breaker, Socket, Stream};
pub use dyno_engine::row::TextRow;
pub use error::PostgresError;
pub(super) use error::PostgresWireError;
pub(super) use fields::PostgresFieldReader;
