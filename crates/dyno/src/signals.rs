//! Ctrl-C, SIGTERM and SIGHUP (a terminal that is gone): once asks to stop and keep what was measured, twice ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dyno_engine::Cancel;
use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;

/// Makes each signal ask `cancel`, and end the program when they come again.
pub(crate) fn watch(cancel: &Cancel) -> std::io::Result<()> {
    let flag = cancel.flag();
    forget_waiting();
    for signal in heeded() {
        // The order matters: the second signal finds the flag that the first has set.
        signal_hook::flag::register_conditional_shutdown(
            signal,
            Exit::Interrupted as i32,
            Arc::clone(&flag),
        )?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(())
}

/// The same, where something is to be done before the program ends at once: not in a handler of signals, in which next to nothing
/// may be done, but on a thread.
pub(crate) fn watch_and(cancel: &Cancel, leave: impl Fn() + Send + 'static) -> std::io::Result<()> {
    forget_waiting();
    let mut signals = Signals::new(heeded())?;
    let cancel = cancel.clone();
    let watching = std::thread::Builder::new().name("dyno-signals".into());
    watching.spawn(move || {
        for _ in signals.forever() {
            if cancel.is_cancelled() {
                leave();
            }
            cancel.cancel();
        }
    })?;
    Ok(())
}

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

fn forget_waiting() {
    for id in WAITING.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        signal_hook::low_level::unregister(id);
    }
}

/// Signals that are asked to be heeded: `nohup` asks that a terminal that goes away is no reason to end.
fn heeded() -> impl Iterator<Item = i32> {
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    [SIGINT, SIGTERM].into_iter().chain(hangup)
}

/// Ends the program at once, as a second signal does.
pub(crate) fn leave() {
    signal_hook::low_level::exit(Exit::Interrupted as i32);
}

/// Whether this process was started with `signal` ignored (`SigIgn` in proc(5), a mask of all signals from 1 on).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
