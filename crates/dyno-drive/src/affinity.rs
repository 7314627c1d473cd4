//! Assigns sessions to threads, where the server's processes run on this machine too.
//!
//! A message to a process on another processor costs an interrupt there and moves shared data between caches.
//! With 4 sessions on 2 processors, operations took twice the client's time when threads and their server
//! processes were mixed, and the mix persisted. So each thread starts on a processor of its own and gets the
//! sessions whose server processes run there, with equal numbers for all threads. The other server processes
//! are woken on the thread's processor.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use dyno_plan::Placement;
use dyno_record::ThreadPlacement;
use parking_lot::{Condvar, Mutex};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::state::SessionState;

/// Requests after which a server process that has not moved stays where it is.
const CALLS_MAX: u32 = 8;
/// The most sessions whose server processes are moved, so that all have moved when the gate opens.
const CALLED_MAX: usize = 64;
/// How often a thread that waits for the others reads the clock.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The sessions of a thread; boxed, because they change threads and are large.
pub(crate) type States = Vec<Box<SessionState>>;

/// The place of one thread in the assignment.
pub(crate) struct ThreadAffinity {
    /// The thread's number, from 0.
    pub(crate) thread: usize,
    /// The state that all threads share.
    pub(crate) all: Arc<Affinity>,
}

/// Collects the sessions of all threads and gives each thread those whose servers are near.
pub(crate) struct Affinity {
    threads: usize,
    /// The processor of each thread; empty where there are too few processors.
    processors: Vec<usize>,
    exchange: Mutex<Exchange>,
    assigned: Condvar,
    /// The thread whose turn it is to wake its servers.
    calls: AtomicUsize,
    /// The counts of [`ThreadPlacement`]: pinned threads, sessions with a known processor, sessions on their
    /// thread's processor.
    placed: [AtomicU32; 3],
}

#[derive(Default)]
struct Exchange {
    /// The sessions that each thread brought, and later gets.
    states: Vec<(usize, States)>,
    arrived: usize,
}

impl ThreadAffinity {
    /// Exchanges `states` for as many others, and pins the thread to its processor as long as the returned
    /// guard lives. Every thread must call this once. It returns when all have, or when it is `late`.
    pub(crate) fn settle(&self, states: States, late: &dyn Fn() -> bool) -> (States, Option<PinnedThread>) {
        let all = &self.all;
        if all.processors.is_empty() {
            all.count_placement(&states, None);
            return (states, None);
        }
        let mut states = all.exchange(self.thread, states, late);
        // With a remote server, the scheduler places threads as well as Dyno could.
        let has_local_server = states.iter().any(|state| state.processor.is_some());
        let pinned = has_local_server.then(|| PinnedThread::on(all.processors[self.thread])).flatten();
        for thread in 0..all.threads {
            if thread == self.thread {
                self.wake_remote_servers(&mut states, late);
                all.calls.store(thread + 1, Ordering::Release);
            }
            // No thread may sleep here: a woken server process would move to the idle processor.
            while all.calls.load(Ordering::Acquire) <= thread && !late() {
                std::hint::spin_loop();
            }
        }
        all.count_placement(&states, pinned.as_ref().map(|_| all.processors[self.thread]));
        (states, pinned)
    }

    /// Sends a request to each session whose server process is elsewhere. The process then wakes near the
    /// calling thread.
    fn wake_remote_servers(&self, states: &mut States, late: &dyn Fn() -> bool) {
        let thread_processor = self.all.processors[self.thread];
        let away = states
            .iter_mut()
            .filter(|state| state.processor.is_some_and(|processor| processor != thread_processor));
        for state in away.take(CALLED_MAX) {
            for _ in 0..CALLS_MAX {
                if late() || !state.ping(late) || state.session.server_processor() == Some(thread_processor) {
                    break;
                }
            }
        }
    }
}

impl Affinity {
    /// For this many threads, placed as the plan says.
    pub(crate) fn of(threads: usize, placement: Placement) -> Self {
        match placement {
            Placement::Auto => Self::on(threads, allowed()),
            Placement::None => Self::on(threads, Vec::new()),
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Where threads and the server processes of their sessions were when the gate opened.
    pub(crate) fn placed(&self) -> ThreadPlacement {
        let [kept, told, beside] = [0, 1, 2].map(|at| self.placed[at].load(Ordering::Acquire));
        ThreadPlacement { kept, told, beside }
    }

    /// Counts the sessions of a thread that is pinned to `pinned_processor`, if it is.
    fn count_placement(&self, states: &States, pinned_processor: Option<usize>) {
        let now = states.iter().filter_map(|state| state.session.server_processor());
        let now: Vec<usize> = now.collect();
        let beside = now.iter().filter(|at| Some(**at) == pinned_processor).count();
        let counts = [usize::from(pinned_processor.is_some()), now.len(), beside];
        for (sum, count) in self.placed.iter().zip(counts) {
            sum.fetch_add(count as u32, Ordering::AcqRel);
        }
    }

    fn on(threads: usize, processors: Vec<usize>) -> Self {
        let enough = threads > 1 && processors.len() >= threads;
        Self {
            threads,
            processors: if enough { processors } else { Vec::new() },
            exchange: Mutex::default(),
            assigned: Condvar::new(),
            calls: AtomicUsize::new(0),
            placed: Default::default(),
        }
    }

    /// Exchanges `states` for as many others once all threads are there. Returns the same ones if some are
    /// missing when it is `late`, for example because the run was stopped.
    fn exchange(&self, thread: usize, states: States, late: &dyn Fn() -> bool) -> States {
        let mut exchange = self.exchange.lock();
        exchange.states.push((thread, states));
        exchange.arrived += 1;
        if exchange.arrived == self.threads {
            exchange.assign(&self.processors);
            self.assigned.notify_all();
        }
        while exchange.arrived < self.threads && !late() {
            self.assigned.wait_for(&mut exchange, LOOK_EVERY);
        }
        let at = exchange.states.iter().position(|(of, _)| *of == thread);
        at.map(|at| exchange.states.swap_remove(at).1).unwrap_or_default()
    }
}

impl Exchange {
    fn assign(&mut self, processors: &[usize]) {
        self.states.sort_by_key(|(thread, _)| *thread);
        let sizes: Vec<usize> = self.states.iter().map(|(_, states)| states.len()).collect();
        let all: States = self.states.iter_mut().flat_map(|(_, states)| std::mem::take(states)).collect();
        let thread_on = |at: usize| processors.iter().position(|processor| *processor == at);
        let near: Vec<Option<usize>> = all.iter().map(|state| state.processor.and_then(thread_on)).collect();
        for (state, thread) in all.into_iter().zip(assign(&near, &sizes)) {
            self.states[thread].1.push(state);
        }
        for (_, states) in &mut self.states {
            states.sort_by_key(|state| state.worker.setup.number);
        }
    }
}

/// The thread for each session: the near one while it has room, else the first with room. `sizes` are the
/// threads' numbers of sessions; their sum is the number of sessions.
fn assign(near: &[Option<usize>], sizes: &[usize]) -> Vec<usize> {
    let mut room = sizes.to_vec();
    let mut take = |thread: usize| {
        let free = room.get_mut(thread).filter(|free| **free > 0)?;
        *free -= 1;
        Some(thread)
    };
    let first: Vec<Option<usize>> = near.iter().map(|near| near.and_then(&mut take)).collect();
    first
        .into_iter()
        .map(|thread| thread.or_else(|| (0..sizes.len()).find_map(&mut take)).expect("there is room for all"))
        .collect()
}

/// The processors that this process may use, in order.
fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Pins the calling thread to one processor.
pub(crate) struct PinnedThread(CpuSet);

impl PinnedThread {
    /// Pins it to `processor`; `None` where the system refuses.
    fn on(processor: usize) -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let mut cpu_set = CpuSet::new();
        cpu_set.set(processor);
        sched_setaffinity(None, &cpu_set).ok()?;
        Some(Self(before))
    }
}

impl Drop for PinnedThread {
    fn drop(&mut self) {
        // Without this, the thread stays pinned, which is no worse than before.
        let _ = sched_setaffinity(None, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sessions_are_placed_near_their_servers_while_slots_last() {
        assert_eq!(assign(&[Some(1), Some(0), Some(1), Some(0)], &[2, 2]), [1, 0, 1, 0]);
        assert_eq!(assign(&[Some(1), Some(1), Some(1), None], &[2, 2]), [1, 1, 0, 0]);
        assert_eq!(assign(&[Some(7), None], &[1, 1]), [0, 1]);
    }

    #[test]
    fn threads_wait_for_each_other_until_the_run_stops() {
        let affinity = |thread, all: &Arc<Affinity>| ThreadAffinity { thread, all: Arc::clone(all) };
        let shared_affinity = Arc::new(Affinity::on(2, vec![0, 1]));
        std::thread::scope(|scope| {
            scope.spawn(|| affinity(0, &shared_affinity).settle(Vec::new(), &|| false));
            scope.spawn(|| affinity(1, &shared_affinity).settle(Vec::new(), &|| false));
        });
        assert_eq!(shared_affinity.calls.load(Ordering::Acquire), 2);

        // The run is stopped while the gate opens: the other thread never arrives.
        let alone = Arc::new(Affinity::on(2, vec![0, 1]));
        let looks = AtomicUsize::new(0);
        affinity(0, &alone).settle(Vec::new(), &|| looks.fetch_add(1, Ordering::Relaxed) > 2);
        assert_eq!(alone.exchange.lock().arrived, 1);
        assert!(Affinity::on(2, vec![0]).processors.is_empty(), "one processor is nobody's own");
    }

    proptest! {
        #[test]
        fn affinity_keeps_session_count_of_each_thread(
            near in prop::collection::vec(prop::option::of(0..6usize), 0..60), threads in 1..5usize,
        ) {
            let sizes: Vec<usize> = (0..threads).map(|thread| near.len() / threads + usize::from(thread < near.len() % threads)).collect();
            let assigned = assign(&near, &sizes);
            for (thread, size) in sizes.iter().enumerate() {
                prop_assert_eq!(assigned.iter().filter(|at| **at == thread).count(), *size);
            }
        }
    }
}
