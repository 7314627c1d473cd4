//! No space, no lock and no write permission, for the database and for the repository.

use crate::common::json::ExpectJson;
use crate::common::tmpfs::Tmpfs;
use crate::common::{TestEnv, short_run_args};
use dyno_testbed::{MySql, Postgres};

const SMALL: [&str; 4] = ["--set", "data.scale=500 blocks", "--set", "data.scan_scale=10 blocks"];
const LONG: [&str; 6] =
    ["--set", "run.time=10m", "--set", "run.warmup=0s", "--set", "observe.interval=100ms"];

fn load<'a>(url: &'a str, scale: &'a str) -> Vec<&'a str> {
    vec!["load", "--target", url, "--set", scale]
}

fn run<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--target", url][..], &SMALL, more].concat()
}

/// A database on `disk`, which is too small for 40 MB: the load reports it, and continues once there is
/// space.
fn load_into_a_full_disk(desk: &TestEnv, disk: &Tmpfs, url: &str) {
    let args = load(url, "data.scale=40M");
    let full = desk.dyno(&args);
    assert_eq!(full.code, 3, "{full:#?}");
    let stderr = full.err.to_lowercase();
    assert!(stderr.contains("full") || stderr.contains("no space left"), "{full:#?}");
    assert!(stderr.contains("hint: "), "{full:#?}");
    assert!(!stderr.contains("panicked"), "{full:#?}");
    disk.remount("size=200m");
    let again = desk.dyno(&args);
    assert_eq!(again.code, 0, "{again:#?}");
    assert!(again.out.contains("1.000"), "{}", again.out);
}

#[test]
fn sqlite_load_into_full_disk_resumes_with_space() {
    let Some(disk) = Tmpfs::mount("a full disk under SQLite", 12) else { return };
    let url = format!("sqlite:{}", disk.file("a.db").display());
    load_into_a_full_disk(&TestEnv::new(), &disk, &url);
}

#[test]
fn postgres_load_into_full_disk_resumes_with_space() {
    for version in Postgres::available() {
        let Some(disk) = Tmpfs::mount("a full tablespace under PostgreSQL", 12) else { return };
        let server = Postgres::start(&version, &[]);
        let folder = disk.path().display().to_string();
        server.give_to_server(disk.path());
        server.psql(&format!("CREATE TABLESPACE small LOCATION '{folder}'"));
        server.psql("ALTER ROLE postgres SET default_tablespace = 'small'");
        load_into_a_full_disk(&TestEnv::new(), &disk, &server.url());
        // Dropped before its folder is removed.
        drop(server);
    }
}

#[test]
fn disk_filling_in_window_fails_run_and_keeps_record() {
    let Some(disk) = Tmpfs::mount("a disk that fills up under a run", 16) else { return };
    let desk = TestEnv::new();
    let url = format!("sqlite:{}?checkpoint=0", disk.file("a.db").display());
    let loaded = desk.dyno(&[&["load", "--target", &url][..], &SMALL].concat());
    assert_eq!(loaded.code, 0, "{loaded:#?}");
    let mut going = desk.start(&run(&url, &[&LONG[..], &["--set", "workload.update_pct=50"]].concat()));
    going.wait_for_line("window");
    disk.fill();
    let output = going.wait();
    assert_eq!(output.code, 3, "{output:#?}");
    let (_, record) = desk.json(&["show", "last"]);
    assert_eq!(record["status"], "failed");
    let reasons = record["reasons"].to_string();
    assert!(reasons.contains("full"), "{reasons}");
    disk.free();
    let again = desk.dyno(&short_run_args(&run(&url, &[])));
    assert_eq!(again.code, 0, "{again:#?}");
}

#[test]
fn full_binlog_disk_is_reported_in_server_words() {
    for version in MySql::available() {
        let Some(disk) = Tmpfs::mount("a full disk under a binlog", 48) else { return };
        let binlog = disk.file("binlog").display().to_string();
        let server = MySql::start(&version, &[("log_bin", &binlog), ("server_id", "1")]);
        let (desk, url) = (TestEnv::new(), server.url());
        let size = ["--set", "data.scale=500 blocks"];
        let loaded = desk.dyno(&[&["load", "--target", &url][..], &size].concat());
        assert_eq!(loaded.code, 0, "{loaded:#?}");
        let short = ["--set", "run.time=4s", "--set", "run.warmup=0s", "--set", "run.drain=1s"];
        let more = ["--set", "observe.interval=200ms", "--set", "workload.update_pct=50"];
        let args = [&["run", "--target", &url][..], &size, &short, &more].concat();
        let mut going = desk.start(&args);
        going.wait_for_line("ops/s");
        disk.fill();
        let output = going.wait();
        assert_eq!(output.code, 3, "{output:#?}");
        let (_, record) = desk.json(&["show", "last"]);
        assert_eq!(record["status"], "failed", "{}", record["reasons"]);
        let first = record["reasons"][0].text();
        assert!(first.contains("the server reports"), "{}", record["reasons"]);
        assert!(first.contains("binlog.0000"), "{}", record["reasons"]);
        assert!(first.contains("Disk is full") || first.contains("No space left"), "{}", record["reasons"]);
        disk.free();
        drop(server);
    }
}

/// The record that a run wrote to a file because its repository could not store it.
fn assert_saved_to_file(desk: &TestEnv, output: &crate::common::CommandOutput) -> String {
    assert_eq!(output.code, 3, "{output:#?}");
    let path = output.err.split("it was written to ").nth(1).and_then(|rest| rest.split(" instead").next());
    let path = path.unwrap_or_else(|| panic!("no path in {output:#?}"));
    assert!(path.starts_with(desk.path().to_str().unwrap()), "{path}");
    let record: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(record["status"], "interrupted");
    assert!(record["ops"]["all"]["count"].count() > 0);
    path.to_owned()
}

#[test]
fn full_repository_disk_loses_no_record() {
    let Some(disk) = Tmpfs::mount("a full disk under the repository", 2) else { return };
    let desk = TestEnv::new();
    let repository = disk.file("runs.sqlite3").display().to_string();
    let more = [&LONG[..], &["--repository", &repository]].concat();
    let mut going = desk.start(&run("sqlite::memory:", &more));
    going.wait_for_line("ops/s");
    disk.fill();
    going.signal("INT");
    let record_path = assert_saved_to_file(&desk, &going.wait());
    let full = desk.dyno(&["list", "--repository", &repository]);
    assert!(full.code == 0, "reading needs no room: {full:#?}");
    assert!(full.out.contains("interrupted"), "reading needs no room: {full:#?}");
    disk.free();
    let list = desk.dyno(&["list", "--repository", &repository]);
    assert!(list.code == 0, "{list:#?}");
    assert!(list.out.contains("interrupted"), "{list:#?}");
    // The record replaces what the repository stored about the run.
    let import = desk.dyno(&["import", "results", &record_path, "--repository", &repository]);
    assert_eq!(import.code, 0, "{import:#?}");
    let (_, mut stored) = desk.json(&["show", "last", "--repository", &repository]);
    let answers = stored.as_object_mut().unwrap().remove("answers");
    assert!(answers.is_some(), "what is shown is the record, with its answer");
    assert_eq!(
        stored,
        serde_json::from_str::<serde_json::Value>(&std::fs::read_to_string(&record_path).unwrap()).unwrap()
    );
    let next = desk.dyno(&short_run_args(&run("sqlite::memory:", &["--repository", &repository])));
    assert_eq!(next.code, 0, "{next:#?}");
}

#[test]
fn locked_repository_loses_no_record() {
    let desk = TestEnv::new();
    let mut going = desk.start(&run("sqlite::memory:", &LONG));
    going.wait_for_line("ops/s");
    let other = rusqlite::Connection::open(desk.file("runs.sqlite3")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    going.signal("INT");
    let output = going.wait();
    assert!(output.err.contains("locked") || output.err.contains("busy"), "{output:#?}");
    assert_saved_to_file(&desk, &output);
    drop(other);
    let next = desk.dyno(&short_run_args(&run("sqlite::memory:", &[])));
    assert_eq!(next.code, 0, "{next:#?}");
}

#[test]
fn read_only_directory_is_reported_before_any_work() {
    let Some(disk) = Tmpfs::mount("a read-only directory", 16) else { return };
    let desk = TestEnv::new();
    let url = format!("sqlite:{}", disk.file("a.db").display());
    let repository = disk.file("runs.sqlite3").display().to_string();
    let loaded = desk.dyno(&[&["load", "--target", &url][..], &SMALL].concat());
    assert_eq!(loaded.code, 0, "{loaded:#?}");
    disk.remount("ro");
    for args in [
        [&["load", "--target", &url][..], &SMALL].concat(),
        run(&url, &[]),
        vec!["drop", "--yes", "--target", &url],
        run("sqlite::memory:", &["--repository", &repository]),
    ] {
        let output = desk.dyno(&args);
        assert_eq!(output.code, 3, "{args:?}: {output:#?}");
        let path = disk.path().to_str().unwrap();
        assert!(output.err.contains(path), "{args:?}: {output:#?}");
        assert!(!output.err.contains("panicked"), "{args:?}: {output:#?}");
    }
    assert!(desk.dyno(&["list"]).err.contains("no runs"));
}

#[test]
fn full_disk_error_is_reported_once_with_its_location() {
    let Some(disk) = Tmpfs::mount("a full disk under everything that is written", 2) else { return };
    let desk = TestEnv::new();
    let run = desk.dyno(&short_run_args(&run("sqlite::memory:", &[])));
    assert_eq!(run.code, 0, "{run:#?}");
    disk.fill();
    let (page, url) = (disk.file("page.html"), format!("sqlite:{}", disk.file("a.db").display()));
    let (page, repository) = (page.to_str().unwrap(), disk.file("r.db").display().to_string());
    for (args, whose) in [
        (vec!["report", "last", "-o", page], page),
        ([&["load", "--target", &url][..], &SMALL].concat(), "a.db"),
        (
            vec!["import", "results", "t.csv", "--map", "ops=ops_per_s", "--repository", &repository],
            "the repository",
        ),
    ] {
        desk.write("t.csv", "ops\n100\n");
        let write_output = desk.dyno(&args);
        assert_eq!(write_output.code, 3, "{write_output:#?}");
        assert_eq!(write_output.err.to_lowercase().matches("no space").count(), 1, "{write_output:#?}");
        assert!(write_output.err.contains(whose), "{write_output:#?}");
    }
    let mut printing = desk.command(&["list"]);
    printing.stdout(std::fs::File::create(disk.file("list.txt")).unwrap());
    let output = printing.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("the output cannot be written: No space left"), "{stderr}");
}

#[test]
fn event_file_that_is_incomplete_or_a_link_is_reported() {
    let desk = TestEnv::new();
    let url = "sqlite:bench.db";
    let load = [&["load", "--target", url][..], &SMALL].concat();
    let full = desk.dyno(&[&load[..], &["--events", "/dev/full"]].concat());
    assert_eq!(full.code, 3, "{full:#?}");
    assert!(full.err.contains("/dev/full (--events) is incomplete"), "{full:#?}");
    assert!(full.err.contains("No space left"), "{full:#?}");
    desk.write("theirs", "kept\n");
    std::os::unix::fs::symlink(desk.file("theirs"), desk.file("events.jsonl")).unwrap();
    std::os::unix::fs::symlink(desk.file("none"), desk.file("dangling.jsonl")).unwrap();
    for name in ["events.jsonl", "dangling.jsonl"] {
        let linked = desk.dyno(&[&load[..], &["--events", name]].concat());
        assert_eq!(linked.code, 2, "{linked:#?}");
        assert!(linked.err.contains("it is a symbolic link"), "{linked:#?}");
    }
    assert_eq!(std::fs::read_to_string(desk.file("theirs")).unwrap(), "kept\n");
    assert!(!desk.file("none").exists());
    let load_output = desk.dyno(&[&load[..], &["--events", "own.jsonl"]].concat());
    assert_eq!(load_output.code, 0, "{load_output:#?}");
    let text = std::fs::read_to_string(desk.file("own.jsonl")).unwrap();
    assert!(text.lines().last().unwrap().contains("\"end\""), "{text}");
}
