//! Computes who used the processors between two moments: this program, the database's processes, kernel
//! threads, or others.
//!
//! The time of ended processes belongs to their parent once it has waited for them (`cutime`), so the sum
//! over a process tree stays correct. The parts sum to the machine's time. Busy time is that of the client,
//! the database, kernel threads, interrupts and others. Others are the remainder, so they include processes
//! that Dyno cannot see. Kernels that sample time charge interrupts to the interrupted process; only
//! interrupt time outside processes is listed as such.

use std::collections::BTreeMap;

use dyno_record::metric::without_dust;
use dyno_record::{CpuKind, ServerProcesses};

use crate::allowed::{Allowed, CpuQuota};
use crate::files::Root;
use crate::parse::cpu::{CpuTimes, parse_stat};
use crate::parse::mounts::parse_mountinfo;
use crate::parse::process::{HostProcess, parse_process, parse_ticks_per_s};

/// The most processes for which each is read: reading one takes about 10 µs.
const PROCESSES_MAX: usize = 20_000;
/// The longest chain of parents that is followed.
pub(crate) const GENERATIONS_MAX: usize = 64;
/// The parent of all kernel threads (kthreadd).
const KTHREADD: u32 = 2;
/// How many of the other programs are named.
const NAMED_MAX: usize = 5;
/// The first PID namespace of a machine (`PROC_PID_INIT_INO` of the kernel's proc_ns.h).
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// A kind of processor time, and its field.
type Kind = (&'static str, fn(&CpuTimes) -> u64);
/// All kinds of processor time. Their sum is the machine's time.
const KINDS: [Kind; 8] = [
    ("user", |cpu| cpu.user),
    ("nice", |cpu| cpu.nice),
    ("system", |cpu| cpu.system),
    ("irq", |cpu| cpu.irq),
    ("softirq", |cpu| cpu.softirq),
    ("iowait", |cpu| cpu.iowait),
    ("steal", |cpu| cpu.steal),
    ("idle", |cpu| cpu.idle),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    This,
    Server,
    Kernel,
    Others,
}

/// CPU time of the machine and of every visible process, at one moment.
#[derive(Debug, Clone)]
pub struct ProcessTimes {
    cpu: CpuTimes,
    ticks_per_s: u64,
    processes: BTreeMap<u32, (Owner, HostProcess)>,
    /// Why the database's processes cannot be separated from others; absent if they can.
    unknown: Option<String>,
    /// The processor limits of this program.
    own_limits: Allowed,
    /// The processor limits of the first database process, which its children inherit; absent where there is
    /// none.
    server: Option<Allowed>,
}

impl ProcessTimes {
    /// Reads the times; `servers` are the databases' processes. Absent where this machine does not report
    /// them. `clients` are the agents of this run on this machine.
    pub fn read(servers: &[ServerProcesses], clients: &[u32]) -> Option<Self> {
        let clients: Vec<u32> = clients.iter().copied().chain([std::process::id()]).collect();
        Self::of_root(&Root::system(), &clients, servers)
    }

    fn of_root(root: &Root, clients: &[u32], servers: &[ServerProcesses]) -> Option<Self> {
        let auxv = std::fs::read(root.path("proc/self/auxv")).unwrap_or_default();
        let numbers: Vec<u32> = root.names("proc").iter().filter_map(|name| name.parse().ok()).collect();
        if numbers.len() > PROCESSES_MAX {
            return None;
        }
        // The machine is read before its processes: time between the two readings then counts twice for its
        // owner, and never as unowned time of others.
        let cpu = parse_stat(&root.text("proc/stat")?)?.times;
        let read = |&pid: &u32| Some((pid, parse_process(&root.text(&format!("proc/{pid}/stat"))?)?));
        let all: BTreeMap<u32, HostProcess> = numbers.iter().filter_map(read).collect();
        let tops = tops(root, clients, servers, &all);
        let unknown = unknown_reason(root, servers, &tops, &all);
        let processes = all.iter().map(|(&pid, process)| (pid, (owner(pid, &tops, &all), process.clone())));
        let processes = processes.collect();
        let mounts = parse_mountinfo(&root.text("proc/self/mountinfo").unwrap_or_default());
        let server = tops.iter().find(|(_, owner)| **owner == Owner::Server);
        Some(Self {
            cpu,
            ticks_per_s: parse_ticks_per_s(&auxv)?,
            processes,
            unknown,
            own_limits: Allowed::of(root, "self", &mounts),
            server: server.map(|(pid, _)| Allowed::of(root, &pid.to_string(), &mounts)),
        })
    }
}

impl ProcessTimes {
    /// The program name and owner of the process with this number; absent where there was no such process.
    pub(crate) fn identify(&self, pid: u32) -> Option<(&str, CpuKind)> {
        self.processes.get(&pid).map(|(owner, process)| (process.name.as_str(), kind(*owner)))
    }

    /// Idle time of the processors since an earlier reading, s.
    pub(crate) fn idle_s_since(&self, begin: &Self) -> f64 {
        let idle = |times: &CpuTimes| times.idle + times.iowait;
        idle(&self.cpu).saturating_sub(idle(&begin.cpu)) as f64 / self.ticks_per_s as f64
    }
}

fn kind(owner: Owner) -> CpuKind {
    match owner {
        Owner::This => CpuKind::Dyno,
        Owner::Server => CpuKind::Database,
        Owner::Kernel => CpuKind::Kernel,
        Owner::Others => CpuKind::Other,
    }
}

/// The processes whose descendants inherit their owner.
fn tops(
    root: &Root,
    clients: &[u32],
    servers: &[ServerProcesses],
    all: &BTreeMap<u32, HostProcess>,
) -> BTreeMap<u32, Owner> {
    let mut tops = BTreeMap::from([(KTHREADD, Owner::Kernel)]);
    tops.extend(clients.iter().map(|&pid| (pid, Owner::This)));
    for server in servers {
        match server {
            ServerProcesses::Tree(pid) => {
                tops.insert(*pid, Owner::Server);
            }
            ServerProcesses::Called { starts, ends } => {
                let begins = |name: &str| starts.iter().any(|start| name.starts_with(start));
                for (&pid, _) in all.iter().filter(|(_, process)| begins(&process.name)) {
                    let command = root.text(&format!("proc/{pid}/cmdline")).unwrap_or_default();
                    let word = command.split(['\0', ' ']).next().unwrap_or_default();
                    if begins(word) && word.to_ascii_lowercase().ends_with(&ends.to_ascii_lowercase()) {
                        tops.insert(pid, Owner::Server);
                    }
                }
            }
            ServerProcesses::Elsewhere(_) | ServerProcesses::This | ServerProcesses::Unknown(_) => {}
        }
    }
    tops
}

/// Why the database's processes cannot be separated from others.
fn unknown_reason(
    root: &Root,
    servers: &[ServerProcesses],
    tops: &BTreeMap<u32, Owner>,
    all: &BTreeMap<u32, HostProcess>,
) -> Option<String> {
    servers.iter().find_map(|server| match server {
        ServerProcesses::Unknown(reason) => Some(reason.clone()),
        ServerProcesses::Tree(pid) if !all.contains_key(pid) => {
            Some(format!("the server's process {pid} cannot be inspected"))
        }
        ServerProcesses::Called { ends, .. } if !tops.values().any(|owner| *owner == Owner::Server) => {
            Some(format!("no process of {ends} can be inspected"))
        }
        ServerProcesses::Elsewhere(_) if is_contained(root) => {
            Some("Dyno runs in a container, from which the host's other processes are not visible".into())
        }
        ServerProcesses::Elsewhere(called) => {
            let server_process = all.iter().find(|(_, process)| called.contains(&process.name.as_str()));
            server_process.map(|(pid, process)| {
                format!(
                    "a process named {} ({pid}) runs here and may be the database under test",
                    process.name
                )
            })
        }
        _ => None,
    })
}

/// Whether this program sees only some of the machine's processes: the first PID namespace has a known
/// number.
fn is_contained(root: &Root) -> bool {
    let namespace = std::fs::read_link(root.path("proc/self/ns/pid"));
    namespace.is_ok_and(|name| name.to_string_lossy() != FIRST_NAMESPACE)
}

/// The owner of `pid`: its own, or that of its nearest known ancestor.
fn owner(pid: u32, tops: &BTreeMap<u32, Owner>, all: &BTreeMap<u32, HostProcess>) -> Owner {
    let parent = |pid: &u32| all.get(pid).map(|process| process.parent);
    let line = std::iter::successors(Some(pid), parent).take(GENERATIONS_MAX);
    line.filter_map(|pid| tops.get(&pid)).next().copied().unwrap_or(Owner::Others)
}

/// Who used the processors in an interval, in seconds of processor time.
///
/// `capacity_s` is the sum of `kinds`. `busy_s` is the sum of the client's, the database's, the kernel threads', the
/// interrupts' and the others' time.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessorShares {
    /// Available time: the interval times the number of processors.
    pub capacity_s: f64,
    /// Available time by kind, with the kernel's names.
    pub kinds: [(&'static str, f64); 8],
    /// Time of programs, the kernel and interrupts.
    pub busy_s: f64,
    /// Time taken by the hypervisor, s.
    pub steal_s: f64,
    /// The client: this program, its children, and the agents of its run on this machine.
    pub own_s: f64,
    /// Interrupt time outside of any process.
    pub interrupts_s: f64,
    /// The database's processes; absent where they run elsewhere, or inside this program.
    pub server_s: Option<f64>,
    /// Kernel threads, which also write out what databases wrote.
    pub kernel_s: f64,
    /// All other processes; an error is the reason why they cannot be separated from the database.
    pub others_s: Result<f64, String>,
    /// The largest of the others, by program name.
    pub names: Vec<(String, f64)>,
    /// The control groups' limit on this program.
    pub own_quota: Option<CpuQuota>,
    /// The control groups' limit on the database.
    pub server_quota: Option<CpuQuota>,
    /// Time that this program and the database used of these limits, by their processes' own clocks, s.
    pub cgroup_used: (f64, Option<f64>),
    /// Processors that the database may run on, and how many of these this program may run on too.
    pub server_cpus: Option<(usize, usize)>,
}

impl ProcessorShares {
    /// The shares between two moments; absent if no time has passed.
    pub fn between(begin: &ProcessTimes, end: &ProcessTimes) -> Option<Self> {
        let seconds = |ticks: u64| ticks as f64 / end.ticks_per_s as f64;
        let kinds = KINDS.map(|(name, part)| {
            let ticks = part(&end.cpu).saturating_sub(part(&begin.cpu));
            (name, seconds(ticks))
        });
        let kind = |wanted: &[&str]| -> f64 {
            kinds.iter().filter(|(name, _)| wanted.contains(name)).map(|(_, value)| value).sum()
        };
        let capacity_s: f64 = kinds.iter().map(|(_, value)| value).sum();
        if capacity_s <= 0.0 {
            return None;
        }
        let busy_s = kind(&["user", "nice", "system", "irq", "softirq"]);
        let sum = |times: &ProcessTimes, owner: Owner| -> u64 {
            let owned = times.processes.values().filter(|(its, _)| *its == owner);
            owned.map(|(_, process)| process.ticks + process.reaped_ticks).sum()
        };
        let used = |owner| seconds(sum(end, owner).saturating_sub(sum(begin, owner)));
        let has = |owner| end.processes.values().any(|(its, _)| *its == owner);
        let (client_s, threads_s) = (used(Owner::This), used(Owner::Kernel));
        let database_s = has(Owner::Server).then(|| used(Owner::Server));
        // Processes are timed more finely than processors, so their sum may exceed the total; the total
        // decides.
        let known_s = client_s + threads_s + database_s.unwrap_or(0.0);
        let fit = if known_s > busy_s { busy_s / known_s } else { 1.0 };
        let (own_s, kernel_s, server_s) =
            (client_s * fit, threads_s * fit, database_s.map(|value| value * fit));
        let left_s = without_dust(busy_s - own_s - kernel_s - server_s.unwrap_or(0.0)).max(0.0);
        let interrupts_s = kind(&["irq", "softirq"]).min((left_s - used(Owner::Others)).max(0.0));
        let unknown = begin.unknown.clone().or_else(|| end.unknown.clone());
        let others_s = unknown.map_or(Ok(left_s - interrupts_s), Err);
        let mut names = names(begin, end, &seconds);
        let named_s: f64 = names.iter().map(|(_, value)| value).sum();
        if named_s > left_s {
            names.iter_mut().for_each(|(_, value)| *value *= left_s / named_s);
        }
        let cgroup_used = (client_s, database_s);
        let own_quota = CpuQuota::between(&begin.own_limits, &end.own_limits);
        let servers = begin.server.as_ref().zip(end.server.as_ref());
        let server_quota = servers.and_then(|(begin, end)| CpuQuota::between(begin, end));
        let server_cpus = end.server.as_ref().filter(|server| !server.cpus.is_empty());
        let server_cpus = server_cpus
            .map(|server| (server.cpus.len(), server.cpus.intersection(&end.own_limits.cpus).count()));
        Some(Self {
            capacity_s,
            kinds,
            busy_s,
            steal_s: kind(&["steal"]),
            own_s,
            interrupts_s,
            server_s,
            kernel_s,
            others_s,
            names,
            own_quota,
            server_quota,
            cgroup_used,
            server_cpus,
        })
    }

    /// The figures under dotted names, as records store them.
    pub fn counters(&self) -> BTreeMap<String, f64> {
        let mut named = BTreeMap::new();
        let mut put = |name: &str, value| named.insert(name.to_owned(), value);
        put("processors.capacity_s", self.capacity_s);
        put("processors.busy_s", self.busy_s);
        for (name, value) in self.kinds {
            put(&format!("processors.{name}_s"), value);
        }
        put("interrupts.cpu_s", self.interrupts_s);
        put("own.cpu_s", self.own_s);
        put("kernel.cpu_s", self.kernel_s);
        if let Some(server_s) = self.server_s {
            put("server.cpu_s", server_s);
        }
        if let Some((cpus, shared)) = self.server_cpus {
            put("server.cpus_allowed", cpus as f64);
            put("server.cpus_shared", shared as f64);
        }
        let (own_used, server_used) = self.cgroup_used;
        let groups = [("own", self.own_quota, Some(own_used)), ("server", self.server_quota, server_used)];
        for (whose, quota, used) in groups {
            let Some(quota) = quota else { continue };
            if let Some(used) = used {
                put(&format!("{whose}.cgroup.used_s"), used);
            }
            put(&format!("{whose}.cgroup.quota_cpus"), quota.cpus);
            put(&format!("{whose}.cgroup.periods"), quota.periods as f64);
            put(&format!("{whose}.cgroup.throttled_periods"), quota.throttled as f64);
        }
        if let Ok(others_s) = self.others_s {
            put("others.cpu_s", others_s);
            for (name, value) in &self.names {
                put(&format!("others.{name}.cpu_s"), *value);
            }
        }
        named
    }
}

/// The largest of the others, by program.
fn names(begin: &ProcessTimes, end: &ProcessTimes, seconds: &dyn Fn(u64) -> f64) -> Vec<(String, f64)> {
    let mut ticks: BTreeMap<u32, i128> = BTreeMap::new();
    for (pid, (owner, process)) in &end.processes {
        if *owner == Owner::Others {
            ticks.insert(*pid, i128::from(process.ticks + process.reaped_ticks));
        }
    }
    // Time before the interval: for a process that ended, it has moved to its parent or the parent's parent.
    let parent = |pid: &u32| begin.processes.get(pid).map(|(_, process)| process.parent);
    for (pid, (_, process)) in &begin.processes {
        let mut line = std::iter::successors(Some(*pid), parent).take(GENERATIONS_MAX);
        if let Some(heir) = line.find(|pid| is_same(begin, end, *pid)) {
            ticks.entry(heir).and_modify(|sum| *sum -= i128::from(process.ticks + process.reaped_ticks));
        }
    }
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (pid, ticks) in ticks {
        let ticks = u64::try_from(ticks).unwrap_or(0);
        *sums.entry(plain(&end.processes[&pid].1.name)).or_default() += ticks;
    }
    let mut sums: Vec<_> = sums.into_iter().filter(|(_, ticks)| *ticks > 0).collect();
    sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sums.into_iter().take(NAMED_MAX).map(|(name, ticks)| (name, seconds(ticks))).collect()
}

/// Whether a process exists at both moments: a reused number belongs to another process.
fn is_same(begin: &ProcessTimes, end: &ProcessTimes, pid: u32) -> bool {
    let started = |times: &ProcessTimes| times.processes.get(&pid).map(|(_, process)| process.started);
    started(begin).is_some() && started(begin) == started(end)
}

/// A program's name without characters that would break a dotted name.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
#[path = "processors_tests.rs"]
mod tests;
