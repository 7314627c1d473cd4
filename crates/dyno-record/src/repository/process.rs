//! Determines whether the process of an unfinished run is still alive.
//!
//! A process id alone is not enough: the system reuses it later and after a reboot, and it means another process on another
//! host or in another container. A run therefore also stores its process's start time, the host's boot id and the process
//! namespace. If these cannot be compared, the answer is "unknown".

use std::fs;

/// The data that identifies the process of a started run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessMark {
    /// The process id, valid within its namespace.
    pub pid: u32,
    /// When it started, in clock ticks after the boot: field 22 of `/proc/PID/stat`. Absent if the system does not report it.
    pub start_ticks: Option<u64>,
    /// The host's boot id, from `/proc/sys/kernel/random/boot_id`.
    pub boot_id: Option<String>,
    /// Its process namespace: the target of `/proc/self/ns/pid`.
    pub namespace: Option<String>,
    /// The host's name, a blank, and a number derived from its `machine-id(5)`, which must stay secret.
    pub host: String,
}

/// The process namespace of a host that is not a container: `PROC_PID_INIT_INO` of the kernel.
const OF_THE_MACHINE: &str = "pid:[4026531836]";

/// A number for a `machine-id`: FNV-1a (Fowler, Noll, Vo), which never changes.
fn machine_number(machine_id: &str) -> String {
    let hash = machine_id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The state of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// The process is still running.
    Alive,
    /// The process has ended, or its id belongs to another process.
    Gone,
    /// The state cannot be determined from here.
    Unknown,
}

impl ProcessMark {
    /// The data of the current process.
    pub fn of_this_process() -> Self {
        let pid = std::process::id();
        let line = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        Self {
            pid,
            start_ticks: start_ticks_of(pid),
            boot_id: line("/proc/sys/kernel/random/boot_id"),
            namespace: fs::read_link("/proc/self/ns/pid")
                .ok()
                .map(|link| link.to_string_lossy().into_owned()),
            host: {
                let name = line("/proc/sys/kernel/hostname").unwrap_or_default();
                match line("/etc/machine-id").filter(|id| !id.is_empty()) {
                    Some(id) => format!("{name} {}", machine_number(&id)),
                    None => name,
                }
            },
        }
    }

    /// Whether the marked process is alive, as seen from the process `observer`. `start_ticks` returns the start time of the process
    /// with a given id.
    pub(super) fn liveness_from(
        &self,
        observer: &Self,
        start_ticks: impl Fn(u32) -> Option<u64>,
    ) -> Liveness {
        let (Some(boot), Some(boot_here)) = (&self.boot_id, &observer.boot_id) else {
            return Liveness::Unknown;
        };
        if boot != boot_here {
            // The same host with another boot: no earlier process is alive. A container of this name may now be on another host, and a
            // host without a number may be another one with the same name.
            let same = self.host == observer.host && self.host.contains(' ');
            let container =
                [self, observer].iter().any(|mark| mark.namespace.as_deref() != Some(OF_THE_MACHINE));
            return if same && !container { Liveness::Gone } else { Liveness::Unknown };
        }
        if self.namespace.is_none() || self.namespace != observer.namespace || self.start_ticks.is_none() {
            return Liveness::Unknown;
        }
        if start_ticks(self.pid) == self.start_ticks { Liveness::Alive } else { Liveness::Gone }
    }
}

/// When the process `pid` started, in clock ticks after the boot; `None` if it does not exist or is a zombie.
pub(super) fn start_ticks_of(pid: u32) -> Option<u64> {
    start_ticks_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Field 22 of a `/proc/PID/stat` line (proc_pid_stat(5)), unless the process is a zombie or dead.
fn start_ticks_in(stat: &str) -> Option<u64> {
    // The second field is the program's name in parentheses, which may itself contain parentheses and blanks.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") { None } else { fields.nth(18)?.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> ProcessMark {
        ProcessMark {
            pid: 4711,
            start_ticks: Some(1234),
            boot_id: Some("b1".into()),
            namespace: Some(OF_THE_MACHINE.into()),
            host: "db1 0123456789abcdef".into(),
        }
    }

    /// The data of a process on a host without a number.
    fn nameless_mark() -> ProcessMark {
        ProcessMark { host: "db1".into(), ..mark() }
    }

    #[test]
    fn current_process_is_alive() {
        let this_process = ProcessMark::of_this_process();
        if this_process.start_ticks.is_some() {
            assert_eq!(this_process.liveness_from(&this_process, start_ticks_of), Liveness::Alive);
        }
    }

    #[test]
    fn reused_pid_is_not_taken_for_the_old_process() {
        assert_eq!(mark().liveness_from(&mark(), |_| Some(1234)), Liveness::Alive);
        assert_eq!(mark().liveness_from(&mark(), |_| Some(9999)), Liveness::Gone);
        assert_eq!(mark().liveness_from(&mark(), |_| None), Liveness::Gone);
    }

    #[test]
    fn process_of_an_earlier_boot_is_gone() {
        let observer = ProcessMark { boot_id: Some("b2".into()), ..mark() };
        assert_eq!(mark().liveness_from(&observer, |_| Some(1234)), Liveness::Gone);
    }

    #[test]
    fn liveness_is_unknown_where_it_cannot_be_checked() {
        let rebooted = ProcessMark { boot_id: Some("b2".into()), ..mark() };
        let elsewhere = ProcessMark { host: "db2 0123456789abcdef".into(), ..rebooted.clone() };
        assert_eq!(mark().liveness_from(&elsewhere, |_| Some(1234)), Liveness::Unknown);
        let namesake = ProcessMark { host: "db1 fedcba9876543210".into(), ..rebooted.clone() };
        assert_eq!(mark().liveness_from(&namesake, |_| Some(1234)), Liveness::Unknown);
        let nameless = ProcessMark { host: "db1".into(), ..rebooted.clone() };
        assert_eq!(nameless.liveness_from(&nameless_mark(), |_| Some(1234)), Liveness::Unknown);
        let moved = ProcessMark { namespace: Some("pid:[2]".into()), ..rebooted };
        let inside = ProcessMark { namespace: Some("pid:[2]".into()), ..mark() };
        assert_eq!(inside.liveness_from(&moved, |_| Some(1234)), Liveness::Unknown);
        let container = ProcessMark { namespace: Some("pid:[2]".into()), ..mark() };
        assert_eq!(mark().liveness_from(&container, |_| None), Liveness::Unknown);
        assert_eq!(ProcessMark::default().liveness_from(&mark(), |_| None), Liveness::Unknown);
    }

    #[test]
    fn process_start_is_parsed_and_zombies_count_as_ended() {
        let rest = "1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 9 0 8765 1000 200";
        assert_eq!(start_ticks_in(&format!("12 (a) b (c)) S {rest}")), Some(8765));
        assert_eq!(start_ticks_in(&format!("12 (dyno) Z {rest}")), None);
        assert_eq!(start_ticks_in("12 (dyno) S 1"), None);
        assert_eq!(start_ticks_in(""), None);
    }
}
