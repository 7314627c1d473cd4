//! Parses `/proc/diskstats` (the kernel's Documentation/admin-guide/iostats.rst).

use serde::{Deserialize, Serialize};

/// A sector in this file always has 512 bytes, whatever the device's own sector size.
const SECTOR_BYTES: u64 = 512;

/// Counters of one block device since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Number of reads completed since boot.
    pub reads: u64,
    /// Bytes read since boot.
    pub read_bytes: u64,
    /// Time spent in reads, summed over them, ms; wraps at 2³².
    pub read_ms: u64,
    /// Number of writes completed since boot.
    pub writes: u64,
    /// Bytes written since boot.
    pub write_bytes: u64,
    /// Time spent in writes, summed over them, ms; wraps at 2³².
    pub write_ms: u64,
    /// Requests in progress at this moment.
    pub in_flight: u64,
    /// Time in which at least one request was in progress, ms; wraps at 2³².
    pub busy_ms: u64,
    /// Time spent in requests, summed over them, ms; wraps at 2³².
    pub queue_ms: u64,
    /// Discards completed; absent before kernel 4.18.
    pub discards: Option<u64>,
    /// Flushes of the device's cache completed; absent before kernel 5.5.
    pub flushes: Option<u64>,
}

impl DiskCounters {
    /// Whether the device has never done anything.
    pub(crate) fn is_untouched(&self) -> bool {
        self.reads == 0 && self.writes == 0 && self.in_flight == 0
    }
}

/// Parses `/proc/diskstats`: names and counters, in the kernel's order. Lines that cannot be parsed are
/// skipped.
pub(crate) fn parse_diskstats(text: &str) -> impl Iterator<Item = (&str, DiskCounters)> {
    text.lines().filter_map(line)
}

fn line(line: &str) -> Option<(&str, DiskCounters)> {
    let mut fields = line.split_ascii_whitespace().skip(2);
    let name = fields.next()?;
    let mut values = [None; 17];
    for (value, field) in values.iter_mut().zip(fields) {
        *value = Some(field.parse::<u64>().ok()?);
    }
    let [
        reads,
        _,
        read_sectors,
        read_ms,
        writes,
        _,
        write_sectors,
        write_ms,
        in_flight,
        busy_ms,
        queue_ms,
        rest @ ..,
    ] = values;
    let counters = DiskCounters {
        reads: reads?,
        read_bytes: read_sectors?.checked_mul(SECTOR_BYTES)?,
        read_ms: read_ms?,
        writes: writes?,
        write_bytes: write_sectors?.checked_mul(SECTOR_BYTES)?,
        write_ms: write_ms?,
        in_flight: in_flight?,
        busy_ms: busy_ms?,
        queue_ms: queue_ms?,
        discards: rest[0],
        flushes: rest[4],
    };
    Some((name, counters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diskstats_of_old_and_new_kernels_are_read() {
        let text = " 254       0 vda 43467 13688 9047106 36723 13246 28799 4603792 24445 2 11280 62117 7057 48 707264 907 831 40\n\
                    \x208 1 sda1 5 0 40 7 3 0 24 9 0 8 16\n\
                    259 0 nvme0n1 10 0 80 1 20 0 160 2 0 3 4 5 0 6 7\n";
        let disks: Vec<_> = parse_diskstats(text).collect();
        let vda = DiskCounters {
            reads: 43_467,
            read_bytes: 9_047_106 * 512,
            read_ms: 36_723,
            writes: 13_246,
            write_bytes: 4_603_792 * 512,
            write_ms: 24_445,
            in_flight: 2,
            busy_ms: 11_280,
            queue_ms: 62_117,
            discards: Some(7_057),
            flushes: Some(831),
        };
        assert_eq!(disks[0], ("vda", vda));
        assert_eq!((disks[1].0, disks[1].1.queue_ms, disks[1].1.discards), ("sda1", 16, None));
        assert_eq!((disks[2].1.discards, disks[2].1.flushes), (Some(5), None));
    }

    #[test]
    fn unknown_diskstats_lines_are_skipped() {
        // Partitions in kernels before 2.6.25 had only four fields.
        let text = "8 1 sda1 5 40 3 24\n\nrubbish\n7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n8 0 sda -1 0 0 0 0 0 0 0 0 0 0\n";
        let names: Vec<_> = parse_diskstats(text).map(|(name, _)| name).collect();
        assert_eq!(names, ["loop0"]);
    }
}
