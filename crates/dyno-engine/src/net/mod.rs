//! The network code that engines share: streams and messages, interruption, keepalive, TLS trust, and finding
//! local server processes.

mod breaker;
mod dial;
mod effective;
mod environment;
mod inbound;
mod line;
pub mod local;
pub mod parameters;
mod socket;
pub mod sockopt;
pub mod tls;
pub mod verify;
mod wire;

pub use breaker::Breaker;
pub use dial::{Address, dial};
pub use effective::{CONNECTED_TO, effective_url};
pub use environment::Environment;
pub use inbound::{Inbound, WireMessage};
pub use line::WireStream;
pub use socket::{Sink, Socket, Stream};
pub use wire::{MessageHeader, WireError, WireProtocol, describe};
