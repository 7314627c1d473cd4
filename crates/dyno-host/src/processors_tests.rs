//! Tests processor shares on synthetic machines, and on this one.

use std::path::Path;

use super::*;

/// Two processors, and the processes `(pid, name, parent, ticks, reaped)`.
fn machine(folder: &Path, cpu: &str, processes: &[(u32, &str, u32, u64, u64)]) {
    let proc = folder.join("proc");
    std::fs::create_dir_all(proc.join("self")).unwrap();
    std::fs::copy("/proc/self/auxv", proc.join("self/auxv")).unwrap();
    std::fs::write(proc.join("stat"), format!("cpu {cpu}\n")).unwrap();
    for (pid, name, parent, ticks, reaped) in processes {
        let process_folder = proc.join(pid.to_string());
        std::fs::create_dir_all(&process_folder).unwrap();
        let line =
            format!("{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 {reaped} 0 20 0 1 0 77 0 0\n");
        std::fs::write(process_folder.join("stat"), line).unwrap();
        std::fs::write(process_folder.join("cmdline"), format!("{name}\0")).unwrap();
    }
}

/// A process: number, name, parent, and its processor time as it is in `/proc`.
type Line<'a> = (u32, &'a str, u32, u64, u64);

fn shares(
    servers: &[ServerProcesses],
    begin: (&str, &[Line<'_>]),
    end: (&str, &[Line<'_>]),
) -> ProcessorShares {
    let read = |(cpu, processes)| {
        let folder = tempfile::tempdir().unwrap();
        machine(folder.path(), cpu, processes);
        ProcessTimes::of_root(&Root::at(folder.path()), &[50], servers).unwrap()
    };
    ProcessorShares::between(&read(begin), &read(end)).unwrap()
}

#[test]
fn ended_backends_count_as_server_cpu_burners_as_others() {
    let begin = [
        (1, "init", 0, 10, 0),
        (2, "kthreadd", 0, 0, 0),
        (9, "kworker/0:1", 2, 5, 0),
        (50, "dyno", 1, 100, 0),
        (60, "postgres", 1, 20, 0),
        (61, "postgres", 60, 300, 0),
        (80, "burn er", 1, 1_000, 0),
        (90, "make", 1, 5, 0),
        (91, "cc", 90, 9_000, 0),
    ];
    let end = [
        (1, "init", 0, 10, 0),
        (2, "kthreadd", 0, 0, 0),
        (9, "kworker/0:1", 2, 15, 0),
        (50, "dyno", 1, 120, 0),
        (51, "hook", 50, 10, 0),
        (60, "postgres", 1, 20, 340),
        (62, "postgres", 60, 30, 0),
        (80, "burn er", 1, 1_200, 0),
        (90, "make", 1, 5, 9_015),
    ];
    let tree = [ServerProcesses::Tree(60)];
    let breakdown = shares(&tree, ("0 0 0 0 0 0 0 0", &begin), ("250 0 60 60 10 5 5 10", &end));
    assert_eq!((breakdown.capacity_s, breakdown.steal_s), (4.0, 0.1));
    assert!((breakdown.busy_s - 3.2).abs() < 1e-9, "{}", breakdown.busy_s);
    assert_eq!((breakdown.own_s, breakdown.kernel_s), (0.3, 0.1));
    assert_eq!(breakdown.server_s, Some(0.7), "340 + 30 ticks, less the 300 that were there before");
    let others_s = breakdown.others_s.clone().unwrap();
    assert!((others_s - 2.1).abs() < 1e-9, "{others_s}");
    // Their ticks, 2.0 and 0.15 s, exceed the processors' remaining time, so each gets its proportional
    // share. Time that a child had before is not counted again when it ends.
    let names: Vec<&str> = breakdown.names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["burn_er", "make"]);
    for ((_, seconds), ticks_s) in breakdown.names.iter().zip([2.0, 0.15]) {
        assert!((seconds - ticks_s * 2.1 / 2.15).abs() < 1e-9, "{:?}", breakdown.names);
    }
    let named = breakdown.counters();
    assert_eq!(named["server.cpu_s"], 0.7);
    assert_eq!(named["others.burn_er.cpu_s"], breakdown.names[0].1);
}

/// The parts of busy time, which sum to it.
fn parts_s(breakdown: &ProcessorShares) -> f64 {
    let others_s = breakdown.others_s.clone().unwrap();
    breakdown.own_s
        + breakdown.server_s.unwrap_or(0.0)
        + breakdown.kernel_s
        + breakdown.interrupts_s
        + others_s
}

#[test]
fn cpu_shares_sum_to_total_machine_time() {
    let begin = [(1, "init", 0, 0, 0), (50, "dyno", 1, 0, 0), (60, "postgres", 1, 0, 0), (80, "cc", 1, 0, 0)];
    let tree = [ServerProcesses::Tree(60)];
    let account = |stat: &str, used: [u64; 3]| {
        let [client, server, other] = used;
        let end = [
            (1, "init", 0, 0, 0),
            (50, "dyno", 1, client, 0),
            (60, "postgres", 1, server, 0),
            (80, "cc", 1, other, 0),
        ];
        let breakdown = shares(&tree, ("0 0 0 0 0 0 0 0", &begin), (stat, &end));
        let kinds: f64 = breakdown.kinds.iter().map(|(_, value)| value).sum();
        assert!((kinds - breakdown.capacity_s).abs() < 1e-9, "{breakdown:?}");
        assert!((parts_s(&breakdown) - breakdown.busy_s).abs() < 1e-9, "{breakdown:?}");
        let named_s: f64 = breakdown.names.iter().map(|(_, value)| value).sum();
        assert!(
            named_s <= breakdown.others_s.clone().unwrap() + breakdown.interrupts_s + 1e-9,
            "{breakdown:?}"
        );
        breakdown
    };
    // Interrupt time that was charged to processes belongs to them.
    let charged = account("100 20 60 100 20 10 40 50", [30, 150, 50]);
    assert_eq!((charged.busy_s, charged.interrupts_s), (2.3, 0.0));
    // Where the kernel counts it separately, it belongs to no process.
    let apart = account("100 20 60 100 20 10 40 50", [30, 150, 0]);
    assert!((apart.interrupts_s - 0.5).abs() < 1e-9, "{apart:?}");
    // If processes report more time than the processors, their time is cut to the processors' total.
    let more = account("100 0 0 300 0 0 0 0", [50, 150, 40]);
    assert!((more.server_s.unwrap() - 0.75).abs() < 1e-9, "{more:?}");
    assert!(more.cgroup_used == (0.5, Some(1.5)), "{more:?}");
    assert_eq!(more.counters()["processors.idle_s"], 3.0);
}

#[test]
fn agents_of_the_run_count_as_client() {
    let read = |ticks| {
        let folder = tempfile::tempdir().unwrap();
        let cpu = format!("{ticks} 0 0 100");
        machine(folder.path(), &cpu, &[(50, "dyno", 1, 0, 0), (70, "dyno", 1, ticks, 0)]);
        move |clients: &[u32]| ProcessTimes::of_root(&Root::at(folder.path()), clients, &[]).unwrap()
    };
    let (begin, end) = (read(0), read(50));
    let shares_with = |clients: &[u32]| ProcessorShares::between(&begin(clients), &end(clients)).unwrap();
    assert_eq!((shares_with(&[50, 70]).own_s, shares_with(&[50, 70]).others_s), (0.5, Ok(0.0)));
    assert_eq!((shares_with(&[50]).own_s, shares_with(&[50]).others_s), (0.0, Ok(0.5)));
}

#[test]
fn unidentified_server_process_leaves_others_cpu_unknown() {
    let processes: &[(u32, &str, u32, u64, u64)] = &[(50, "dyno", 1, 0, 0), (60, "mysqld", 1, 0, 0)];
    let result_of = |server| {
        let breakdown = shares(&[server], ("0 0 0 0", processes), ("50 0 0 50", processes));
        (breakdown.counters().contains_key("others.cpu_s"), breakdown.others_s.unwrap_err())
    };
    let (has_others, reason) = result_of(ServerProcesses::Unknown("two servers".into()));
    assert_eq!((has_others, reason.as_str()), (false, "two servers"));
    assert!(result_of(ServerProcesses::Tree(99)).1.contains("process 99 cannot be inspected"));
    assert!(
        result_of(ServerProcesses::Elsewhere(&["mysqld", "mariadbd"])).1.contains("mysqld (60) runs here")
    );
    let other = shares(
        &[ServerProcesses::Elsewhere(&["postgres"])],
        ("0 0 0 0", processes),
        ("50 0 0 50", processes),
    );
    assert!(other.others_s.is_ok(), "it is another product");
    let oracle = ServerProcesses::Called { starts: &["ora"], ends: "FREE".into() };
    assert!(result_of(oracle).1.contains("no process of FREE"));
}

#[test]
fn server_processes_are_found_by_name() {
    let begin = [(50, "dyno", 1, 0, 0), (60, "ora_dbw0_free", 1, 10, 0), (61, "ora_dbw0_prod", 1, 10, 0)];
    let end = [(50, "dyno", 1, 0, 0), (60, "ora_dbw0_free", 1, 30, 0), (61, "ora_dbw0_prod", 1, 60, 0)];
    let oracle = [ServerProcesses::Called { starts: &["ora"], ends: "FREE".into() }];
    let breakdown = shares(&oracle, ("0 0 0 0", &begin), ("70 0 0 30", &end));
    assert_eq!(breakdown.server_s, Some(0.2));
    assert!((breakdown.others_s.unwrap() - 0.5).abs() < 1e-9);
}

#[test]
fn child_process_cpu_counts_as_own_not_others() {
    let read = || ProcessTimes::read(&[ServerProcesses::This], &[]);
    let Some(begin) = read() else { return eprintln!("skipped: there is no /proc") };
    let mut child = std::process::Command::new("sh")
        .args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"])
        .spawn()
        .unwrap();
    child.wait().unwrap();
    let breakdown = ProcessorShares::between(&begin, &read().unwrap()).unwrap();
    assert!(breakdown.own_s > 0.0, "{breakdown:?}");
    assert!(breakdown.server_s.is_none(), "{breakdown:?}");
    assert!(breakdown.others_s.is_ok(), "{breakdown:?}");
    assert!(!breakdown.names.iter().any(|(name, _)| name == "sh_child"), "{breakdown:?}");
}
