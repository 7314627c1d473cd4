//! Parses `/proc/meminfo` and `/proc/vmstat`.

use serde::{Deserialize, Serialize};

/// The state of memory, in bytes. Absent values are not reported by the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Physical memory in total.
    #[serde(skip)]
    pub total_bytes: Option<u64>,
    /// Memory that is not used at all.
    pub free_bytes: Option<u64>,
    /// Memory that programs could get without swapping.
    pub available_bytes: Option<u64>,
    /// The size of the page cache.
    pub cached_bytes: Option<u64>,
    /// Dirty pages that wait to be written to storage.
    pub dirty_bytes: Option<u64>,
    /// Pages that are being written to storage.
    pub writeback_bytes: Option<u64>,
    /// Swap space of the machine in total.
    #[serde(skip)]
    pub swap_total_bytes: Option<u64>,
    /// Swap space that is not used.
    #[serde(skip)]
    pub swap_free_bytes: Option<u64>,
}

/// Paging and swapping since boot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmCounters {
    /// Bytes read from block devices into memory.
    pub page_in_bytes: Option<u64>,
    /// Bytes written from memory to block devices.
    pub page_out_bytes: Option<u64>,
    /// Page faults that had to wait for storage.
    pub major_faults: Option<u64>,
    /// Pages that were read from swap.
    pub swap_in_pages: Option<u64>,
    /// Pages that were written to swap.
    pub swap_out_pages: Option<u64>,
}

pub(crate) fn parse_meminfo(text: &str) -> Memory {
    let mut memory = Memory::default();
    for (name, value) in meminfo_entries(text) {
        match name {
            "MemTotal" => memory.total_bytes = value,
            "MemFree" => memory.free_bytes = value,
            "MemAvailable" => memory.available_bytes = value,
            "Cached" => memory.cached_bytes = value,
            "Dirty" => memory.dirty_bytes = value,
            "Writeback" => memory.writeback_bytes = value,
            "SwapTotal" => memory.swap_total_bytes = value,
            "SwapFree" => memory.swap_free_bytes = value,
            _ => {}
        }
    }
    memory
}

/// Names and values of `/proc/meminfo`: bytes where the kernel writes a unit, else the plain number.
pub(crate) fn meminfo_entries(text: &str) -> impl Iterator<Item = (&str, Option<u64>)> {
    text.lines().filter_map(|line| {
        let (name, rest) = line.split_once(':')?;
        let mut words = rest.split_ascii_whitespace();
        let number: Option<u64> = words.next()?.parse().ok();
        let value = match words.next() {
            Some("kB") => number.and_then(|kb| kb.checked_mul(1024)),
            _ => number,
        };
        Some((name, value))
    })
}

pub(crate) fn parse_vmstat(text: &str) -> VmCounters {
    let mut vm = VmCounters::default();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(' ') else { continue };
        let number = || value.trim().parse::<u64>().ok();
        // The kernel counts paging in KiB.
        let kib = || number()?.checked_mul(1024);
        match name {
            "pgpgin" => vm.page_in_bytes = kib(),
            "pgpgout" => vm.page_out_bytes = kib(),
            "pgmajfault" => vm.major_faults = number(),
            "pswpin" => vm.swap_in_pages = number(),
            "pswpout" => vm.swap_out_pages = number(),
            _ => {}
        }
    }
    vm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_kernel_format_is_parsed() {
        let memory = parse_meminfo(
            "MemTotal:       24684092 kB\nMemFree:         1000000 kB\nMemAvailable:    2000000 kB\nCached:  300 kB\n\
             SwapCached:            7 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nDirty:  12 kB\nWriteback:  1 kB\nHugePages_Total:  5\n",
        );
        assert_eq!(memory.total_bytes, Some(24_684_092 * 1024));
        assert_eq!((memory.cached_bytes, memory.dirty_bytes), (Some(300 * 1024), Some(12 * 1024)));
        assert_eq!((memory.writeback_bytes, memory.swap_total_bytes), (Some(1024), Some(0)));
    }

    #[test]
    fn meminfo_without_available_memory_is_parsed() {
        let memory = parse_meminfo("MemTotal: 10 kB\nMemFree: 5 kB\nnonsense\nDirty: many kB\n");
        assert_eq!((memory.available_bytes, memory.dirty_bytes), (None, None));
        assert_eq!(memory.free_bytes, Some(5 * 1024));
    }

    #[test]
    fn paging_and_swap_counters_are_parsed() {
        let vm = parse_vmstat("nr_free_pages 1\npgpgin 2\npgpgout 3\npswpin 4\npswpout 5\npgmajfault 6\n");
        assert_eq!((vm.page_in_bytes, vm.page_out_bytes), (Some(2048), Some(3072)));
        assert_eq!((vm.swap_in_pages, vm.swap_out_pages, vm.major_faults), (Some(4), Some(5), Some(6)));
        assert_eq!(parse_vmstat(""), VmCounters::default());
    }
}
