//! Samples the send queues of this process's connections: bytes that the host has not sent yet.

use std::collections::HashSet;

/// How often the queues are sampled, ns. With thousands of connections a sample takes milliseconds.
const LOOK_EVERY_NS: u64 = 1_000_000_000;

/// Largest amount of queued bytes seen so far.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    sample_count: u64,
    most: Option<u64>,
}

impl SendQueue {
    /// Takes a sample if one is due, `after_ns` after the window began.
    pub(crate) fn sample(&mut self, after_ns: u64) {
        if after_ns < self.sample_count * LOOK_EVERY_NS {
            return;
        }
        self.sample_count = after_ns / LOOK_EVERY_NS + 1;
        let Some(own) = own_sockets() else { return };
        let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
        let texts = tables.iter().filter_map(|path| std::fs::read_to_string(path).ok());
        let waiting: u64 = texts.map(|text| queued_bytes(&text, &own)).sum();
        self.most = Some(self.most.unwrap_or(0).max(waiting));
    }

    /// Most bytes queued at one moment; absent if the kernel's tables could not be read.
    pub(crate) fn max_bytes(&self) -> Option<u64> {
        self.most
    }
}

/// Inodes of this process's sockets; absent if they cannot be read.
fn own_sockets() -> Option<HashSet<u64>> {
    let entries = std::fs::read_dir("/proc/self/fd").ok()?;
    let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let inodes =
        links.filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
    Some(inodes.collect())
}

/// Bytes in the send queues of these sockets. In the kernel's table the fifth field is `tx:rx`, the tenth the
/// inode.
fn queued_bytes(table: &str, own_inodes: &HashSet<u64>) -> u64 {
    let queued_bytes = |line: &str| -> Option<u64> {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let inode: u64 = fields.get(9)?.parse().ok()?;
        let (sending, _) = fields.get(4)?.split_once(':')?;
        // For a listening socket this field holds its backlog.
        let listens = *fields.get(3)? == "0A";
        (own_inodes.contains(&inode) && !listens).then(|| u64::from_str_radix(sending, 16).ok())?
    };
    table.lines().skip(1).filter_map(queued_bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000005:00000000 00:00000000 00000000     0        0 11 1 0000000000000000 100 0 0 10 0
   1: 0100007F:8A2E 0100007F:1F90 01 00001000:00000000 01:00000014 00000000     0        0 12 2 0000000000000000 20 4 30 10 -1
   2: 0100007F:8A30 0100007F:1F90 01 00000400:00000000 01:00000014 00000000     0        0 13 2 0000000000000000 20 4 30 10 -1
";

    #[test]
    fn queued_bytes_count_only_own_connections() {
        assert_eq!(queued_bytes(TABLE, &HashSet::from([11, 12])), 0x1000);
        assert_eq!(queued_bytes(TABLE, &HashSet::from([12, 13])), 0x1400);
        assert_eq!(queued_bytes("", &HashSet::from([12])), 0);
    }
}
