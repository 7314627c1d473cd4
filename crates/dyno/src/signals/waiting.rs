//! Signals while something is waited for before a command itself begins.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dyno_engine::Cancel;
use signal_hook::SigId;

use super::heeded;
use crate::exit::Exit;

/// What a [`Waiting`] has registered: whoever watches signals after it takes its place.
static WAITING: Mutex<Vec<SigId>> = Mutex::new(Vec::new());

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
    let (flag, over) = (cancel.flag(), Arc::new(AtomicBool::new(false)));
    let mut ids = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    for signal in heeded() {
        ids.push(signal_hook::flag::register_conditional_default(signal, Arc::clone(&over))?);
        ids.push(signal_hook::flag::register_conditional_shutdown(
            signal,
            Exit::Interrupted as i32,
            Arc::clone(&flag),
        )?);
        ids.push(signal_hook::flag::register(signal, Arc::clone(&flag))?);
    }
    Ok(Waiting { over })
}

/// Takes back what was registered.
pub(super) fn forget() {
    for id in WAITING.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        signal_hook::low_level::unregister(id);
    }
}
