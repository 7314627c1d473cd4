//! The state that sessions and coordinator share: phase, gate, window boundaries, and failure.
//!
//! Sessions read one atomic per operation, and nothing else until it changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::thread::Thread;

use parking_lot::{Condvar, Mutex};

use crate::poll::PollWaker;

/// The phase of a run. It only moves forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum DrivePhase {
    /// Sessions work, but nothing counts.
    Warmup,
    /// The window has begun, but its begin snapshot has not arrived: work that ends from now on counts, and
    /// sessions keep their work visible to the database's counters.
    Opening,
    /// The window is open: all work counts.
    Window,
    /// The window is over, but its end snapshot has not arrived: sessions work on and keep their work
    /// visible, but nothing counts.
    Closing,
    /// Sessions end after their current operation.
    Stop,
}

#[derive(Debug)]
pub(crate) struct SharedRunState {
    phase: AtomicU8,
    gate: Mutex<Gate>,
    gate_moved: Condvar,
    started: AtomicU32,
    at_edge: [AtomicU32; 2],
    reached_ops: AtomicU32,
    origin_ns: AtomicU64,
    /// Overhead transactions of the sessions, target by target.
    overhead: Vec<AtomicI64>,
    /// When each session last published its work; the maximum for sessions whose work is always visible.
    shown_ns: Vec<AtomicU64>,
    called_in: AtomicBool,
    broken_off: AtomicBool,
    failure: Mutex<Option<String>>,
    sleepers: Mutex<Vec<Sleeper>>,
}

/// A sleeping thread that must be woken when the phase changes.
#[derive(Debug)]
pub(crate) enum Sleeper {
    /// The thread of one session.
    Thread(Thread),
    /// A thread that runs several sessions.
    SessionWaker(Arc<PollWaker>),
}

#[derive(Debug, Default)]
struct Gate {
    ready: u32,
    gone: u32,
    connecting: u32,
    opens_ns: Option<u64>,
    closed: bool,
}

/// The most sessions that connect at the same time; with more, the listen queue would be measured.
const CONNECTING_MAX: u32 = 32;

impl SharedRunState {
    /// For this many `targets`, and sessions that publish their work on request where `publishes`, or show it
    /// at once.
    pub(crate) fn new(targets: usize, publishes: &[bool]) -> Self {
        Self {
            phase: AtomicU8::new(DrivePhase::Warmup as u8),
            gate: Mutex::default(),
            gate_moved: Condvar::new(),
            started: AtomicU32::new(0),
            at_edge: [AtomicU32::new(0), AtomicU32::new(0)],
            reached_ops: AtomicU32::new(0),
            origin_ns: AtomicU64::new(0),
            overhead: (0..targets).map(|_| AtomicI64::new(0)).collect(),
            shown_ns: publishes.iter().map(|&one| AtomicU64::new(if one { 0 } else { u64::MAX })).collect(),
            called_in: AtomicBool::new(false),
            broken_off: AtomicBool::new(false),
            failure: Mutex::new(None),
            sleepers: Mutex::default(),
        }
    }

    /// The present phase of the run.
    #[inline]
    pub(crate) fn phase(&self) -> DrivePhase {
        match self.phase.load(Ordering::Acquire) {
            0 => DrivePhase::Warmup,
            1 => DrivePhase::Opening,
            2 => DrivePhase::Window,
            3 => DrivePhase::Closing,
            _ => DrivePhase::Stop,
        }
    }

    pub(crate) fn enter(&self, phase: DrivePhase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
    }

    /// Opens the window's time scale at `now_ns`, just before the phase moves to [`DrivePhase::Opening`].
    pub(crate) fn set_origin(&self, now_ns: u64) {
        self.origin_ns.store(now_ns, Ordering::Release);
    }

    /// The origin of the window's intervals.
    pub(crate) fn origin_ns(&self) -> u64 {
        self.origin_ns.load(Ordering::Acquire)
    }

    /// Waits for a session's turn to connect; false if the run has ended meanwhile.
    pub(crate) fn begin_connect(&self) -> bool {
        let mut gate = self.gate.lock();
        while gate.connecting >= CONNECTING_MAX && !gate.closed {
            self.gate_moved.wait(&mut gate);
        }
        gate.connecting += 1;
        !gate.closed
    }

    /// Notes that a session has connected and prepared, or failed to.
    pub(crate) fn end_connect(&self, ready: bool) {
        let mut gate = self.gate.lock();
        gate.connecting -= 1;
        if ready {
            gate.ready += 1;
        } else {
            gate.gone += 1;
        }
        self.gate_moved.notify_all();
    }

    /// Number of sessions that are ready, and of those that failed.
    pub(crate) fn readiness(&self) -> (u32, u32) {
        let gate = self.gate.lock();
        (gate.ready, gate.gone)
    }

    /// Opens the gate: every session starts at `opens_ns`.
    pub(crate) fn open_gate(&self, opens_ns: u64) {
        self.gate.lock().opens_ns = Some(opens_ns);
        self.gate_moved.notify_all();
    }

    /// Ends the run for sessions that have not passed the gate.
    pub(crate) fn close_gate(&self) {
        self.gate.lock().closed = true;
        self.gate_moved.notify_all();
    }

    /// Waits at the gate; returns the common start, or `None` if the run ended before it.
    pub(crate) fn wait_gate(&self) -> Option<u64> {
        let mut gate = self.gate.lock();
        loop {
            if gate.closed {
                return None;
            }
            if let Some(opens_ns) = gate.opens_ns {
                return Some(opens_ns);
            }
            self.gate_moved.wait(&mut gate);
        }
    }

    /// When the gate opens, if that is already decided.
    pub(crate) fn opens_ns(&self) -> Option<u64> {
        self.gate.lock().opens_ns
    }

    pub(crate) fn note_started(&self) {
        self.started.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn started(&self) -> u32 {
        self.started.load(Ordering::Acquire)
    }

    /// Notes that a session has reached the begin (0) or the end (1) of the window.
    pub(crate) fn note_boundary(&self, edge: usize) {
        self.at_edge[edge].fetch_add(1, Ordering::AcqRel);
    }

    /// Number of sessions that have reached the begin (0) or the end (1) of the window.
    pub(crate) fn at_boundary(&self, edge: usize) -> u32 {
        self.at_edge[edge].load(Ordering::Acquire)
    }

    /// Adds overhead transactions of a session of the target at `target`.
    pub(crate) fn add_overhead(&self, target: usize, commits: i64) {
        if let Some(sum) = self.overhead.get(target) {
            sum.fetch_add(commits, Ordering::AcqRel);
        }
    }

    /// Notes that the work of session `number` is visible at `now_ns`.
    pub(crate) fn note_visible(&self, number: u32, now_ns: u64) {
        if let Some(shown_ns) = self.shown_ns.get(number as usize) {
            shown_ns.fetch_max(now_ns, Ordering::AcqRel);
        }
    }

    /// Whether every session has published its work up to `since_ns`.
    pub(crate) fn all_visible_since(&self, since_ns: u64) -> bool {
        self.shown_ns.iter().all(|shown_ns| shown_ns.load(Ordering::Acquire) >= since_ns)
    }

    /// The earliest of the times at which publishing sessions last did so; the maximum if none publishes.
    pub(crate) fn shown_ns_min(&self) -> u64 {
        self.shown_ns.iter().map(|shown_ns| shown_ns.load(Ordering::Acquire)).min().unwrap_or(u64::MAX)
    }

    /// The mean of the times at which publishing sessions last did so; `None` if none publishes.
    pub(crate) fn shown_mean_of_part_ns(&self) -> Option<u64> {
        let shown = || self.shown_ns.iter().map(|shown_ns| shown_ns.load(Ordering::Acquire));
        let (sum, count) = shown()
            .filter(|shown_ns| *shown_ns < u64::MAX)
            .fold((0u128, 0u128), |(sum, count), shown_ns| (sum + u128::from(shown_ns), count + 1));
        (count > 0).then(|| (sum / count) as u64)
    }

    /// The mean of the times at which sessions last published their work.
    pub(crate) fn mean_visible_ns(&self) -> u64 {
        let sum: u128 =
            self.shown_ns.iter().map(|shown_ns| u128::from(shown_ns.load(Ordering::Acquire))).sum();
        (sum / self.shown_ns.len().max(1) as u128) as u64
    }

    /// Overhead transactions of a target's sessions so far.
    pub(crate) fn overhead(&self, target: usize) -> i64 {
        self.overhead.get(target).map_or(0, |sum| sum.load(Ordering::Acquire))
    }

    /// Notes that a session has done the operations that the plan asks of each.
    pub(crate) fn note_reached_ops(&self) {
        self.reached_ops.fetch_add(1, Ordering::AcqRel);
    }

    /// Number of sessions that have done the operations that the plan asks of each.
    pub(crate) fn reached_ops(&self) -> u32 {
        self.reached_ops.load(Ordering::Acquire)
    }

    /// Notes that this side is about to close the connections of sessions that have not ended.
    pub(crate) fn note_broken_off(&self) {
        self.broken_off.store(true, Ordering::Release);
    }

    /// Whether this side closes the connections of sessions that have not ended.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.broken_off.load(Ordering::Acquire)
    }

    /// Asks threads to send the results of all their sessions: the coordinator no longer waits for those that
    /// have not ended.
    pub(crate) fn request_early_results(&self) {
        self.called_in.store(true, Ordering::Release);
    }

    /// Whether threads are to send their results now.
    pub(crate) fn early_results_requested(&self) -> bool {
        self.called_in.load(Ordering::Acquire)
    }

    /// Registers `sleeper`, which [`SharedRunState::wake`] wakes from now on.
    pub(crate) fn add_sleeper(&self, sleeper: Sleeper) {
        self.sleepers.lock().push(sleeper);
    }

    /// Removes the registration of the calling thread.
    pub(crate) fn remove_sleeper(&self) {
        let current_thread = std::thread::current().id();
        self.sleepers
            .lock()
            .retain(|sleeper| !matches!(sleeper, Sleeper::Thread(thread) if thread.id() == current_thread));
    }

    /// Wakes all threads that sleep until their next operation is due.
    pub(crate) fn wake(&self) {
        for sleeper in self.sleepers.lock().iter() {
            match sleeper {
                Sleeper::Thread(thread) => thread.unpark(),
                Sleeper::SessionWaker(bell) => bell.wake(),
            }
        }
    }

    /// Ends the run as failed; only the first reason is kept.
    pub(crate) fn fail(&self, reason: String) {
        self.failure.lock().get_or_insert(reason);
    }

    /// Why the run has failed, if it has.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_only_move_forward() {
        let shared = SharedRunState::new(1, &[]);
        shared.enter(DrivePhase::Stop);
        shared.enter(DrivePhase::Window);
        assert_eq!(shared.phase(), DrivePhase::Stop);
    }

    #[test]
    fn first_failure_is_reported_as_reason() {
        let shared = SharedRunState::new(1, &[]);
        shared.fail("first".into());
        shared.fail("second".into());
        assert_eq!(shared.failure().as_deref(), Some("first"));
    }

    #[test]
    fn closed_gate_admits_no_session() {
        let shared = SharedRunState::new(1, &[]);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| shared.wait_gate());
            shared.close_gate();
            assert_eq!(waiter.join().unwrap(), None);
        });
    }

    #[test]
    fn open_gate_gives_all_waiters_the_same_start() {
        let shared = SharedRunState::new(1, &[]);
        std::thread::scope(|scope| {
            let waiters: Vec<_> = (0..8).map(|_| scope.spawn(|| shared.wait_gate())).collect();
            shared.open_gate(77);
            for waiter in waiters {
                assert_eq!(waiter.join().unwrap(), Some(77));
            }
        });
    }
}
