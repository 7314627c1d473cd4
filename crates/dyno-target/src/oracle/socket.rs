//! A handle on the socket that the driver keeps to itself, so that a call can be broken off from another thread.
//!
//! The driver's connection is locked while a call is under way, and it shows its socket to nobody. But it is one of this
//! process's sockets, and the only one of them that sends much when this connection sends much: a call with a long text
//! tells it from all others. That costs one round trip when a connection is opened, and nothing afterwards.
#![allow(unsafe_code)] // dup and getsockopt have no safe form in the standard library.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpStream;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use crate::net::Socket;

/// Bytes that the call sends at least.
pub(super) const MARK_BYTES: usize = 30_000;

/// How often it is tried: another thread's socket may have sent as much meanwhile.
const TRIES: usize = 4;

/// Where `tcpi_bytes_acked` lies in the kernel's `struct tcp_info` (Linux 4.1 and later).
const BYTES_ACKED_AT: usize = 120;

/// One connection at a time is looked for; and sockets that were found are not looked at again.
static SEARCH: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// The socket by which `send` sends [`MARK_BYTES`] bytes; `None` if it cannot be told, or `send` fails.
pub(super) fn find(mut send: impl FnMut() -> bool) -> Option<Socket> {
    // The set is whole at every moment, so a panic elsewhere does not spoil it.
    let mut known = SEARCH.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..TRIES {
        let before = sent(&known);
        if !send() {
            return None;
        }
        let after = sent(&known);
        let grown: Vec<_> = after
            .iter()
            .filter(|(socket, (_, acked))| {
                before.get(socket).is_some_and(|(_, then)| acked - then >= MARK_BYTES as u64)
            })
            .collect();
        if let [(inode, (fd, _))] = grown.as_slice() {
            known.insert(**inode);
            return duplicate(*fd).map(|fd| TcpStream::from(fd).into());
        }
    }
    None
}

/// Bytes that the peer has acknowledged, and the descriptor, of every TCP socket of this process that is not `known`, by
/// inode.
fn sent(known: &BTreeSet<u64>) -> BTreeMap<u64, (RawFd, u64)> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let link = std::fs::read_link(entry.path()).ok()?;
            let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()?;
            let fd = entry.file_name().to_str()?.parse().ok()?;
            if known.contains(&inode) { None } else { Some((inode, (fd, bytes_acked(fd)?))) }
        })
        .collect()
}

/// `None` for what is no TCP socket.
fn bytes_acked(fd: RawFd) -> Option<u64> {
    let mut info = [0u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: `info` is `length` bytes that live for the whole call, and the kernel writes no more than that. A descriptor that
    // was closed meanwhile, or is another thing now, is an error or another socket's figure, and nothing is done to it.
    let result = unsafe {
        libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut length)
    };
    if result != 0 || (length as usize) < BYTES_ACKED_AT + 8 {
        return None;
    }
    info.get(BYTES_ACKED_AT..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}

/// A descriptor of our own of the same socket, which stays what it is when the driver closes its own.
fn duplicate(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: no pointers are passed.
    let own = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    // SAFETY: the kernel has just made `own` for us, and nothing else owns it.
    (own >= 0).then(|| unsafe { OwnedFd::from_raw_fd(own) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::fd::{AsFd, AsRawFd};

    fn pair(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn the_socket_that_sends_much_is_found_among_others_and_shut_down() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let others: Vec<_> = (0..5).map(|_| pair(&listener)).collect();
        let (mut wanted, mut peer) = pair(&listener);
        let mut received = vec![0; MARK_BYTES];
        let found = find(|| {
            (&others[0].0).write_all(b"a little").unwrap();
            wanted.write_all(&received.clone()).unwrap();
            peer.read_exact(&mut received).is_ok()
                // An answer carries the acknowledgement, as a database's does.
                && peer.write_all(b"x").is_ok()
                && wanted.read_exact(&mut [0]).is_ok()
        });
        let found = found.expect("one socket sent as much");
        assert_ne!(found.as_fd().as_raw_fd(), wanted.as_raw_fd());
        found.shut_down();
        assert_eq!(wanted.read(&mut [0]).unwrap(), 0, "whoever waits sees the end");
        let mut other = &others[1].0;
        other.write_all(b"still there").unwrap();
    }

    #[test]
    fn nothing_is_found_where_nothing_is_sent() {
        assert!(find(|| true).is_none());
        assert!(find(|| false).is_none());
    }
}
