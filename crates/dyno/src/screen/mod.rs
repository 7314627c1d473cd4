//! The full screen: a listener to the events of a campaign, drawn on its own thread.
//!
//! The measuring threads only pass events on; this thread handles drawing, keys and the terminal. Messages
//! are held back and printed when the screen has ended.
//!
//! | part | job |
//! | --- | --- |
//! | `state` | the progress of the campaign, and what the user chose to see |
//! | `figures` | the figures of the current run, or of the run before |
//! | `grid` | the runs of a campaign |
//! | `view` | draws the screen |
//! | `keys` | maps keys to actions |
//! | `tty` | takes over the terminal, and restores it on every exit |

mod figures;
mod grid;
mod keys;
mod state;
#[cfg(test)]
mod tests;
pub(crate) mod tty;
mod view;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dyno_campaign::{CampaignControl, CampaignEvent};
use dyno_engine::Cancel;
use parking_lot::Mutex;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::console::Console;
use crate::signals;
use keys::KeyAction;
use state::ScreenState;
use view::ScreenStyle;

/// Wait for a key before checking whether to draw.
const WAIT: Duration = Duration::from_millis(100);
/// Redraw interval without key presses.
const DRAW: Duration = Duration::from_millis(250);
/// Maximum time that the end waits for drawing: a terminal may accept no more output.
const END_MAX: Duration = Duration::from_secs(2);
const MESSAGES_MAX: usize = 20;

/// The screen of one command.
pub(crate) struct Screen {
    shared: Arc<ScreenShared>,
    thread: Option<JoinHandle<()>>,
}

struct ScreenShared {
    state: Mutex<ScreenState>,
    /// Locked by the user of the terminal: the drawing thread, or the code that asks a question.
    terminal: Mutex<()>,
    /// A question is about to be asked.
    asking: AtomicBool,
    is_over: AtomicBool,
    /// The whole screen must be redrawn.
    needs_redraw: AtomicBool,
    began: Instant,
    cancel: Cancel,
    steer: CampaignControl,
    talk: Console,
}

impl Screen {
    /// Takes over the terminal for `command`.
    ///
    /// # Errors
    /// The terminal cannot be taken over.
    pub(crate) fn start(
        command: &'static str,
        talk: &Console,
        cancel: &Cancel,
        steer: &CampaignControl,
    ) -> io::Result<Self> {
        let shared = Arc::new(ScreenShared {
            state: Mutex::new(ScreenState::new(command)),
            terminal: Mutex::new(()),
            asking: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            needs_redraw: AtomicBool::new(true),
            began: Instant::now(),
            cancel: cancel.clone(),
            steer: steer.clone(),
            talk: talk.clone(),
        });
        let look =
            ScreenStyle { color: talk.wants_color(), ascii: talk.glyphs() == dyno_report::Glyphs::Ascii };
        tty::take()?;
        talk.defer_output();
        let its = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("dyno-screen".into()).spawn(move || {
            // If nothing can be drawn any more, the run is still measured and stored.
            if let Err(error) = its.draw_until_over(look) {
                tty::give_back();
                its.talk.flush_deferred();
                its.talk.say(&format!("warning: the screen has ended: {error}"));
            }
        });
        match thread {
            Ok(thread) => Ok(Self { shared, thread: Some(thread) }),
            Err(error) => {
                tty::give_back();
                talk.flush_deferred();
                Err(error)
            }
        }
    }

    /// Installs the handling of signals, from the moment at which the campaign can be stopped cleanly.
    ///
    /// # Errors
    /// The operating system refuses it.
    pub(crate) fn watch_signals(&self) -> io::Result<()> {
        let talk = self.shared.talk.clone();
        signals::watch_and(&self.shared.cancel, move || leave(&talk))
    }

    /// Whether the screen is still shown.
    pub(crate) fn is_shown(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    pub(crate) fn apply_event(&self, event: &CampaignEvent) {
        self.shared.state.lock().apply_event(event, self.shared.began.elapsed().as_secs_f64());
    }

    /// Releases the terminal while `ask` asks a question, and takes it over again.
    pub(crate) fn with_terminal<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.shared.asking.store(true, Ordering::SeqCst);
        let held = self.shared.terminal.lock();
        let was_taken = tty::is_taken();
        tty::give_back();
        let answer = self.shared.talk.with_terminal(ask);
        if was_taken {
            // If it cannot be taken over again, progress lines are shown instead.
            let _ = tty::take();
            self.shared.needs_redraw.store(true, Ordering::SeqCst);
        }
        self.shared.asking.store(false, Ordering::SeqCst);
        drop(held);
        answer
    }

    /// Releases the terminal for good.
    pub(crate) fn end(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let until = Instant::now() + END_MAX;
            while !thread.is_finished() && Instant::now() < until {
                std::thread::sleep(WAIT / 20);
            }
        }
        tty::give_back();
        self.shared.talk.flush_deferred();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.end();
    }
}

impl ScreenShared {
    /// Draws, and reads keys, until the end.
    fn draw_until_over(&self, look: ScreenStyle) -> io::Result<()> {
        let mut terminal = Terminal::new(CrosstermBackend::new(io::stderr()))?;
        let mut due = Instant::now();
        while !self.is_over.load(Ordering::SeqCst) && tty::is_taken() || self.asking.load(Ordering::SeqCst) {
            if self.asking.load(Ordering::SeqCst) {
                std::thread::sleep(WAIT / 10);
                continue;
            }
            let held = self.terminal.lock();
            if !tty::is_taken() {
                continue;
            }
            if is_typed()? {
                while event::poll(Duration::ZERO)? {
                    self.handle_key(&event::read()?);
                }
                due = Instant::now();
            }
            if self.needs_redraw.swap(false, Ordering::SeqCst) {
                // Clearing would query the cursor position; this does not wait for an answer.
                let size = terminal.size()?;
                terminal.resize(Rect::new(0, 0, size.width, size.height))?;
                due = Instant::now();
            }
            if Instant::now() >= due {
                due = Instant::now() + DRAW;
                let now_s = self.began.elapsed().as_secs_f64();
                let mut state = self.state.lock();
                state.messages = self.talk.last_deferred(MESSAGES_MAX);
                state.key_requests.stop = self.cancel.is_cancelled();
                terminal.draw(|frame| view::draw(frame, &state, &look, now_s))?;
            }
            drop(held);
        }
        Ok(())
    }

    fn handle_key(&self, event: &event::Event) {
        let mut state = self.state.lock();
        match keys::key_action(event, &state) {
            KeyAction::Nothing => {}
            KeyAction::Stop if self.cancel.is_cancelled() => {
                drop(state);
                leave(&self.talk);
            }
            KeyAction::Stop => self.cancel.cancel(),
            KeyAction::Pause => {
                state.key_requests.pause = !state.key_requests.pause;
                self.steer.pause(state.key_requests.pause);
            }
            KeyAction::Skip => {
                state.key_requests.skip = true;
                self.steer.skip();
            }
            KeyAction::Zoom => {
                state.help = false;
                state.zoom_on();
            }
            KeyAction::All => (state.help, state.zoom) = (false, None),
            KeyAction::Help => state.help = !state.help,
            KeyAction::Redraw => self.needs_redraw.store(true, Ordering::SeqCst),
        }
    }
}

/// Whether a key was pressed, after a wait. It asks the operating system instead of the key library, which
/// loops on a terminal that is gone.
fn is_typed() -> io::Result<bool> {
    let (stdin, wait) = (io::stdin(), Timespec::try_from(WAIT).map_err(io::Error::other)?);
    let mut poll_fds = [PollFd::new(&stdin, PollFlags::IN)];
    match rustix::event::poll(&mut poll_fds, Some(&wait)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let revents = poll_fds[0].revents();
    if revents.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(io::Error::other("the terminal is gone"));
    }
    Ok(revents.contains(PollFlags::IN))
}

/// Ends the program at once, after a second request.
fn leave(talk: &Console) {
    tty::give_back();
    talk.flush_deferred();
    signals::exit_interrupted();
}
