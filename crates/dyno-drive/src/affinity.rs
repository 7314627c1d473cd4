//! Which thread leads which session, where the server's processes run on this machine too.
//!
//! A message to a process on another processor costs an interrupt of that processor and moves what both share between
//! their caches: with 4 sessions on 2 processors, operations took twice the client's time where threads and the processes
//! they talk to were mixed, and it stays as it begins. So each thread begins on a processor of its own and gets the sessions
//! whose server processes are there, as far as all threads get the same number; the others are called over.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use dyno_plan::Placement;
use dyno_record::Placed;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::state::SessionState;

/// Questions after which a server process that has not come stays where it is.
const CALLS_MAX: u32 = 8;
/// Sessions that are called at most, so that all have come when the gate opens.
const CALLED_MAX: usize = 64;
/// How often a thread that waits for the others looks at the clock.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The sessions of a thread; boxed, because they change threads and are large.
pub(crate) type States = Vec<Box<SessionState>>;

/// One thread among others.
pub(crate) struct ThreadAffinity {
    /// Its number, from 0.
    pub(crate) thread: usize,
    /// What all of them share.
    pub(crate) all: Arc<Affinity>,
}

/// Where threads hand in their sessions and get those whose servers are near.
pub(crate) struct Affinity {
    threads: usize,
    /// The processor of each thread; empty where there are too few.
    processors: Vec<usize>,
    exchange: Mutex<Exchange>,
    assigned: Condvar,
    /// The thread that calls its sessions.
    calls: AtomicUsize,
    /// What [`Placed`] says: threads kept, sessions told, sessions beside.
    placed: [AtomicU32; 3],
}

#[derive(Default)]
struct Exchange {
    /// What each thread has brought, and takes again.
    states: Vec<(usize, States)>,
    arrived: usize,
}

impl ThreadAffinity {
    /// Gives `states` for as many others, and keeps the thread on its own processor until the returned guard goes.
    /// Every thread must come, once; it is over when all have, or when it is `late`.
    pub(crate) fn settle(&self, states: States, late: &dyn Fn() -> bool) -> (States, Option<Pinned>) {
        let all = &self.all;
        if all.processors.is_empty() {
            all.note(&states, None);
            return (states, None);
        }
        let mut states = all.exchange(self.thread, states, late);
        // With a server elsewhere the scheduler places threads as well as we could.
        let here = states.iter().any(|state| state.processor.is_some());
        let pinned = here.then(|| Pinned::on(all.processors[self.thread])).flatten();
        for thread in 0..all.threads {
            if thread == self.thread {
                self.call(&mut states, late);
                all.calls.store(thread + 1, Ordering::Release);
            }
            // Nobody may sleep meanwhile: a process that is called would go to the processor that is idle.
            while all.calls.load(Ordering::Acquire) <= thread && !late() {
                std::hint::spin_loop();
            }
        }
        all.note(&states, pinned.as_ref().map(|_| all.processors[self.thread]));
        (states, pinned)
    }

    /// Asks the sessions whose server processes are elsewhere something: the process wakes beside the thread that asks.
    fn call(&self, states: &mut States, late: &dyn Fn() -> bool) {
        let own = self.all.processors[self.thread];
        let away =
            states.iter_mut().filter(|state| state.processor.is_some_and(|processor| processor != own));
        for state in away.take(CALLED_MAX) {
            for _ in 0..CALLS_MAX {
                if late() || !state.call(late) || state.session.server_processor() == Some(own) {
                    break;
                }
            }
        }
    }
}

impl Affinity {
    /// For so many threads, which are placed as the plan says.
    pub(crate) fn of(threads: usize, placement: Placement) -> Self {
        match placement {
            Placement::Auto => Self::on(threads, allowed()),
            Placement::None => Self::on(threads, Vec::new()),
        }
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Where threads and the processes of their sessions were when the gate opened.
    pub(crate) fn placed(&self) -> Placed {
        let [kept, told, beside] = [0, 1, 2].map(|at| self.placed[at].load(Ordering::Acquire));
        Placed { kept, told, beside }
    }

    /// Counts the sessions of a thread that is kept on processor `own`, if it is.
    fn note(&self, states: &States, own: Option<usize>) {
        let now = states.iter().filter_map(|state| state.session.server_processor());
        let now: Vec<usize> = now.collect();
        let beside = now.iter().filter(|at| Some(**at) == own).count();
        let counts = [usize::from(own.is_some()), now.len(), beside];
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

    /// Hands in `states` and gets as many, once all threads are there; the same ones if not all have come when it is
    /// `late`, as when the run is stopped while the gate opens.
    fn exchange(&self, thread: usize, states: States, late: &dyn Fn() -> bool) -> States {
        let mut exchange = self.exchange.lock().unwrap_or_else(PoisonError::into_inner);
        exchange.states.push((thread, states));
        exchange.arrived += 1;
        if exchange.arrived == self.threads {
            exchange.assign(&self.processors);
            self.assigned.notify_all();
        }
        while exchange.arrived < self.threads && !late() {
            let waited = self.assigned.wait_timeout(exchange, LOOK_EVERY);
            exchange = waited.unwrap_or_else(PoisonError::into_inner).0;
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

/// For each session its thread: the one it is near where that has room, the others in order where there is room left.
/// `sizes` are the threads'; their sum is the number of sessions.
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

/// Keeps the calling thread on one processor.
pub(crate) struct Pinned(CpuSet);

impl Pinned {
    /// On `processor`; `None` where the system does not let us.
    fn on(processor: usize) -> Option<Self> {
        let before = sched_getaffinity(None).ok()?;
        let mut own = CpuSet::new();
        own.set(processor);
        sched_setaffinity(None, &own).ok()?;
        Some(Self(before))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Without it the thread stays where it is, which is no worse than before.
        let _ = sched_setaffinity(None, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sessions_go_where_their_servers_are_as_far_as_there_is_room() {
        assert_eq!(assign(&[Some(1), Some(0), Some(1), Some(0)], &[2, 2]), [1, 0, 1, 0]);
        assert_eq!(assign(&[Some(1), Some(1), Some(1), None], &[2, 2]), [1, 1, 0, 0]);
        assert_eq!(assign(&[Some(7), None], &[1, 1]), [0, 1]);
    }

    #[test]
    fn threads_wait_for_each_other_and_for_nobody_when_it_is_late() {
        let affinity = |thread, all: &Arc<Affinity>| ThreadAffinity { thread, all: Arc::clone(all) };
        let both = Arc::new(Affinity::on(2, vec![0, 1]));
        std::thread::scope(|scope| {
            scope.spawn(|| affinity(0, &both).settle(Vec::new(), &|| false));
            scope.spawn(|| affinity(1, &both).settle(Vec::new(), &|| false));
        });
        assert_eq!(both.calls.load(Ordering::Acquire), 2);

        // The run is stopped while the gate opens: the other thread never comes.
        let alone = Arc::new(Affinity::on(2, vec![0, 1]));
        let looks = AtomicUsize::new(0);
        affinity(0, &alone).settle(Vec::new(), &|| looks.fetch_add(1, Ordering::Relaxed) > 2);
        assert_eq!(alone.exchange.lock().unwrap().arrived, 1);
        assert!(Affinity::on(2, vec![0]).processors.is_empty(), "one processor is nobody's own");
    }

    proptest! {
        #[test]
        fn every_thread_keeps_its_number(
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
