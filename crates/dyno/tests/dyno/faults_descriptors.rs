//! Fewer files and connections than a run needs.

use std::process::Command;

use crate::common::{Desk, short};
use dyno_testbed::Postgres;

const SIZE: [&str; 2] = ["--set", "data.scale=500 blocks"];
/// Many sessions that leave the processors idle: the files are what there is too few of.
const SESSIONS: [&str; 4] = ["--set", "run.sessions_per_schema=64", "--set", "workload.rate=200/s"];

/// Runs the program with a limit of open files, as `ulimit` sets it.
fn limited(desk: &Desk, limit: &str, args: &[&str]) -> (i32, String) {
    let command = desk.command(args);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")]);
    shell.arg(command.get_program()).args(command.get_args()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.current_dir(desk.path()).output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    // Reasons are broken into lines of the terminal's width.
    let words: Vec<&str> = std::str::from_utf8(&all).unwrap().split_whitespace().collect();
    (output.status.code().unwrap_or(-1), words.join(" "))
}

/// That sessions which cannot start, and a program that cannot begin, name the limit, what is needed and the way out.
fn assert_named(desk: &Desk, url: &str, too_few_for_anything: Option<u32>) {
    let loaded = desk.dyno(&[&["load", "--target", url][..], &SIZE].concat());
    assert_eq!(loaded.code, 0, "{loaded:#?}");
    let run = short(&[&["run", "--target", url][..], &SIZE, &SESSIONS].concat());
    for limit in [Some(60), too_few_for_anything].into_iter().flatten() {
        let (code, said) = limited(desk, &format!("-n {limit}"), &run);
        assert_eq!(code, 3, "{limit}: {said}");
        let named = format!("{limit} files and connections are allowed");
        assert!(said.contains(&named) && said.contains("1 or 2 for each session"), "{limit}: {said}");
        assert!(said.contains("ulimit -n") && !said.contains("firewall"), "{limit}: {said}");
    }
    // A limit that the user may raise is raised.
    let (code, said) = limited(desk, "-S -n 60", &run);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn too_few_are_named_with_the_limit_and_the_way_out_postgres() {
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[]);
        assert_named(&Desk::new(), &server.url(), Some(9));
    }
}

#[test]
fn too_few_are_named_with_the_limit_and_the_way_out_sqlite() {
    let desk = Desk::new();
    let url = format!("sqlite:{}", desk.file("a.db").display());
    assert_named(&desk, &url, None);
}
