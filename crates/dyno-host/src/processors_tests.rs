//! Shares of the processors of made-up machines, and of this one.

use std::path::Path;

use super::*;

/// Two processors, and the processes `(pid, name, parent, ticks, reaped)`.
fn machine(folder: &Path, cpu: &str, processes: &[(u32, &str, u32, u64, u64)]) {
    let proc = folder.join("proc");
    std::fs::create_dir_all(proc.join("self")).unwrap();
    std::fs::copy("/proc/self/auxv", proc.join("self/auxv")).unwrap();
    std::fs::write(proc.join("stat"), format!("cpu {cpu}\n")).unwrap();
    for (pid, name, parent, ticks, reaped) in processes {
        let own = proc.join(pid.to_string());
        std::fs::create_dir_all(&own).unwrap();
        let line =
            format!("{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 {reaped} 0 20 0 1 0 77 0 0\n");
        std::fs::write(own.join("stat"), line).unwrap();
        std::fs::write(own.join("cmdline"), format!("{name}\0")).unwrap();
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
        ProcessTimes::of_root(&Root::at(folder.path()), 50, servers).unwrap()
    };
    ProcessorShares::between(&read(begin), &read(end)).unwrap()
}

#[test]
fn backends_that_have_ended_are_still_the_servers_and_burners_are_others() {
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
    let found = shares(&tree, ("0 0 0 0 0 0 0 0", &begin), ("250 0 60 60 10 5 5 10", &end));
    assert_eq!((found.capacity_s, found.busy_s, found.steal_s), (4.0, 3.1, 0.1));
    assert_eq!((found.own_s, found.kernel_s), (0.3, 0.1));
    assert_eq!(found.server_s, Some(0.7), "340 + 30 ticks, less the 300 that were there before");
    let others_s = found.others_s.clone().unwrap();
    assert!((others_s - 2.0).abs() < 1e-9, "{others_s}");
    let expected = [("burn_er".to_owned(), 2.0), ("make".to_owned(), 0.15)];
    assert_eq!(found.names, expected, "what a child had before is not had again when it ends");
    let named = found.counters();
    assert_eq!((named["server.cpu_s"], named["others.burn_er.cpu_s"]), (0.7, 2.0));
}

#[test]
fn a_database_that_cannot_be_told_from_others_leaves_them_unknown() {
    let here: &[(u32, &str, u32, u64, u64)] = &[(50, "dyno", 1, 0, 0), (60, "mysqld", 1, 0, 0)];
    let of = |server| {
        let found = shares(&[server], ("0 0 0 0", here), ("50 0 0 50", here));
        (found.counters().contains_key("others.cpu_s"), found.others_s.unwrap_err())
    };
    let (there, reason) = of(ServerProcesses::Unknown("two servers".into()));
    assert_eq!((there, reason.as_str()), (false, "two servers"));
    assert!(of(ServerProcesses::Tree(99)).1.contains("process 99 cannot be looked at"));
    assert!(of(ServerProcesses::Elsewhere(&["mysqld", "mariadbd"])).1.contains("mysqld (60) runs here"));
    let other = shares(&[ServerProcesses::Elsewhere(&["postgres"])], ("0 0 0 0", here), ("50 0 0 50", here));
    assert!(other.others_s.is_ok(), "it is another product");
    let oracle = ServerProcesses::Called { starts: &["ora"], ends: "FREE".into() };
    assert!(of(oracle).1.contains("no process of FREE"));
}

#[test]
fn processes_are_found_by_what_they_are_called() {
    let begin = [(50, "dyno", 1, 0, 0), (60, "ora_dbw0_free", 1, 10, 0), (61, "ora_dbw0_prod", 1, 10, 0)];
    let end = [(50, "dyno", 1, 0, 0), (60, "ora_dbw0_free", 1, 30, 0), (61, "ora_dbw0_prod", 1, 60, 0)];
    let oracle = [ServerProcesses::Called { starts: &["ora"], ends: "FREE".into() }];
    let found = shares(&oracle, ("0 0 0 0", &begin), ("70 0 0 30", &end));
    assert_eq!(found.server_s, Some(0.2));
    assert!((found.others_s.unwrap() - 0.5).abs() < 1e-9);
}

#[test]
fn a_child_that_burns_here_is_own_and_not_others() {
    let read = || ProcessTimes::read(&[ServerProcesses::This]);
    let Some(begin) = read() else { return eprintln!("skipped: there is no /proc") };
    let mut child = std::process::Command::new("sh")
        .args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"])
        .spawn()
        .unwrap();
    child.wait().unwrap();
    let found = ProcessorShares::between(&begin, &read().unwrap()).unwrap();
    assert!(found.own_s > 0.0 && found.server_s.is_none() && found.others_s.is_ok(), "{found:?}");
    assert!(!found.names.iter().any(|(name, _)| name == "sh_child"), "{found:?}");
}
