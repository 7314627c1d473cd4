//! Runs the program as a user does, in a separate folder with a separate repository.

#[cfg(feature = "serve")]
pub mod browser;
pub mod burners;
pub mod group;
pub mod json;
pub mod proxy;
mod pty;
pub mod throttle;
pub mod tmpfs;
#[cfg(feature = "serve")]
pub mod web;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use json::ExpectJson;
use serde_json::Value;

/// A folder in which the program runs.
pub struct TestEnv {
    folder: tempfile::TempDir,
}

/// Exit code and output of a finished program.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl TestEnv {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            // Tests that run concurrently on one device must not see each other as background activity.
            .env("XDG_RUNTIME_DIR", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("DYNO_REPOSITORY", self.file("runs.sqlite3"))
            // NATS servers of these tests listen only on loopback; `fleet_secure` does not set this.
            .env("DYNO_INSECURE", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn dyno(&self, args: &[&str]) -> CommandOutput {
        capture_output(self.command(args))
    }

    /// Runs the program with one more environment variable.
    pub fn dyno_with(&self, env: (&str, &str), args: &[&str]) -> CommandOutput {
        let mut command = self.command(args);
        command.env(env.0, env.1);
        capture_output(command)
    }

    /// Runs the program and reads its stdout as JSON.
    pub fn json(&self, args: &[&str]) -> (i32, Value) {
        let output = self.dyno(&[args, &["--json"]].concat());
        let value = serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:#?}"));
        (output.code, value)
    }

    /// Starts the program with messages; [`Running::wait_for_line`] follows them.
    pub fn start(&self, args: &[&str]) -> Running {
        self.start_with(&[], args)
    }

    /// Like `start`, with additional environment variables.
    pub fn start_with(&self, env: &[(&str, &str)], args: &[&str]) -> Running {
        let mut command = self.command(&[args, &["--verbose"]].concat());
        command.envs(env.iter().copied());
        Running::spawn(command)
    }
}

impl Running {
    /// Starts the command and reads its messages.
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr_reader = BufReader::new(child.stderr.take().unwrap());
        // A record is longer than a pipe's buffer, so stdout must be read before the program ends.
        let mut stdout = child.stdout.take().unwrap();
        let out = std::thread::spawn(move || {
            let mut out = String::new();
            std::io::Read::read_to_string(&mut stdout, &mut out).unwrap();
            out
        });
        Self { child: Some(child), stderr_reader, stdout_thread: Some(out), stderr_text: String::new() }
    }
}

/// How long a condition may take: on a busy machine, a job of seconds takes a minute.
const PATIENCE: Duration = Duration::from_secs(240);

/// Polls until the condition holds.
pub fn wait_until(condition: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "{condition} took more than {PATIENCE:?}");
        // Polling uses processor time that the observed program may need.
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

fn capture_output(mut command: Command) -> CommandOutput {
    let output = command.output().unwrap();
    CommandOutput {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub struct Running {
    child: Option<Child>,
    stderr_reader: BufReader<std::process::ChildStderr>,
    stdout_thread: Option<std::thread::JoinHandle<String>>,
    pub stderr_text: String,
}

impl Running {
    /// Reads its messages up to the first line that contains `word`.
    pub fn wait_for_line(&mut self, word: &str) {
        let mut line = String::new();
        while self.stderr_reader.read_line(&mut line).unwrap() > 0 {
            self.stderr_text.push_str(&line);
            if line.contains(word) {
                return;
            }
            line.clear();
        }
        let out = self.stdout_thread.take().unwrap().join().unwrap();
        panic!("it ended without saying {word:?}:\n{}\n{out}", self.stderr_text);
    }

    /// The next line of its messages; `None` after its end.
    pub fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.stderr_reader.read_line(&mut line).unwrap();
        self.stderr_text.push_str(&line);
        (read > 0).then(|| line.trim_end().to_owned())
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends it a signal by name: `INT`.
    pub fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// Sends it two signals at the same time.
    pub fn signal_twice(&self, names: [&str; 2]) {
        let (first_signal, second_signal, pid) = (names[0], names[1], self.pid());
        let script = format!("kill -{first_signal} {pid} && kill -{second_signal} {pid}");
        assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    }

    /// Whether it has ended; its exit code is not collected yet.
    pub fn has_ended(&self) -> bool {
        let proc_stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        proc_stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
    }

    pub fn wait(mut self) -> CommandOutput {
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.stderr_reader, &mut rest).unwrap();
        self.stderr_text.push_str(&rest);
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        CommandOutput {
            code: output.status.code().unwrap_or(-1),
            out: self.stdout_thread.take().unwrap().join().unwrap(),
            err: std::mem::take(&mut self.stderr_text),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A failed test must not leave a program behind.
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Settings of a short run.
pub const SHORT: [&str; 6] =
    ["--set", "run.time=1s", "--set", "run.warmup=100ms", "--set", "observe.interval=200ms"];

/// Like [`SHORT`], for a run that only has to succeed: it leaves processor time to other tests.
pub fn low_load_args<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &SHORT, &["--set", "workload.rate=100/s"]].concat()
}

/// Appends [`SHORT`] to `args`.
pub fn short_run_args<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &SHORT].concat()
}

/// The check `name` in a record.
pub fn find_check<'a>(record: &'a Value, name: &str) -> &'a Value {
    let audit = record["audit"].items();
    audit
        .iter()
        .find(|check| check["check"] == name)
        .unwrap_or_else(|| panic!("no check {name} in {audit:#?}"))
}

/// Asserts that this check passes. If others use the processors, the work at the window's boundaries may
/// equal the whole work, and a check that reports this is also correct.
#[track_caller]
pub fn assert_passes(record: &Value, name: &str) {
    let finding = find_check(record, name);
    let detail = finding["detail"].text();
    let proves_nothing =
        ["prove nothing", "may lie outside the window"].iter().any(|words| detail.contains(words));
    let others_pct = record["metrics"]["others_cpu_pct"]["value"].as_f64().unwrap_or(0.0);
    let is_disturbed = others_pct > 25.0 || find_check(record, "edges")["status"] != "pass";
    assert!(
        finding["status"] == "pass" || (proves_nothing && is_disturbed),
        "{others_pct} % others: {finding:#}"
    );
}

/// Asserts that a record matches the published schema.
pub fn assert_fits_schema(record: &Value) {
    static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let text = include_str!("../../../../../catalog/schema/run-record.schema.json");
        jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
    });
    let errors: Vec<_> = SCHEMA.iter_errors(record).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Asserts that `text` fits in 100 columns; commands to copy may be longer.
pub(crate) fn assert_fits_width(text: &str) {
    let fits = |line: &str| line.chars().count() <= 100 || line.trim_start().starts_with("`dyno ");
    assert!(text.lines().all(fits), "{text}");
}
