//! The wire: PostgreSQL's frontend/backend protocol 3.0 on a blocking socket, in our own framing.
//!
//! A driver crate allocates and copies for comfort; the hot path must not, and must see when bytes arrive (where a commit
//! begins). So messages are written by hand into one buffer and read in place from another. [`Connection`] is the
//! comfortable side of it, for everything that is not hot:
//!
//! ```no_run
//! # use std::time::Duration;
//! # use dyno_engine::{OpenOptions, TargetError};
//! # use dyno_postgres::{connect::ConnectConfig, wire::Connection};
//! # fn main() -> Result<(), TargetError> {
//! # let url = "postgres://dyno@localhost/bench".parse().unwrap();
//! # let options = OpenOptions { password: None, connect_timeout: Duration::from_secs(5) };
//! let config = ConnectConfig::from_url(&url, &options)?;
//! let mut connection = Connection::open(&config, "dyno load")?;
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
//! The server's own errors stay whole: `PgError::of(&error)` gives severity, SQLSTATE, detail and hint of a
//! [`TargetError`](dyno_engine::TargetError), whose kind already follows from the SQLSTATE.

mod cancel;
mod connection;
mod copy;
mod error;
mod fields;
pub(super) mod message;
mod protocol;

pub use cancel::CancelToken;
pub use connection::Connection;
pub(super) use connection::message_rows;
pub use copy::CopyIn;
pub(super) use dyno_engine::net::describe;
pub(super) use dyno_engine::net::{Breaker, Socket, Stream};
pub use dyno_engine::row::Row;
pub use error::PgError;
pub(super) use error::WireError;
pub(super) use fields::Fields;
