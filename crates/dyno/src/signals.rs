//! Ctrl-C, SIGTERM and SIGHUP (a terminal that is gone): once asks to stop and keep what was measured, again ends at once.

#[cfg(feature = "fleet")]
mod waiting;

use std::time::{Duration, Instant};

use dyno_engine::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use crate::exit::Exit;

#[cfg(feature = "fleet")]
pub(crate) use waiting::while_waiting;

/// Signals this close together ask once: `timeout` signals a process and then its group, a manager of services all that it has started.
const TOGETHER: Duration = Duration::from_millis(500);

/// Makes each signal ask `cancel`, and end the program when they come again.
pub(crate) fn watch(cancel: &Cancel) -> std::io::Result<()> {
    watch_and(cancel, leave)
}

/// The same, where something is to be done before the program ends at once: not in a handler of signals, in which next to nothing
/// may be done, but on a thread.
pub(crate) fn watch_and(cancel: &Cancel, leave: impl Fn() + Send + 'static) -> std::io::Result<()> {
    #[cfg(feature = "fleet")]
    waiting::forget();
    heed(cancel, leave).map(drop)
}

/// Heeds signals on a thread, until the handle is closed.
fn heed(cancel: &Cancel, leave: impl Fn() + Send + 'static) -> std::io::Result<Handle> {
    let mut signals = Signals::new(heeded())?;
    let (handle, cancel) = (signals.handle(), cancel.clone());
    let watching = std::thread::Builder::new().name("dyno-signals".into());
    watching.spawn(move || {
        let mut asked: Option<Instant> = None;
        for _ in signals.forever() {
            if cancel.is_cancelled() && asked.is_none_or(|asked| asked.elapsed() >= TOGETHER) {
                leave();
            }
            asked.get_or_insert_with(Instant::now);
            cancel.cancel();
        }
    })?;
    Ok(handle)
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
