//! Profiles this machine, where it is allowed.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dyno_record::{CpuKind, CpuProfile};

use super::{Perf, ProfileWindow, monotonic_ns};
use crate::processors::ProcessTimes;

const HZ: u32 = 199;

/// A profiler; absent where this machine does not allow one.
fn perf() -> Option<Perf> {
    match Perf::start(HZ) {
        Ok(perf) => Some(perf),
        Err(reason) if std::env::var_os("DYNO_TEST_REQUIRE_ALL").is_none() => {
            eprintln!("skipped: {reason}");
            None
        }
        Err(reason) => panic!("{reason}"),
    }
}

/// Works in a thread of this name until it has used `least` of processor time.
fn work(name: &str, least: Duration) {
    let work = move || {
        let had = || {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
        };
        while had() < least {
            std::hint::spin_loop();
        }
    };
    std::thread::Builder::new().name(name.into()).spawn(work).unwrap().join().unwrap();
}

/// Time in threads of this name, in samples.
fn samples_in(profile: &CpuProfile, thread: &str) -> u64 {
    let thread_nodes =
        profile.stacks.iter().filter(|node| profile.frames[node.frame as usize].name == thread);
    thread_nodes.map(|node| node.weight).sum::<u64>() * u64::from(HZ) / 1_000_000_000
}

/// Time that a hypervisor took from all processors since the boot, s; 0 where the kernel does not say.
fn stolen_s() -> f64 {
    const TICKS_PER_S: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/stat").unwrap();
    let ticks = stat.lines().next().and_then(|all| all.split_whitespace().nth(8)?.parse::<f64>().ok());
    ticks.unwrap_or(0.0) / TICKS_PER_S
}

#[test]
fn profile_covers_only_the_window() {
    let Some(mut perf) = perf() else { return };
    let whole_begin_ns = monotonic_ns();
    perf.enable();
    // Long enough to be sampled before the window too; a `perf` that stops late would be reported.
    work("dyno-before", Duration::from_millis(400));
    let before = ProcessTimes::read(&[], &[]).unwrap();
    let (begin_ns, stolen_before_s) = (monotonic_ns(), stolen_s());
    work("dyno-inside", Duration::from_millis(800));
    // A process with a name of its own that lives only inside the window.
    let count = "printf dyno-child > /proc/$$/comm; i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
    assert!(std::process::Command::new("sh").args(["-c", count]).status().unwrap().success());
    let (end_ns, stolen_s) = (monotonic_ns(), stolen_s() - stolen_before_s);
    let behind = ProcessTimes::read(&[], &[]).unwrap();
    work("dyno-after", Duration::from_millis(400));
    let whole_end_ns = monotonic_ns();
    perf.disable();
    perf.end(&|| false).unwrap();
    let readings = [&behind, &before];
    let profile_between =
        |begin_ns, end_ns| perf.profile(ProfileWindow { begin_ns, end_ns }, &readings, &|| false).unwrap();
    let whole = profile_between(whole_begin_ns, whole_end_ns);
    for name in ["dyno-before", "dyno-inside", "dyno-after"] {
        assert!(samples_in(&whole, name) > 0, "{name} was not sampled: {:?}", whole.processes);
    }
    let cut = profile_between(begin_ns, end_ns);
    assert!(samples_in(&cut, "dyno-inside") > 0, "{:?}", cut.processes);
    assert_eq!((samples_in(&cut, "dyno-before"), samples_in(&cut, "dyno-after")), (0, 0));
    let dyno_process =
        cut.processes.iter().find(|one| one.kind == CpuKind::Dyno).expect("this program worked");
    assert!(dyno_process.samples > 0);
    let child = cut.processes.iter().find(|one| one.name == "dyno-child").expect("its child worked");
    assert_eq!(child.kind, CpuKind::Dyno);
    if let Some(covered_pct) = cut.covered_pct {
        // The clock ticks on every busy processor, so each may have one sample more or fewer. At either end,
        // the kernel counts idle time and I/O wait in steps of 10 ms.
        let due = f64::from(cut.cpus) * cut.seconds * f64::from(HZ);
        let slack = 100.0 * f64::from(cut.cpus) * (1.0 + 4.0 * 0.01 * f64::from(HZ)) / due + 1.0;
        assert!(covered_pct <= 100.0 + slack, "{covered_pct} % of {due} samples");
        // A processor that the hypervisor gave to another machine takes no samples, and its clock goes on late.
        let stolen_pct = 100.0 * stolen_s / (f64::from(cut.cpus) * cut.seconds);
        let least_pct = 100.0 - slack - 2.0 * stolen_pct;
        assert!(covered_pct >= least_pct, "{covered_pct} % of {due} samples, {stolen_pct} % stolen");
    }
}

#[test]
fn profiler_failure_states_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let program = |name: &str, script: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Perf::start_as(path.into(), HZ)
    };
    let cut = ProfileWindow { begin_ns: 0, end_ns: u64::MAX };
    let nowhere = Perf::start_as(folder.path().join("none").into(), HZ).unwrap_err();
    assert!(nowhere.contains("linux-perf"), "{nowhere}");
    let reason = program("refuses", "echo 'Error: no such event' >&2; exit 255").unwrap_err();
    assert_eq!(reason, "perf cannot take samples: Error: no such event");
    // A profiler that dies inside the window.
    let perf = program("dies", "read x; echo ack >&2; echo 'out of luck' >&2; exit 3").unwrap();
    let has_ended = AtomicBool::new(false);
    while !has_ended.load(Ordering::Relaxed) {
        has_ended.store(!is_alive(perf.pid()), Ordering::Relaxed);
    }
    let reason = perf.finish(cut, &[], &|| false).unwrap_err();
    assert!(reason.contains("ended before the window did"), "{reason}");
    assert!(reason.contains("out of luck"), "{reason}");
    // A profiler whose file is not valid.
    let broken = "read x; echo ack >&2; read y; echo ack >&2; echo broken; read z; exit 0";
    let mut perf = program("breaks", broken).unwrap();
    perf.enable();
    let reason = perf.finish(cut, &[], &|| false).unwrap_err();
    assert!(reason.contains("cannot be read"), "{reason}");
    // A profiler that never ends, after its user gave up.
    let perf = program("hangs", "read x; echo ack >&2; exec sleep 600").unwrap();
    let pid = perf.pid();
    let reason = perf.finish(cut, &[], &|| true).unwrap_err();
    assert!(reason.contains("stopped"), "{reason}");
    assert!(!is_alive(pid), "it was left behind");
}

/// Whether a process exists and is not a zombie.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}
