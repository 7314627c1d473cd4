//! Finds the owner of a sampled process: its own if it is known, else that of its ancestors.

use std::collections::BTreeMap;

use dyno_record::CpuKind;

use crate::processors::{GENERATIONS_MAX, ProcessTimes};

/// The most processes whose parents are kept.
const CHILDREN_MAX: usize = 1_000_000;

/// What is known about a process.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProcessIdentity {
    /// The program's name as it reports it.
    pub(super) name: String,
    /// The owner of the process.
    pub(super) kind: CpuKind,
}

/// The parent of each process, as far as `perf` reported it.
#[derive(Debug, Default)]
pub(super) struct Parents(BTreeMap<i64, i64>);

impl Parents {
    /// Notes a new process; a later one with the same number replaces it.
    pub(super) fn begin(&mut self, pid: i64, parent: i64) {
        // A thread belongs to its process.
        if pid != parent && (self.0.len() < CHILDREN_MAX || self.0.contains_key(&pid)) {
            self.0.insert(pid, parent);
        }
    }

    /// A process, its parent, its parent's parent, and so on.
    fn chain(&self, pid: i64) -> impl Iterator<Item = i64> {
        std::iter::successors(Some(pid), |pid| self.0.get(pid).copied()).take(GENERATIONS_MAX)
    }
}

/// What is known about the machine's processes.
pub(super) struct HostProcesses<'a> {
    /// The process number of the profiler.
    pub(super) perf: u32,
    /// Readings of the processes, the latest first.
    pub(super) processes: &'a [&'a ProcessTimes],
}

impl HostProcesses<'_> {
    /// Idle time of the processors between the first and the last reading, s; 0 with fewer than two readings.
    pub(super) fn idle_s(&self) -> f64 {
        self.processes.first().zip(self.processes.last()).map_or(0.0, |(end, begin)| end.idle_s_since(begin))
    }

    /// Name and owner of a process, one of whose threads is called `thread`.
    pub(super) fn identify(&self, pid: i64, thread: &str, parents: &Parents) -> ProcessIdentity {
        let read = |pid: i64| {
            let pid = u32::try_from(pid).ok()?;
            self.processes.iter().find_map(|all| all.identify(pid))
        };
        let name = match read(pid) {
            Some((name, _)) => name,
            // A process that lived only between two readings has the name of its only thread.
            None if thread.is_empty() => "[unknown]",
            None => thread,
        };
        let kind = match parents.chain(pid).any(|pid| pid == i64::from(self.perf)) {
            true => CpuKind::Perf,
            false => parents.chain(pid).find_map(read).map(|(_, kind)| kind).unwrap_or_default(),
        };
        ProcessIdentity { name: name.to_owned(), kind }
    }
}
