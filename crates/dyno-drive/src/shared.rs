//! What the sessions and their coordinator share: the phase, the gate, the edges of the window, and failure.
//!
//! Sessions look at one atomic per operation and at nothing else until it changes.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use crate::poll::Bell;

/// Where a run is. Only ever moves forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Sessions work, and nothing counts.
    Warmup,
    /// The window has begun, and its begin snapshot is not there yet: what ends from now on counts, and sessions keep what
    /// they have done visible to the database's counters.
    Opening,
    /// The window: what is done counts.
    Window,
    /// The window is over, and its end snapshot is not there yet: sessions go on working, nothing counts, and what they have
    /// done is kept visible.
    Closing,
    /// Sessions end after the operation they are in.
    Stop,
}

/// One run's shared state.
#[derive(Debug)]
pub(crate) struct Shared {
    phase: AtomicU8,
    gate: Mutex<Gate>,
    gate_moved: Condvar,
    started: AtomicU32,
    at_edge: [AtomicU32; 2],
    reached_ops: AtomicU32,
    origin_ns: AtomicU64,
    /// Transactions of sessions that were no operations, target by target.
    overhead: Vec<AtomicI64>,
    /// When each session last made its work visible; for ever where it always is.
    shown_ns: Vec<AtomicU64>,
    called_in: AtomicBool,
    failure: Mutex<Option<String>>,
    sleepers: Mutex<Vec<Sleeper>>,
}

/// What sleeps until something is due, and has to be woken when the phase changes.
#[derive(Debug)]
pub(crate) enum Sleeper {
    /// One session's thread.
    Thread(Thread),
    /// A thread that leads several sessions.
    Bell(Arc<Bell>),
}

#[derive(Debug, Default)]
struct Gate {
    ready: u32,
    gone: u32,
    connecting: u32,
    opens_ns: Option<u64>,
    closed: bool,
}

/// Sessions that connect at the same time; more would measure the listen queue.
const CONNECTING_MAX: u32 = 32;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked while it held one of these locks left plain counters behind, which stay usable.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// For so many `targets`, and sessions of which each `publishes` what it has done when it is asked to, or shows it at once.
    pub(crate) fn new(targets: usize, publishes: &[bool]) -> Self {
        Self {
            phase: AtomicU8::new(Phase::Warmup as u8),
            gate: Mutex::default(),
            gate_moved: Condvar::new(),
            started: AtomicU32::new(0),
            at_edge: [AtomicU32::new(0), AtomicU32::new(0)],
            reached_ops: AtomicU32::new(0),
            origin_ns: AtomicU64::new(0),
            overhead: (0..targets).map(|_| AtomicI64::new(0)).collect(),
            shown_ns: publishes.iter().map(|&one| AtomicU64::new(if one { 0 } else { u64::MAX })).collect(),
            called_in: AtomicBool::new(false),
            failure: Mutex::new(None),
            sleepers: Mutex::default(),
        }
    }

    /// The phase now.
    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Warmup,
            1 => Phase::Opening,
            2 => Phase::Window,
            3 => Phase::Closing,
            _ => Phase::Stop,
        }
    }

    /// Moves on to `phase`.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
    }

    /// Opens the window's time scale at `now_ns`, just before the phase moves to [`Phase::Opening`].
    pub(crate) fn set_origin(&self, now_ns: u64) {
        self.origin_ns.store(now_ns, Ordering::Release);
    }

    /// The origin of the window's intervals.
    pub(crate) fn origin_ns(&self) -> u64 {
        self.origin_ns.load(Ordering::Acquire)
    }

    /// A session waits for its turn to connect; false if the run has ended meanwhile.
    pub(crate) fn begin_connect(&self) -> bool {
        let mut gate = lock(&self.gate);
        while gate.connecting >= CONNECTING_MAX && !gate.closed {
            gate = self.gate_moved.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        gate.connecting += 1;
        !gate.closed
    }

    /// A session has connected and prepared, or failed to.
    pub(crate) fn end_connect(&self, ready: bool) {
        let mut gate = lock(&self.gate);
        gate.connecting -= 1;
        if ready {
            gate.ready += 1;
        } else {
            gate.gone += 1;
        }
        self.gate_moved.notify_all();
    }

    /// Sessions that are ready, and sessions that failed to be.
    pub(crate) fn readiness(&self) -> (u32, u32) {
        let gate = lock(&self.gate);
        (gate.ready, gate.gone)
    }

    /// Opens the gate: every session starts at `opens_ns`.
    pub(crate) fn open_gate(&self, opens_ns: u64) {
        lock(&self.gate).opens_ns = Some(opens_ns);
        self.gate_moved.notify_all();
    }

    /// Ends the run for sessions that have not passed the gate.
    pub(crate) fn close_gate(&self) {
        lock(&self.gate).closed = true;
        self.gate_moved.notify_all();
    }

    /// A session waits at the gate; returns the common start, or `None` if the run ended before it.
    pub(crate) fn wait_gate(&self) -> Option<u64> {
        let mut gate = lock(&self.gate);
        loop {
            if gate.closed {
                return None;
            }
            if let Some(opens_ns) = gate.opens_ns {
                return Some(opens_ns);
            }
            gate = self.gate_moved.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// When the gate opens, if that is known yet.
    pub(crate) fn opens_ns(&self) -> Option<u64> {
        lock(&self.gate).opens_ns
    }

    /// A session has started.
    pub(crate) fn note_started(&self) {
        self.started.fetch_add(1, Ordering::AcqRel);
    }

    /// Sessions that have started.
    pub(crate) fn started(&self) -> u32 {
        self.started.load(Ordering::Acquire)
    }

    /// A session has reached the begin (0) or the end (1) of the window.
    pub(crate) fn note_edge(&self, edge: usize) {
        self.at_edge[edge].fetch_add(1, Ordering::AcqRel);
    }

    /// Sessions that have reached the begin (0) or the end (1) of the window.
    pub(crate) fn at_edge(&self, edge: usize) -> u32 {
        self.at_edge[edge].load(Ordering::Acquire)
    }

    /// A session of the target at `target` has run so many transactions that were no operations.
    pub(crate) fn add_overhead(&self, target: usize, commits: i64) {
        if let Some(sum) = self.overhead.get(target) {
            sum.fetch_add(commits, Ordering::AcqRel);
        }
    }

    /// What session `number` has done is visible at `now_ns`.
    pub(crate) fn note_shown(&self, number: u32, now_ns: u64) {
        if let Some(shown_ns) = self.shown_ns.get(number as usize) {
            shown_ns.fetch_max(now_ns, Ordering::AcqRel);
        }
    }

    /// Whether every session has made visible what it had done at `since_ns`.
    pub(crate) fn all_shown(&self, since_ns: u64) -> bool {
        self.shown_ns.iter().all(|shown_ns| shown_ns.load(Ordering::Acquire) >= since_ns)
    }

    /// When the last session that has to make its work visible did, at the earliest; the largest number where none has to.
    pub(crate) fn shown_ns_min(&self) -> u64 {
        self.shown_ns.iter().map(|shown_ns| shown_ns.load(Ordering::Acquire)).min().unwrap_or(u64::MAX)
    }

    /// When those that have to make their work visible did, on average; nothing where none has to.
    pub(crate) fn shown_mean_of_part_ns(&self) -> Option<u64> {
        let shown = || self.shown_ns.iter().map(|shown_ns| shown_ns.load(Ordering::Acquire));
        let (sum, count) = shown()
            .filter(|shown_ns| *shown_ns < u64::MAX)
            .fold((0u128, 0u128), |(sum, count), shown_ns| (sum + u128::from(shown_ns), count + 1));
        (count > 0).then(|| (sum / count) as u64)
    }

    /// When sessions made visible what they had done, on average.
    pub(crate) fn shown_ns_mean(&self) -> u64 {
        let sum: u128 =
            self.shown_ns.iter().map(|shown_ns| u128::from(shown_ns.load(Ordering::Acquire))).sum();
        (sum / self.shown_ns.len().max(1) as u128) as u64
    }

    /// Transactions of the sessions of a target, so far, that were no operations.
    pub(crate) fn overhead(&self, target: usize) -> i64 {
        self.overhead.get(target).map_or(0, |sum| sum.load(Ordering::Acquire))
    }

    /// A session has done the operations that the plan asks of each.
    pub(crate) fn note_reached_ops(&self) {
        self.reached_ops.fetch_add(1, Ordering::AcqRel);
    }

    /// Sessions that have done the operations that the plan asks of each.
    pub(crate) fn reached_ops(&self) -> u32 {
        self.reached_ops.load(Ordering::Acquire)
    }

    /// Nobody waits any more for sessions that have not ended: threads hand in what all of theirs have done so far.
    pub(crate) fn call_in(&self) {
        self.called_in.store(true, Ordering::Release);
    }

    /// Whether threads are to hand in what they have.
    pub(crate) fn is_called_in(&self) -> bool {
        self.called_in.load(Ordering::Acquire)
    }

    /// From now on [`Shared::wake`] wakes `sleeper`.
    pub(crate) fn enlist(&self, sleeper: Sleeper) {
        lock(&self.sleepers).push(sleeper);
    }

    /// Ends what the calling thread enlisted.
    pub(crate) fn discharge(&self) {
        let here = std::thread::current().id();
        lock(&self.sleepers)
            .retain(|sleeper| !matches!(sleeper, Sleeper::Thread(thread) if thread.id() == here));
    }

    /// Wakes everything that sleeps until its next operation is due.
    pub(crate) fn wake(&self) {
        for sleeper in lock(&self.sleepers).iter() {
            match sleeper {
                Sleeper::Thread(thread) => thread.unpark(),
                Sleeper::Bell(bell) => bell.ring(),
            }
        }
    }

    /// Ends the run as failed; the first reason is kept.
    pub(crate) fn fail(&self, reason: String) {
        lock(&self.failure).get_or_insert(reason);
    }

    /// Why the run has failed, if it has.
    pub(crate) fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_only_move_forward() {
        let shared = Shared::new(1, &[]);
        shared.enter(Phase::Stop);
        shared.enter(Phase::Window);
        assert_eq!(shared.phase(), Phase::Stop);
    }

    #[test]
    fn the_first_failure_is_the_reason() {
        let shared = Shared::new(1, &[]);
        shared.fail("first".into());
        shared.fail("second".into());
        assert_eq!(shared.failure().as_deref(), Some("first"));
    }

    #[test]
    fn a_closed_gate_lets_nobody_through() {
        let shared = Shared::new(1, &[]);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| shared.wait_gate());
            shared.close_gate();
            assert_eq!(waiter.join().unwrap(), None);
        });
    }

    #[test]
    fn an_open_gate_tells_everyone_the_same_start() {
        let shared = Shared::new(1, &[]);
        std::thread::scope(|scope| {
            let waiters: Vec<_> = (0..8).map(|_| scope.spawn(|| shared.wait_gate())).collect();
            shared.open_gate(77);
            for waiter in waiters {
                assert_eq!(waiter.join().unwrap(), Some(77));
            }
        });
    }
}
