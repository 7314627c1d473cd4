//! The wire: the MySQL client/server protocol on a blocking socket, in our own framing.
//!
//! Written by hand for the same reason as PostgreSQL's: a driver crate allocates and copies for comfort, which shows in the
//! client's processor time per operation. MySQL and MariaDB speak the same protocol with small differences, which live
//! here and nowhere else. [`Connection`] is the comfortable side of it, for everything that is not hot.

mod connection;
mod error;
mod fields;
mod inbound;
mod local;
pub(super) mod message;
mod prepare;
mod row;

pub use connection::Connection;
pub(super) use connection::{Ended, Greeting};
pub use error::MyError;
pub(super) use error::{WireError, describe};
pub(super) use fields::Fields;
pub(super) use local::FILE_PACKET_BYTES;
pub(super) use prepare::Prepared;
pub use row::Row;
