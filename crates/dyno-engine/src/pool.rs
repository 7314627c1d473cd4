//! Executes a list of jobs over several connections; they can be stopped at any time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::{TargetError, TargetErrorKind};
use crate::load::Cancel;

/// How often the pool checks whether the user wants to stop.
const WATCH_EVERY: Duration = Duration::from_millis(20);

/// Checks between two requests to interrupt. A single request could come between two statements and have no
/// effect.
const LOOKS_PER_REQUEST: u32 = 25;

/// Interrupts whatever a connection does, from another thread. A closed connection needs no interruption.
pub type InterruptFn = Box<dyn Fn() + Send>;

/// Opens and closes an engine's connections for loading.
pub trait LoadConnector: Sync {
    /// The engine's type of one connection.
    type Connection;

    /// Opens a connection; also returns the function that interrupts it.
    fn open(&self) -> Result<(Self::Connection, InterruptFn), TargetError>;

    /// Closes a connection in the protocol's own way.
    fn close(&self, connection: Self::Connection);
}

/// Does the job with this number on a connection.
type Job<'a, C> = dyn Fn(&mut C, usize) -> Result<(), TargetError> + Sync + 'a;

/// The state that all workers share.
struct Shared {
    next: AtomicUsize,
    stop: AtomicBool,
    failed: Mutex<Option<TargetError>>,
    break_offs: Mutex<Vec<InterruptFn>>,
}

/// Does jobs `0..jobs` on at most `parallel` connections: `work(connection, job)`.
///
/// # Errors
/// The first error of any job, after all others were interrupted; `Cancelled` if the user asked to stop.
pub fn run<L: LoadConnector>(
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
                    // The first error is the cause; later ones result from interrupting the other
                    // connections.
                    shared.failed.lock().get_or_insert(error);
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
                    shared.break_offs.lock().iter().for_each(|break_off| break_off());
                }
                looks += 1;
            }
        }
    });
    if cancel.is_cancelled() {
        return Err(cancelled());
    }
    shared.failed.lock().take().map_or(Ok(()), Err)
}

/// The error of a load that the user stopped.
pub fn cancelled() -> TargetError {
    TargetError::new(TargetErrorKind::Cancelled, "the load was stopped before it finished")
        .hint("load again to resume it, or drop the loaded data")
}

fn worker<L: LoadConnector>(
    loaders: &L,
    jobs: usize,
    shared: &Shared,
    work: &Job<'_, L::Connection>,
) -> Result<(), TargetError> {
    if shared.stop.load(Ordering::Relaxed) {
        return Ok(());
    }
    let (mut connection, break_off) = loaders.open()?;
    shared.break_offs.lock().push(break_off);
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
