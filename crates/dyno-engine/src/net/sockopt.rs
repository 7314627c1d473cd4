//! Sets socket options that the standard library lacks: keepalive, and a time limit on connecting a Unix
//! socket.
//!
//! A server whose machine vanished never closes its connections; only keepalive detects that. A stopped
//! postmaster leaves Unix sockets in its backlog forever; only a send timeout set before `connect` ends the
//! wait.
#![allow(unsafe_code)] // setsockopt, socket and connect have no safe form in the standard library.

use std::io;
use std::mem;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How a dead peer is detected on TCP; an absent value is the system's setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive {
    /// Whether keepalive probes are sent at all.
    pub enabled: bool,
    /// Seconds without traffic before the first probe.
    pub idle_s: Option<u32>,
    /// Seconds between two unanswered probes.
    pub interval_s: Option<u32>,
    /// Probes without an answer before the connection is dead.
    pub count: Option<u32>,
    /// Milliseconds that sent data may stay unacknowledged before the connection is dead.
    pub unacknowledged_ms: Option<u32>,
}

impl Keepalive {
    /// Sends the first probe after a minute without traffic. Firewalls, address translation and load
    /// balancers forget idle connections, some after five minutes. Systems wait two hours by default.
    pub const FREQUENT: Self =
        Self { enabled: true, idle_s: Some(60), interval_s: Some(30), count: None, unacknowledged_ms: None };
}

fn set<T>(fd: RawFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    // The types passed here are a c_int and a timeval, a few bytes each.
    let length = mem::size_of::<T>() as libc::socklen_t;
    // SAFETY: `value` is a live T of `length` bytes for the whole call; the kernel copies it and keeps no
    // pointer.
    let result = unsafe { libc::setsockopt(fd, level, name, std::ptr::from_ref(value).cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets how a dead peer is detected.
pub fn set_keepalive(stream: &TcpStream, keepalive: Keepalive) -> io::Result<()> {
    let fd = stream.as_raw_fd();
    set(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, &libc::c_int::from(keepalive.enabled))?;
    if let Some(limit) = keepalive.unacknowledged_ms {
        set(fd, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, &libc::c_uint::from(limit))?;
    }
    if !keepalive.enabled {
        return Ok(());
    }
    let timers = [
        (libc::TCP_KEEPIDLE, keepalive.idle_s),
        (libc::TCP_KEEPINTVL, keepalive.interval_s),
        (libc::TCP_KEEPCNT, keepalive.count),
    ];
    for (name, value) in timers {
        if let Some(value) = value {
            set(fd, libc::IPPROTO_TCP, name, &libc::c_int::try_from(value).unwrap_or(libc::c_int::MAX))?;
        }
    }
    Ok(())
}

/// Connects to the Unix socket at `path`, waiting at most `timeout`.
pub fn connect_unix(path: &Path, timeout: Duration) -> io::Result<UnixStream> {
    let bytes = path.as_os_str().as_bytes();
    // SAFETY: sockaddr_un is plain data for which all zeros is valid.
    let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
    if bytes.len() >= address.sun_path.len() {
        let limit = address.sun_path.len() - 1;
        let message = format!("the path of a Unix socket has at most {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, &from) in address.sun_path.iter_mut().zip(bytes) {
        *to = from as libc::c_char;
    }
    // SAFETY: no pointers are passed.
    let fd = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `fd` was just made by the kernel for us, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let limit = libc::timeval {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_usec: libc::suseconds_t::from(timeout.subsec_micros() as i32),
    };
    // Linux lets SO_SNDTIMEO bound connect(2) too (socket(7)).
    set(fd, libc::SOL_SOCKET, libc::SO_SNDTIMEO, &limit)?;
    let length = mem::size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: `address` is a live sockaddr_un of `length` bytes, and zero-terminated as it began as zeros.
    let result = unsafe { libc::connect(fd, std::ptr::from_ref(&address).cast(), length) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let stream = UnixStream::from(socket);
    stream.set_write_timeout(None)?;
    Ok(stream)
}
