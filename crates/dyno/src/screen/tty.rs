//! Takes over the terminal and restores it on every exit.
//!
//! One process-wide flag records that the terminal was taken over. A panic on any thread, a signal, and the
//! normal end all restore it, and never twice.

use std::io::{self, IsTerminal as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// Whether this process has taken over the terminal.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether keys can be read and a screen can be shown; a terminal without a known size gets progress lines.
pub(crate) fn can() -> bool {
    let has_size =
        || rustix::termios::tcgetwinsize(io::stderr()).is_ok_and(|size| size.ws_col > 0 && size.ws_row > 0);
    io::stdin().is_terminal() && io::stderr().is_terminal() && has_size()
}

/// Switches the terminal to the full screen.
pub(crate) fn take() -> io::Result<()> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // The panic message must be readable.
            give_back();
            before(panic);
        }));
    });
    // Set first, so that a failure halfway is also undone.
    TAKEN.store(true, Ordering::SeqCst);
    let outcome = enable_raw_mode().and_then(|()| execute!(io::stderr(), EnterAlternateScreen, Hide));
    if outcome.is_err() {
        give_back();
    }
    outcome
}

/// Whether it is still taken over: a panic may have restored it.
pub(crate) fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Restores the terminal if it was taken over.
pub(crate) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // A terminal that is gone needs no restore.
        let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
