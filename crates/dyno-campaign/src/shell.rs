//! Runs a command of the user: starts it, waits for it, and kills it if it does not end.
//!
//! A command may hang, write endless output, or leave processes behind; none of this may block Dyno. The
//! command runs in a process group of its own. So a time limit ends all of its processes, and Dyno decides
//! what Ctrl-C does.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_engine::Cancel;
use dyno_plan::terminal;
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};

/// How often Dyno checks whether the command has ended.
const LOOK: Duration = Duration::from_millis(5);
/// How much of the end of a command's output is kept for messages, bytes.
const OUTPUT_MAX: usize = 8 << 10;
/// How long to wait for output that is still arriving after the command ended.
const OUTPUT_WAIT: Duration = Duration::from_millis(200);

/// Maximum number of characters kept per line.
const LINE_CHARS_MAX: usize = 2_000;

pub(crate) struct Shell {
    /// Arguments with which `sh` is started.
    pub(crate) arguments: Vec<String>,
    /// Environment variables in addition to Dyno's.
    pub(crate) environment: Vec<(String, String)>,
    /// Maximum duration of the command.
    pub(crate) timeout: Duration,
}

/// The result of a command.
pub(crate) struct ShellOutcome {
    pub(crate) exit: ShellExit,
    /// The last lines of the output, each indented on a line of its own.
    pub(crate) said: String,
}

impl Shell {
    /// Runs the command to its end, without the environment variables in `passwords`.
    ///
    /// # Errors
    /// The command cannot be started.
    pub(crate) fn run<'a>(
        self,
        passwords: impl Iterator<Item = &'a str>,
        cancel: &Cancel,
    ) -> std::io::Result<ShellOutcome> {
        let output = Arc::new(Mutex::new(Vec::new()));
        let timeout = self.timeout;
        let (mut child, reader) = start(self, passwords, &output)?;
        let exit = wait(&mut child, timeout, cancel);
        let until = Instant::now() + OUTPUT_WAIT;
        // A process that the command left behind may keep the output open, so the wait is limited.
        while !reader.is_finished() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        Ok(ShellOutcome { exit, said: tail(&output) })
    }
}

pub(crate) enum ShellExit {
    /// The command ended by itself, with this status.
    By(ExitStatus),
    /// The command exceeded its time limit and was killed.
    Late,
    /// The campaign was cancelled, and the command was killed.
    Stopped,
    /// Waiting for the command failed.
    Lost(std::io::Error),
}

fn start<'a>(
    command_spec: Shell,
    passwords: impl Iterator<Item = &'a str>,
    output: &Arc<Mutex<Vec<u8>>>,
) -> std::io::Result<(Child, std::thread::JoinHandle<()>)> {
    let (mut pipe_reader, writer) = std::io::pipe()?;
    let mut shell = Command::new("sh");
    // Passwords are for Dyno, and not for commands of a plan.
    for name in passwords {
        shell.env_remove(name);
    }
    let child = shell
        .args(command_spec.arguments)
        .envs(command_spec.environment)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    let buffer = Arc::clone(output);
    let reader = std::thread::Builder::new().name("dyno-hook".into()).spawn(move || {
        let mut part = [0; 4 << 10];
        while let Ok(bytes @ 1..) = pipe_reader.read(&mut part) {
            let mut captured = buffer.lock();
            captured.extend_from_slice(&part[..bytes]);
            let excess = captured.len().saturating_sub(OUTPUT_MAX);
            captured.drain(..excess);
        }
    })?;
    Ok((child, reader))
}

fn wait(child: &mut Child, timeout: Duration, cancel: &Cancel) -> ShellExit {
    let until = Instant::now() + timeout;
    let exit = loop {
        match child.try_wait() {
            Ok(Some(status)) => return ShellExit::By(status),
            Ok(None) if cancel.is_cancelled() => break ShellExit::Stopped,
            Ok(None) if Instant::now() >= until => break ShellExit::Late,
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => break ShellExit::Lost(error),
        }
    };
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // The command may just have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    exit
}

/// Returns the last lines of a command's output, each indented on a line of its own.
fn tail(output: &Mutex<Vec<u8>>) -> String {
    const LINES_MAX: usize = 10;
    let captured = output.lock();
    let text = String::from_utf8_lossy(&captured);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES_MAX)..];
    last.iter().map(|line| format!("\n  | {}", terminal::spelled(line, LINE_CHARS_MAX))).collect()
}
