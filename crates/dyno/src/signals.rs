//! Handles Ctrl-C, SIGTERM and SIGHUP (a closed terminal): the first stops and keeps the measurements, the
//! second ends at once.

#[cfg(feature = "fleet")]
mod waiting;

use std::time::{Duration, Instant};

use dyno_engine::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::exit::Exit;

#[cfg(feature = "fleet")]
pub(crate) use waiting::handle_while_waiting;

/// Signals within this time count as one request: `timeout` signals a process and then its group, and a
/// service manager signals every process.
const SAME_REQUEST_WINDOW: Duration = Duration::from_millis(500);

/// Makes each signal request `cancel`, and a repeated one end the program.
pub(crate) fn watch(cancel: &Cancel) -> std::io::Result<()> {
    watch_and(cancel, exit_interrupted)
}

/// Like [`watch`], with an action before the program ends at once. The action runs on a thread, because a
/// signal handler may do almost nothing.
pub(crate) fn watch_and(cancel: &Cancel, leave: impl Fn() + Send + 'static) -> std::io::Result<()> {
    #[cfg(feature = "fleet")]
    waiting::unregister_waiting();
    spawn_signal_handler(cancel, leave).map(drop)
}

/// Handles signals on a thread until the handle is closed.
fn spawn_signal_handler(cancel: &Cancel, leave: impl Fn() + Send + 'static) -> std::io::Result<Handle> {
    let mut signals = Signals::new(handled_signals())?;
    let (handle, cancel) = (signals.handle(), cancel.clone());
    let watching = std::thread::Builder::new().name("dyno-signals".into());
    watching.spawn(move || {
        let mut first_signal_at: Option<Instant> = None;
        for _ in signals.forever() {
            if cancel.is_cancelled()
                && first_signal_at.is_none_or(|asked| asked.elapsed() >= SAME_REQUEST_WINDOW)
            {
                leave();
            }
            first_signal_at.get_or_insert_with(Instant::now);
            cancel.cancel();
        }
    })?;
    Ok(handle)
}

/// Signals to handle: `nohup` requests that SIGHUP be ignored.
fn handled_signals() -> impl Iterator<Item = i32> {
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    [SIGINT, SIGTERM].into_iter().chain(hangup)
}

/// Ends the program at once, like a second signal.
pub(crate) fn exit_interrupted() {
    signal_hook::low_level::exit(Exit::Interrupted as i32);
}

/// Whether this process was started with `signal` ignored (`SigIgn` in proc(5), a mask of all signals from 1
/// on).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
