//! A command of the user's: started, watched, and ended where it does not end by itself.
//!
//! A command may hang, flood its output or leave something behind; none of that may hang Dyno. It runs in a process
//! group of its own, so that a time-out ends all of it and Ctrl-C is ours to pass on.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dyno_engine::Cancel;
use dyno_plan::terminal;
use rustix::process::{Pid, Signal, kill_process_group};

/// How often a command is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// The end of a command's output that is kept for messages, bytes.
const OUTPUT_MAX: usize = 8 << 10;
/// How long output that is still on its way is waited for.
const OUTPUT_WAIT: Duration = Duration::from_millis(200);

/// Characters of a line that are kept.
const LINE_CHARS_MAX: usize = 2_000;

/// A command to be run.
pub(crate) struct Shell {
    /// What `sh` is given.
    pub(crate) arguments: Vec<String>,
    /// Variables that it finds beside ours.
    pub(crate) environment: Vec<(String, String)>,
    /// How long it may take.
    pub(crate) timeout: Duration,
}

/// What became of a command.
pub(crate) struct Outcome {
    /// How it ended.
    pub(crate) ended: Ended,
    /// The last lines of what it said, each on a line of its own and set off.
    pub(crate) said: String,
}

impl Shell {
    /// Runs it to its end, without the variables of `passwords`.
    ///
    /// # Errors
    /// It could not be started.
    pub(crate) fn run<'a>(
        self,
        passwords: impl Iterator<Item = &'a str>,
        cancel: &Cancel,
    ) -> std::io::Result<Outcome> {
        let output = Arc::new(Mutex::new(Vec::new()));
        let timeout = self.timeout;
        let (mut child, reader) = start(self, passwords, &output)?;
        let ended = wait(&mut child, timeout, cancel);
        let until = Instant::now() + OUTPUT_WAIT;
        // Something that the command left behind may keep its output open; it is not waited for.
        while !reader.is_finished() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        Ok(Outcome { ended, said: tail(&output) })
    }
}

/// How a command ended.
pub(crate) enum Ended {
    /// By itself.
    By(ExitStatus),
    /// It took too long.
    Late,
    /// It was to stop.
    Stopped,
    /// It could not be waited for.
    Lost(std::io::Error),
}

fn start<'a>(
    of: Shell,
    passwords: impl Iterator<Item = &'a str>,
    output: &Arc<Mutex<Vec<u8>>>,
) -> std::io::Result<(Child, std::thread::JoinHandle<()>)> {
    let (mut said, writer) = std::io::pipe()?;
    let mut shell = Command::new("sh");
    // A password is for this program, and not for whatever a plan starts.
    for name in passwords {
        shell.env_remove(name);
    }
    let child = shell
        .args(of.arguments)
        .envs(of.environment)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    let kept = Arc::clone(output);
    let reader = std::thread::Builder::new().name("dyno-hook".into()).spawn(move || {
        let mut part = [0; 4 << 10];
        while let Ok(bytes @ 1..) = said.read(&mut part) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&part[..bytes]);
            let excess = kept.len().saturating_sub(OUTPUT_MAX);
            kept.drain(..excess);
        }
    })?;
    Ok((child, reader))
}

fn wait(child: &mut Child, timeout: Duration, cancel: &Cancel) -> Ended {
    let until = Instant::now() + timeout;
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ended::By(status),
            Ok(None) if cancel.is_cancelled() => break Ended::Stopped,
            Ok(None) if Instant::now() >= until => break Ended::Late,
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => break Ended::Lost(error),
        }
    };
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by itself just now.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    ended
}

/// The last lines of a command's output, each on a line of its own and set off.
fn tail(output: &Mutex<Vec<u8>>) -> String {
    const LINES_MAX: usize = 10;
    let kept = output.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&kept);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES_MAX)..];
    last.iter().map(|line| format!("\n  | {}", terminal::spelled(line, LINE_CHARS_MAX))).collect()
}
