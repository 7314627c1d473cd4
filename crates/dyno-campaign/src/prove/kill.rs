//! Killing the server in the middle of a run, and waiting until it is back.

use std::os::fd::AsFd as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use dyno_drive::prove::Book;
use dyno_drive::{Event, Watch};
use dyno_engine::{Cancel, ServerLife, Target, TargetError, TargetErrorKind};

use crate::talk::Talk;

/// The longest wait for a command, and for sessions to notice that the server has gone.
pub(super) const KILL_WITHIN: Duration = Duration::from_secs(120);
/// How often a waiting loop looks.
const LOOK: Duration = Duration::from_millis(50);
/// How often a server that is not back yet is asked again.
const ASK: Duration = Duration::from_millis(250);

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
    fn event(&self, event: &Event) {
        if matches!(event, Event::Window { .. }) {
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
    pub(super) command: &'a str,
    pub(super) after: Duration,
    pub(super) book: &'a Book,
    pub(super) cancel: &'a Cancel,
    pub(super) talk: &'a Talk,
}

impl Killer<'_> {
    /// Waits for the window and then `after`, runs the command, and ends the run when sessions have noticed.
    pub(super) fn run(&self, signals: &Receiver<Signal>) -> anyhow::Result<Killed> {
        match signals.recv() {
            Ok(Signal::Window) => {}
            Ok(Signal::Over) | Err(_) => return Ok(Killed::Never),
        }
        if !matches!(signals.recv_timeout(self.after), Err(RecvTimeoutError::Timeout)) {
            return Ok(Killed::Never);
        }
        let lost_before = self.book.lost_connections();
        self.talk.say("killing the server");
        let outcome = shell(self.command, self.talk);
        match &outcome {
            Ok(status) if !status.success() => {
                self.talk.say(&format!("warning: the kill command ended with {status}"));
            }
            _ => {}
        }
        let noticed = outcome.is_ok() && self.wait_noticed(signals, lost_before);
        // Whatever came of it: without a server, or with one that was not killed, there is nothing more to do.
        self.cancel.cancel();
        outcome.context("the kill command could not be run")?;
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

/// Runs a command of the user's; what it says goes to stderr. It may take [`KILL_WITHIN`] at most.
pub(super) fn shell(command: &str, talk: &Talk) -> anyhow::Result<ExitStatus> {
    talk.detail(&format!("sh -c {command:?}"));
    let said = || -> std::io::Result<Stdio> {
        if talk.quiet {
            Ok(Stdio::null())
        } else {
            Ok(std::io::stderr().as_fd().try_clone_to_owned()?.into())
        }
    };
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(said()?)
        .stderr(said()?)
        .spawn()
        .context("sh could not be started")?;
    let until = Instant::now() + KILL_WITHIN;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= until {
            child.kill()?;
            child.wait()?;
            anyhow::bail!("the command did not end within {} s: {command}", KILL_WITHIN.as_secs());
        }
        std::thread::sleep(LOOK);
    }
}

/// Waits up to `patience` until the server answers, and says which of its lives that is.
pub(super) fn wait_back(
    target: &dyn Target,
    patience: Duration,
    talk: &Talk,
) -> Result<Option<ServerLife>, TargetError> {
    talk.say("waiting for the server");
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
