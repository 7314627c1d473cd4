//! Limits of open files and connections that are too low for a run.

use std::process::Command;

use crate::common::{TestEnv, short_run_args};
use dyno_testbed::Postgres;

const SIZE: [&str; 2] = ["--set", "data.scale=500 blocks"];
/// Many sessions that leave the processors idle, so that only files are scarce.
const SESSIONS: [&str; 4] = ["--set", "run.sessions_per_schema=64", "--set", "workload.rate=200/s"];

/// Runs the program with a limit of open files, as `ulimit` sets it.
fn run_with_ulimit(desk: &TestEnv, limit: &str, args: &[&str]) -> (i32, String) {
    let command = desk.command(args);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")]);
    shell.arg(command.get_program()).args(command.get_args()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.current_dir(desk.path()).output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    // Reasons are wrapped to the terminal's width.
    let words: Vec<&str> = std::str::from_utf8(&all).unwrap().split_whitespace().collect();
    (output.status.code().unwrap_or(-1), words.join(" "))
}

/// Asserts that both a failed session start and a failed program start name the limit, the needed number and
/// a hint.
fn assert_limit_named(desk: &TestEnv, url: &str, too_few_for_anything: Option<u32>) {
    let loaded = desk.dyno(&[&["load", "--target", url][..], &SIZE].concat());
    assert_eq!(loaded.code, 0, "{loaded:#?}");
    let run = short_run_args(&[&["run", "--target", url][..], &SIZE, &SESSIONS].concat());
    for limit in [Some(60), too_few_for_anything].into_iter().flatten() {
        let (code, text) = run_with_ulimit(desk, &format!("-n {limit}"), &run);
        assert_eq!(code, 3, "{limit}: {text}");
        let named = format!("{limit} files and connections are allowed");
        assert!(text.contains(&named), "{limit}: {text}");
        assert!(text.contains("1 or 2 for each session"), "{limit}: {text}");
        assert!(text.contains("ulimit -n"), "{limit}: {text}");
        assert!(!text.contains("firewall"), "{limit}: {text}");
    }
    // A limit that the user may raise is raised.
    let (code, raised_text) = run_with_ulimit(desk, "-S -n 60", &run);
    assert_eq!(code, 0, "{raised_text}");
}

#[test]
fn postgres_descriptor_limit_error_gives_limit_and_hint() {
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[]);
        assert_limit_named(&TestEnv::new(), &server.url(), Some(9));
    }
}

#[test]
fn sqlite_descriptor_limit_error_gives_limit_and_hint() {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("a.db").display());
    assert_limit_named(&desk, &url, None);
}
