//! The blocking byte stream under the protocol: a TCP or Unix socket, plain or inside TLS.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};

use super::sockopt::{Keepalive, set_keepalive};

/// The system's socket: one descriptor, shared by all handles.
#[derive(Debug, Clone)]
enum Kind {
    Tcp(Arc<TcpStream>),
    Unix(Arc<UnixStream>),
}

/// A connected socket. While a deadline is set, no read or write waits beyond it.
#[derive(Debug)]
pub struct Socket {
    kind: Kind,
    deadline: Option<Instant>,
}

impl From<TcpStream> for Socket {
    fn from(stream: TcpStream) -> Self {
        Self { kind: Kind::Tcp(Arc::new(stream)), deadline: None }
    }
}

impl From<UnixStream> for Socket {
    fn from(stream: UnixStream) -> Self {
        Self { kind: Kind::Unix(Arc::new(stream)), deadline: None }
    }
}

impl Socket {
    /// Sets the deadline for all reads and writes, or removes it.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) -> io::Result<()> {
        self.deadline = deadline;
        if deadline.is_none() { self.set_timeout(None) } else { Ok(()) }
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.kind {
            Kind::Tcp(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.set_write_timeout(timeout)
            }
            Kind::Unix(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.set_write_timeout(timeout)
            }
        }
    }

    #[cold]
    fn respect(&self, deadline: Instant) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.set_timeout(Some(left))
    }

    /// Sets how a dead peer is detected; without effect on Unix sockets.
    ///
    /// # Errors
    /// The operating system refuses the setting.
    pub fn keep_alive(&self, keepalive: Keepalive) -> io::Result<()> {
        match &self.kind {
            Kind::Tcp(stream) => set_keepalive(stream, keepalive),
            Kind::Unix(_) => Ok(()),
        }
    }

    /// A second handle on the same socket, for [`Socket::shut_down`] from another thread.
    pub fn handle(&self) -> Self {
        Self { kind: self.kind.clone(), deadline: None }
    }

    /// Ends both directions: a thread that waits on the socket fails at once.
    pub fn shut_down(&self) {
        // It fails only if the peer closed first, and then there is nothing to interrupt.
        let _ = match &self.kind {
            Kind::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Kind::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            Kind::Tcp(stream) => stream.as_fd(),
            Kind::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Socket {
    #[inline]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some(deadline) = self.deadline {
            self.respect(deadline)?;
        }
        match &self.kind {
            Kind::Tcp(stream) => (&**stream).read(into),
            Kind::Unix(stream) => (&**stream).read(into),
        }
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        if let Some(deadline) = self.deadline {
            self.respect(deadline)?;
        }
        match &self.kind {
            Kind::Tcp(stream) => (&**stream).write(from),
            Kind::Unix(stream) => (&**stream).write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A receiver of bytes from a stream.
pub trait Sink {
    /// One `read` of `source`; its end is an error.
    fn fill(&mut self, source: &mut impl Read) -> io::Result<()>;
}

impl From<Socket> for Stream {
    fn from(socket: Socket) -> Self {
        Self::Plain(socket)
    }
}

/// The stream that the protocol runs on.
pub enum Stream {
    /// The socket without encryption.
    Plain(Socket),
    /// The socket with TLS on top.
    Tls(Box<StreamOwned<ClientConnection, Socket>>),
}

impl Stream {
    /// The socket below the encryption.
    pub fn socket(&mut self) -> &mut Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => &mut tls.sock,
        }
    }

    /// The socket below, for reading its state.
    pub fn socket_ref(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => &tls.sock,
        }
    }

    /// Sends all of `bytes`, encrypted if needed.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.write_all(bytes),
            Self::Tls(tls) => {
                tls.write_all(bytes)?;
                tls.flush()
            }
        }
    }

    /// Reads the socket once and puts all bytes that became available into `inbound`. Bytes left inside TLS
    /// would not make the socket readable again.
    #[inline]
    pub fn arrived(&mut self, inbound: &mut impl Sink) -> io::Result<()> {
        match self {
            Self::Plain(socket) => inbound.fill(socket),
            Self::Tls(tls) => tls_arrived(tls, inbound),
        }
    }

    /// Whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }
}

fn tls_arrived(tls: &mut StreamOwned<ClientConnection, Socket>, inbound: &mut impl Sink) -> io::Result<()> {
    if tls.conn.read_tls(&mut tls.sock)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    tls.conn.process_new_packets().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    loop {
        match inbound.fill(&mut tls.conn.reader()) {
            Ok(()) => {}
            // The record is incomplete; its rest will make the socket readable again.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

impl Read for Stream {
    #[inline]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(into),
            Self::Tls(tls) => tls.read(into),
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({:?}, tls {})", self.socket_ref(), self.is_tls())
    }
}
