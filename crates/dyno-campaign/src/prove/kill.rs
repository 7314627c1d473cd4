//! Kills the server during a run, and waits until it is back.

use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use dyno_drive::{AckLedger, RunListener};
use dyno_engine::{ServerLife, Target, TargetError, TargetErrorKind};

use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, ProofEvent};

/// Longest wait for a command, and for sessions to notice that the server is gone.
pub(super) const KILL_WITHIN: Duration = Duration::from_secs(120);
/// How often a waiting loop checks its condition.
const LOOK: Duration = Duration::from_millis(50);
/// How often Dyno tries to connect to a server that is not back yet.
const ASK: Duration = Duration::from_millis(250);

/// Returns where a command of the user writes its output; called once per command.
pub type CommandOutputSink<'a> = &'a (dyn Fn() -> std::io::Result<Stdio> + Sync);

/// How the server is killed and restarted.
#[derive(Clone, Copy)]
pub struct KillSettings<'a> {
    /// The command that kills the server, run through `sh -c`.
    pub command: &'a str,
    /// How long updates run before the kill.
    pub after: Duration,
    /// The command that starts the server; absent if it restarts by itself.
    pub restart: Option<&'a str>,
    /// Longest wait until the server is back.
    pub wait: Duration,
    /// Where both commands write their output.
    pub output: CommandOutputSink<'a>,
}

/// A signal from the run to the killing thread.
pub(super) enum Signal {
    /// The window has begun, and sessions execute updates.
    Window,
    /// The run has ended for any reason.
    Over,
}

/// Forwards a run's events, and signals the killing thread when the window begins.
pub(super) struct WindowNotifier<'a> {
    pub(super) inner: &'a dyn RunListener,
    pub(super) killer: Sender<Signal>,
}

impl RunListener for WindowNotifier<'_> {
    fn event(&self, event: &dyno_drive::RunEvent) {
        if matches!(event, dyno_drive::RunEvent::Window { .. }) {
            // If the killing thread has ended, it needs no signal.
            let _ = self.killer.send(Signal::Window);
        }
        self.inner.event(event);
    }

    fn connected(&self) -> Result<(), String> {
        Ok(())
    }

    fn window_begins(&self) {}

    fn window_ended(&self) {}

    fn drained(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The outcome of the kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KillOutcome {
    /// The run ended before the kill.
    Never,
    /// The command ran, and sessions lost their connections or the run was aborted.
    Gone,
    /// The command ran, but no session lost its connection.
    Unnoticed,
}

pub(super) struct ServerKiller<'a> {
    pub(super) ctx: &'a CampaignContext<'a>,
    pub(super) kill: &'a KillSettings<'a>,
    pub(super) book: &'a AckLedger,
}

impl ServerKiller<'_> {
    /// Waits for the window and then `after`, runs the command, and ends the run once sessions have noticed.
    pub(super) fn run(&self, signals: &Receiver<Signal>) -> Result<KillOutcome, Error> {
        match signals.recv() {
            Ok(Signal::Window) => {}
            Ok(Signal::Over) | Err(_) => return Ok(KillOutcome::Never),
        }
        if !matches!(signals.recv_timeout(self.kill.after), Err(RecvTimeoutError::Timeout)) {
            return Ok(KillOutcome::Never);
        }
        let lost_before = self.book.lost_connections();
        self.ctx.emit(CampaignEvent::Proof(ProofEvent::Killing));
        let outcome = run_shell_command(self.ctx, self.kill.command, self.kill.output);
        match &outcome {
            Ok(status) if !status.success() => {
                let event = ProofEvent::CommandEnded("kill", status.to_string());
                self.ctx.emit(CampaignEvent::Proof(event));
            }
            _ => {}
        }
        let noticed = outcome.is_ok() && self.wait_for_lost_connections(signals, lost_before);
        // In any case: without a server, or if it was not killed, the run has no further purpose.
        self.ctx.cancel.cancel();
        outcome.map_err(|error| Error::because("the kill command could not be run", error))?;
        Ok(if noticed { KillOutcome::Gone } else { KillOutcome::Unnoticed })
    }

    fn wait_for_lost_connections(&self, signals: &Receiver<Signal>, lost_before: u64) -> bool {
        let until = Instant::now() + KILL_WITHIN;
        while Instant::now() < until {
            if self.book.lost_connections() > lost_before {
                return true;
            }
            match signals.recv_timeout(LOOK) {
                Err(RecvTimeoutError::Timeout) | Ok(Signal::Window) => {}
                // The run was aborted: its observer lost the server, or the user cancelled.
                Ok(Signal::Over) | Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
        false
    }
}

/// Runs a command of the user with this output, for at most [`KILL_WITHIN`].
pub(super) fn run_shell_command(
    ctx: &CampaignContext<'_>,
    command: &str,
    output: CommandOutputSink<'_>,
) -> Result<ExitStatus, Error> {
    ctx.emit(CampaignEvent::Proof(ProofEvent::Command(command.to_owned())));
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
            let problem = format!("the command did not end within {limit_s} s: {command}");
            return Err(Error::Other { what: problem, source: None });
        }
        std::thread::sleep(LOOK);
    }
}

/// Waits up to `patience` until the server answers, and returns which start of the server it is.
pub(super) fn wait_for_server(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    patience: Duration,
) -> Result<Option<ServerLife>, TargetError> {
    ctx.emit(CampaignEvent::Proof(ProofEvent::Waiting));
    let until = Instant::now() + patience;
    loop {
        let error = match target.life() {
            Ok(life) => return Ok(life),
            Err(error) => error,
        };
        if Instant::now() >= until {
            let message = format!("the server did not come back within {} s: {error}", patience.as_secs());
            return Err(TargetError::new(TargetErrorKind::Unreachable, message)
                .hint("start it and read its log; give --restart-command CMD or a longer --restart-wait")
                .cause(error));
        }
        std::thread::sleep(ASK);
    }
}
