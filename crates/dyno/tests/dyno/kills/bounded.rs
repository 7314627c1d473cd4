//! A program that may not hang: whoever waits for it waits for a bounded time, and says so if it is over.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::common::{Desk, Said};

/// The longest that any command may take here, with others on the same processors: the longest of them is a soak of 13 s.
pub(crate) const BOUND: Duration = Duration::from_secs(90);

/// Another program than the one that was built with these tests: a release, or one that is installed.
const PROGRAM: &str = "DYNO_FAULTS_PROGRAM";

/// A program under way.
pub(crate) struct Program {
    child: Child,
    began: Instant,
    out: Receiver<(String, Instant)>,
    err: Receiver<(String, Instant)>,
    ended: Option<(String, Instant)>,
}

impl Program {
    /// Starts Dyno at `desk`.
    pub(crate) fn start(desk: &Desk, arguments: &[String]) -> Self {
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
        Self { child, began: Instant::now(), out, err, ended: None }
    }

    /// Waits for its end, at most `limit`; whether it has ended. Its output ends with it.
    pub(crate) fn has_ended_within(&mut self, limit: Duration) -> bool {
        if self.ended.is_none() {
            self.ended = self.out.recv_timeout(limit).ok();
        }
        self.ended.is_some()
    }

    /// Kills it, as nothing can prepare for.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// What it left, and how long it took.
    pub(crate) fn end(mut self) -> Result<(Said, Duration), String> {
        let in_time = self.has_ended_within(BOUND);
        if !in_time {
            self.kill();
        }
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        let (err, _) = self.err.recv_timeout(BOUND).unwrap_or((String::new(), self.began));
        match self.ended.take() {
            Some((out, ended)) => Ok((Said { code, out, err }, ended - self.began)),
            None => Err(format!("it still ran after {} s: {err}", BOUND.as_secs())),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Reaped already, if it has come to its end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads to the end, in a thread of its own: a full pipe would stop the program.
fn read(mut from: impl Read + Send + 'static) -> Receiver<(String, Instant)> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        // Nobody listens any more where the test has failed.
        let _ = sender.send((String::from_utf8_lossy(&bytes).into_owned(), Instant::now()));
    });
    receiver
}

/// Runs Dyno to its end; what it said if that was not `code` 0.
pub(crate) fn succeeds(desk: &Desk, arguments: &[String]) -> Result<(Said, Duration), String> {
    let (said, took) = Program::start(desk, arguments).end()?;
    match said.code {
        0 => Ok((said, took)),
        code => Err(format!(
            "`{}` ended with {code}: {}",
            arguments[0],
            brief(&format!("{} {}", said.err, said.out))
        )),
    }
}

/// What matters of a program's talk: its errors and failed checks, else its end.
pub(crate) fn brief(text: &str) -> String {
    let matters =
        |line: &&str| ["error", "hint", "  ✗", "not proved", "invalid"].iter().any(|w| line.contains(w));
    let lines: Vec<&str> = text.lines().filter(matters).map(str::trim).take(6).collect();
    if lines.is_empty() {
        text.lines().rev().take(3).collect::<Vec<_>>().join(" | ")
    } else {
        lines.join(" | ")
    }
}
