//! Tests of the repository with several processes: concurrent writes, kills, a full disk, and missing permissions.
//!
//! A test that needs a second process starts itself again, with the file's path in the variable [`CHILD`].

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::fault_tests::{begun, bulky, directory, record};
use super::*;
use crate::Repository;

/// The environment variable that makes a test run as its own child process.
const CHILD: &str = "DYNO_TEST_REPOSITORY_CHILD";

fn child_path() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// Starts the test `name` of this file again as a child that uses `path`.
fn child(name: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &format!("repository::process_tests::{name}"), "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .stdout(Stdio::piped());
    command
}

/// Prints `line` to the parent on a separate line and flushes it.
fn say(line: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nchild: {line}").unwrap();
    out.flush().unwrap();
}

/// The lines that the child printed.
fn heard(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("child: ").map(str::to_owned))
}

#[cfg(target_os = "linux")]
#[test]
fn full_file_system_stores_no_record_and_loses_none() {
    if let Some(path) = child_path() {
        let repository = Repository::open(&path).unwrap();
        let stored = (0..200).find_map(|run| match repository.finish(&bulky(&format!("r{run:03}"))) {
            Ok(()) => None,
            Err(error) => Some((run, error)),
        });
        let (stored, error) = stored.expect("4 MiB do not hold 200 large records");
        assert!(matches!(error, RepositoryError::Full { .. }), "{error:?}");
        let listed = repository.list(&Filter::default()).unwrap();
        assert_eq!(listed.len(), stored);
        for run in listed {
            repository.load(&run.id).unwrap();
        }
        return say("done");
    }
    let directory = directory();
    let path = directory.path().join("repository.sqlite3");
    let test = child("full_file_system_stores_no_record_and_loses_none", &path);
    let mount = "mount -t tmpfs -o size=4m none \"$0\" || exit 77; exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", mount])
        .arg(directory.path())
        .arg(test.get_program())
        .args(test.get_args());
    command.env(CHILD, &path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(output) = command.output() else { return eprintln!("skipped: there is no unshare(1)") };
    let child_output = String::from_utf8_lossy(&output.stdout);
    if !child_output.contains("child: ") && !child_output.contains("running 1 test") {
        return eprintln!(
            "skipped: mounting is not allowed here: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(output.status.success(), "{output:?}");
    assert!(child_output.contains("child: done"), "{output:?}");
}

#[cfg(unix)]
#[test]
fn read_only_directory_is_reported_and_can_still_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    if let Some(path) = child_path() {
        let error = Repository::open(&path).unwrap_err();
        assert!(
            matches!(error, RepositoryError::CannotOpen { .. } | RepositoryError::ReadOnly { .. }),
            "{error:?}"
        );
        let error = Repository::open(&path.with_file_name("new.sqlite3")).unwrap_err();
        assert!(matches!(error, RepositoryError::CannotOpen { .. }), "{error:?}");
        assert!(error.to_string().contains("--repository"), "{error}");
        assert_eq!(Repository::open_read_only(&path).unwrap().load("last").unwrap(), record("r1"));
        return say("done");
    }
    let directory = directory();
    let path = directory.path().join("repository.sqlite3");
    Repository::open(&path).unwrap().finish(&record("r1")).unwrap();
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&path, 0o666);
    mode(directory.path(), 0o555);
    let mut command = child("read_only_directory_is_reported_and_can_still_be_read", &path);
    // Permissions do not apply to root, so the child runs as nobody then.
    let superuser = std::fs::write(directory.path().join("probe"), "").is_ok();
    if superuser {
        std::fs::remove_file(directory.path().join("probe")).unwrap();
        command.uid(65_534).gid(65_534);
    }
    let output = command.output();
    mode(directory.path(), 0o755);
    match output {
        Ok(output) => {
            let child_output = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{child_output}");
            assert!(child_output.contains("child: done"), "{child_output}");
        }
        Err(e) => eprintln!("skipped: this test cannot be run by another user: {e}"),
    }
}

#[test]
fn killed_process_leaves_only_complete_records() {
    if let Some(path) = child_path() {
        let repository = Repository::open(&path).unwrap();
        for run in 0.. {
            let id = format!("p{}-{run:04}", std::process::id());
            repository.begin(&begun(&id)).unwrap();
            say(&format!("begun {id}"));
            repository.finish(&bulky(&id)).unwrap();
            say(&format!("finished {id}"));
        }
    }
    let directory = directory();
    let path = directory.path().join("killed.sqlite3");
    let (mut acknowledged, mut last_begun) = (Vec::new(), String::new());
    for round in 0..12u32 {
        let mut child = child("killed_process_leaves_only_complete_records", &path).spawn().unwrap();
        let mut lines = heard(&mut child);
        for _ in 0..=round % 3 {
            last_begun = lines.find_map(|line| line.strip_prefix("begun ").map(str::to_owned)).unwrap();
        }
        // The child is now inside finish; a different number of iterations lets the signal arrive at different places.
        (0..u64::from(round) * 400_000).for_each(|turn| {
            std::hint::black_box(turn);
        });
        child.kill().unwrap();
        acknowledged.extend(lines.filter_map(|line| line.strip_prefix("finished ").map(str::to_owned)));
        child.wait().unwrap();
    }
    let repository = Repository::open(&path).unwrap();
    let check: String =
        repository.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let runs = repository.list(&Filter::default()).unwrap();
    for run in &runs {
        match repository.load(&run.id) {
            Ok(record) => assert_eq!((run.status, record), (RunState::Valid, bulky(&run.id))),
            Err(RepositoryError::NoRecord { .. }) => {
                assert!(!acknowledged.contains(&run.id), "{} was acknowledged and is gone", run.id);
                assert!(matches!(run.status, RunState::Interrupted | RunState::Unknown), "{run:?}");
            }
            Err(error) => panic!("{error}"),
        }
    }
    for id in acknowledged.iter().chain([&last_begun]) {
        assert!(runs.iter().any(|run| run.id == *id), "{id} is missing");
    }
    let unfinished = |run: &RunSummary| matches!(run.status, RunState::Interrupted | RunState::Unknown);
    assert!(runs.iter().any(unfinished), "no round was killed inside finish");
}

#[test]
fn processes_write_and_create_at_the_same_time() {
    const EACH: usize = 15;
    if let Some(path) = child_path() {
        let repository = Repository::open(&path).unwrap();
        for run in 0..EACH {
            let id = format!("p{}-{run:04}", std::process::id());
            repository.begin(&begun(&id)).unwrap();
            repository.finish(&record(&id)).unwrap();
        }
        return say("done");
    }
    let directory = directory();
    let path = directory.path().join("shared.sqlite3");
    let mut children: Vec<Child> = (0..4)
        .map(|_| child("processes_write_and_create_at_the_same_time", &path).spawn().unwrap())
        .collect();
    for child in &mut children {
        let lines: Vec<String> = heard(child).collect();
        assert_eq!(lines, ["done"]);
        assert!(child.wait().unwrap().success());
    }
    let repository = Repository::open(&path).unwrap();
    let runs = repository.list(&Filter::default()).unwrap();
    assert_eq!(runs.len(), 4 * EACH);
    for run in runs {
        repository.load(&run.id).unwrap();
    }
}
