//! What waits in the send queues of this program's connections: bytes that a host has not got rid of.

use std::collections::HashSet;

/// How often it is looked, ns: with thousands of connections a look takes milliseconds.
const LOOK_EVERY_NS: u64 = 1_000_000_000;

/// The most that was seen.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    looks: u64,
    most: Option<u64>,
}

impl SendQueue {
    /// Looks, where it is time: so long after the first.
    pub(crate) fn look(&mut self, after_ns: u64) {
        if after_ns < self.looks * LOOK_EVERY_NS {
            return;
        }
        self.looks = after_ns / LOOK_EVERY_NS + 1;
        let Some(own) = own_sockets() else { return };
        let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
        let texts = tables.iter().filter_map(|path| std::fs::read_to_string(path).ok());
        let waiting: u64 = texts.map(|text| waiting(&text, &own)).sum();
        self.most = Some(self.most.unwrap_or(0).max(waiting));
    }

    /// The most bytes that were seen waiting at one moment; nothing where nobody could look.
    pub(crate) fn most(&self) -> Option<u64> {
        self.most
    }
}

/// The inodes of this process's sockets.
fn own_sockets() -> Option<HashSet<u64>> {
    let entries = std::fs::read_dir("/proc/self/fd").ok()?;
    let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let inodes =
        links.filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
    Some(inodes.collect())
}

/// Bytes in the send queues of those sockets, by the kernel's table of connections: its fifth field is `tx:rx`, its tenth the inode.
fn waiting(table: &str, own: &HashSet<u64>) -> u64 {
    let of = |line: &str| -> Option<u64> {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let inode: u64 = fields.get(9)?.parse().ok()?;
        let (sending, _) = fields.get(4)?.split_once(':')?;
        // A listening socket has its backlog there.
        let listens = *fields.get(3)? == "0A";
        (own.contains(&inode) && !listens).then(|| u64::from_str_radix(sending, 16).ok())?
    };
    table.lines().skip(1).filter_map(of).sum()
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
    fn only_own_connections_count() {
        assert_eq!(waiting(TABLE, &HashSet::from([11, 12])), 0x1000);
        assert_eq!(waiting(TABLE, &HashSet::from([12, 13])), 0x1400);
        assert_eq!(waiting("", &HashSet::from([12])), 0);
    }
}
