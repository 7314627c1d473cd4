//! Two Dynos on one target: the second is refused, and learns who the first is.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{Desk, Running, short};
use dyno_testbed::{PgBouncer, Postgres};

const DATA: [&str; 4] = ["--set", "data.scale=500 blocks", "--set", "data.scan_scale=10 blocks"];

fn args<'a>(head: &[&'a str], url: &'a str) -> Vec<&'a str> {
    [head, &DATA, &["--target", url]].concat()
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    name.trim().split('.').next().unwrap().to_owned()
}

fn long_run(desk: &Desk, url: &str) -> Running {
    let run = ["run", "--set", "run.time=10m", "--set", "run.warmup=0s", "--set", "observe.interval=100ms"];
    let mut run = desk.start(&args(&run, url));
    run.until("ops/s");
    run
}

/// Every command that changes or measures is refused while `holder` runs, with its name, number and start.
fn assert_refused(url: &str, holder: &Running, work: &str) {
    let other = Desk::new();
    for command in [&["load"][..], &["load", "--replace"], &["run"], &["drop", "--yes"]] {
        let said = other.dyno(&args(command, url));
        assert_eq!(said.code, 3, "{said:#?}");
        let pid = format!("process {}", holder.pid());
        for part in ["in use", work, &pid, "on host ", "since 20", "hint: "] {
            assert!(said.err.contains(part), "{command:?} does not say {part:?}: {}", said.err);
        }
    }
    assert!(other.dyno(&["list"]).err.contains("no runs"), "a refused run is not a started one");
    for harmless in ["check", "list"] {
        assert!(!other.dyno(&args(&[harmless], url)).err.contains("in use"));
    }
}

fn one_at_a_time(desk: &Desk, url: &str) {
    let load = desk.dyno(&args(&["load"], url));
    assert_eq!(load.code, 0, "{load:#?}");
    let run = long_run(desk, url);
    assert_refused(url, &run, "dyno run");
    run.signal("INT");
    assert_eq!(run.end().code, 130);
    let killed = long_run(desk, url);
    killed.signal("KILL");
    killed.end();
    let next = desk.dyno(&args(&short(&["run"]), url));
    assert_eq!(next.code, 0, "what a killed run held is free: {next:#?}");
}

#[test]
fn two_dynos_on_one_sqlite_file_are_kept_apart() {
    let desk = Desk::new();
    let url = format!("sqlite:{}", desk.file("shared.db").display());
    one_at_a_time(&desk, &url);
    assert!(!desk.file("shared.db-dyno").exists(), "nothing is left beside the database");
}

#[test]
fn two_dynos_on_one_postgres_database_are_kept_apart() {
    for version in Postgres::oldest_and_newest() {
        let server = Postgres::start(&version, &[]);
        let desk = Desk::new();
        one_at_a_time(&desk, &server.url());
        server.psql("CREATE DATABASE other");
        let elsewhere = server.url_of("postgres", "other");
        let run = long_run(&desk, &server.url());
        let load = desk.dyno(&args(&["load"], &elsewhere));
        assert_eq!(load.code, 0, "another database is another target: {load:#?}");
        server.psql("CREATE ROLE app LOGIN; GRANT CREATE ON DATABASE postgres TO app");
        let app = server.url_of("app", "postgres");
        let other_user = desk.dyno(&args(&["load"], &app));
        let pid = format!("dyno run on host {}, process {}, since 20", host(), run.pid());
        assert!(other_user.code == 3 && other_user.err.contains(&pid), "{other_user:#?}");
        run.signal("INT");
        run.end();
    }
}

#[test]
fn a_load_under_way_keeps_others_off() {
    let desk = Desk::new();
    let url = format!("sqlite:{}", desk.file("shared.db").display());
    let mut load = desk.start(&["load", "--set", "data.scale=4G", "--target", &url]);
    load.until("rows …");
    assert_refused(&url, &load, "dyno load");
    load.signal("INT");
    assert_eq!(load.end().code, 130);
}

#[test]
fn behind_a_pooler_no_lock_can_be_kept_and_every_command_says_so() {
    let found = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].map(std::path::Path::new);
    let Some(program) = found.into_iter().find(|path| path.exists()) else {
        dyno_testbed::skip("the lock behind a pooler", "pgbouncer is not installed");
        return;
    };
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    let pooler = PgBouncer::start(program, &server);
    let (desk, url) = (Desk::new(), pooler.url());
    let assert_warned = |said: &common::Said, command: &str| {
        let warnings: Vec<&str> = said.err.lines().filter(|line| line.starts_with("warning: ")).collect();
        for part in
            ["a connection pooler is in between", "no lock can be kept", "other dynos are not kept off", &url]
        {
            assert!(warnings.iter().any(|warning| warning.contains(part)), "{command}: {part}: {said:#?}");
        }
    };
    // Twice: what the first one asked of the pooler's connections must not stand in the second one's way.
    for command in [&["load"][..], &["load", "--replace", "--set", "data.seed=7"], &["load", "--replace"]] {
        let load = desk.dyno(&args(command, &url));
        assert_eq!(load.code, 0, "{command:?}: {load:#?}");
        assert_warned(&load, "load");
    }
    let run = desk.dyno(&args(&short(&["run"]), &url));
    assert_warned(&run, "run");
    let drop = desk.dyno(&args(&["drop", "--yes"], &url));
    assert_eq!(drop.code, 0, "{drop:#?}");
    assert_warned(&drop, "drop");
    let locks = server.psql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'");
    assert_eq!(locks, "0", "nothing is left with the pooler");
}
