//! Runs `perf record` as a child: started with its events off, switched on and off by commands, ended by a
//! signal.
//!
//! Nothing is left of it however this program ends. Its file has no name. The command that it samples ends
//! when a pipe of this program closes, which the kernel does even if this program crashes.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use dyno_record::CpuProfile;
use parking_lot::Mutex;

use super::family::HostProcesses;
use super::read::{self, quiet};
use super::refused::{self, NOT_INSTALLED};
use super::{ProfileWindow, cpus_online, monotonic_ns};
use crate::processors::ProcessTimes;

/// The largest sample file.
const FILE_MAX: &str = "256M";
/// How long `perf` may take to open its events on all processors.
const READY_MAX: Duration = Duration::from_secs(10);
/// How long it may take to end: it closes its events one after the other.
const END_MAX: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(10);
/// Bytes of its error output that are kept.
const SAID_MAX: u64 = 64 << 10;
/// A profile that lacks more of its samples than this is discarded, %.
const MISSING_PCT_MAX: f64 = 10.0;
/// A profile that lacks more than this has a note, %.
const MISSING_PCT_SAID: f64 = 1.0;

/// A running `perf record` of all processors. Dropping it ends it.
#[derive(Debug)]
pub struct Perf {
    child: Child,
    control: ChildStdin,
    data: File,
    /// The times at which it executed each command.
    obeyed: Receiver<u64>,
    messages: Arc<Mutex<String>>,
    frequency_hz: u32,
    /// The pipe that ends it: closed when it has ended, when this value is dropped, or when this program
    /// ends.
    alive: Option<(PipeReader, PipeWriter)>,
}

impl Perf {
    /// Starts it and waits at most ten seconds until it is ready to sample; it does not sample yet.
    ///
    /// # Errors
    /// Why it cannot start, and what helps: it is not installed, too old, or lacks permission.
    pub fn start(frequency_hz: u32) -> Result<Self, String> {
        Self::start_as("perf".into(), frequency_hz)
    }

    pub(super) fn start_as(program: OsString, frequency_hz: u32) -> Result<Self, String> {
        let wrong = |error: std::io::Error| format!("perf cannot be started: {error}");
        let data = unnamed_file().map_err(|error| {
            format!(
                "the file for perf's samples cannot be created in {}: {error}",
                std::env::temp_dir().display()
            )
        })?;
        let alive = std::io::pipe().map_err(wrong)?;
        let until = format!("/proc/{}/fd/{}", std::process::id(), alive.0.as_raw_fd());
        let frequency = frequency_hz.to_string();
        let mut command = quiet(Command::new(program));
        command.args(["record", "-a", "-g", "-e", "cycles", "-F", &frequency, "-k", "CLOCK_MONOTONIC"]);
        command.args(["-N", "-B", "-D", "-1", "--control", "fd:0,2", "--max-size", FILE_MAX]);
        command.args(["-o", "/proc/self/fd/1", "--", "cat", &until]);
        // Ctrl-C goes to this program only: it ends the run, and then its children.
        command.process_group(0).stdin(Stdio::piped()).stderr(Stdio::piped());
        command.stdout(data.try_clone().map_err(wrong)?);
        let mut child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => NOT_INSTALLED.to_owned(),
            _ => wrong(error),
        })?;
        let pipes = child.stdin.take().zip(child.stderr.take());
        let (control, stderr) = pipes.ok_or("perf has no pipes")?;
        let stderr_text = Arc::new(Mutex::new(String::new()));
        let (tell, obeyed) = channel();
        let keep = Arc::clone(&stderr_text);
        let listener = move || {
            listen(stderr, &keep, |at_ns| {
                // The receiver may be gone.
                let _ = tell.send(at_ns);
            });
        };
        let mut perf =
            Self { child, control, data, obeyed, messages: stderr_text, frequency_hz, alive: Some(alive) };
        std::thread::Builder::new().name("dyno-perf".into()).spawn(listener).map_err(wrong)?;
        perf.send_command("ping");
        match perf.obeyed.recv_timeout(READY_MAX) {
            Ok(_) => Ok(perf),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("perf was not ready within {} s", READY_MAX.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => {
                // It has closed its error output, so it ends.
                let _ = perf.child.wait();
                Err(refused::reason(&perf.messages()))
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Starts sampling; does not wait for it.
    pub fn enable(&mut self) {
        self.send_command("enable");
    }

    /// Stops sampling; does not wait for it.
    pub fn disable(&mut self) {
        self.send_command("disable");
    }

    fn send_command(&mut self, word: &str) {
        // If it has ended, that shows at the end.
        let _ = writeln!(self.control, "{word}").and_then(|()| self.control.flush());
    }

    fn messages(&self) -> String {
        self.messages.lock().clone()
    }

    /// Ends it and aggregates its samples inside `cut`. `processes` identify the owners of processes, later
    /// readings first; `stopped` reports whether the user gave up.
    ///
    /// # Errors
    /// Why there is no profile: it ended early, its file cannot be read, or too many samples of the interval
    /// are missing.
    pub fn finish(
        mut self,
        cut: ProfileWindow,
        processes: &[&ProcessTimes],
        stopped: &dyn Fn() -> bool,
    ) -> Result<CpuProfile, String> {
        self.end(stopped)?;
        // The listener may not have received its last message yet.
        self.alive = None;
        let enabled_ns = self.obeyed.recv_timeout(READY_MAX).map_err(|_| "perf was never enabled")?;
        let mut profile = self.profile(cut, processes, stopped)?;
        let missing_pct = missing_pct(&profile, cut, enabled_ns);
        if missing_pct > MISSING_PCT_MAX {
            return Err(format!(
                "perf's samples lack {missing_pct:.0} % of the window: the host was too busy"
            ));
        }
        if missing_pct >= MISSING_PCT_SAID {
            profile.notes.push(format!("{missing_pct:.1} % of the samples are missing"));
        }
        Ok(profile)
    }

    /// Ends it, and waits until its file is complete.
    pub(super) fn end(&mut self, stopped: &dyn Fn() -> bool) -> Result<(), String> {
        let early = self.child.try_wait().ok().flatten();
        self.send_command("stop");
        let until = Instant::now() + END_MAX;
        while early.is_none() && matches!(self.child.try_wait(), Ok(None)) {
            if stopped() {
                return Err("the run was stopped before perf's samples were read".into());
            }
            if Instant::now() >= until {
                return Err(format!("perf did not end within {} s", END_MAX.as_secs()));
            }
            std::thread::park_timeout(LOOK);
        }
        let Some(status) = early else { return Ok(()) };
        // Its sampled command ends too, so that all its output arrives.
        self.alive = None;
        let until = Instant::now() + READY_MAX;
        while self.obeyed.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {}
        let messages = self.messages();
        Err(match messages.contains("size limit reached") {
            true => {
                format!(
                    "perf's samples filled {FILE_MAX} before the window's end: the run is too long for perf"
                )
            }
            false => format!("perf ended before the window did ({status}): {}", refused::reason(&messages)),
        })
    }

    /// The profile of `cut` from its file, after it has ended.
    pub(super) fn profile(
        &self,
        cut: ProfileWindow,
        processes: &[&ProcessTimes],
        stopped: &dyn Fn() -> bool,
    ) -> Result<CpuProfile, String> {
        let host_processes = HostProcesses { perf: self.pid(), processes };
        let cpus = cpus_online().ok_or("this host does not report its number of processors")?;
        let data = self.data.try_clone().map_err(|error| format!("perf's file: {error}"))?;
        read::profile(data, cut, &host_processes, (self.frequency_hz, cpus), stopped)
    }
}

/// Share of the expected samples that are missing, %.
fn missing_pct(profile: &CpuProfile, cut: ProfileWindow, enabled_ns: u64) -> f64 {
    let all = (profile.samples + profile.idle_samples).saturating_add(profile.lost).max(1);
    let lost = 100.0 * profile.lost as f64 / all as f64;
    let window_ns = cut.end_ns.saturating_sub(cut.begin_ns).max(1);
    let late = 100.0 * enabled_ns.saturating_sub(cut.begin_ns) as f64 / window_ns as f64;
    let uncovered = profile.covered_pct.map_or(0.0, |covered| 100.0 - covered);
    lost.max(late).max(uncovered)
}

impl Drop for Perf {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Creates a file without a name, readable by this user only.
fn unnamed_file() -> std::io::Result<File> {
    let name = format!("dyno-perf-{}-{}", std::process::id(), monotonic_ns());
    let path = std::env::temp_dir().join(name);
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Reads the output of `perf` until it ends. Calls `obeyed` after each executed command, and keeps the rest.
fn listen(stderr: ChildStderr, keep: &Mutex<String>, obeyed: impl Fn(u64)) {
    let mut lines = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.by_ref().take(SAID_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_matches(['\0', '\n', ' ']);
        match text {
            "ack" => obeyed(monotonic_ns()),
            "Events enabled" | "Events disabled" => {}
            _ => {
                let mut messages = keep.lock();
                if (messages.len() + text.len()) as u64 <= SAID_MAX {
                    messages.push_str(text);
                    messages.push('\n');
                }
            }
        }
    }
}
