//! What every engine that is reached by a socket needs: the stream, breaking it off, how a dead peer is noticed, whom to
//! trust inside TLS, and where its processes run if that is this machine.

mod breaker;
mod environment;
pub mod local;
mod socket;
pub mod sockopt;
pub mod verify;

pub use breaker::Breaker;
pub use environment::Environment;
pub use socket::{Sink, Socket, Stream};
