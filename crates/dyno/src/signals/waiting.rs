//! Handles signals while a command waits before it begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_engine::Cancel;
use parking_lot::Mutex;
use signal_hook::SigId;
use signal_hook::flag::register_conditional_default;
use signal_hook::iterator::Handle;

use super::{exit_interrupted, handled_signals, spawn_signal_handler};

/// Registrations of a [`Waiting`]: the handler that watches signals later replaces them.
static WAITING: Mutex<Vec<(Vec<SigId>, Handle)>> = Mutex::new(Vec::new());

/// Signals request a `Cancel` while this value exists. Afterwards they end the program, as they do before any
/// handler exists.
pub(crate) struct Waiting {
    is_over: Arc<AtomicBool>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
    }
}

/// Makes signals request `cancel` while the command waits before it begins.
pub(crate) fn handle_while_waiting(cancel: &Cancel) -> std::io::Result<Waiting> {
    let over = Arc::new(AtomicBool::new(false));
    // Order matters: after the wait, a signal ends the program before it requests anything.
    let ids = handled_signals().map(|signal| register_conditional_default(signal, Arc::clone(&over)));
    let ids = ids.collect::<std::io::Result<_>>()?;
    let handle = spawn_signal_handler(cancel, exit_interrupted)?;
    WAITING.lock().push((ids, handle));
    Ok(Waiting { is_over: over })
}

pub(super) fn unregister_waiting() {
    for (ids, handle) in WAITING.lock().drain(..) {
        handle.close();
        for id in ids {
            signal_hook::low_level::unregister(id);
        }
    }
}
