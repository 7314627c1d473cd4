//! The program as a user runs it: in a folder of its own, with a repository of its own.

#[cfg(feature = "serve")]
pub mod browser;
pub mod burners;
pub mod group;
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

use serde_json::Value;

/// A folder in which the program runs.
pub struct Desk {
    folder: tempfile::TempDir,
}

/// What a finished program left.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Desk {
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
            // Tests that run side by side on one device are no company of each other.
            .env("XDG_RUNTIME_DIR", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("DYNO_REPOSITORY", self.file("runs.sqlite3"))
            // NATS servers of these tests are on loopback, without strangers; `fleet_secure` goes without this.
            .env("DYNO_INSECURE", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn dyno(&self, args: &[&str]) -> Said {
        said(self.command(args))
    }

    /// Runs the program with one more environment variable.
    pub fn dyno_with(&self, env: (&str, &str), args: &[&str]) -> Said {
        let mut command = self.command(args);
        command.env(env.0, env.1);
        said(command)
    }

    /// Runs the program and reads its stdout as JSON.
    pub fn json(&self, args: &[&str]) -> (i32, Value) {
        let said = self.dyno(&[args, &["--json"]].concat());
        let value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:#?}"));
        (said.code, value)
    }

    /// Starts the program with talk on; [`Running::until`] follows it.
    pub fn start(&self, args: &[&str]) -> Running {
        self.start_with(&[], args)
    }

    /// As [`Desk::start`], with more environment variables.
    pub fn start_with(&self, env: &[(&str, &str)], args: &[&str]) -> Running {
        let mut command = self.command(&[args, &["--verbose"]].concat());
        command.envs(env.iter().copied());
        Running::of(command)
    }
}

impl Running {
    /// Starts the program, whose talk is on.
    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let talk = BufReader::new(child.stderr.take().unwrap());
        // A record is longer than a pipe: nobody may wait for its end before its begin has been read.
        let mut stdout = child.stdout.take().unwrap();
        let out = std::thread::spawn(move || {
            let mut out = String::new();
            std::io::Read::read_to_string(&mut stdout, &mut out).unwrap();
            out
        });
        Self { child: Some(child), talk, out: Some(out), heard: String::new() }
    }
}

/// Looks until something is so, for a minute at most.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what} took more than a minute");
        // Looking costs the processors that what is looked for may need.
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

fn said(mut command: Command) -> Said {
    let output = command.output().unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The program while it runs.
pub struct Running {
    child: Option<Child>,
    talk: BufReader<std::process::ChildStderr>,
    out: Option<std::thread::JoinHandle<String>>,
    pub heard: String,
}

impl Running {
    /// Reads its talk up to the first line that holds `word`.
    pub fn until(&mut self, word: &str) {
        let mut line = String::new();
        while self.talk.read_line(&mut line).unwrap() > 0 {
            self.heard.push_str(&line);
            if line.contains(word) {
                return;
            }
            line.clear();
        }
        let out = self.out.take().unwrap().join().unwrap();
        panic!("it ended without saying {word:?}:\n{}\n{out}", self.heard);
    }

    /// The next line of its talk; nothing when it has ended.
    pub fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.talk.read_line(&mut line).unwrap();
        self.heard.push_str(&line);
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends it a signal by name: `INT`.
    pub fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// Sends it two signals at once.
    pub fn signals(&self, names: [&str; 2]) {
        let (one, two, pid) = (names[0], names[1], self.pid());
        let both = format!("kill -{one} {pid} && kill -{two} {pid}");
        assert!(Command::new("sh").args(["-c", &both]).status().unwrap().success());
    }

    /// Whether it has ended; nobody has taken that in yet.
    pub fn has_ended(&self) -> bool {
        let told = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        told.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
    }

    /// Waits for its end.
    pub fn end(mut self) -> Said {
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.talk, &mut rest).unwrap();
        self.heard.push_str(&rest);
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            out: self.out.take().unwrap().join().unwrap(),
            err: std::mem::take(&mut self.heard),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that failed in the middle leaves no program behind.
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Settings of a run that is over soon.
pub const SHORT: [&str; 6] =
    ["--set", "run.time=1s", "--set", "run.warmup=100ms", "--set", "observe.interval=200ms"];

/// As [`SHORT`], for a run that only has to go well: it leaves the processors to others.
pub fn calm<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &SHORT, &["--set", "workload.rate=100/s"]].concat()
}

/// `args` with [`SHORT`] behind them.
pub fn short<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &SHORT].concat()
}

/// The check called `name` in a record.
pub fn check<'a>(record: &'a Value, name: &str) -> &'a Value {
    let audit = record["audit"].as_array().unwrap();
    audit
        .iter()
        .find(|check| check["check"] == name)
        .unwrap_or_else(|| panic!("no check {name} in {audit:#?}"))
}

/// That the check of this name passes. Where others keep the processors, what lies on the window's ends may be as much as was
/// done, and a check that says so is right, too.
#[track_caller]
pub fn assert_passes(record: &Value, name: &str) {
    let found = check(record, name);
    let detail = found["detail"].as_str().unwrap();
    let proves_nothing =
        ["prove nothing", "may lie beyond the ends"].iter().any(|words| detail.contains(words));
    let others_pct = record["metrics"]["others_cpu_pct"]["value"].as_f64().unwrap_or(0.0);
    let is_disturbed = others_pct > 25.0 || check(record, "edges")["status"] != "pass";
    assert!(
        found["status"] == "pass" || (proves_nothing && is_disturbed),
        "{others_pct} % others: {found:#}"
    );
}

/// That a record fits the published schema.
pub fn assert_fits_schema(record: &Value) {
    static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let text = include_str!("../../../../../schema/run-record.schema.json");
        jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
    });
    let errors: Vec<_> = SCHEMA.iter_errors(record).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}
