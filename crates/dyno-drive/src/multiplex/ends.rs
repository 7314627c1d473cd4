//! Opens and closes sessions that share a thread; further threads do the slow parts.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use parking_lot::Mutex;

use crate::affinity::States;
use crate::state::SessionState;
use crate::thread::STACK_BYTES;
use crate::worker::SessionWorker;

/// Further threads that connect, and later close, the sessions of one thread.
const HELPERS: usize = 8;

/// Opens all sessions, several at a time. Sessions that could not be opened have reported it and are left
/// out.
pub(super) fn connect(workers: Vec<SessionWorker>) -> States {
    let helpers = HELPERS.min(workers.len());
    let waiting = Mutex::new(workers.into_iter());
    let next = || waiting.lock().next();
    let open = || {
        let mut states = Vec::new();
        while let Some(mut worker) = next() {
            match worker.connect() {
                Some(session) => states.push(Box::new(SessionState::new(worker, session))),
                None => drop(worker.submit_results()),
            }
        }
        states
    };
    std::thread::scope(|scope| {
        let helper_threads: Vec<_> = (1..helpers)
            .filter_map(|_| {
                std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, open).ok()
            })
            .collect();
        let mut states = open();
        for helper in helper_threads {
            // A panic has been printed; its sessions never report, and the run says so.
            states.extend(helper.join().unwrap_or_default());
        }
        states.sort_by_key(|state| state.worker.setup.number);
        states
    })
}

/// Closes sessions that leave, several at a time: the server needs time to count the work of each.
pub(super) fn end_in_background(states: usize, leaving: Receiver<SessionState>) {
    let leaving = Arc::new(Mutex::new(leaving));
    for _ in 0..HELPERS.min(states) {
        let leaving = Arc::clone(&leaving);
        let finish = move || loop {
            let next = leaving.lock().recv();
            let Ok(SessionState { worker, session, .. }) = next else { return };
            worker.finish(session);
        };
        if std::thread::Builder::new().stack_size(STACK_BYTES).spawn(finish).is_err() {
            return;
        }
    }
}
