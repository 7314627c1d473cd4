//! Interrupts whatever a connection does, from another thread.

use std::io;

use parking_lot::Mutex;

use super::socket::Socket;
use crate::session::Interrupter;

/// Shuts down the socket of a session, also while the session reconnects.
#[derive(Debug, Default)]
pub struct Breaker(Mutex<Slot>);

#[derive(Debug, Default)]
struct Slot {
    /// A second handle on the socket in use.
    socket: Option<Socket>,
    /// Number of breaks. A connection attempt that was broken between two sockets sees it change.
    breaks: u64,
}

impl Breaker {
    /// Number of breaks so far, for [`Breaker::guard`].
    pub fn breaks(&self) -> u64 {
        self.0.lock().breaks
    }

    /// Makes `socket` the one that a break shuts down; an error if a break happened since `breaks` was read.
    pub fn guard(&self, socket: &Socket, breaks: u64) -> io::Result<()> {
        let handle = socket.handle();
        let mut slot = self.0.lock();
        if slot.breaks != breaks {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "Dyno closed it"));
        }
        slot.socket = Some(handle);
        Ok(())
    }

    /// Forgets the socket, so that its descriptor can be closed.
    pub fn release(&self) {
        self.0.lock().socket = None;
    }
}

impl Interrupter for Breaker {
    fn interrupt(&self) {
        let mut slot = self.0.lock();
        slot.breaks += 1;
        if let Some(socket) = &slot.socket {
            socket.shut_down();
        }
    }
}
