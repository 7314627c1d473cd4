//! Runs a program with a time limit, and reports a failure if it hangs.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::common::{CommandOutput, TestEnv};

/// Maximum duration of any command here on busy processors; the longest is a soak of 13 s.
pub(crate) const BOUND: Duration = Duration::from_secs(90);

/// Variable with another program to test: a release, or an installed one.
const PROGRAM: &str = "DYNO_FAULTS_PROGRAM";

pub(crate) struct BoundedProcess {
    child: Child,
    began: Instant,
    out: Receiver<(String, Instant)>,
    err: Receiver<(String, Instant)>,
    stdout_at_exit: Option<(String, Instant)>,
}

impl BoundedProcess {
    pub(crate) fn start(desk: &TestEnv, arguments: &[String]) -> Self {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let built = desk.command(&arguments);
        let mut command = match std::env::var_os(PROGRAM) {
            None => built,
            Some(program) => {
                let mut command = Command::new(program);
                command.args(built.get_args()).current_dir(desk.path()).env_clear().stdin(Stdio::null());
                command.envs(built.get_envs().filter_map(|(name, value)| Some((name, value?))));
                command
            }
        };
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, err) = (read(child.stdout.take().unwrap()), read(child.stderr.take().unwrap()));
        Self { child, began: Instant::now(), out, err, stdout_at_exit: None }
    }

    /// Waits for its end, at most `limit`; returns whether it has ended. Its output ends with it.
    pub(crate) fn has_ended_within(&mut self, limit: Duration) -> bool {
        if self.stdout_at_exit.is_none() {
            self.stdout_at_exit = self.out.recv_timeout(limit).ok();
        }
        self.stdout_at_exit.is_some()
    }

    /// Kills it with SIGKILL, which a program cannot handle.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// Its output, and its duration.
    pub(crate) fn wait(mut self) -> Result<(CommandOutput, Duration), String> {
        let in_time = self.has_ended_within(BOUND);
        if !in_time {
            self.kill();
        }
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        let (err, _) = self.err.recv_timeout(BOUND).unwrap_or((String::new(), self.began));
        match self.stdout_at_exit.take() {
            Some((out, ended)) => Ok((CommandOutput { code, out, err }, ended - self.began)),
            None => Err(format!("it still ran after {} s: {err}", BOUND.as_secs())),
        }
    }
}

impl Drop for BoundedProcess {
    fn drop(&mut self) {
        // It is already reaped if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads to the end in a separate thread: a full pipe would stop the program.
fn read(mut from: impl Read + Send + 'static) -> Receiver<(String, Instant)> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        // The receiver is gone if the test has failed.
        let _ = sender.send((String::from_utf8_lossy(&bytes).into_owned(), Instant::now()));
    });
    receiver
}

/// Runs Dyno to its end; returns its output as an error unless the exit code is 0.
pub(crate) fn run_successfully(
    desk: &TestEnv,
    arguments: &[String],
) -> Result<(CommandOutput, Duration), String> {
    let (output, took) = BoundedProcess::start(desk, arguments).wait()?;
    match output.code {
        0 => Ok((output, took)),
        code => Err(format!(
            "`{}` ended with {code}: {}",
            arguments[0],
            summarize_errors(&format!("{} {}", output.err, output.out))
        )),
    }
}

/// The relevant part of a program's messages: errors and failed checks, else the last lines.
pub(crate) fn summarize_errors(text: &str) -> String {
    let matters =
        |line: &&str| ["error", "hint", "  ✗", "not proved", "invalid"].iter().any(|w| line.contains(w));
    let lines: Vec<&str> = text.lines().filter(matters).map(str::trim).take(6).collect();
    if lines.is_empty() {
        text.lines().rev().take(3).collect::<Vec<_>>().join(" | ")
    } else {
        lines.join(" | ")
    }
}
