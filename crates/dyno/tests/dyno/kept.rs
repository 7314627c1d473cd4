//! Runs that somebody else stands in the way of: the record is stored first, whatever comes after it, and nothing waits without
//! end.

use std::process::Command;

use crate::common::{Desk, until};
use dyno_testbed::{MySql, Postgres, cannot};

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

/// Somebody on the server: what locks the rows that a run has inserted until it is ended, whether it has them, and its end.
struct Somebody<'a> {
    lock: &'a (dyn Fn() + Sync),
    has_it: &'a dyn Fn() -> bool,
    end: &'a dyn Fn(),
}

/// Somebody's end, also where the test has failed: it is waited for.
struct Gone<'a>(&'a dyn Fn());

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A run whose inserted rows somebody locks before it can remove them.
fn assert_kept(url: &str, somebody: &Somebody<'_>) {
    let desk = Desk::new();
    desk.write("dyno.toml", &format!("[target]\nurl = \"{url}\"\n{PLAN}[workload]\ninsert_pct = 40\n"));
    let load = desk.dyno(&["load"]);
    assert_eq!(load.code, 0, "{load:#?}");
    let (done, go) = (desk.file("done"), desk.file("go"));
    let post =
        format!("hooks.post=touch {}; until [ -e {} ]; do sleep 0.02; done", done.display(), go.display());
    let mut run = desk.start(&["run", "--set", &post]);
    until("the end of the window", || done.exists());
    std::thread::scope(|scope| {
        let gone = Gone(somebody.end);
        scope.spawn(somebody.lock);
        until("the lock", somebody.has_it);
        desk.write("go", "");
        run.until("the run is stored");
        let (code, record) = desk.json(&["show", "last"]);
        assert!(
            code == 0 && record["status"] == "valid",
            "{code}: {}: {}",
            record["status"],
            record["reasons"]
        );
        run.signal("INT");
        let said = run.end();
        assert!(said.code == 0 && said.err.contains("are still there"), "{said:#?}");
        drop(gone);
    });
    let again = desk.dyno(&["run"]);
    // Either the statement that waited for the lock has removed them by now, or this run has.
    assert_eq!(again.code, 0, "{again:#?}");
}

#[test]
fn a_lock_on_inserted_rows_withholds_no_record_on_postgres() {
    let Some(version) = Postgres::available().last().cloned() else { return };
    let server = Postgres::start(&version, &[("fsync", "off")]);
    let lock = "LOCK TABLE dyno.rows_1 IN SHARE MODE; SELECT pg_sleep(600)";
    let who = "FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND wait_event = 'PgSleep'";
    assert_kept(
        &server.url(),
        &Somebody {
            lock: &|| drop(server.try_psql(server.superuser(), "postgres", lock)),
            has_it: &|| server.psql(&format!("SELECT count(*) {who}")) == "1",
            end: &|| drop(server.psql(&format!("SELECT pg_terminate_backend(pid) {who}"))),
        },
    );
}

#[test]
fn a_lock_on_inserted_rows_withholds_no_record_on_mysql_and_mariadb() {
    for version in MySql::available() {
        let server = MySql::start(&version, &[]);
        let lock = "LOCK TABLES dyno_rows_1 READ; SELECT SLEEP(600)";
        let who = "FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(600)%'";
        assert_kept(
            &server.url(),
            &Somebody {
                lock: &|| drop(server.try_sql(server.superuser(), lock)),
                // MySQL writes the table of the same name to disk first, in rows that it counts as the run's.
                has_it: &|| server.sql("SHOW FULL PROCESSLIST").contains("\tSELECT SLEEP(600)"),
                end: &|| {
                    for id in server.sql(&format!("SELECT id {who}")).lines() {
                        server.sql(&format!("KILL {id}"));
                    }
                },
            },
        );
    }
}

/// A user that nobody else is, so that a limit of its processes counts this program's alone.
const NOBODY_ELSE: &str = "61234";

#[test]
fn too_few_threads_are_a_failed_run_with_its_record() {
    let desk = Desk::new();
    let may = Command::new("setpriv").args(["--reuid", NOBODY_ELSE, "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        return cannot("a run with few threads", "only root may be another user by setpriv");
    }
    desk.write("dyno.toml", &format!("[target]\nurl = \"sqlite:few.db\"\n{PLAN}"));
    assert_eq!(desk.dyno(&["load"]).code, 0);
    let program = desk.file("dyno");
    std::fs::copy(env!("CARGO_BIN_EXE_dyno"), &program).unwrap();
    let own = Command::new("chown").args(["-R", NOBODY_ELSE]).arg(desk.path()).status().unwrap();
    assert!(own.success());
    let dyno = desk.command(&["run", "--set", "run.sessions_per_schema=60"]);
    let mut limited = Command::new("setpriv");
    limited.args(["--reuid", NOBODY_ELSE, "--clear-groups", "prlimit", "--nproc=24"]).arg(program);
    limited.args(dyno.get_args()).current_dir(desk.path());
    for (name, value) in dyno.get_envs() {
        limited.env(name, value.unwrap_or_default());
    }
    let said = limited.output().unwrap();
    let out = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.code() == Some(3) && out.contains("no thread could be started"), "{said:#?}");
    let listed = desk.dyno(&["list"]);
    assert!(listed.out.contains("failed"), "{listed:#?}");
}
