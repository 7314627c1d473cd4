//! Parses `/proc/self/mountstats`: the counters of the kernel's NFS client for each mount.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// Reads and writes of one NFS mount since it was mounted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NfsCounters {
    /// Read requests sent to the server.
    pub reads: u64,
    /// Bytes read from the server.
    pub read_bytes: u64,
    /// Time from sending a read to its answer, summed, ms.
    pub read_rtt_ms: u64,
    /// Write requests sent to the server.
    pub writes: u64,
    /// Bytes written to the server.
    pub write_bytes: u64,
    /// Time from sending a write to its answer, summed, ms.
    pub write_rtt_ms: u64,
    /// Requests that had to be sent again.
    pub retransmissions: u64,
}

/// Finds the counters of the NFS mount at `point`.
pub(crate) fn parse_mountstats(text: &str, point: &Path) -> Option<NfsCounters> {
    let mut lines = text.lines().skip_while(|line| !is_mount(line, point)).skip(1);
    let mut counters = None;
    for line in lines.by_ref().take_while(|line| !line.starts_with("device ")) {
        let Some((name, rest)) = line.trim().split_once(':') else { continue };
        let mut values = rest.split_ascii_whitespace().map(|value| value.parse::<u64>().ok());
        let mut value = |skip: usize| values.nth(skip).flatten();
        let mount_counters: &mut NfsCounters = counters.get_or_insert_default();
        match name {
            // Bytes: read and written by programs, then with direct I/O, then from and to the server.
            "bytes" => {
                mount_counters.read_bytes = value(4)?;
                mount_counters.write_bytes = value(0)?;
            }
            // An operation: requests, transmissions, timeouts, bytes sent and received, ms queued, ms to the
            // answer.
            "READ" | "WRITE" => {
                let (requests, transmissions) = (value(0)?, value(0)?);
                let rtt_ms = value(4)?;
                let again = transmissions.saturating_sub(requests);
                mount_counters.retransmissions = mount_counters.retransmissions.saturating_add(again);
                if name == "READ" {
                    (mount_counters.reads, mount_counters.read_rtt_ms) = (requests, rtt_ms);
                } else {
                    (mount_counters.writes, mount_counters.write_rtt_ms) = (requests, rtt_ms);
                }
            }
            _ => {}
        }
    }
    counters
}

/// Matches `device filer:/vol mounted on /mnt/db with fstype nfs4 statvers=1.1`.
fn is_mount(line: &str, point: &Path) -> bool {
    let Some((_, rest)) = line.split_once(" mounted on ") else { return false };
    let Some((at, kind)) = rest.rsplit_once(" with fstype ") else { return false };
    Path::new(at) == point && kind.starts_with("nfs")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "device /dev/vda mounted on / with fstype ext4\n\
        device filer:/a mounted on /mnt/a with fstype nfs4 statvers=1.1\n\
        \topts:\trw,vers=4.2\n\tage:\t100\n\tbytes:\t1 2 3 4 5000 6000 7 8\n\tper-op statistics\n\
        \t        NULL: 1 1 0 44 24 0 0 0 0\n\
        \t        READ: 10 12 0 2000 5500 3 40 45 0\n\
        \t       WRITE: 20 20 0 7000 3000 5 90 99 0\n\
        device filer:/b mounted on /mnt/b with fstype nfs statvers=1.1\n\
        \tbytes:\t0 0 0 0 77 0 0 0\n";

    #[test]
    fn nfs_counters_are_read_per_mount() {
        let expected = NfsCounters {
            reads: 10,
            read_bytes: 5_000,
            read_rtt_ms: 40,
            writes: 20,
            write_bytes: 6_000,
            write_rtt_ms: 90,
            retransmissions: 2,
        };
        assert_eq!(parse_mountstats(TEXT, Path::new("/mnt/a")), Some(expected));
        assert_eq!(parse_mountstats(TEXT, Path::new("/mnt/b")).unwrap().read_bytes, 77);
        assert_eq!(parse_mountstats(TEXT, Path::new("/")), None);
        assert_eq!(parse_mountstats(TEXT, Path::new("/mnt")), None);
    }
}
