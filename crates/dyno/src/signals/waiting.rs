//! Signals while something is waited for before a command itself begins.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dyno_engine::Cancel;
use signal_hook::SigId;
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::Handle;

use super::{heed, heeded, leave};

/// What a [`Waiting`] has registered: whoever watches signals after it takes its place.
static WAITING: Mutex<Vec<(Vec<SigId>, Handle)>> = Mutex::new(Vec::new());

/// Signals ask a `Cancel` while this is there. Behind it they end the program, as they do before anything watches them.
pub(crate) struct Waiting {
    over: Arc<AtomicBool>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
    }
}

/// Makes signals ask `cancel` for as long as something is waited for before the command itself begins.
pub(crate) fn while_waiting(cancel: &Cancel) -> std::io::Result<Waiting> {
    let over = Arc::new(AtomicBool::new(false));
    // The order matters: once it is over, a signal ends the program before it asks anything.
    let ids = heeded().map(|signal| register_conditional_default(signal, Arc::clone(&over)));
    let ids = ids.collect::<std::io::Result<_>>()?;
    let handle = heed(cancel, leave)?;
    WAITING.lock().unwrap_or_else(PoisonError::into_inner).push((ids, handle));
    Ok(Waiting { over })
}

/// Takes back what was registered.
pub(super) fn forget() {
    for (ids, handle) in WAITING.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        handle.close();
        for id in ids {
            signal_hook::low_level::unregister(id);
        }
    }
}
