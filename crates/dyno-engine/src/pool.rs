//! Several connections that work off one list of jobs, and can be stopped at any time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::error::{TargetError, TargetErrorKind};
use crate::load::Cancel;

/// How often the user's wish to stop is looked for.
const WATCH_EVERY: Duration = Duration::from_millis(20);

/// Looks between two requests to the server to break off; one can come between two statements and hit nothing.
const LOOKS_PER_REQUEST: u32 = 25;

/// Breaks off whatever a connection does, from another thread; a connection that is gone needs no breaking off.
pub type BreakOff = Box<dyn Fn() + Send>;

/// Connections of one engine for loading.
pub trait Loaders: Sync {
    /// One connection.
    type Connection;

    /// Opens one, with what breaks it off.
    fn open(&self) -> Result<(Self::Connection, BreakOff), TargetError>;

    /// Ends one in the protocol's own way.
    fn close(&self, connection: Self::Connection);
}

/// Does one job, given its number, on a connection.
type Job<'a, C> = dyn Fn(&mut C, usize) -> Result<(), TargetError> + Sync + 'a;

/// What the workers share.
struct Shared {
    next: AtomicUsize,
    stop: AtomicBool,
    failed: Mutex<Option<TargetError>>,
    break_offs: Mutex<Vec<BreakOff>>,
}

/// Does jobs `0..jobs` on at most `parallel` connections: `work(connection, job)`.
///
/// # Errors
/// The first error of any job, after all others were broken off; `Cancelled` if the user asked to stop.
pub fn run<L: Loaders>(
    loaders: &L,
    parallel: u32,
    jobs: usize,
    cancel: &Cancel,
    work: &Job<'_, L::Connection>,
) -> Result<(), TargetError> {
    let shared = Shared {
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(cancel.is_cancelled()),
        failed: Mutex::new(None),
        break_offs: Mutex::new(Vec::new()),
    };
    let workers = jobs.min(parallel.max(1) as usize);
    std::thread::scope(|scope| {
        let (ended, all_ended) = channel::<()>();
        for _ in 0..workers {
            let (shared, ended) = (&shared, ended.clone());
            scope.spawn(move || {
                if let Err(error) = worker(loaders, jobs, shared, work) {
                    shared.stop.store(true, Ordering::Relaxed);
                    // The first one is the cause, and what follows is what breaking off the others looks like.
                    lock(&shared.failed).get_or_insert(error);
                }
                drop(ended);
            });
        }
        drop(ended);
        let mut looks = 0;
        // The channel carries nothing; it disconnects when the last worker has ended.
        while all_ended.recv_timeout(WATCH_EVERY) == Err(RecvTimeoutError::Timeout) {
            if cancel.is_cancelled() {
                shared.stop.store(true, Ordering::Relaxed);
            }
            if shared.stop.load(Ordering::Relaxed) {
                if looks % LOOKS_PER_REQUEST == 0 {
                    lock(&shared.break_offs).iter().for_each(|break_off| break_off());
                }
                looks += 1;
            }
        }
    });
    if cancel.is_cancelled() {
        return Err(cancelled());
    }
    lock(&shared.failed).take().map_or(Ok(()), Err)
}

/// The error of a load that the user stopped.
pub fn cancelled() -> TargetError {
    TargetError::new(TargetErrorKind::Cancelled, "the load was stopped before its end")
        .hint("load again to resume it, or drop what is there")
}

fn worker<L: Loaders>(
    loaders: &L,
    jobs: usize,
    shared: &Shared,
    work: &Job<'_, L::Connection>,
) -> Result<(), TargetError> {
    if shared.stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    let (mut connection, break_off) = loaders.open()?;
    lock(&shared.break_offs).push(break_off);
    while !shared.stop.load(Ordering::Relaxed) {
        let job = shared.next.fetch_add(1, Ordering::Relaxed);
        if job >= jobs {
            break;
        }
        work(&mut connection, job)?;
    }
    loaders.close(connection);
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // What is behind these locks is whole at every moment, so a panic elsewhere does not spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
