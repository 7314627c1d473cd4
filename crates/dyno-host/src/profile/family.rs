//! Whose a process is that was sampled: as it was read, or else as those are from whom it descends.

use std::collections::BTreeMap;

use dyno_record::CpuKind;

use crate::processors::{GENERATIONS_MAX, ProcessTimes};

/// Processes whose parents are kept at most.
const CHILDREN_MAX: usize = 1_000_000;

/// What is known of a process.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Who {
    /// What its program calls itself.
    pub(super) name: String,
    /// Whose it is.
    pub(super) kind: CpuKind,
}

/// Whose child each process is, as far as `perf` saw.
#[derive(Debug, Default)]
pub(super) struct Parents(BTreeMap<i64, i64>);

impl Parents {
    /// Takes note of a process that began; a later one with its number replaces it.
    pub(super) fn begin(&mut self, pid: i64, parent: i64) {
        // A thread is its process's.
        if pid != parent && (self.0.len() < CHILDREN_MAX || self.0.contains_key(&pid)) {
            self.0.insert(pid, parent);
        }
    }

    /// A process, its parent, its parent's parent, and so on.
    fn chain(&self, pid: i64) -> impl Iterator<Item = i64> {
        std::iter::successors(Some(pid), |pid| self.0.get(pid).copied()).take(GENERATIONS_MAX)
    }
}

/// What is known of the machine's processes.
pub(super) struct Known<'a> {
    /// The profiler's own.
    pub(super) perf: u32,
    /// Readings, the later ones first.
    pub(super) processes: &'a [&'a ProcessTimes],
}

impl Known<'_> {
    /// Time in which processors had nothing to do between the first reading and the last, s; 0 with fewer than two.
    pub(super) fn idle_s(&self) -> f64 {
        self.processes.first().zip(self.processes.last()).map_or(0.0, |(end, begin)| end.idle_s_since(begin))
    }

    /// Who a process is, whose thread calls itself so.
    pub(super) fn who(&self, pid: i64, thread: &str, parents: &Parents) -> Who {
        let read = |pid: i64| {
            let pid = u32::try_from(pid).ok()?;
            self.processes.iter().find_map(|all| all.who(pid))
        };
        let name = match read(pid) {
            Some((name, _)) => name,
            // One that came and went between two readings has the name of its only thread.
            None if thread.is_empty() => "[unknown]",
            None => thread,
        };
        let kind = match parents.chain(pid).any(|pid| pid == i64::from(self.perf)) {
            true => CpuKind::Perf,
            false => parents.chain(pid).find_map(read).map(|(_, kind)| kind).unwrap_or_default(),
        };
        Who { name: name.to_owned(), kind }
    }
}
