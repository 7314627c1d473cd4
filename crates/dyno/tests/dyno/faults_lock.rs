//! Two Dynos on one target: the second is refused, and its message names the first.

use crate::common::{Running, TestEnv, low_load_args};
use dyno_testbed::{BouncerVersion, MySql, PgBouncer, Postgres};

const DATA: [&str; 4] = ["--set", "data.scale=1000 blocks", "--set", "data.scan_scale=50 blocks"];

fn args<'a>(head: &[&'a str], url: &'a str) -> Vec<&'a str> {
    [head, &DATA, &["--target", url]].concat()
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    name.trim().split('.').next().unwrap().to_owned()
}

fn long_run(desk: &TestEnv, url: &str) -> Running {
    long_run_with(desk, url, &[])
}

fn long_run_with(desk: &TestEnv, url: &str, more: &[&str]) -> Running {
    // It only holds the lock; the refused commands need the processors.
    let run = ["run", "--set", "run.time=10m", "--set", "run.warmup=0s", "--set", "observe.interval=500ms"];
    let mut run = desk.start(&args(&[&run[..], &["--set", "workload.rate=100/s"], more].concat(), url));
    run.wait_for_line("ops/s");
    run
}

/// Every command that changes or measures is refused while `holder` runs, with its name, process number and
/// start time.
fn assert_refused(url: &str, holder: &Running, work: &str) {
    let other = TestEnv::new();
    for command in [&["load"][..], &["load", "--replace"], &["run"], &["drop", "--yes"]] {
        let output = other.dyno(&args(command, url));
        assert_eq!(output.code, 3, "{output:#?}");
        let pid = format!("process {}", holder.pid());
        for part in ["in use", work, &pid, "on host ", "since 20", "hint: "] {
            assert!(output.err.contains(part), "{command:?} does not say {part:?}: {}", output.err);
        }
    }
    assert!(other.dyno(&["list"]).err.contains("no runs"), "a refused run is not a started one");
    for harmless in ["check", "list"] {
        assert!(!other.dyno(&args(&[harmless], url)).err.contains("in use"));
    }
}

fn one_at_a_time(desk: &TestEnv, url: &str) {
    let load = desk.dyno(&args(&["load"], url));
    assert_eq!(load.code, 0, "{load:#?}");
    let run = long_run(desk, url);
    assert_refused(url, &run, "dyno run");
    run.signal("INT");
    assert_eq!(run.wait().code, 130);
    let killed = long_run(desk, url);
    killed.signal("KILL");
    killed.wait();
    let next = desk.dyno(&args(&low_load_args(&["run"]), url));
    assert_eq!(next.code, 0, "what a killed run held is free: {next:#?}");
}

#[test]
fn concurrent_dyno_on_one_sqlite_file_is_refused() {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("shared.db").display());
    one_at_a_time(&desk, &url);
    assert!(!desk.file("shared.db-dyno").exists(), "nothing is left beside the database");
}

#[test]
fn concurrent_dyno_on_one_postgres_database_is_refused() {
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[]);
        let desk = TestEnv::new();
        one_at_a_time(&desk, &server.url());
        let run = long_run(&desk, &server.url());
        server.psql("CREATE ROLE app LOGIN; GRANT CREATE ON DATABASE postgres TO app");
        let app = server.url_of("app", "postgres");
        let other_user = desk.dyno(&args(&["load"], &app));
        let pid = format!("dyno run on host {}, process {}, since 20", host(), run.pid());
        assert!(other_user.code == 3, "{other_user:#?}");
        assert!(other_user.err.contains(&pid), "{other_user:#?}");
        run.signal("INT");
        run.wait();
    }
}

#[test]
fn load_in_progress_blocks_other_commands() {
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", desk.file("shared.db").display());
    let mut load = desk.start(&["load", "--set", "data.scale=4G", "--target", &url]);
    load.wait_for_line("rows …");
    assert_refused(&url, &load, "dyno load");
    load.signal("INT");
    assert_eq!(load.wait().code, 130);
}

#[test]
fn every_command_warns_that_pooler_prevents_lock() {
    let Some(bouncer) = BouncerVersion::available().pop() else { return };
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    let pooler = PgBouncer::start(&bouncer, &server, "");
    let (desk, url) = (TestEnv::new(), pooler.url());
    let assert_warned = |said: &crate::common::CommandOutput, command: &str| {
        let warnings: Vec<&str> = said.err.lines().filter(|line| line.starts_with("warning: ")).collect();
        for part in [
            "the connection goes through a connection pooler",
            "prevents a lock",
            "lock other dynos out of",
            &url,
        ] {
            assert!(warnings.iter().any(|warning| warning.contains(part)), "{command}: {part}: {said:#?}");
        }
    };
    // Twice: what the first command set on the pooler's connections must not affect the second.
    for command in [&["load"][..], &["load", "--replace", "--set", "data.seed=7"], &["load", "--replace"]] {
        let load = desk.dyno(&args(command, &url));
        assert_eq!(load.code, 0, "{command:?}: {load:#?}");
        assert_warned(&load, "load");
    }
    let run = desk.dyno(&args(&low_load_args(&["run"]), &url));
    assert_warned(&run, "run");
    assert!(run.code == 3, "nothing is measured so: {run:#?}");
    assert!(run.out.contains("set target.observe_url"), "nothing is measured so: {run:#?}");
    let drop = desk.dyno(&args(&["drop", "--yes"], &url));
    assert_eq!(drop.code, 0, "{drop:#?}");
    assert_warned(&drop, "drop");
    let locks = server.psql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'");
    assert_eq!(locks, "0", "nothing is left with the pooler");
}

/// Two databases of one server: the second Dyno is refused unless both plans share the server; then each
/// still has its own lock.
fn one_at_a_time_on_a_server(desk: &TestEnv, first_url: &str, second_url: &str, way_out: &str) {
    const SHARED: [&str; 2] = ["--set", "target.shared=true"];
    for url in [first_url, second_url] {
        let load = desk.dyno(&args(&["load"], url));
        assert_eq!(load.code, 0, "nobody is at work on the server: {load:#?}");
    }
    let assert_refused_beside = |run: &Running, commands: &[&[&str]]| {
        for command in commands {
            let output = TestEnv::new().dyno(&args(command, second_url));
            assert_eq!(output.code, 3, "{command:?}: {output:#?}");
            let pid = format!("process {}", run.pid());
            let parts = [
                "the server of ",
                "in use by dyno run on host ",
                "since 20",
                "hint: ",
                "target.shared",
                way_out,
            ];
            for part in parts.iter().chain([&pid.as_str()]) {
                assert!(output.err.contains(part), "{command:?} does not say {part:?}: {}", output.err);
            }
        }
    };
    let shared_run = [&low_load_args(&["run"])[..], &SHARED].concat();
    let run = long_run(desk, first_url);
    // The first run has exclusive use: a second plan that shares changes nothing.
    assert_refused_beside(&run, &[&["load", "--replace"], &["run"], &["drop", "--yes"], &shared_run]);
    run.signal("KILL");
    run.wait();

    let run = long_run_with(desk, first_url, &SHARED);
    assert_refused_beside(&run, &[&["run"]]);
    let beside = TestEnv::new().dyno(&args(&shared_run, second_url));
    assert!(matches!(beside.code, 0 | 1), "both share: {beside:#?}");
    assert!(!beside.err.contains("in use"), "{beside:#?}");
    let same = TestEnv::new().dyno(&args(&shared_run, first_url));
    assert!(same.code == 3, "a database is not shared: {same:#?}");
    assert!(same.err.contains("in use by dyno run"), "a database is not shared: {same:#?}");
    run.signal("INT");
    run.wait();
    let next = desk.dyno(&args(&low_load_args(&["run"]), second_url));
    assert_eq!(next.code, 0, "{next:#?}");
    let first_target = ["--target", first_url];
    let combined_run = desk.dyno(
        &[
            &args(&low_load_args(&["run", "--set", "run.sessions_per_schema=2"]), second_url)[..],
            &first_target,
        ]
        .concat(),
    );
    assert!(
        !combined_run.err.contains("in use"),
        "two databases of one server in one plan: {combined_run:#?}"
    );
}

#[test]
fn concurrent_dyno_on_one_postgres_server_is_refused() {
    for version in Postgres::available() {
        let server = Postgres::start(&version, &[]);
        server.psql("CREATE ROLE app LOGIN");
        server.psql("CREATE DATABASE other OWNER app");
        let other = server.url_of("app", "other");
        let way_out = "pg_terminate_backend";
        one_at_a_time_on_a_server(&TestEnv::new(), &server.url(), &other, way_out);
        let locks = server.psql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'");
        assert_eq!(locks, "0", "nothing is left");
    }
}

#[test]
fn concurrent_dyno_on_one_mysql_server_is_refused() {
    // `mysql::concurrent_dyno_on_one_database_is_refused` has both products.
    for version in MySql::available().into_iter().take(1) {
        let server = MySql::start(&version, &[]);
        server.sql("CREATE DATABASE other");
        let other = server.url().replace("/bench", "/other");
        one_at_a_time_on_a_server(&TestEnv::new(), &server.url(), &other, "KILL ");
    }
}

#[test]
fn concurrent_loads_on_one_server_never_all_fail() {
    let Some(version) = Postgres::available().pop() else { return };
    let server = Postgres::start(&version, &[]);
    let names = ["a", "b", "c"];
    let urls = names.map(|name| {
        server.psql(&format!("CREATE DATABASE {name}"));
        server.url_of("postgres", name)
    });
    let desk = TestEnv::new();
    let mut running: Vec<Running> = urls.iter().map(|url| desk.start(&args(&["load"], url))).collect();
    let outputs: Vec<crate::common::CommandOutput> = running.drain(..).map(Running::wait).collect();
    assert!(outputs.iter().any(|said| said.code == 0), "one gets in: {outputs:#?}");
    for refused_output in outputs.iter().filter(|said| said.code != 0) {
        assert!(refused_output.code == 3, "{refused_output:#?}");
        assert!(refused_output.err.contains("in use by dyno load"), "{refused_output:#?}");
    }
}

#[test]
fn concurrent_dyno_on_the_same_sqlite_device_is_warned_about() {
    let desk = TestEnv::new();
    let url = |name| format!("sqlite:{}", desk.file(name).display());
    let (first, second) = (url("first.db"), url("second.db"));
    for url in [&first, &second] {
        assert_eq!(desk.dyno(&args(&["load"], url)).code, 0);
    }
    let run = long_run(&desk, &first);
    let warning = "another dyno is using a database on the same device";
    let beside = desk.dyno(&args(&low_load_args(&["run"]), &second));
    assert!(beside.err.contains(warning), "{beside:#?}");
    assert!(beside.err.contains(&format!("process {}", run.pid())), "{beside:#?}");
    let shared =
        desk.dyno(&args(&[&low_load_args(&["run"])[..], &["--set", "target.shared=true"]].concat(), &second));
    assert!(!shared.err.contains(warning), "{shared:#?}");
    run.signal("KILL");
    run.wait();
    let alone = desk.dyno(&args(&low_load_args(&["run"]), &second));
    assert!(alone.code == 0, "{alone:#?}");
    assert!(!alone.err.contains(warning), "{alone:#?}");
    let left = std::fs::read_dir(desk.path()).unwrap().flatten();
    let left: Vec<_> =
        left.filter(|entry| entry.file_name().to_string_lossy().contains("dyno-device")).collect();
    assert!(left.is_empty(), "{left:?}");
}
