//! A/B tests of server settings: applied, recorded and restored, also after Ctrl-C and a kill.

use crate::common::TestEnv;
use crate::common::json::ExpectJson;
use dyno_testbed::{MySql, Postgres};
use serde_json::Value;

const DATA: [&str; 2] = ["--set", "data.scale=500 blocks"];
const RUNS: [&str; 8] =
    ["--set", "run.warmup=0s", "--set", "observe.interval=100ms", "--fixed", "--pairs", "1", "--allow-hooks"];

fn args<'a>(head: &[&'a str], url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [head, &DATA, &["--target", url], more].concat()
}

/// The settings of the runs of the last test: side, value in the campaign, value that the server reported.
fn recorded(desk: &TestEnv, setting: &str) -> Vec<(String, String, String)> {
    let (_, listed) = desk.json(&["list", "--sweep", "last"]);
    let of = |run: &Value| {
        let (_, record) = desk.json(&["show", run["id"].text()]);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let part = &record["part_of"];
        assert_eq!(part["settings"][0]["key"], format!("server.{setting}"));
        let reported = &record["targets"][0]["settings"][setting];
        (text(&part["side"]), text(&part["settings"][0]["value"]), text(reported))
    };
    let mut all: Vec<_> = listed.items().iter().map(of).collect();
    all.sort();
    all
}

fn side(name: &str, value: &str) -> (String, String, String) {
    (name.to_owned(), value.to_owned(), value.to_owned())
}

#[test]
fn postgres_setting_is_applied_recorded_and_restored() {
    for version in Postgres::newest_or_all() {
        let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
        let url = server.url();
        server.psql("ALTER SYSTEM SET work_mem = '5MB'");
        server.psql("SELECT pg_reload_conf()");
        assert_eq!(desk.dyno(&args(&["load"], &url, &[])).code, 0);
        let setting = ["ab", "--setting", "work_mem=,8MB"];
        let refused = desk.dyno(&args(&setting, &url, &[]));
        assert!(refused.code == 2, "{refused:#?}");
        assert!(refused.err.contains("ALTER SYSTEM SET work_mem = '8MB'"), "{refused:#?}");
        let (code, ab) = desk.json(&args(&setting, &url, &[&RUNS[..], &["--time", "1s"]].concat()));
        assert_eq!(code, 0, "{ab}");
        assert_eq!(recorded(&desk, "work_mem"), [side("a", "5MB"), side("b", "8MB")]);
        let stored = "SELECT setting FROM pg_file_settings WHERE name = 'work_mem'";
        assert_eq!((server.psql("SHOW work_mem"), server.psql(stored)), ("5MB".into(), "5MB".into()));
        let restart = desk.dyno(&args(&["ab", "--setting", "shared_buffers=,64MB"], &url, &RUNS));
        assert!(restart.code == 2, "{restart:#?}");
        assert!(restart.err.contains("--restart-command"), "{restart:#?}");
        let session = desk.dyno(&args(&["ab", "--setting", "jit=on,off"], &url, &RUNS));
        assert!(session.code == 2, "{session:#?}");
        assert!(session.err.contains("set jit themselves"), "{session:#?}");
    }
}

#[test]
fn postgres_setting_is_restored_after_ctrl_c_and_after_kill() {
    let Some(version) = Postgres::newest_or_all().into_iter().next() else { return };
    let (server, desk) = (Postgres::start(&version, &[]), TestEnv::new());
    let url = server.url();
    assert_eq!(desk.dyno(&args(&["load"], &url, &[])).code, 0);
    let long =
        args(&["ab", "--setting", "work_mem=7MB,8MB"], &url, &[&RUNS[..], &["--time", "10m"]].concat());
    for signal in ["INT", "KILL"] {
        let mut running = desk.start(&long);
        running.wait_for_line("ops/s");
        assert_eq!(server.psql("SHOW work_mem"), "7MB");
        running.signal(signal);
        let output = running.wait();
        if signal == "KILL" {
            assert_eq!(server.psql("SHOW work_mem"), "7MB");
            let restored = desk.dyno(&args(&["ab", "--only-restore"], &url, &[]));
            assert!(restored.code == 0, "{restored:#?}");
            assert!(restored.err.contains("are restored"), "{restored:#?}");
        } else {
            assert_eq!(output.code, 130, "{output:#?}");
        }
        assert_eq!(server.psql("SHOW work_mem"), "4MB", "{signal}");
        assert_eq!(server.psql("SELECT count(*) FROM pg_file_settings WHERE name = 'work_mem'"), "0");
    }
    let nothing = desk.dyno(&args(&["ab", "--only-restore"], &url, &[]));
    assert!(nothing.code == 0, "{nothing:#?}");
    assert!(nothing.err.contains("nothing to restore"), "{nothing:#?}");
}

#[test]
fn mysql_setting_is_applied_recorded_and_restored() {
    for version in MySql::available().into_iter().take(1) {
        let (server, desk) = (MySql::start(&version, &[]), TestEnv::new());
        let url = server.url();
        let value = || server.sql("SELECT @@GLOBAL.innodb_io_capacity");
        let before = value();
        assert_eq!(desk.dyno(&args(&["load"], &url, &[])).code, 0);
        let setting = ["ab", "--setting", "innodb_io_capacity=150,350"];
        let (code, ab) = desk.json(&args(&setting, &url, &[&RUNS[..], &["--time", "1s"]].concat()));
        assert_eq!(code, 0, "{ab}");
        assert_eq!(recorded(&desk, "innodb_io_capacity"), [side("a", "150"), side("b", "350")]);
        assert_eq!(value(), before);
        let unknown = desk.dyno(&args(&["ab", "--setting", "no_such_setting=1,2"], &url, &RUNS));
        assert!(unknown.code == 2, "{unknown:#?}");
        assert!(unknown.err.contains("has no setting"), "{unknown:#?}");
    }
}
