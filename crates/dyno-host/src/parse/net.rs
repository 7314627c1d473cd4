//! Parses `/proc/net/dev` (proc_pid_net(5)).

use serde::{Deserialize, Serialize};

/// Counters of one network interface since it came up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkCounters {
    /// Bytes received since the interface came up.
    pub rx_bytes: u64,
    /// Packets received since the interface came up.
    pub rx_packets: u64,
    /// Received packets that were broken or dropped.
    pub rx_bad: u64,
    /// Bytes sent since the interface came up.
    pub tx_bytes: u64,
    /// Packets sent since the interface came up.
    pub tx_packets: u64,
    /// Packets that could not be sent or were dropped.
    pub tx_bad: u64,
}

/// Parses `/proc/net/dev`: names and counters. Lines that cannot be parsed are skipped.
pub(crate) fn parse_net_dev(text: &str) -> impl Iterator<Item = (&str, NetworkCounters)> {
    text.lines().filter_map(|line| {
        // Names may contain colons (aliases); numbers never do.
        let (name, rest) = line.rsplit_once(':')?;
        let mut values = [None; 12];
        for (value, field) in values.iter_mut().zip(rest.split_ascii_whitespace()) {
            *value = field.parse::<u64>().ok();
        }
        let [
            rx_bytes,
            rx_packets,
            rx_errors,
            rx_dropped,
            _,
            _,
            _,
            _,
            tx_bytes,
            tx_packets,
            tx_errors,
            tx_dropped,
        ] = values;
        let counters = NetworkCounters {
            rx_bytes: rx_bytes?,
            rx_packets: rx_packets?,
            rx_bad: rx_errors?.saturating_add(rx_dropped?),
            tx_bytes: tx_bytes?,
            tx_packets: tx_packets?,
            tx_bad: tx_errors?.saturating_add(tx_dropped?),
        };
        Some((name.trim(), counters))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_interfaces_parse_with_or_without_space_after_name() {
        let text = "Inter-|   Receive                                                |  Transmit\n \
                    face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
                    lo: 10 1 0 0 0 0 0 0 10 1 0 0 0 0 0 0\n\
                    eth0:2000 20 1 2 0 0 0 5 3000 30 3 4 0 0 0 0\neth0:1: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n";
        let all: Vec<_> = parse_net_dev(text).collect();
        assert_eq!(all.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["lo", "eth0", "eth0:1"]);
        let eth0 = NetworkCounters {
            rx_bytes: 2_000,
            rx_packets: 20,
            rx_bad: 3,
            tx_bytes: 3_000,
            tx_packets: 30,
            tx_bad: 7,
        };
        assert_eq!(all[1].1, eth0);
    }
}
