//! The checks of a machine. A check is silent where the machine does not tell what it needs.

use dyno_engine::advice::{fail, note, ok, warn};
use dyno_record::Advice;

use super::HostInspection;

/// Share of the processors from which others' use is a warning, %.
const OTHERS_PCT: f64 = 5.0;
/// Share of time taken by the hypervisor from which it is a warning, %.
const STEAL_PCT: f64 = 1.0;
/// Highest swappiness with which a database's memory stays in memory beside a full page cache.
const SWAPPINESS_MAX: u64 = 10;
/// Files and connections needed for 256 sessions that use two each, and for the rest of the program.
const FILES_MIN: u64 = 1_024;
/// Clocks that programs read without a system call (vdso(7)).
const FAST_CLOCKS: [&str; 4] = ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"];

/// A check of the machine.
type HostRule = fn(&HostInspection) -> Option<Advice>;

/// Every check, in the order of the answer.
pub(super) const RULES: [HostRule; 13] = [
    counters, processors, others, steal, governor, turbo, clock, memory, huge_pages, swap, open_files,
    pressure, perf,
];

fn fact<'a>(inspection: &'a HostInspection, name: &str) -> Option<&'a str> {
    inspection.host.facts.get(name).map(String::as_str)
}

fn number<T: std::str::FromStr>(inspection: &HostInspection, name: &str) -> Option<T> {
    fact(inspection, name)?.parse().ok()
}

fn counters(inspection: &HostInspection) -> Option<Advice> {
    let why = fact(inspection, "unavailable")?;
    Some(fail("counters", why, "run Dyno on Linux, with /proc mounted"))
}

fn processors(inspection: &HostInspection) -> Option<Advice> {
    let host = &inspection.host;
    let (all, allowed) = (host.cpus, host.cpus_allowed);
    let quota: Option<f64> = number(inspection, "cgroup.cpu.quota_cpus");
    let model = &host.cpu_model;
    Some(match quota {
        _ if all == 0 => return None,
        Some(quota) if quota < f64::from(all) => warn(
            "processors",
            format!(
                "a control group grants this process the time of {quota} of {all} processors: the client may become the limit"
            ),
            "start Dyno outside of the container, or raise its limit: `docker run --cpus`, `systemctl set-property UNIT CPUQuota=`",
        ),
        _ if allowed > 0 && allowed < all => note(
            "processors",
            format!("this process may use {allowed} of {all} processors"),
            "`taskset -pc $$` shows the processors of this shell",
        ),
        _ => ok("processors", format!("all {all} may be used: {model}")),
    })
}

fn others(inspection: &HostInspection) -> Option<Advice> {
    let busy = inspection.idle?.busy_pct;
    Some(match busy > OTHERS_PCT {
        true => warn(
            "others",
            format!(
                "other programs use {busy:.0} % of the processors: they take them from client and server"
            ),
            "`top` shows which; measure when they are idle",
        ),
        false => ok("others", format!("other programs use {busy:.1} % of the processors")),
    })
}

fn steal(inspection: &HostInspection) -> Option<Advice> {
    let machine = fact(inspection, "virtualisation").filter(|machine| machine.starts_with("yes"))?;
    let steal = inspection.idle?.steal_pct;
    Some(match steal > STEAL_PCT {
        true => warn(
            "virtual machine",
            format!("the hypervisor took {steal:.1} % of the processors' time: latencies include its pauses"),
            "reserve physical processors for this machine, or repeat runs and compare medians",
        ),
        false => note(
            "virtual machine",
            format!("{machine}; the hypervisor took {steal:.1} % of the processors' time just now"),
            "every record holds the share of its own window (steal)",
        ),
    })
}

fn governor(inspection: &HostInspection) -> Option<Advice> {
    let governor = fact(inspection, "cpu.governor")?;
    Some(match governor {
        "performance" => ok("frequency governor", "performance"),
        _ => warn(
            "frequency governor",
            format!(
                "{governor}: processors slow down between requests, and light loads look slower than they are"
            ),
            "`cpupower frequency-set -g performance`, as root",
        ),
    })
}

fn turbo(inspection: &HostInspection) -> Option<Advice> {
    (fact(inspection, "cpu.turbo")? == "on").then(|| {
        note(
            "turbo",
            "on: processors slow down as more of them work, so each further session adds less throughput",
            "leave it on to measure the machine as it runs; `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo` \
             turns it off on Intel",
        )
    })
}

fn clock(inspection: &HostInspection) -> Option<Advice> {
    let clock = fact(inspection, "clocksource")?;
    Some(match FAST_CLOCKS.contains(&clock) {
        true => ok("clock", clock),
        false => warn(
            "clock",
            format!(
                "{clock}: each reading of the time is a system call, and latencies of microseconds include it"
            ),
            "`echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`, as root, if \
             available_clocksource beside it lists tsc",
        ),
    })
}

fn memory(inspection: &HostInspection) -> Option<Advice> {
    let limit: u64 = number(inspection, "cgroup.memory.max_bytes")?;
    let mib = limit >> 20;
    (limit < inspection.host.memory_bytes).then(|| {
        note(
            "memory",
            format!("a control group limits this process, and its page cache, to {mib} MiB"),
            "start Dyno and an embedded database outside of the container",
        )
    })
}

fn huge_pages(inspection: &HostInspection) -> Option<Advice> {
    let choice = fact(inspection, "transparent_huge_pages.enabled")?;
    Some(match choice {
        "always" => warn(
            "transparent huge pages",
            "always: the kernel pauses programs while it merges pages, and a database then stalls",
            "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`, as root",
        ),
        _ => ok("transparent huge pages", choice),
    })
}

fn swap(inspection: &HostInspection) -> Option<Advice> {
    let bytes: u64 = number(inspection, "swap.total_bytes")?;
    let swappiness: u64 = number(inspection, "sysctl.vm.swappiness")?;
    Some(match bytes {
        0 => ok("swap", "none"),
        _ if swappiness <= SWAPPINESS_MAX => ok("swap", format!("vm.swappiness is {swappiness}")),
        _ => warn(
            "swap",
            format!("vm.swappiness is {swappiness}: a full page cache moves memory of the database to swap"),
            "`sysctl vm.swappiness=1`, as root",
        ),
    })
}

fn open_files(inspection: &HostInspection) -> Option<Advice> {
    let files = inspection.files_max?;
    Some(match files < FILES_MIN {
        true => warn(
            "open files",
            format!("{files} files and connections may be open, and each session needs 1 or 2"),
            "`ulimit -n 65536`, or LimitNOFILE= of the unit",
        ),
        false => ok("open files", format!("{files} files and connections may be open")),
    })
}

fn pressure(inspection: &HostInspection) -> Option<Advice> {
    if fact(inspection, "unavailable").is_some() {
        return None;
    }
    Some(match inspection.has_pressure {
        true => ok("pressure", "the kernel tells how long threads waited for processors, memory and storage"),
        false => note(
            "pressure",
            "the kernel does not tell how long threads waited (/proc/pressure): limits are found by use alone",
            "boot with psi=1 (Linux 4.20 or newer)",
        ),
    })
}

fn perf(inspection: &HostInspection) -> Option<Advice> {
    Some(match &inspection.perf {
        Ok(()) => ok("perf", "it can sample all processors for observe.perf"),
        Err(why) => note("perf", "profiles of processor use (observe.perf) are not available", why.as_str()),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dyno_host::CpuShare;
    use dyno_record::{Host, Severity};

    use super::super::host_advice;
    use super::*;

    fn cpu(busy_pct: f64, steal_pct: f64) -> Option<CpuShare> {
        Some(CpuShare {
            busy_pct,
            user_pct: busy_pct,
            system_pct: 0.0,
            iowait_pct: 0.0,
            steal_pct,
            idle_pct: 100.0 - busy_pct - steal_pct,
            user_s: None,
            system_s: None,
        })
    }

    fn machine(facts: &[(&str, &str)]) -> HostInspection {
        let facts: BTreeMap<String, String> =
            facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let host = Host {
            cpus: 8,
            cpus_allowed: 8,
            memory_bytes: 8 << 30,
            facts: facts.into_iter().collect(),
            ..Host::default()
        };
        HostInspection {
            host,
            idle: cpu(0.4, 0.0),
            has_pressure: true,
            files_max: Some(65_536),
            perf: Ok(()),
        }
    }

    /// The severity of one check.
    fn severity(inspection: &HostInspection, check: &str) -> Option<Severity> {
        host_advice(inspection).iter().find(|advice| advice.check == check).map(|advice| advice.severity)
    }

    #[test]
    fn well_configured_machine_has_no_finding_with_a_hint() {
        let facts = [
            ("cpu.governor", "performance"),
            ("clocksource", "tsc"),
            ("transparent_huge_pages.enabled", "madvise"),
            ("swap.total_bytes", "1024"),
            ("sysctl.vm.swappiness", "1"),
            ("cgroup.cpu.quota_cpus", "8"),
        ];
        for advice in host_advice(&machine(&facts)) {
            assert_eq!(advice.severity, Severity::Ok, "{advice:?}");
            assert_eq!(advice.way_out, "", "{advice:?}");
        }
    }

    #[test]
    fn each_distorting_fact_has_its_finding_and_a_hint() {
        for (fact, value, check, expected) in [
            ("cpu.governor", "powersave", "frequency governor", Severity::Warn),
            ("cpu.turbo", "on", "turbo", Severity::Note),
            ("clocksource", "acpi_pm", "clock", Severity::Warn),
            ("transparent_huge_pages.enabled", "always", "transparent huge pages", Severity::Warn),
            ("cgroup.cpu.quota_cpus", "1.5", "processors", Severity::Warn),
            ("cgroup.memory.max_bytes", "1073741824", "memory", Severity::Note),
            ("virtualisation", "yes: KVM", "virtual machine", Severity::Note),
            ("unavailable", "there is no /proc", "counters", Severity::Fail),
        ] {
            let advice = host_advice(&machine(&[(fact, value)]));
            let found =
                advice.iter().find(|advice| advice.check == check).unwrap_or_else(|| panic!("{check}"));
            assert_eq!(found.severity, expected, "{found:?}");
            assert!(!found.way_out.is_empty(), "{found:?}");
        }
        let swapping = machine(&[("swap.total_bytes", "1024"), ("sysctl.vm.swappiness", "60")]);
        assert_eq!(severity(&swapping, "swap"), Some(Severity::Warn));
    }

    #[test]
    fn load_of_others_and_missing_tools_are_found() {
        let mut inspection = machine(&[("virtualisation", "yes: KVM")]);
        inspection.idle = cpu(37.0, 4.0);
        inspection.files_max = Some(256);
        inspection.has_pressure = false;
        inspection.perf = Err("perf is not in PATH".to_owned());
        inspection.host.cpus_allowed = 2;
        for (check, expected) in [
            ("others", Severity::Warn),
            ("virtual machine", Severity::Warn),
            ("open files", Severity::Warn),
            ("pressure", Severity::Note),
            ("perf", Severity::Note),
            ("processors", Severity::Note),
        ] {
            assert_eq!(severity(&inspection, check), Some(expected), "{check}");
        }
    }

    #[test]
    fn facts_that_the_machine_does_not_tell_have_no_finding() {
        let advice = host_advice(&machine(&[]));
        let checks: Vec<&str> = advice.iter().map(|advice| advice.check.as_str()).collect();
        assert_eq!(checks, ["processors", "others", "open files", "pressure", "perf"]);
    }
}
