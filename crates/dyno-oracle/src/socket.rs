//! A handle on the socket that the driver keeps to itself, so that a call can be broken off from another thread.
//!
//! The driver's connection is locked while a call is under way, and it shows its socket to nobody. But it is one of this
//! process's sockets, and the only one of them that sends much when this connection sends much: a call with a long text
//! tells it from all others. That costs one round trip when a connection is opened, and nothing afterwards.
//!
//! A descriptor's number alone binds nothing: between two looks it may have become another socket's. So each is doubled
//! first, and what is measured, compared and kept are the doubles.
#![allow(unsafe_code)] // dup and getsockopt have no safe form in the standard library.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::{Mutex, PoisonError};

use dyno_engine::net::Socket;

/// Bytes that the call sends at least.
pub(super) const MARK_BYTES: usize = 30_000;

/// How often it is tried: another thread's socket may have sent as much meanwhile.
const TRIES: usize = 4;

/// Where `tcpi_bytes_acked` lies in the kernel's `struct tcp_info` (Linux 4.1 and later).
const BYTES_ACKED_AT: usize = 120;

/// One connection at a time is looked for; and sockets that were found are not looked at again.
static SEARCH: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// A descriptor of our own of one of this process's sockets. It stays that socket's whatever becomes of the number that it
/// was made from, which another thread may close and the system give to something else at any moment.
struct Candidate {
    own: File,
    inode: u64,
    acked: u64,
}

/// The socket by which `send` sends [`MARK_BYTES`] bytes; `None` if it cannot be told, or `send` fails.
pub(super) fn find(mut send: impl FnMut() -> bool) -> Option<Socket> {
    // The set is whole at every moment, so a panic elsewhere does not spoil it.
    let mut known = SEARCH.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..TRIES {
        let before = candidates(&known);
        if !send() {
            return None;
        }
        // Both figures are of one descriptor of ours, so of one socket.
        let has_sent = |one: &Candidate| {
            let now = bytes_acked(&one.own);
            now.is_some_and(|now| now.saturating_sub(one.acked) >= MARK_BYTES as u64)
        };
        let mut grown: Vec<Candidate> = before.into_iter().filter(has_sent).collect();
        if let (Some(only), true) = (grown.pop(), grown.is_empty()) {
            known.insert(only.inode);
            return Some(TcpStream::from(OwnedFd::from(only.own)).into());
        }
    }
    None
}

/// Every TCP socket of this process that is not `known`, with the bytes that its peer has acknowledged.
fn candidates(known: &BTreeSet<u64>) -> Vec<Candidate> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let candidates = entries.filter_map(|entry| {
        let own = duplicate(entry.file_name().to_str()?.parse().ok()?)?;
        // What it is a descriptor of is asked of our own, for the number may be another's by now.
        let facts = own.metadata().ok()?;
        let inode = facts.ino();
        if !facts.file_type().is_socket() || known.contains(&inode) {
            return None;
        }
        Some(Candidate { acked: bytes_acked(&own)?, own, inode })
    });
    candidates.collect()
}

/// `None` for what is no TCP socket.
fn bytes_acked(own: &File) -> Option<u64> {
    let mut info = [0u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: `own` is open for the whole call, and `info` is `length` bytes that live as long; the kernel writes no more than
    // that.
    let result = unsafe {
        libc::getsockopt(
            own.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 || (length as usize) < BYTES_ACKED_AT + 8 {
        return None;
    }
    info.get(BYTES_ACKED_AT..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}

/// A descriptor of our own of whatever `fd` is at this moment; nothing is done to that but to hold it.
fn duplicate(fd: RawFd) -> Option<File> {
    // SAFETY: no pointers are passed. A number that is nobody's is an error.
    let own = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    // SAFETY: the kernel has just made `own` for us, and nothing else owns it.
    (own >= 0).then(|| unsafe { File::from_raw_fd(own) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::fd::AsFd;

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

    /// Whether the number of what was looked for became another socket's meanwhile; other threads open files, too, and may get it.
    fn a_number_became_another_sockets() -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (wanted, mut peer) = pair(&listener);
        let (mut wanted, mut innocent) = (Some(wanted), None);
        let number = wanted.as_ref().unwrap().as_raw_fd();
        let mut received = vec![0; MARK_BYTES];
        let found = find(|| {
            // Once it has sent, it is closed, and its number is another socket's.
            let mut sending = wanted.take().unwrap();
            sending.write_all(&received.clone()).unwrap();
            peer.read_exact(&mut received).unwrap();
            peer.write_all(b"x").unwrap();
            sending.read_exact(&mut [0]).unwrap();
            drop(sending);
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            innocent = Some((client, listener.accept().unwrap().0));
            true
        });
        let (mut client, mut server) = innocent.unwrap();
        if let Some(found) = found {
            assert_ne!(found.as_fd().as_raw_fd(), client.as_raw_fd());
            found.shut_down();
        }
        client.write_all(b"still there").unwrap();
        assert_eq!(server.read(&mut [0; 16]).unwrap(), 11);
        assert_eq!(peer.read(&mut [0; 1]).unwrap(), 0, "the one that sent much has ended");
        client.as_raw_fd() == number
    }

    #[test]
    fn a_number_that_becomes_another_sockets_is_not_taken_for_it() {
        assert!(
            (0..100).any(|_| a_number_became_another_sockets()),
            "the system gives the lowest that is free"
        );
    }

    #[test]
    fn nothing_is_found_where_nothing_is_sent() {
        assert!(find(|| true).is_none());
        assert!(find(|| false).is_none());
    }
}
