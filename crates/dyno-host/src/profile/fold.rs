//! Aggregates samples to a profile in bounded memory.

use dyno_record::profile::REST;
use dyno_record::{CpuKind, CpuProfile, ProcessShare, StackFrame, StackNode, SymbolShare};

use super::ProfileWindow;
use super::family::{Parents, ProcessIdentity};
use super::script::{PerfLine, PerfSampleHeader, PerfStackFrame, UNKNOWN, line};
use super::tables::{Frames, SampleSums};
use super::tree::StackTree;

/// The most nodes of the tree, while samples are read and in the profile.
const NODES_MAX: usize = 100_000;
const NODES_KEPT: usize = 2_500;
/// A call below one part in this many of the total is too small for a profile.
const PART_MIN: u64 = 2_000;
/// The most functions and processes that a profile names.
const SYMBOLS_KEPT: usize = 200;
const PROCESSES_KEPT: usize = 100;
/// The deepest stack that is read; the default of `perf` is 127.
const DEPTH_MAX: usize = 512;

/// Upper bound of one sample's weight, in ns: a quarter of an hour.
const PERIOD_MAX: u64 = 1_000_000_000_000;

/// Kernel functions of hardware interrupts and their deferred work: time of an idle processor in them counts
/// as work.
const INTERRUPTS: [&str; 9] = [
    "asm_common_interrupt",
    "asm_sysvec_",
    "common_interrupt",
    "handle_softirqs",
    "__do_softirq",
    "irq_exit",
    "do_IRQ",
    "el1_irq",
    "el1_interrupt",
];
/// The process number of the kernel's idle thread, and the name of interrupts in it.
const IDLE_PID: i64 = 0;
const IN_IDLE: &str = "(interrupts)";

/// Aggregates samples line by line.
pub(super) struct Fold<'a> {
    cut: ProfileWindow,
    /// Finds name and owner of a process by its number and thread name.
    identify: &'a dyn Fn(i64, &str, &Parents) -> ProcessIdentity,
    parents: Parents,
    frames: Frames,
    tree: StackTree,
    processes: SampleSums<u32>,
    symbols: SampleSums<(u32, u32)>,
    /// The current sample, if it counts, and its functions, innermost first.
    head: Option<(ProcessIdentity, i64, String, u64)>,
    calls: Vec<u32>,
    in_interrupt: bool,
    event: String,
    samples: u64,
    weight: u64,
    idle: u64,
    lost: u64,
    /// Samples, and how many kernel functions have no name.
    unnamed_kernel: (u64, u64),
}

impl<'a> Fold<'a> {
    pub(super) fn new(
        cut: ProfileWindow,
        identify: &'a dyn Fn(i64, &str, &Parents) -> ProcessIdentity,
    ) -> Self {
        Self {
            cut,
            identify,
            parents: Parents::default(),
            frames: Frames::default(),
            tree: StackTree::new(NODES_MAX),
            processes: SampleSums::default(),
            symbols: SampleSums::default(),
            head: None,
            calls: Vec::new(),
            in_interrupt: false,
            event: String::new(),
            samples: 0,
            weight: 0,
            idle: 0,
            lost: 0,
            unnamed_kernel: (0, 0),
        }
    }

    pub(super) fn line(&mut self, text: &str) {
        match line(text) {
            PerfLine::Head(head) => {
                self.end_sample();
                self.begin_sample(&head);
            }
            PerfLine::Call(call) if self.head.is_some() => self.call(&call),
            PerfLine::Lost(lost) => self.lost = self.lost.saturating_add(lost),
            PerfLine::Fork { pid, parent } => self.parents.begin(pid, parent),
            PerfLine::Empty => self.end_sample(),
            PerfLine::Call(_) | PerfLine::Other => {}
        }
    }

    fn begin_sample(&mut self, head: &PerfSampleHeader<'_>) {
        if !(self.cut.begin_ns..self.cut.end_ns).contains(&head.time_ns) {
            return;
        }
        if self.event.is_empty() {
            // `cycles:ppp` is `cycles` with the highest precision of the hardware.
            head.event.split(':').next().unwrap_or_default().clone_into(&mut self.event);
        }
        let mut process = (self.identify)(head.pid, head.thread, &self.parents);
        if process.kind == CpuKind::Kernel {
            // There is one such thread for each kind of work on each processor.
            process.name = plain(&process.name).to_owned();
        }
        self.head =
            Some((process, head.pid, plain(head.thread).to_owned(), head.period.clamp(1, PERIOD_MAX)));
        self.calls.clear();
        self.in_interrupt = false;
    }

    fn call(&mut self, call: &PerfStackFrame<'_>) {
        let Some((who, ..)) = self.head.as_ref().filter(|_| self.calls.len() < DEPTH_MAX) else { return };
        let of_kernel = is_kernel(call.module);
        let kind = if of_kernel { CpuKind::Kernel } else { who.kind };
        self.in_interrupt |= of_kernel && INTERRUPTS.iter().any(|name| call.symbol.starts_with(name));
        if of_kernel {
            self.unnamed_kernel.0 += 1;
            self.unnamed_kernel.1 += u64::from(call.symbol == UNKNOWN);
        }
        let place = self.frames.place(call.symbol, call.module, kind);
        self.calls.push(place);
    }

    fn end_sample(&mut self) {
        let Some((who, pid, thread, weight)) = self.head.take() else { return };
        if pid == IDLE_PID && !self.in_interrupt {
            self.idle += 1;
            return;
        }
        let name = if pid == IDLE_PID { IN_IDLE } else { &who.name };
        let kind = if pid == IDLE_PID { CpuKind::Kernel } else { who.kind };
        self.samples += 1;
        self.weight = self.weight.saturating_add(weight);
        let process = self.frames.place(name, "", kind);
        self.processes.add(process, weight);
        if self.calls.is_empty() {
            self.calls.push(self.frames.place(UNKNOWN, UNKNOWN, kind));
        }
        self.symbols.add((process, self.calls[0]), weight);
        // Without frame pointers, a stack ends in meaningless addresses.
        let is_nothing = |frames: &Frames, place: u32| {
            let StackFrame { name, module, .. } = frames.get(place);
            name == UNKNOWN && module == UNKNOWN
        };
        while self.calls.len() > 1 && is_nothing(&self.frames, self.calls[self.calls.len() - 1]) {
            self.calls.pop();
        }
        if pid != IDLE_PID && thread != *name && !thread.is_empty() {
            self.calls.push(self.frames.place(&thread, "", kind));
        }
        self.calls.push(process);
        self.calls.reverse();
        self.tree.add(&self.calls, weight);
        self.calls.clear();
    }

    /// The profile of `cpus` processors sampled `frequency_hz` times per second; `idle_s` is their idle time
    /// in total, as far as it is known. The caller adds the host's name. An error describes why the samples
    /// are not sufficient.
    pub(super) fn into_profile(
        mut self,
        frequency_hz: u32,
        cpus: u32,
        idle_s: f64,
    ) -> Result<CpuProfile, String> {
        self.end_sample();
        let seconds = self.cut.seconds();
        if self.samples == 0 {
            return Err(format!(
                "perf has no sample of a busy processor in the {seconds:.1} s of the window"
            ));
        }
        self.tree.prune(NODES_KEPT.min(self.tree.larger_than(self.weight / PART_MIN)));
        let is_of_run =
            |process: u32| matches!(self.frames.get(process).kind, CpuKind::Database | CpuKind::Dyno);
        let (processes, other_processes) =
            self.processes.largest(PROCESSES_KEPT, |process| is_of_run(*process));
        let (symbols, other_symbols) = self.symbols.largest(SYMBOLS_KEPT, |(process, _)| is_of_run(*process));
        let processes = processes.into_iter().map(|(place, sum)| {
            let StackFrame { name, kind, .. } = self.frames.get(place).clone();
            ProcessShare { name, kind, samples: sum.samples, share_pct: sum.share_pct(self.weight) }
        });
        let rest = other_processes.map(|sum| ProcessShare {
            name: REST.into(),
            samples: sum.samples,
            share_pct: sum.share_pct(self.weight),
            ..ProcessShare::default()
        });
        let processes = processes.chain(rest).collect();
        let symbols = symbols.into_iter().map(|((process, place), sum)| {
            let StackFrame { name, module, kind } = self.frames.get(place).clone();
            SymbolShare {
                process: self.frames.get(process).name.clone(),
                process_kind: self.frames.get(process).kind,
                symbol: name,
                module,
                kind,
                samples: sum.samples,
                share_pct: sum.share_pct(self.weight),
            }
        });
        let rest = other_symbols.map(|sum| SymbolShare {
            symbol: REST.into(),
            samples: sum.samples,
            share_pct: sum.share_pct(self.weight),
            ..SymbolShare::default()
        });
        let symbols = symbols.chain(rest).collect();
        let (frames, stacks) = self.stacks();
        let is_clock = self.event == "cpu-clock";
        let frequency = f64::from(frequency_hz);
        let due = f64::from(cpus) * seconds * frequency;
        let sampled = (self.samples + self.idle) as f64;
        // Some kernels stop the clock of an idle virtual processor: missing samples of idle time are not a
        // loss.
        let resting = (idle_s * frequency - self.idle as f64).clamp(0.0, (due - sampled).max(0.0));
        let covered = sampled + resting;
        let mut profile = CpuProfile {
            frequency_hz,
            seconds,
            cpus,
            samples: self.samples,
            idle_samples: self.idle,
            lost: self.lost,
            weight: self.weight,
            covered_pct: (is_clock && due > 0.0).then(|| 100.0 * covered / due),
            processes,
            symbols,
            frames,
            stacks,
            merged_pct: 100.0 * self.tree.merged() as f64 / self.weight as f64,
            event: self.event,
            ..CpuProfile::default()
        };
        if self.unnamed_kernel.0 > 0 && self.unnamed_kernel.1 * 2 > self.unnamed_kernel.0 {
            profile.notes.push(
                "the kernel hides the names of its functions; to show them, run `sysctl \
                 kernel.kptr_restrict=0` as root"
                    .into(),
            );
        }
        Ok(profile)
    }

    /// The tree, with only those frames that occur in it.
    fn stacks(&self) -> (Vec<StackFrame>, Vec<StackNode>) {
        let mut frames = Vec::new();
        let mut moved = std::collections::HashMap::new();
        let mut stacks = self.tree.nodes(&mut |place| {
            *moved.entry(place).or_insert_with(|| {
                frames.push(self.frames.get(place).clone());
                frames.len() as u32 - 1
            })
        });
        if self.tree.rest() > 0 {
            stacks.push(StackNode { depth: 0, frame: frames.len() as u32, weight: self.tree.rest() });
            frames.push(StackFrame { name: REST.into(), ..StackFrame::default() });
        }
        (frames, stacks)
    }
}

/// Whether a module belongs to the kernel: `[kernel.kallsyms]`, `[nf_tables]`, `[guest.kernel.kallsyms]`, or
/// a module file.
fn is_kernel(module: &str) -> bool {
    const OF_PROGRAMS: [&str; 6] = ["[vdso]", "[vsyscall]", "[heap]", "[stack]", "[anon]", UNKNOWN];
    let in_brackets = module.starts_with('[') && !OF_PROGRAMS.contains(&module);
    in_brackets || module.contains(".ko") || module.ends_with("/vmlinux")
}

/// A thread's name without its number: `kworker/0:1-events` is `kworker`.
fn plain(thread: &str) -> &str {
    let head = thread.split('/').next().filter(|head| head.starts_with("kworker")).unwrap_or(thread);
    let head = head.trim_end_matches(|c: char| c.is_ascii_digit());
    match head.trim_end_matches(['-', '_', ':', '/', '#', '.', ' ']) {
        "" => thread,
        plain => plain,
    }
}
