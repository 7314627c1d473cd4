//! The terminal itself: taken over, and given back on every way out.
//!
//! What is taken over is noted in one place for the whole process, so that a panic on any thread, a signal, and the normal end all
//! give it back, and none of them twice.

use std::io::{self, IsTerminal as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// Whether this process has taken the terminal over.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether keys can be read and a screen be shown: also a terminal that does not know its size shows lines.
pub(crate) fn can() -> bool {
    let has_size =
        || rustix::termios::tcgetwinsize(io::stderr()).is_ok_and(|size| size.ws_col > 0 && size.ws_row > 0);
    io::stdin().is_terminal() && io::stderr().is_terminal() && has_size()
}

/// Takes the terminal over.
pub(crate) fn take() -> io::Result<()> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // What it says is to be read.
            give_back();
            before(panic);
        }));
    });
    // Noted first: what fails halfway is given back as well.
    TAKEN.store(true, Ordering::SeqCst);
    let taken = enable_raw_mode().and_then(|()| execute!(io::stderr(), EnterAlternateScreen, Hide));
    if taken.is_err() {
        give_back();
    }
    taken
}

/// Whether it is still taken: a panic may have given it back.
pub(crate) fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Gives the terminal back, if it was taken over.
pub(crate) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // A terminal that is gone needs nothing back.
        let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
