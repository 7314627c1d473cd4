//! The wire: the MySQL client/server protocol on a blocking socket, in our own framing.
//!
//! Written by hand for the same reason as PostgreSQL's: a driver crate allocates and copies for comfort, which shows in the
//! client's processor time per operation. MySQL and MariaDB speak the same protocol with small differences, which live
//! here and nowhere else. [`Connection`] is the comfortable side of it, for everything that is not hot.

mod column;
mod connection;
mod error;
mod fields;
mod local;
pub(super) mod message;
mod prepare;
mod protocol;

pub(super) use column::{Column, values, written_values};
pub use connection::Connection;
pub(super) use connection::{Ended, Greeting};
pub(super) use dyno_engine::net::describe;
pub use dyno_engine::row::Row;
pub use error::MyError;
pub(super) use error::{WireError, refused};
pub(super) use fields::{Fields, row};
pub(super) use local::FILE_PACKET_BYTES;
pub(super) use prepare::Prepared;
