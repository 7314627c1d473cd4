//! What the repository does when the world is against it: foreign, newer, damaged and hostile files, locks, full and
//! write-protected storage, and processes that are killed.
//!
//! A test that needs a second process starts itself again, with the variable [`CHILD`] naming the file to work on.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::open::{APPLICATION_ID, VERSION};
use super::*;
use crate::record::RunRecord;
use crate::{Repository, sample};

/// The environment variable that makes a test the child of itself.
const CHILD: &str = "DYNO_TEST_REPOSITORY_CHILD";

/// Short enough to be waited for in a test.
const SHORT_WAIT: Duration = Duration::from_millis(50);

fn child_path() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// Starts the test `name` of this file again as a child that works on `path`.
fn child(name: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &format!("repository::fault_tests::{name}"), "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .stdout(Stdio::piped());
    command
}

/// Says `line` to the parent, at once and on a line of its own.
fn say(line: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nchild: {line}").unwrap();
    out.flush().unwrap();
}

/// What the child says.
fn heard(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("child: ").map(str::to_owned))
}

fn record(id: &str) -> RunRecord {
    RunRecord { id: id.into(), ..sample::full() }
}

fn begun(id: &str) -> StartedRun {
    let record = record(id);
    StartedRun::by_this_process(record.id, record.started_at, "postgres", "postgres://db1/b", record.plan)
}

/// A record whose series does not compress, so that storing it takes a while.
fn bulky(id: &str) -> RunRecord {
    let mut record = record(id);
    let mut state = 1u64;
    for point in 0..6_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        record.host_counters.insert(format!("x{point}"), state as f64);
    }
    record
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn other_files_are_refused_and_left_as_they_are() {
    let directory = directory();
    let foreign = directory.path().join("foreign.sqlite3");
    let other = rusqlite::Connection::open(&foreign).unwrap();
    other
        .execute_batch(
            "PRAGMA journal_mode = WAL; CREATE TABLE precious (x); INSERT INTO precious VALUES (1)",
        )
        .unwrap();
    drop(other);
    let text = directory.path().join("notes.txt");
    std::fs::write(&text, "dear diary, ".repeat(100)).unwrap();
    let short = directory.path().join("short");
    std::fs::write(&short, "x").unwrap();
    for path in [foreign, text, short] {
        let before = std::fs::read(&path).unwrap();
        for opened in [Repository::open(&path), Repository::open_read_only(&path)] {
            let error = opened.unwrap_err();
            assert!(matches!(error, RepositoryError::Foreign { .. }), "{error:?}");
            assert!(error.to_string().contains("is not a repository of Dyno"), "{error}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3, "nothing was left beside them");
    let error = Repository::open(directory.path()).unwrap_err();
    assert!(matches!(error, RepositoryError::CannotOpen { .. }), "{error:?}");
}

#[test]
fn a_newer_repository_is_refused_and_left_as_it_is() {
    let directory = directory();
    let path = directory.path().join("newer.sqlite3");
    drop(Repository::open(&path).unwrap());
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", VERSION + 41).unwrap();
    drop(newer);
    let before = std::fs::read(&path).unwrap();
    let error = Repository::open(&path).unwrap_err();
    assert!(matches!(error, RepositoryError::Newer { found: 42, known: 1, .. }), "{error:?}");
    assert!(matches!(Repository::open_read_only(&path), Err(RepositoryError::Newer { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_only_looks_like_ours_is_damaged() {
    let directory = directory();
    let path = directory.path().join("hollow.sqlite3");
    let hollow = rusqlite::Connection::open(&path).unwrap();
    hollow.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    hollow.pragma_update(None, "user_version", VERSION).unwrap();
    hollow.execute_batch("CREATE TABLE run (id TEXT); CREATE VIEW record AS SELECT * FROM run").unwrap();
    drop(hollow);
    for opened in [Repository::open(&path), Repository::open_read_only(&path)] {
        let error = opened.and_then(|repository| repository.list(&Filter::default())).unwrap_err();
        assert!(matches!(error, RepositoryError::Damaged { .. }), "{error:?}");
    }
}

#[test]
fn a_cut_or_scribbled_file_is_an_error_and_nothing_worse() {
    let directory = directory();
    let path = directory.path().join("whole.sqlite3");
    let repository = Repository::open(&path).unwrap();
    for run in 0..40 {
        repository.begin(&begun(&format!("b{run:02}"))).unwrap();
        repository.finish(&record(&format!("r{run:02}"))).unwrap();
    }
    drop(repository);
    let whole = std::fs::read(&path).unwrap();
    let broken = directory.path().join("broken.sqlite3");
    let mut refused = 0;
    for step in 0..60 {
        let mut bytes = whole.clone();
        let place = whole.len() * step / 60;
        if step % 2 == 0 {
            bytes.truncate(place);
        } else {
            let end = (place + 3_000).min(bytes.len());
            bytes[place.max(100)..end].fill(0xA5);
        }
        std::fs::write(&broken, &bytes).unwrap();
        let outcome = Repository::open_read_only(&broken).and_then(|repository| {
            repository.list(&Filter::default())?;
            (0..40).try_for_each(|run| repository.load(&format!("r{run:02}")).map(|_| ()))
        });
        if let Err(error) = outcome {
            refused += 1;
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
    assert!(refused >= 40, "only {refused} of 60 broken files were noticed");
}

#[test]
fn a_hostile_record_is_an_error() {
    let directory = directory();
    let repository = Repository::open(&directory.path().join("r.sqlite3")).unwrap();
    repository.finish(&record("r1")).unwrap();
    let store = |packed: &[u8]| {
        repository.connection.execute("UPDATE record SET packed = ?1", [packed]).unwrap();
        repository.load("r1").unwrap_err().to_string()
    };
    assert!(store(b"rubbish").contains("r1: the run record cannot be read: it does not unpack"));
    assert!(store(&pack::pack("{}")).contains("not a run record"));
    assert!(store(&pack::pack("{\"schema_version\": 9}")).contains("schema_version 9"));
    assert!(store(&pack::pack(&"[".repeat(100_000))).contains("cannot be read"));
    repository.connection.execute("UPDATE run SET sessions = 'many'", []).unwrap();
    assert!(matches!(repository.list(&Filter::default()), Err(RepositoryError::Damaged { .. })));
}

#[test]
fn a_lock_that_lasts_is_named() {
    let directory = directory();
    let path = directory.path().join("locked.sqlite3");
    let ours = Repository::open_waiting(&path, SHORT_WAIT).unwrap();
    let holder = rusqlite::Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    for outcome in [
        ours.finish(&record("r1")),
        ours.begin(&begun("r1")),
        Repository::open_waiting(&path, SHORT_WAIT).map(|_| ()),
    ] {
        let error = outcome.unwrap_err();
        assert!(matches!(error, RepositoryError::Locked { .. }), "{error:?}");
        assert!(error.to_string().contains("locked by another process for 0.05 s"), "{error}");
    }
    assert!(ours.list(&Filter::default()).unwrap().is_empty(), "reading goes on meanwhile");
    holder.execute_batch("ROLLBACK").unwrap();
    ours.finish(&record("r1")).unwrap();
}

#[test]
fn a_full_file_stores_nothing_and_works_again_once_there_is_room() {
    let directory = directory();
    let repository = Repository::open(&directory.path().join("full.sqlite3")).unwrap();
    repository.begin(&begun("r1")).unwrap();
    let pages: i64 = repository.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    let limit = |pages: i64| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        repository.connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap();
    };
    limit(pages);
    let error = repository.finish(&bulky("r1")).unwrap_err();
    assert!(matches!(error, RepositoryError::Full { .. }), "{error:?}");
    assert_eq!(repository.summary("r1").unwrap().status, RunState::Running);
    limit(1 << 30);
    repository.finish(&bulky("r1")).unwrap();
    assert_eq!(repository.load("r1").unwrap(), bulky("r1"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_file_system_stores_nothing_and_loses_nothing() {
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
    let test = child("a_full_file_system_stores_nothing_and_loses_nothing", &path);
    let mount = "mount -t tmpfs -o size=4m none \"$0\" || exit 77; exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", mount])
        .arg(directory.path())
        .arg(test.get_program())
        .args(test.get_args());
    command.env(CHILD, &path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(output) = command.output() else { return eprintln!("skipped: there is no unshare(1)") };
    let said = String::from_utf8_lossy(&output.stdout);
    if !said.contains("child: ") && !said.contains("running 1 test") {
        return eprintln!(
            "skipped: mounting is not allowed here: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert!(output.status.success() && said.contains("child: done"), "{output:?}");
}

#[cfg(unix)]
#[test]
fn a_read_only_directory_is_named_and_can_still_be_read() {
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
    let mut command = child("a_read_only_directory_is_named_and_can_still_be_read", &path);
    // Permissions do not bind the superuser, so the child is nobody then.
    let superuser = std::fs::write(directory.path().join("probe"), "").is_ok();
    if superuser {
        std::fs::remove_file(directory.path().join("probe")).unwrap();
        command.uid(65_534).gid(65_534);
    }
    let output = command.output();
    mode(directory.path(), 0o755);
    match output {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("child: done"), "{said}");
        }
        Err(e) => eprintln!("skipped: this test cannot be run by another user: {e}"),
    }
}

#[test]
fn a_process_killed_in_the_middle_leaves_whole_records_only() {
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
        let mut child =
            child("a_process_killed_in_the_middle_leaves_whole_records_only", &path).spawn().unwrap();
        let mut lines = heard(&mut child);
        for _ in 0..=round % 3 {
            last_begun = lines.find_map(|line| line.strip_prefix("begun ").map(str::to_owned)).unwrap();
        }
        // The child is now inside finish; a different number of turns lands the signal at different places.
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
        let said: Vec<String> = heard(child).collect();
        assert_eq!(said, ["done"]);
        assert!(child.wait().unwrap().success());
    }
    let repository = Repository::open(&path).unwrap();
    let runs = repository.list(&Filter::default()).unwrap();
    assert_eq!(runs.len(), 4 * EACH);
    for run in runs {
        repository.load(&run.id).unwrap();
    }
}
