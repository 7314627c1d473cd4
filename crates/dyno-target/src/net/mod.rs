//! What every engine that is reached by a socket needs: the stream, breaking it off, how a dead peer is noticed, whom to
//! trust inside TLS, and where its processes run if that is this machine.

mod breaker;
mod environment;
pub(crate) mod local;
mod socket;
pub(crate) mod sockopt;
pub(crate) mod verify;

pub(crate) use breaker::Breaker;
pub(crate) use environment::Environment;
pub(crate) use socket::{Sink, Socket, Stream};
