//! Parses `/proc/stat` (proc_stat(5)) and `/proc/cpuinfo`.

use serde::{Deserialize, Serialize};

/// Time of all CPUs together since boot, in clock ticks. `user` and `nice` include the time of guests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTimes {
    /// User mode at normal priority.
    pub user: u64,
    /// User mode at lowered priority (nice).
    pub nice: u64,
    /// Kernel mode, without time in interrupts.
    pub system: u64,
    /// Idle, with no thread of this CPU waiting for storage.
    pub idle: u64,
    /// Idle while a thread that ran on this CPU waited for storage.
    pub iowait: u64,
    /// Kernel mode, serving hardware interrupts.
    pub irq: u64,
    /// Kernel mode, serving soft interrupts.
    pub softirq: u64,
    /// Taken by the hypervisor while a thread was ready to run.
    pub steal: u64,
}

/// The counters of `/proc/stat` that Dyno uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuStat {
    pub times: CpuTimes,
    /// Number of context switches since boot.
    pub context_switches: Option<u64>,
    /// Threads that run or wait for a CPU now.
    pub running: Option<u64>,
    /// Threads that wait for storage now.
    pub blocked: Option<u64>,
}

/// Parses `/proc/stat`; absent if its first line is missing.
pub(crate) fn parse_stat(text: &str) -> Option<CpuStat> {
    let mut stat = None;
    for line in text.lines() {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let first = || rest.split_ascii_whitespace().next()?.parse().ok();
        match (name, &mut stat) {
            ("cpu", None) => stat = Some(CpuStat { times: times(rest)?, ..CpuStat::default() }),
            ("ctxt", Some(stat)) => stat.context_switches = first(),
            ("procs_running", Some(stat)) => stat.running = first(),
            ("procs_blocked", Some(stat)) => stat.blocked = first(),
            _ => {}
        }
    }
    stat
}

/// The first four kinds exist in all kernels; later ones are 0 in kernels that lack them.
fn times(fields: &str) -> Option<CpuTimes> {
    let mut fields = fields.split_ascii_whitespace().map(|field| field.parse().ok());
    let mut next = || fields.next().unwrap_or(Some(0));
    let (user, nice, system) = (next()?, next()?, next()?);
    let idle = fields.next()??;
    let mut next = || fields.next().unwrap_or(Some(0));
    let (iowait, irq, softirq, steal) = (next()?, next()?, next()?, next()?);
    Some(CpuTimes { user, nice, system, idle, iowait, irq, softirq, steal })
}

/// The CPU's model from `/proc/cpuinfo`; each architecture has a format of its own.
pub(crate) fn parse_model(text: &str) -> Option<String> {
    let value = |name: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    // x86; MIPS; POWER; RISC-V; s390; older ARM.
    ["model name", "cpu model", "cpu", "uarch", "processor 0", "Processor"]
        .into_iter()
        .find_map(value)
        .or_else(|| {
            Some(format!("ARM implementer {} part {}", value("CPU implementer")?, value("CPU part")?))
        })
}

/// Whether `/proc/cpuinfo` has the flag by which x86 CPUs report a hypervisor.
pub(crate) fn has_hypervisor_flag(text: &str) -> bool {
    let mut flags =
        text.lines().filter_map(|line| line.split_once(':')).filter(|(key, _)| key.trim() == "flags");
    flags.next().is_some_and(|(_, flags)| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_kernel_format_is_parsed() {
        let text = "cpu  100 2 30 4000 50 6 7 8 9 1\ncpu0 50 1 15 2000 25 3 3 4 0 0\nintr 12345 0 9\nctxt 987654\n\
                    btime 1700000000\nprocesses 4242\nprocs_running 3\nprocs_blocked 1\nsoftirq 1 2 3\n";
        let times =
            CpuTimes { user: 100, nice: 2, system: 30, idle: 4000, iowait: 50, irq: 6, softirq: 7, steal: 8 };
        let expected = CpuStat { times, context_switches: Some(987_654), running: Some(3), blocked: Some(1) };
        assert_eq!(parse_stat(text), Some(expected));
    }

    #[test]
    fn cpu_stat_of_kernels_without_iowait_is_read() {
        let stat = parse_stat("cpu 10 0 5 85\nctxt 7\n").unwrap();
        assert_eq!((stat.times.idle, stat.times.iowait, stat.times.steal), (85, 0, 0));
        assert_eq!((stat.context_switches, stat.running), (Some(7), None));
        assert_eq!(parse_stat("cpu 10 0 5\n"), None);
        assert_eq!(parse_stat("intr 1\n"), None);
        assert_eq!(parse_stat("cpu 10 x 5 85\n"), None);
    }

    #[test]
    fn cpu_model_is_parsed_for_several_architectures() {
        let x86 = "processor\t: 0\nmodel\t\t: 106\nmodel name\t: Intel(R) Xeon(R) Gold 6338\nflags\t\t: fpu hypervisor\n";
        assert_eq!(parse_model(x86).as_deref(), Some("Intel(R) Xeon(R) Gold 6338"));
        assert!(has_hypervisor_flag(x86));
        let arm = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        assert_eq!(parse_model(arm).as_deref(), Some("ARM implementer 0x41 part 0xd40"));
        assert!(!has_hypervisor_flag(arm));
        let power = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n";
        assert_eq!(parse_model(power).as_deref(), Some("POWER9, altivec supported"));
        let s390 = "vendor_id       : IBM/S390\nprocessor 0: version = FF,  identification = 1\n";
        assert!(parse_model(s390).unwrap().starts_with("version = FF"));
        assert_eq!(parse_model("processor\t: 0\n"), None);
    }
}
