//! What every engine that is reached by a socket needs: the stream and the messages on it, breaking it off, how a dead peer is
//! noticed, whom to trust inside TLS, and where its processes run if that is this machine.

mod breaker;
mod dial;
mod effective;
mod environment;
mod inbound;
mod line;
pub mod local;
mod socket;
pub mod sockopt;
pub mod tls;
pub mod url;
pub mod verify;
mod wire;

pub use breaker::Breaker;
pub use dial::{Address, dial};
pub use effective::{CONNECTED_TO, effective_url};
pub use environment::Environment;
pub use inbound::{Inbound, Message};
pub use line::Line;
pub use socket::{Sink, Socket, Stream};
pub use wire::{Head, Protocol, WireError, describe};
