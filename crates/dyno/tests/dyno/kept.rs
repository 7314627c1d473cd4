//! Runs that another user blocks: the record is stored first, whatever follows, and nothing waits forever.

use std::process::Command;

use crate::common::{TestEnv, wait_until};
use dyno_testbed::{MySql, Postgres, skip_unsupported};

const PLAN: &str = "
[data]
scale = \"400 blocks\"
scan_scale = \"0 blocks\"
[run]
time = \"1s\"
warmup = \"100ms\"
[observe]
interval = \"200ms\"
";

/// Another user on the server who locks the rows that a run has inserted: how to lock, whether it holds the
/// locks, and how to end it.
struct LockHolder<'a> {
    lock: &'a (dyn Fn() + Sync),
    is_locked: &'a dyn Fn() -> bool,
    end: &'a dyn Fn(),
}

/// Ends the other user, even if the test has failed.
struct EndGuard<'a>(&'a dyn Fn());

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A run whose inserted rows another user locks before it can remove them.
fn assert_record_stored(url: &str, somebody: &LockHolder<'_>) {
    let desk = TestEnv::new();
    desk.write("dyno.toml", &format!("[target]\nurl = \"{url}\"\n{PLAN}[workload]\ninsert_pct = 40\n"));
    let load = desk.dyno(&["load"]);
    assert_eq!(load.code, 0, "{load:#?}");
    let (window_end_file, go) = (desk.file("done"), desk.file("go"));
    let post = format!(
        "hooks.post=touch {}; until [ -e {} ]; do sleep 0.02; done",
        window_end_file.display(),
        go.display()
    );
    let mut run = desk.start(&["run", "--set", &post]);
    wait_until("the end of the window", || window_end_file.exists());
    std::thread::scope(|scope| {
        let end_guard = EndGuard(somebody.end);
        scope.spawn(somebody.lock);
        wait_until("the lock", somebody.is_locked);
        desk.write("go", "");
        run.wait_for_line("the run is stored");
        let (code, record) = desk.json(&["show", "last"]);
        assert!(code == 0, "{code}: {}: {}", record["status"], record["reasons"]);
        assert!(record["status"] == "valid", "{code}: {}: {}", record["status"], record["reasons"]);
        run.signal("INT");
        let output = run.wait();
        assert!(output.code == 0, "{output:#?}");
        assert!(output.err.contains("that this run inserted remain"), "{output:#?}");
        drop(end_guard);
    });
    let again = desk.dyno(&["run"]);
    // The rows are removed now, either by the statement that waited for the lock or by this run.
    assert_eq!(again.code, 0, "{again:#?}");
}

#[test]
fn lock_on_inserted_rows_does_not_block_record_on_postgres() {
    let Some(version) = Postgres::available().last().cloned() else { return };
    let server = Postgres::start(&version, &[("fsync", "off")]);
    let lock = "LOCK TABLE dyno.rows_1 IN SHARE MODE; SELECT pg_sleep(600)";
    let holder_clause = "FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND wait_event = 'PgSleep'";
    assert_record_stored(
        &server.url(),
        &LockHolder {
            lock: &|| drop(server.try_psql(server.superuser(), "postgres", lock)),
            is_locked: &|| server.psql(&format!("SELECT count(*) {holder_clause}")) == "1",
            end: &|| drop(server.psql(&format!("SELECT pg_terminate_backend(pid) {holder_clause}"))),
        },
    );
}

#[test]
fn lock_on_inserted_rows_does_not_block_record_on_mysql_and_mariadb() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        let lock = "LOCK TABLES dyno_rows_1 READ; SELECT SLEEP(600)";
        let holder_clause = "FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(600)%'";
        assert_record_stored(
            &server.url(),
            &LockHolder {
                lock: &|| drop(server.try_sql(server.superuser(), lock)),
                // MySQL first writes the internal temporary table to disk, and counts its rows as the run's.
                is_locked: &|| server.sql("SHOW FULL PROCESSLIST").contains("\tSELECT SLEEP(600)"),
                end: &|| {
                    for id in server.sql(&format!("SELECT id {holder_clause}")).lines() {
                        server.sql(&format!("KILL {id}"));
                    }
                },
            },
        );
    }
}

/// A user with no other processes, so that its process limit applies only to this program.
const NOBODY_ELSE: &str = "61234";

#[test]
fn run_without_enough_threads_fails_and_keeps_its_record() {
    let desk = TestEnv::new();
    let may = Command::new("setpriv").args(["--reuid", NOBODY_ELSE, "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        return skip_unsupported("a run with few threads", "only root may be another user by setpriv");
    }
    desk.write("dyno.toml", &format!("[target]\nurl = \"sqlite:few.db\"\n{PLAN}"));
    assert_eq!(desk.dyno(&["load"]).code, 0);
    let program = desk.file("dyno");
    std::fs::copy(env!("CARGO_BIN_EXE_dyno"), &program).unwrap();
    let chown_status = Command::new("chown").args(["-R", NOBODY_ELSE]).arg(desk.path()).status().unwrap();
    assert!(chown_status.success());
    let dyno = desk.command(&["run", "--set", "run.sessions_per_schema=60"]);
    let mut limited = Command::new("setpriv");
    limited.args(["--reuid", NOBODY_ELSE, "--clear-groups", "prlimit", "--nproc=24"]).arg(program);
    limited.args(dyno.get_args()).current_dir(desk.path());
    for (name, value) in dyno.get_envs() {
        limited.env(name, value.unwrap_or_default());
    }
    let output = limited.output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(3), "{output:#?}");
    assert!(out.contains("no thread could be started"), "{output:#?}");
    let listed = desk.dyno(&["list"]);
    assert!(listed.out.contains("failed"), "{listed:#?}");
}
