//! Obtains a handle on the driver's private socket, so that another thread can interrupt a call.
//!
//! The driver locks its connection during a call and does not expose its socket. But the socket belongs to
//! this process, and it is the only one that sends much data when this connection does. A call with a long
//! text identifies it. This costs one round trip when a connection is opened, and nothing afterwards.
//!
//! A descriptor's number alone is not reliable: at any moment another socket may get it. So each descriptor
//! is duplicated first, and only the duplicates are measured, compared and kept.
#![allow(unsafe_code)] // dup and getsockopt have no safe form in the standard library.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use dyno_engine::net::Socket;
use parking_lot::Mutex;

/// The least number of bytes that the call sends.
pub(super) const MARK_BYTES: usize = 30_000;

/// Number of attempts: another thread's socket may have sent as much in the meantime.
const TRIES: usize = 4;

/// Offset of `tcpi_bytes_acked` in the kernel's `struct tcp_info` (Linux 4.1 and later).
const BYTES_ACKED_AT: usize = 120;

/// Allows one search at a time; contains the sockets that were identified and need not be checked again.
static SEARCH: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// A duplicated descriptor of one of this process's sockets. It refers to that socket even if another thread
/// closes the original number and the system reuses it.
struct Candidate {
    file: File,
    inode: u64,
    acked: u64,
}

/// The socket on which `send` sends [`MARK_BYTES`] bytes; `None` if it cannot be identified or `send` fails.
pub(super) fn find(mut send: impl FnMut() -> bool) -> Option<Socket> {
    let mut claimed_inodes = SEARCH.lock();
    for _ in 0..TRIES {
        let before = candidates(&claimed_inodes);
        if !send() {
            return None;
        }
        // Both figures come from one duplicated descriptor, so from one socket.
        let has_sent = |one: &Candidate| {
            let now = bytes_acked(&one.file);
            now.is_some_and(|now| now.saturating_sub(one.acked) >= MARK_BYTES as u64)
        };
        let mut grown: Vec<Candidate> = before.into_iter().filter(has_sent).collect();
        if let (Some(only), true) = (grown.pop(), grown.is_empty()) {
            claimed_inodes.insert(only.inode);
            return Some(TcpStream::from(OwnedFd::from(only.file)).into());
        }
    }
    None
}

/// Every TCP socket of this process that is not in `known`, with the number of bytes that its peer has
/// acknowledged.
fn candidates(claimed_inodes: &BTreeSet<u64>) -> Vec<Candidate> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let candidates = entries.filter_map(|entry| {
        let dup_file = duplicate(entry.file_name().to_str()?.parse().ok()?)?;
        // The duplicate is checked, because the original number may refer to something else by now.
        let facts = dup_file.metadata().ok()?;
        let inode = facts.ino();
        if !facts.file_type().is_socket() || claimed_inodes.contains(&inode) {
            return None;
        }
        Some(Candidate { acked: bytes_acked(&dup_file)?, file: dup_file, inode })
    });
    candidates.collect()
}

/// Bytes that the peer has acknowledged; `None` if it is not a TCP socket.
fn bytes_acked(socket_file: &File) -> Option<u64> {
    let mut info = [0u8; 256];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: `own` is open during the whole call, and `info` is `length` bytes that live as long; the kernel
    // writes no more than that.
    let result = unsafe {
        libc::getsockopt(
            socket_file.as_raw_fd(),
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

/// A duplicate of the descriptor `fd`, whatever it refers to at this moment; the original is not used
/// otherwise.
fn duplicate(fd: RawFd) -> Option<File> {
    // SAFETY: no pointers are passed. An unused number returns an error.
    let new_fd = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    // SAFETY: the kernel has just created `own` for us, and nothing else owns it.
    (new_fd >= 0).then(|| unsafe { File::from_raw_fd(new_fd) })
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
    fn busy_socket_is_found_and_shut_down() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let other_pairs: Vec<_> = (0..5).map(|_| pair(&listener)).collect();
        let (mut wanted, mut peer) = pair(&listener);
        let mut received = vec![0; MARK_BYTES];
        let search_result = find(|| {
            (&other_pairs[0].0).write_all(b"a little").unwrap();
            wanted.write_all(&received.clone()).unwrap();
            peer.read_exact(&mut received).is_ok()
                // A reply carries the acknowledgement, as a database's reply does.
                && peer.write_all(b"x").is_ok()
                && wanted.read_exact(&mut [0]).is_ok()
        });
        let matched = search_result.expect("one socket sent as much");
        assert_ne!(matched.as_fd().as_raw_fd(), wanted.as_raw_fd());
        matched.shut_down();
        assert_eq!(wanted.read(&mut [0]).unwrap(), 0, "a waiting reader sees the end");
        let mut other = &other_pairs[1].0;
        other.write_all(b"still there").unwrap();
    }

    /// Whether the descriptor number of the searched socket was reused by another socket; threads that open
    /// files may take it first.
    fn a_number_became_another_sockets() -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (wanted, mut peer) = pair(&listener);
        let (mut wanted, mut innocent) = (Some(wanted), None);
        let number = wanted.as_ref().unwrap().as_raw_fd();
        let mut received = vec![0; MARK_BYTES];
        let search_result = find(|| {
            // After it has sent, it is closed, and another socket gets its number.
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
        if let Some(matched_socket) = search_result {
            assert_ne!(matched_socket.as_fd().as_raw_fd(), client.as_raw_fd());
            matched_socket.shut_down();
        }
        client.write_all(b"still there").unwrap();
        assert_eq!(server.read(&mut [0; 16]).unwrap(), 11);
        assert_eq!(peer.read(&mut [0; 1]).unwrap(), 0, "the one that sent much has ended");
        client.as_raw_fd() == number
    }

    #[test]
    fn reused_descriptor_number_is_not_taken_for_old_socket() {
        assert!(
            (0..100).any(|_| a_number_became_another_sockets()),
            "the system gives the lowest that is free"
        );
    }

    #[test]
    fn socket_search_without_traffic_finds_none() {
        assert!(find(|| true).is_none());
        assert!(find(|| false).is_none());
    }
}
