//! Compares differences with figures computed by hand.

use proptest::prelude::*;

use super::*;
use crate::parse::cpu::{CpuStat, CpuTimes};
use crate::parse::disk::DiskCounters;
use crate::parse::net::NetworkCounters;
use crate::parse::nfs::NfsCounters;
use crate::parse::pressure::Pressure;
use crate::parse::process::ProcessTicks;
use crate::rates::moved_ms;

fn with_cpu(times: CpuTimes) -> HostSnapshot {
    let cpu = CpuStat { times, context_switches: Some(times.user * 10), ..CpuStat::default() };
    let fixed = Fixed { ticks_per_s: Some(100), devices: vec![("data".into(), "sda".into())] };
    HostSnapshot { cpu: Some(cpu), fixed: Arc::new(fixed), ..HostSnapshot::default() }
}

fn with_disk(disk: DiskCounters) -> HostSnapshot {
    let mut snapshot = with_cpu(CpuTimes::default());
    snapshot.devices.insert("sda".into(), disk);
    snapshot
}

const BEGIN: DiskCounters = DiskCounters {
    reads: 1_000,
    read_bytes: 8_192_000,
    read_ms: 500,
    writes: 100,
    write_bytes: 409_600,
    write_ms: 50,
    in_flight: 0,
    busy_ms: 400,
    queue_ms: 550,
    discards: None,
    flushes: Some(7),
};

#[test]
fn cpu_time_of_two_cpus_is_divided_into_shares() {
    let begin = CpuTimes { user: 1_000, system: 500, idle: 9_000, ..CpuTimes::default() };
    let end = CpuTimes {
        user: 1_080,
        nice: 20,
        system: 560,
        irq: 10,
        softirq: 10,
        idle: 9_100,
        iowait: 80,
        steal: 40,
    };
    let delta = HostDelta::between(&with_cpu(begin), &with_cpu(end), 2.0);
    let expected = CpuShare {
        busy_pct: 45.0,
        user_pct: 25.0,
        system_pct: 20.0,
        iowait_pct: 20.0,
        steal_pct: 10.0,
        idle_pct: 25.0,
        user_s: Some(1.0),
        system_s: Some(0.8),
    };
    assert_eq!(delta.cpu, Some(expected));
    assert_eq!(delta.context_switches_per_s, Some(400.0));
}

#[test]
fn device_activity_is_calculated_from_counters() {
    let end = DiskCounters {
        reads: 5_000,
        read_bytes: 8_192_000 + 4_000 * 8_192,
        read_ms: 1_500,
        writes: 110,
        write_bytes: 409_600 + 1_000_000,
        write_ms: 51,
        busy_ms: 1_400,
        queue_ms: 4_550,
        flushes: Some(9),
        ..BEGIN
    };
    let delta = HostDelta::between(&with_disk(BEGIN), &with_disk(end), 2.0);
    let device = delta.data_device().unwrap();
    assert_eq!((device.reads_per_s, device.writes_per_s), (2_000.0, 5.0));
    assert_eq!((device.read_mb_per_s, device.write_mb_per_s), (16.384, 0.5));
    assert_eq!(device.read_latency_us, Some(250.0));
    assert_eq!(device.write_latency_us, None, "ten writes in one millisecond tell no latency");
    assert_eq!((device.utilisation_pct, device.queue_depth), (Some(50.0), Some(2.0)));
    assert_eq!(device.flushes, Some(2));
    assert!(delta.device_of("redo").is_none());
}

#[test]
fn reset_added_or_removed_device_has_no_delta() {
    let anew = DiskCounters { reads: 3, read_bytes: 3 * 8_192, ..DiskCounters::default() };
    assert!(HostDelta::between(&with_disk(BEGIN), &with_disk(anew), 1.0).devices.is_empty());
    let before = with_cpu(CpuTimes::default());
    assert!(HostDelta::between(&before, &with_disk(BEGIN), 1.0).devices.is_empty());
    assert!(HostDelta::between(&with_disk(BEGIN), &before, 1.0).devices.is_empty());
}

#[test]
fn device_times_wrap_at_32_bits() {
    let near = (1u64 << 32) - 100;
    assert_eq!(moved_ms(near, 900), Some(1_000));
    assert_eq!(moved_ms(5_000, 900), None);
    assert_eq!(moved_ms(near, near + 50), Some(50));
    // Kernels with wider counters do not wrap.
    assert_eq!(moved_ms(1 << 33, (1 << 33) + 5), Some(5));
    assert_eq!(moved_ms(1 << 33, 5), None);
}

#[test]
fn host_delta_covers_pressure_network_nfs_and_own_process() {
    let (mut begin, mut end) = (with_cpu(CpuTimes::default()), with_cpu(CpuTimes::default()));
    begin.pressure.insert("io", Pressure { some_us: 1_000, full_us: Some(0) });
    end.pressure.insert("io", Pressure { some_us: 501_000, full_us: Some(250_000) });
    let bytes = |rx_bytes, tx_bytes| NetworkCounters { rx_bytes, tx_bytes, ..NetworkCounters::default() };
    begin.network.insert("eth0".into(), bytes(0, 0));
    end.network.insert("eth0".into(), bytes(5_000_000, 1_000_000));
    begin.network.insert("eth1".into(), bytes(9, 9));
    end.network.insert("eth1".into(), bytes(1, 1));
    begin.nfs.insert("data".into(), NfsCounters::default());
    let nfs = NfsCounters { reads: 200, read_rtt_ms: 100, ..NfsCounters::default() };
    end.nfs.insert("data".into(), nfs);
    begin.process = Some(ProcessTicks { user: 10, system: 10 });
    end.process = Some(ProcessTicks { user: 60, system: 35 });
    let delta = HostDelta::between(&begin, &end, 2.0);
    assert_eq!(delta.pressure["io"], PressurePct { some_pct: 25.0, full_pct: Some(12.5) });
    assert_eq!((delta.network["eth0"].rx_mb_per_s, delta.network["eth0"].tx_mb_per_s), (2.5, 0.5));
    assert!(!delta.network.contains_key("eth1"));
    assert_eq!((delta.nfs["data"].read_rtt_us, delta.nfs["data"].write_rtt_us), (Some(500.0), None));
    assert_eq!(delta.process, Some(ProcessCpu { user_s: 0.5, system_s: 0.25 }));
}

#[test]
fn the_largest_counters_do_not_overflow() {
    let end = DiskCounters { reads: u64::MAX, writes: u64::MAX, ..DiskCounters::default() };
    let counters = HostDelta::between(&with_disk(DiskCounters::default()), &with_disk(end), 1.0).counters();
    assert_eq!(counters["device.sda.reads"], u64::MAX as f64);
    let end =
        CpuTimes { user: u64::MAX, nice: u64::MAX, system: u64::MAX, irq: u64::MAX, ..CpuTimes::default() };
    let cpu = HostDelta::between(
        &with_cpu(CpuTimes::default()),
        &HostSnapshot { cpu: Some(CpuStat { times: end, ..CpuStat::default() }), ..HostSnapshot::default() },
        1.0,
    )
    .cpu
    .unwrap();
    assert_eq!((cpu.user_pct, cpu.system_pct), (50.0, 50.0));
}

#[test]
fn host_interval_without_length_has_no_values() {
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let delta = HostDelta::between(&with_disk(BEGIN), &with_disk(BEGIN), seconds);
        assert!(delta.cpu.is_none());
        assert!(delta.devices.is_empty());
    }
}

fn any_times() -> impl Strategy<Value = CpuTimes> {
    proptest::array::uniform8(0u64..1 << 60).prop_map(
        |[user, nice, system, idle, iowait, irq, softirq, steal]| CpuTimes {
            user,
            nice,
            system,
            idle,
            iowait,
            irq,
            softirq,
            steal,
        },
    )
}

fn any_disk() -> impl Strategy<Value = DiskCounters> {
    proptest::array::uniform8(any::<u64>()).prop_map(|v| DiskCounters {
        reads: v[0],
        read_bytes: v[1],
        read_ms: v[2],
        writes: v[3],
        write_bytes: v[4],
        write_ms: v[5],
        busy_ms: v[6],
        queue_ms: v[7],
        ..DiskCounters::default()
    })
}

proptest! {
    #[test]
    fn cpu_percentages_are_valid_and_sum_to_100(begin in any_times(), end in any_times()) {
        if let Some(cpu) = HostDelta::between(&with_cpu(begin), &with_cpu(end), 1.0).cpu {
            let sum = cpu.busy_pct + cpu.iowait_pct + cpu.steal_pct + cpu.idle_pct;
            prop_assert!((sum - 100.0).abs() < 1e-6, "{cpu:?}");
            prop_assert!((cpu.user_pct + cpu.system_pct - cpu.busy_pct).abs() < 1e-6);
            prop_assert!([cpu.busy_pct, cpu.iowait_pct, cpu.steal_pct, cpu.idle_pct].iter().all(|&pct| pct >= 0.0));
        }
    }

    #[test]
    fn host_figures_are_never_negative_or_nan(
        begin in any_disk(), end in any_disk(), seconds in any::<f64>(),
    ) {
        let delta = HostDelta::between(&with_disk(begin), &with_disk(end), seconds);
        for (name, value) in delta.counters() {
            prop_assert!(value >= 0.0, "{name} = {value}");
        }
    }
}
