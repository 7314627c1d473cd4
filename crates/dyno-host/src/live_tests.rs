//! Checks this machine, as far as that is possible without knowing it.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::{HostDelta, HostObserver, facts};

/// Keeps a CPU busy until the clock has advanced by `time`.
fn work_for(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::black_box((0..10_000u64).sum::<u64>());
    }
}

fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}

#[test]
fn live_cpu_shares_add_up_and_include_own_work() {
    let mut observer = HostObserver::new(&[]);
    let begin = observer.snapshot();
    let start = Instant::now();
    work_for(Duration::from_millis(300));
    let seconds = start.elapsed().as_secs_f64();
    let delta = HostDelta::between(&begin, &observer.snapshot(), seconds);
    let Some(cpu) = delta.cpu else { return skipped("there is no /proc/stat") };
    let sum = cpu.busy_pct + cpu.idle_pct + cpu.iowait_pct + cpu.steal_pct;
    assert!((sum - 100.0).abs() < 1e-6, "{cpu:?}");
    assert!(cpu.busy_pct > 0.0, "{cpu:?}");
    assert!(delta.context_switches_per_s.is_some());
    let process = delta.process.unwrap();
    assert!(process.user_s + process.system_s > 0.0, "{process:?}");
    let memory = delta.memory.unwrap();
    assert!(memory.free_bytes.unwrap() < memory.total_bytes.unwrap());
    let counters = delta.counters();
    for name in ["cpu.busy_pct", "cpu.user_s", "process.cpu_s", "memory.free_bytes", "vm.page_in_bytes"] {
        assert!(counters.contains_key(name), "{name}");
    }
}

#[test]
fn synced_write_is_counted_on_device_of_its_directory() {
    const BYTES: usize = 8 << 20;
    let directory = tempfile::tempdir().unwrap();
    let mut observer = HostObserver::new(&[("data", directory.path())]);
    let Some(device) = observer.device_of("data").map(str::to_owned) else {
        return skipped("the directory for temporary files is on no block device");
    };
    let (begin, start) = (observer.snapshot(), Instant::now());
    let mut file = std::fs::File::create(directory.path().join("data")).unwrap();
    // Not zeros: some storage does not write those.
    let bytes: Vec<u8> =
        (0..BYTES as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect();
    file.write_all(&bytes).unwrap();
    file.sync_all().unwrap();
    let delta = HostDelta::between(&begin, &observer.snapshot(), start.elapsed().as_secs_f64());
    let written = delta.data_device().unwrap();
    assert!(written.write_bytes >= BYTES as u64, "{device}: {written:?}");
    assert!(written.writes > 0, "{device}: {written:?}");
    assert!(written.utilisation_pct.is_some(), "{device}: {written:?}");
    assert!(delta.counters()[&format!("device.{device}.write_bytes")] >= BYTES as f64);
}

#[test]
fn memory_file_system_has_no_device() {
    let shared_memory = Path::new("/dev/shm");
    if facts(&[("data", shared_memory)]).mounts.get("data").is_none_or(|mount| !mount.contains(" tmpfs ")) {
        return skipped("/dev/shm is not a tmpfs");
    }
    assert_eq!(HostObserver::new(&[("data", shared_memory)]).device_of("data"), None);
}

#[test]
fn host_facts_agree_with_standard_library() {
    let host = facts(&[("data", &std::env::temp_dir())]);
    if host.facts.contains_key("unavailable") {
        return skipped("there is no /proc");
    }
    assert!(!host.name.is_empty());
    assert!(host.kernel.starts_with("Linux "));
    assert!(host.cpus >= host.cpus_allowed, "{host:?}");
    assert!(host.cpus_allowed > 0, "{host:?}");
    let available = std::thread::available_parallelism().unwrap().get() as u32;
    // The standard library considers quotas, which can only lower the number.
    assert!(available <= host.cpus_allowed, "{available} of {host:?}");
    assert!(host.memory_bytes > 0);
    assert!(host.mounts.contains_key("data"), "{host:?}");
    assert!(host.facts.contains_key("sysctl.vm.swappiness"));
    assert!(host.facts.contains_key("boot_id"));
    assert!(host.facts.values().all(|value| !value.is_empty() && !value.contains('\n')), "{host:?}");
}

#[test]
fn missing_path_has_the_device_of_its_parent() {
    let directory = tempfile::tempdir().unwrap();
    let existing = HostObserver::new(&[("data", directory.path())]);
    let not_yet = HostObserver::new(&[("data", &directory.path().join("a/b/c.sqlite3"))]);
    assert_eq!(existing.device_of("data"), not_yet.device_of("data"));
}
