//! Interrupts whatever a connection does, from another thread.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    fn slot(&self) -> MutexGuard<'_, Slot> {
        // The slot is consistent after every statement here, so a panic elsewhere cannot have damaged it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of breaks so far, for [`Breaker::guard`].
    pub fn breaks(&self) -> u64 {
        self.slot().breaks
    }

    /// Makes `socket` the one that a break shuts down; an error if a break happened since `breaks` was read.
    pub fn guard(&self, socket: &Socket, breaks: u64) -> io::Result<()> {
        let handle = socket.handle();
        let mut slot = self.slot();
        if slot.breaks != breaks {
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "Dyno closed it"));
        }
        slot.socket = Some(handle);
        Ok(())
    }

    /// Forgets the socket, so that its descriptor can be closed.
    pub fn release(&self) {
        self.slot().socket = None;
    }
}

impl Interrupter for Breaker {
    fn interrupt(&self) {
        let mut slot = self.slot();
        slot.breaks += 1;
        if let Some(socket) = &slot.socket {
            socket.shut_down();
        }
    }
}
