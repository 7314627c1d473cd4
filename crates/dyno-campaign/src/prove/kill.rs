//! Killing the server in the middle of a run, and waiting until it is back.

use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use dyno_drive::Watch;
use dyno_drive::prove::Book;
use dyno_engine::{ServerLife, Target, TargetError, TargetErrorKind};

use crate::error::Error;
use crate::event::{Event, ProofEvent};
use crate::lead::Lead;

/// The longest wait for a command, and for sessions to notice that the server has gone.
pub(super) const KILL_WITHIN: Duration = Duration::from_secs(120);
/// How often a waiting loop looks.
const LOOK: Duration = Duration::from_millis(50);
/// How often a server that is not back yet is asked again.
const ASK: Duration = Duration::from_millis(250);

/// Where a command of the user's may write, each time it is asked.
pub type Output<'a> = &'a (dyn Fn() -> std::io::Result<Stdio> + Sync);

/// How the server is killed and comes back.
#[derive(Clone, Copy)]
pub struct Kill<'a> {
    /// Kills it the hard way; run through `sh -c`.
    pub command: &'a str,
    /// How long updates run before.
    pub after: Duration,
    /// Starts it again; nothing where it comes back by itself.
    pub restart: Option<&'a str>,
    /// The longest wait for it to come back.
    pub wait: Duration,
    /// Where both commands may write.
    pub output: Output<'a>,
}

/// What the run tells the killer.
pub(super) enum Signal {
    /// Sessions are at work, and the window has begun.
    Window,
    /// The run is over.
    Over,
}

/// Passes a run's events on, and tells the killer when the window begins.
pub(super) struct Tell<'a> {
    pub(super) inner: &'a dyn Watch,
    pub(super) killer: Sender<Signal>,
}

impl Watch for Tell<'_> {
    fn event(&self, event: &dyno_drive::Event) {
        if matches!(event, dyno_drive::Event::Window { .. }) {
            // A killer that has gone needs no telling.
            let _ = self.killer.send(Signal::Window);
        }
        self.inner.event(event);
    }

    fn connected(&self) -> Result<(), String> {
        Ok(())
    }

    fn drained(&self) -> Result<(), String> {
        Ok(())
    }
}

/// What became of the kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Killed {
    /// The run was over before its turn.
    Never,
    /// The command has run, and sessions lost their connections or the run broke off.
    Gone,
    /// The command has run, and no session noticed anything.
    Unnoticed,
}

/// Who kills.
pub(super) struct Killer<'a> {
    pub(super) lead: &'a Lead<'a>,
    pub(super) kill: &'a Kill<'a>,
    pub(super) book: &'a Book,
}

impl Killer<'_> {
    /// Waits for the window and then `after`, runs the command, and ends the run when sessions have noticed.
    pub(super) fn run(&self, signals: &Receiver<Signal>) -> Result<Killed, Error> {
        match signals.recv() {
            Ok(Signal::Window) => {}
            Ok(Signal::Over) | Err(_) => return Ok(Killed::Never),
        }
        if !matches!(signals.recv_timeout(self.kill.after), Err(RecvTimeoutError::Timeout)) {
            return Ok(Killed::Never);
        }
        let lost_before = self.book.lost_connections();
        self.lead.tell(Event::Proof(ProofEvent::Killing));
        let outcome = shell(self.lead, self.kill.command, self.kill.output);
        match &outcome {
            Ok(status) if !status.success() => {
                let ended = ProofEvent::CommandEnded("kill", status.to_string());
                self.lead.tell(Event::Proof(ended));
            }
            _ => {}
        }
        let noticed = outcome.is_ok() && self.wait_noticed(signals, lost_before);
        // Whatever came of it: without a server, or with one that was not killed, there is nothing more to do.
        self.lead.cancel.cancel();
        outcome.map_err(|error| Error::because("the kill command could not be run", error))?;
        Ok(if noticed { Killed::Gone } else { Killed::Unnoticed })
    }

    fn wait_noticed(&self, signals: &Receiver<Signal>, lost_before: u64) -> bool {
        let until = Instant::now() + KILL_WITHIN;
        while Instant::now() < until {
            if self.book.lost_connections() > lost_before {
                return true;
            }
            match signals.recv_timeout(LOOK) {
                Err(RecvTimeoutError::Timeout) | Ok(Signal::Window) => {}
                // The run broke off by itself: its observer lost the server, or the user stopped it.
                Ok(Signal::Over) | Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
        false
    }
}

/// Runs a command of the user's, whose `output` goes where that says. It may take [`KILL_WITHIN`] at most.
pub(super) fn shell(lead: &Lead<'_>, command: &str, output: Output<'_>) -> Result<ExitStatus, Error> {
    lead.tell(Event::Proof(ProofEvent::Command(command.to_owned())));
    let failed = |error: std::io::Error| Error::because("sh could not be run", error);
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(output().map_err(failed)?)
        .stderr(output().map_err(failed)?)
        .spawn()
        .map_err(failed)?;
    let until = Instant::now() + KILL_WITHIN;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(status);
        }
        if Instant::now() >= until {
            child.kill().and_then(|()| child.wait()).map_err(failed)?;
            let limit_s = KILL_WITHIN.as_secs();
            let what = format!("the command did not end within {limit_s} s: {command}");
            return Err(Error::Other { what, source: None });
        }
        std::thread::sleep(LOOK);
    }
}

/// Waits up to `patience` until the server answers, and says which of its lives that is.
pub(super) fn wait_back(
    lead: &Lead<'_>,
    target: &dyn Target,
    patience: Duration,
) -> Result<Option<ServerLife>, TargetError> {
    lead.tell(Event::Proof(ProofEvent::Waiting));
    let until = Instant::now() + patience;
    loop {
        let error = match target.life() {
            Ok(life) => return Ok(life),
            Err(error) => error,
        };
        if Instant::now() >= until {
            let message = format!("the server did not come back within {} s: {error}", patience.as_secs());
            return Err(TargetError::new(TargetErrorKind::Unreachable, message)
                .hint("start it, and look at its log; give --restart-command CMD or a longer --restart-wait")
                .cause(error));
        }
        std::thread::sleep(ASK);
    }
}
