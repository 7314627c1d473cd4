use dyno_record::profile::REST;
use dyno_record::{CpuKind, CpuProfile};
use proptest::prelude::*;

use super::ProfileWindow;
use super::family::{HostProcesses, Parents, ProcessIdentity};
use super::fold::Fold;
use super::read::lines;
use super::script::{PerfLine, PerfSampleHeader, PerfStackFrame, line};
use super::tree::StackTree;
use crate::processors::ProcessTimes;

/// Output of `perf script` 6.1 on Linux 6.18, reduced to a few samples.
const SAMPLE: &str = include_str!("sample.txt");
const ALL: ProfileWindow = ProfileWindow { begin_ns: 0, end_ns: u64::MAX };

fn who(_: i64, thread: &str, _: &Parents) -> ProcessIdentity {
    let kind = if thread == "dd" { CpuKind::Database } else { CpuKind::Other };
    ProcessIdentity { name: thread.into(), kind }
}

fn fold(text: &str, cut: ProfileWindow) -> Result<CpuProfile, String> {
    let mut fold = Fold::new(cut, &who);
    lines(text.as_bytes(), &mut |line| fold.line(line)).unwrap();
    fold.into_profile(99, 2, 0.0)
}

#[test]
fn cpu_time_counted_idle_by_kernel_needs_no_samples() {
    let second_ns = 1_000_000_000;
    // One processor works for a second; the clock of the other gives one sample.
    let at = |n: u64| second_ns + n * second_ns / 99;
    let sample = |cpu: u32, pid: u32, at_ns: u64| {
        let time = format!("{}.{:09}", at_ns / second_ns, at_ns % second_ns);
        format!("x {pid}/{pid} [{cpu:03}] {time}: 10101010 cpu-clock: \n\tab work (/bin/x)\n\n")
    };
    let text: String = (0..99).map(|n| sample(0, 7, at(n))).chain([sample(1, 0, at(3))]).collect();
    let covered_pct = |idle_s: f64| {
        let mut fold = Fold::new(ProfileWindow { begin_ns: second_ns, end_ns: 2 * second_ns }, &who);
        lines(text.as_bytes(), &mut |line| fold.line(line)).unwrap();
        fold.into_profile(99, 2, idle_s).unwrap().covered_pct.unwrap()
    };
    // Idle time is unknown, half of the other's second, all of it, and more than there was.
    let percentages = [0.0, 0.5, 1.0, 1.5].map(|idle_s| (covered_pct(idle_s) * 1.98).round());
    assert_eq!(percentages, [100.0, 149.0, 198.0, 198.0]);
}

/// Checks that the shares of both tables and of the programs in the tree add up to the total, and that no
/// function exceeds its caller.
fn adds_up(profile: &CpuProfile) {
    let processes: f64 = profile.processes.iter().map(|one| one.share_pct).sum();
    let symbols: f64 = profile.symbols.iter().map(|one| one.share_pct).sum();
    assert!((processes - 100.0).abs() < 1e-6, "{processes} {symbols}");
    assert!((symbols - 100.0).abs() < 1e-6, "{processes} {symbols}");
    assert_eq!(profile.processes.iter().map(|one| one.samples).sum::<u64>(), profile.samples);
    assert_eq!(profile.symbols.iter().map(|one| one.samples).sum::<u64>(), profile.samples);
    let programs = profile.stacks.iter().filter(|node| node.depth == 0);
    assert_eq!(programs.map(|node| node.weight).sum::<u64>(), profile.weight);
    let mut above: Vec<u64> = Vec::new();
    for node in &profile.stacks {
        assert!(node.depth as usize <= above.len(), "a node has no caller");
        above.truncate(node.depth as usize);
        if let Some(left) = above.last_mut() {
            *left = left.checked_sub(node.weight).expect("what was called takes longer than its caller");
        }
        above.push(node.weight);
        assert!((node.frame as usize) < profile.frames.len());
    }
}

#[test]
fn perf_samples_are_summed_by_process_and_symbol() {
    let profile = fold(SAMPLE, ALL).unwrap();
    adds_up(&profile);
    assert_eq!(profile.event, "cpu-clock");
    assert_eq!((profile.samples, profile.idle_samples, profile.lost), (9, 2, 25));
    assert_eq!(profile.weight, 9 * 10_101_010);
    let processes: Vec<_> = profile.processes.iter().map(|one| (one.name.as_str(), one.samples)).collect();
    assert_eq!(processes, [("dd", 5), ("python3", 4)]);
    let first = &profile.symbols[0];
    assert_eq!((first.process.as_str(), first.symbol.as_str()), ("dd", "copy_folio_from_iter_atomic"));
    assert_eq!((first.module.as_str(), first.kind), ("[kernel.kallsyms]", CpuKind::Kernel));
    let paths: Vec<_> = profile.stacks[..4]
        .iter()
        .map(|node| (node.depth, profile.frames[node.frame as usize].name.as_str(), node.weight / 10_101_010))
        .collect();
    assert_eq!(
        paths,
        [
            (0, "dd", 5),
            (1, "__GI___libc_write", 4),
            (2, "entry_SYSCALL_64_after_hwframe", 4),
            (3, "do_syscall_64", 4)
        ]
    );
    // Addresses at the outer end of a stack without frame pointers are removed.
    assert!(!profile.frames.iter().any(|frame| frame.name == "[unknown]"), "{:?}", profile.frames);
    assert_eq!(profile.merged_pct, 0.0);
}

#[test]
fn profile_samples_are_cut_to_the_nanosecond() {
    let at = 37_095_300_917_757;
    let idle_at = |begin_ns, end_ns| {
        let busy = 37_095_301_004_772;
        let profile = fold(SAMPLE, ProfileWindow { begin_ns, end_ns: busy + 1 }).unwrap();
        assert_eq!(profile.samples, 1);
        let empty_profile = fold(SAMPLE, ProfileWindow { begin_ns, end_ns });
        (profile.idle_samples, empty_profile.err())
    };
    let (inside, empty_error) = idle_at(at, 37_095_301_004_772);
    assert_eq!(inside, 1, "the first nanosecond belongs to it");
    assert!(empty_error.unwrap().contains("no sample of a busy processor"), "the end does not");
    assert_eq!(idle_at(at + 1, at + 2).0, 0);
}

#[test]
fn idle_processor_in_an_interrupt_counts_as_busy() {
    let text = "swapper 0/0 [000] 1.000000001: 5 cpu-clock:pppH: \n\
                \tffff net_rx_action ([kernel.kallsyms])\n\
                \tffff handle_softirqs ([kernel.kallsyms])\n\
                \tffff default_idle ([kernel.kallsyms])\n\n\
                swapper 0/0 [000] 1.000000002: 5 cpu-clock:pppH: \n\
                \tffff default_idle ([kernel.kallsyms])\n\n\
                kworker/0:1-events 33/33 [000] 1.000000003: 5 cpu-clock:pppH: \n\n";
    let profile = fold(text, ALL).unwrap();
    adds_up(&profile);
    assert_eq!((profile.samples, profile.idle_samples), (2, 1));
    assert_eq!(profile.event, "cpu-clock");
    let names: Vec<_> = profile.processes.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["(interrupts)", "kworker/0:1-events"]);
    assert!(profile.frames.iter().any(|frame| frame.name == "kworker"), "{:?}", profile.frames);
    assert_eq!(profile.symbols[1].symbol, "[unknown]", "a sample without a stack");
}

#[test]
fn perf_line_parser_accepts_arbitrary_thread_names() {
    let head = |text| match line(text) {
        PerfLine::Head(PerfSampleHeader { thread, pid, time_ns, period, event }) => {
            Some((thread.to_owned(), pid, time_ns, period, event.to_owned()))
        }
        _ => None,
    };
    let hostile = "a 1/2 [000] 1.0: 5 cycles: 77/78 [003] 12.5:  9 cycles:ppp: ";
    let want = ("a 1/2 [000] 1.0: 5 cycles:".to_owned(), 77, 12_500_000_000, 9, "cycles:ppp".to_owned());
    assert_eq!(head(hostile), Some(want));
    assert_eq!(head(":-1 -1/-1 [000] 1.5: 1 cycles:").unwrap().1, -1);
    assert_eq!(head("a 1/2 [000] 99999999999999999999.5: 1 cycles:"), None);
    let call = |text| match line(text) {
        PerfLine::Call(PerfStackFrame { symbol, module }) => Some((symbol.to_owned(), module.to_owned())),
        _ => None,
    };
    let frame = |symbol: &str, module: &str| Some((symbol.to_owned(), module.to_owned()));
    assert_eq!(call("\t  7f f(int, char (*)(x)) (/usr/a b.so)"), frame("f(int, char (*)(x))", "/usr/a b.so"));
    assert_eq!(call("\t7f g (/memfd:x (deleted))"), frame("g", "/memfd:x"));
    assert_eq!(call("\t7f [unknown] ([unknown])"), frame("[unknown]", "[unknown]"));
    assert_eq!(call("\t7f  (/bin/x)"), frame("[unknown]", "/bin/x"));
    assert_eq!(call("\tnot an address (x)"), None);
    assert_eq!(head("PERF_RECORD_LOST lost 7 1/1 [0] 1.5: 1 cycles:").unwrap().0, "PERF_RECORD_LOST lost 7");
    assert_eq!(line("sh 1/1 [001] 6.329465: PERF_RECORD_LOST lost 25"), PerfLine::Lost(25));
}

#[test]
fn forked_process_is_assigned_to_its_parent() {
    let fork = |text| match line(text) {
        PerfLine::Fork { pid, parent } => Some((pid, parent)),
        _ => None,
    };
    assert_eq!(fork("sh   0/0     [000]     0.000000000: PERF_RECORD_FORK(12:13):(7:8)"), Some((12, 7)));
    for other in [
        "sh 7/7 [000] 1.5: PERF_RECORD_EXIT(12:12):(7:7)",
        "sh 7/7 [000] 1.5: PERF_RECORD_COMM exec: PERF_RECORD_FORK:12/12",
        "sh 7/7 [000] PERF_RECORD_FORK(12:13):(7:8)",
        "sh 7/7 [000] 1.5: PERF_RECORD_FORK(12:13):(7:",
    ] {
        assert_eq!(fork(other), None, "{other}");
    }
    let now = ProcessTimes::read(&[], &[]).unwrap();
    let host_processes = HostProcesses { perf: 900_001, processes: &[&now] };
    let own_pid = i64::from(std::process::id());
    let mut parents = Parents::default();
    // Numbers that no process has here: a grandchild of this program, a child of the profiler, and a foreign
    // process.
    for (pid, parent) in
        [(900_010, own_pid), (900_011, 900_010), (900_001, own_pid), (900_002, 900_001), (900_030, 900_020)]
    {
        parents.begin(pid, parent);
    }
    let kind = |pid| host_processes.identify(pid, "perf", &parents).kind;
    assert_eq!((kind(own_pid), kind(900_010), kind(900_011)), (CpuKind::Dyno, CpuKind::Dyno, CpuKind::Dyno));
    assert_eq!((kind(900_001), kind(900_002)), (CpuKind::Perf, CpuKind::Perf));
    // A foreign process with the name of one of this program's does not belong to it.
    assert_eq!((kind(900_030), kind(-1)), (CpuKind::Other, CpuKind::Other));
    assert_eq!(host_processes.identify(900_030, "", &parents).name, "[unknown]");
    // A reused number, and a cycle, which only a broken file contains.
    parents.begin(900_011, 900_030);
    parents.begin(900_030, 900_011);
    assert_eq!(host_processes.identify(900_011, "x", &parents).kind, CpuKind::Other);
}

#[test]
fn overlong_profile_line_is_truncated() {
    let mut text = SAMPLE.to_owned();
    text.insert_str(0, &format!("{}\n", "x".repeat(1 << 20)));
    assert_eq!(fold(&text, ALL).unwrap().samples, 9);
    let mut count = 0;
    lines(text.as_bytes(), &mut |line| {
        count += 1;
        assert!(line.len() <= 64 << 10);
    })
    .unwrap();
    assert_eq!(count, text.lines().count());
}

#[test]
fn stack_tree_stays_small_and_keeps_its_sum() {
    let mut tree = StackTree::new(1_000);
    let mut sum = 0;
    for i in 0..20_000u32 {
        let weight = if i % 2 == 0 { 1_000 } else { 1 };
        sum += weight;
        // One deep and hot call path, and a path of its own for each of the others, at last in programs of
        // their own.
        let program = if i < 15_000 { 0 } else { i };
        let unique_stack = [program, 1, 2, 3 + i];
        tree.add(if i % 2 == 0 { &[0, 1, 2, 2] } else { &unique_stack }, weight);
        // Walking the tree takes as long as many additions.
        assert!(i % 41 != 0 || tree.nodes(&mut |frame| frame).len() <= 1_004);
    }
    tree.prune(5);
    let nodes = tree.nodes(&mut |frame| frame);
    let programs: u64 = nodes.iter().filter(|node| node.depth == 0).map(|node| node.weight).sum();
    assert_eq!(programs + tree.rest(), sum);
    let deepest = nodes.iter().filter(|node| node.depth == 3).map(|node| node.weight).max();
    assert_eq!(deepest, Some(10_000_000), "what is large is whole: {nodes:?}");
    assert!(tree.merged() > 0, "{} {}", tree.merged(), tree.rest());
    assert!(tree.merged() + tree.rest() <= 10_000, "{} {}", tree.merged(), tree.rest());
}

#[test]
fn profile_groups_excess_names_as_rest() {
    let mut text = String::new();
    for i in 0..60_000 {
        text.push_str(&format!("p{} 5/5 [000] 1.5: 1 cycles:\n\t7f s{i} (/bin/x)\n\n", i % 300));
    }
    let profile = fold(&text, ALL).unwrap();
    adds_up(&profile);
    assert_eq!((profile.symbols.len(), profile.processes.len()), (201, 101));
    assert_eq!((profile.symbols[200].symbol.as_str(), profile.processes[100].name.as_str()), (REST, REST));
    assert!(profile.stacks.len() <= 2_501, "{}", profile.stacks.len());
    assert!(profile.merged_pct > 50.0, "{}", profile.merged_pct);
    assert_eq!(profile.covered_pct, None, "how many there must be is known of a clock only");
}

#[test]
fn profile_notes_symbols_hidden_by_kernel() {
    let text = "dd 5/5 [000] 1.5: 1 cycles:\n\t7f [unknown] ([kernel.kallsyms])\n\t7f x (/bin/dd)\n\n";
    assert!(fold(text, ALL).unwrap().notes[0].contains("kernel.kptr_restrict"));
    assert_eq!(fold(SAMPLE, ALL).unwrap().notes, Vec::<String>::new());
}

proptest! {
    #[test]
    fn profile_fold_never_panics_on_any_text(
        parts in proptest::collection::vec(
            prop_oneof![
                "\\PC{0,40}",
                Just("\n".to_owned()),
                Just("\t7f f (/bin/x)\n".to_owned()),
                Just("x 1/1 [000] 1.5: 18446744073709551615 cycles:\n".to_owned()),
                Just("y 0/0 [001] 2.000000001: 3 cpu-clock:\n".to_owned()),
                Just("y 7/7 [0] 3.5: PERF_RECORD_FORK(1:1):(7:7)\n".to_owned()),
                Just("z 1/1 [0] 3.5: PERF_RECORD_LOST lost 18446744073709551615\n".to_owned()),
            ],
            0..60,
        )
    ) {
        let _ = fold(&parts.concat(), ALL);
    }

    #[test]
    fn profile_text_truncated_anywhere_still_adds_up(at in 0..SAMPLE.len()) {
        if let Ok(profile) = fold(SAMPLE.get(..at).unwrap_or_default(), ALL) {
            adds_up(&profile);
        }
    }
}
