//! The full screen: one more listener to the events of a campaign, drawn on a thread of its own.
//!
//! Whoever measures only hands an event over; drawing, keys and the terminal are this thread's. What is said meanwhile is held
//! back and printed when the screen has ended.
//!
//! | part | job |
//! | --- | --- |
//! | `state` | events, put together |
//! | `recent`, `grid` | the last minutes; the runs of a campaign |
//! | `view` | drawing it |
//! | `keys` | what a key asks |
//! | `tty` | taking the terminal over, and giving it back on every way out |

mod grid;
mod keys;
mod recent;
mod state;
#[cfg(test)]
mod tests;
pub(crate) mod tty;
mod view;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dyno_campaign::{Event, Steer};
use dyno_engine::Cancel;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::signals;
use crate::talk::Talk;
use keys::Meant;
use state::State;
use view::Look;

/// How long it waits for a key before it looks whether something is to be drawn.
const WAIT: Duration = Duration::from_millis(100);
/// How often it draws, where nobody presses a key.
const DRAW: Duration = Duration::from_millis(250);
/// How long its end waits for what is being drawn: a terminal may take nothing any more.
const END_MAX: Duration = Duration::from_secs(2);
/// Lines of talk that it shows at most.
const SAID_MAX: usize = 20;

/// The screen of one command.
pub(crate) struct Screen {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// Held by whoever uses the terminal: the thread that draws, or somebody who asks a question.
    terminal: Mutex<()>,
    /// Somebody wants to ask a question.
    asking: AtomicBool,
    over: AtomicBool,
    /// Everything is to be drawn anew.
    anew: AtomicBool,
    began: Instant,
    cancel: Cancel,
    steer: Steer,
    talk: Talk,
}

impl Screen {
    /// Takes the terminal over for `command`.
    ///
    /// # Errors
    /// The terminal cannot be taken over.
    pub(crate) fn start(
        command: &'static str,
        talk: &Talk,
        cancel: &Cancel,
        steer: &Steer,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(command)),
            terminal: Mutex::new(()),
            asking: AtomicBool::new(false),
            over: AtomicBool::new(false),
            anew: AtomicBool::new(true),
            began: Instant::now(),
            cancel: cancel.clone(),
            steer: steer.clone(),
            talk: talk.clone(),
        });
        let look = Look { color: talk.wants_color(), ascii: talk.glyphs() == dyno_report::Glyphs::Ascii };
        tty::take()?;
        talk.hold();
        let its = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("dyno-screen".into()).spawn(move || {
            // Where nothing can be drawn any more, what goes on is still measured and stored.
            if let Err(error) = its.go_on(look) {
                tty::give_back();
                its.talk.release();
                its.talk.say(&format!("warning: the screen has ended: {error}"));
            }
        });
        match thread {
            Ok(thread) => Ok(Self { shared, thread: Some(thread) }),
            Err(error) => {
                tty::give_back();
                talk.release();
                Err(error)
            }
        }
    }

    /// What signals do while it is there, from the moment on that the campaign can be stopped in good order.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn watch_signals(&self) -> io::Result<()> {
        let talk = self.shared.talk.clone();
        signals::watch_and(&self.shared.cancel, move || leave(&talk))
    }

    /// Whether it still shows something.
    pub(crate) fn is_shown(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Something has happened.
    pub(crate) fn hear(&self, event: &Event) {
        self.shared.locked().hear(event, self.shared.began.elapsed().as_secs_f64());
    }

    /// Gives the terminal back while `ask` asks somebody, and takes it over again.
    pub(crate) fn aside<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.shared.asking.store(true, Ordering::SeqCst);
        let held = self.shared.terminal.lock().unwrap_or_else(PoisonError::into_inner);
        let was_taken = tty::is_taken();
        tty::give_back();
        let answer = self.shared.talk.aside(ask);
        if was_taken {
            // Without it, lines go on.
            let _ = tty::take();
            self.shared.anew.store(true, Ordering::SeqCst);
        }
        self.shared.asking.store(false, Ordering::SeqCst);
        drop(held);
        answer
    }

    /// Gives the terminal back for good.
    pub(crate) fn end(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let until = Instant::now() + END_MAX;
            while !thread.is_finished() && Instant::now() < until {
                std::thread::sleep(WAIT / 20);
            }
        }
        tty::give_back();
        self.shared.talk.release();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws, and hears keys, until it is over.
    fn go_on(&self, look: Look) -> io::Result<()> {
        let mut terminal = Terminal::new(CrosstermBackend::new(io::stderr()))?;
        let mut due = Instant::now();
        while !self.over.load(Ordering::SeqCst) && tty::is_taken() || self.asking.load(Ordering::SeqCst) {
            if self.asking.load(Ordering::SeqCst) {
                std::thread::sleep(WAIT / 10);
                continue;
            }
            let held = self.terminal.lock().unwrap_or_else(PoisonError::into_inner);
            if !tty::is_taken() {
                continue;
            }
            if is_typed()? {
                while event::poll(Duration::ZERO)? {
                    self.key(&event::read()?);
                }
                due = Instant::now();
            }
            if self.anew.swap(false, Ordering::SeqCst) {
                // Clearing would ask the terminal where its cursor is; this does not wait for an answer.
                let size = terminal.size()?;
                terminal.resize(Rect::new(0, 0, size.width, size.height))?;
                due = Instant::now();
            }
            if Instant::now() >= due {
                due = Instant::now() + DRAW;
                let now_s = self.began.elapsed().as_secs_f64();
                let mut state = self.locked();
                state.said = self.talk.last_held(SAID_MAX);
                state.asked.stop = self.cancel.is_cancelled();
                terminal.draw(|frame| view::draw(frame, &state, &look, now_s))?;
            }
            drop(held);
        }
        Ok(())
    }

    fn key(&self, event: &event::Event) {
        let mut state = self.locked();
        match keys::meant(event, &state) {
            Meant::Nothing => {}
            Meant::Stop if self.cancel.is_cancelled() => {
                drop(state);
                leave(&self.talk);
            }
            Meant::Stop => self.cancel.cancel(),
            Meant::Pause => {
                state.asked.pause = !state.asked.pause;
                self.steer.pause(state.asked.pause);
            }
            Meant::Skip => {
                state.asked.skip = true;
                self.steer.skip();
            }
            Meant::Zoom => {
                state.help = false;
                state.zoom_on();
            }
            Meant::All => (state.help, state.zoom) = (false, None),
            Meant::Help => state.help = !state.help,
            Meant::Anew => self.anew.store(true, Ordering::SeqCst),
        }
    }
}

/// Whether somebody typed something, after a wait. Asked of the system and not of the library that reads keys: at a terminal that is
/// gone, that one turns in a loop.
fn is_typed() -> io::Result<bool> {
    let (stdin, wait) = (io::stdin(), Timespec::try_from(WAIT).map_err(io::Error::other)?);
    let mut looked = [PollFd::new(&stdin, PollFlags::IN)];
    match rustix::event::poll(&mut looked, Some(&wait)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let seen = looked[0].revents();
    if seen.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(io::Error::other("the terminal is gone"));
    }
    Ok(seen.contains(PollFlags::IN))
}

/// Ends the program at once: somebody has asked twice.
fn leave(talk: &Talk) {
    tty::give_back();
    talk.release();
    signals::leave();
}
