//! Describes the processors: number, model, frequencies, and whether they are virtual.

use dyno_record::Host;

use super::map::FactMap;
use crate::files::Root;
use crate::parse::cpu::{has_hypervisor_flag, parse_model};
use crate::parse::list;
use crate::parse::process::parse_allowed;

pub(super) fn add(root: &Root, host: &mut Host, facts: &mut FactMap) {
    let info = root.text("proc/cpuinfo").unwrap_or_default();
    let count = |file: &str| root.text(file).and_then(|text| list::count(&text));
    host.cpu_model = parse_model(&info).unwrap_or_default();
    host.cpus = count("sys/devices/system/cpu/online").unwrap_or_default();
    host.cpus_allowed = root
        .text("proc/self/status")
        .and_then(|status| list::count(parse_allowed(&status)?))
        .unwrap_or_default();
    host.numa_nodes = count("sys/devices/system/node/online").unwrap_or_default();

    facts.put("cpu.governor", root.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
    facts.put("cpu.frequency_driver", root.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"));
    facts.put("cpu.frequency_khz_max", root.number("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"));
    facts.put("cpu.turbo", turbo(root));
    facts.put("cpu.smt", root.text("sys/devices/system/cpu/smt/control"));
    facts.put("cpu.isolated", root.text("sys/devices/system/cpu/isolated"));
    facts.put("clocksource", root.text("sys/devices/system/clocksource/clocksource0/current_clocksource"));
    facts.put("virtualisation", virtualisation(root, &info));
    facts.put("container", container(root));
}

/// Whether the CPU may exceed its nominal frequency; the two drivers report it with opposite meanings.
fn turbo(root: &Root) -> Option<&'static str> {
    let intel = root.number("sys/devices/system/cpu/intel_pstate/no_turbo").map(|no_turbo| no_turbo == 0);
    let generic = || root.number("sys/devices/system/cpu/cpufreq/boost").map(|boost| boost == 1);
    intel.or_else(generic).map(|on| if on { "on" } else { "off" })
}

/// The hypervisor's name or the machine's vendor, where the machine reports it.
fn virtualisation(root: &Root, cpuinfo: &str) -> Option<String> {
    let is_guest = has_hypervisor_flag(cpuinfo) || root.exists("sys/hypervisor/type");
    let maker = ["sys/hypervisor/type", "sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name"];
    let maker: Vec<String> = maker.into_iter().filter_map(|file| root.text(file)).collect();
    match (is_guest, maker.is_empty()) {
        (true, true) => Some("yes".into()),
        (true, false) => Some(format!("yes: {}", maker.join(", "))),
        (false, false) => Some(format!("none seen: {}", maker.join(", "))),
        // Without the flag (other than x86) and without a vendor, nothing is known.
        (false, true) => None,
    }
}

fn container(root: &Root) -> Option<&'static str> {
    let marks = [(".dockerenv", "docker"), ("run/.containerenv", "podman"), ("run/systemd/container", "yes")];
    let service_account = "var/run/secrets/kubernetes.io";
    if root.exists(service_account) {
        return Some("kubernetes");
    }
    marks.into_iter().find(|(file, _)| root.exists(file)).map(|(_, kind)| kind)
}
