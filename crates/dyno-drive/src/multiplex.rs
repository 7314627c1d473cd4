//! Runs several sessions on one thread.
//!
//! With more sessions than processors, a client mostly pays for putting threads to sleep and waking them.
//! This thread sends the requests of one session after the other, and sleeps once for all of them.
//! Connecting, reconnecting and closing can take long; other threads do that, so that no session delays the
//! others.
//!
//! An answer that arrives while the thread is busy with other sessions waits, as a thread would wait for a
//! processor.

mod ends;
mod failures;
mod turns;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use dyno_engine::Clock;
use dyno_engine::panics::caught;

use crate::affinity::ThreadAffinity;
use crate::counts::ThreadCounts;
use crate::poll::{Poll, PollWaker};
use crate::shared::{DrivePhase, SharedRunState, Sleeper};
use crate::state::{SessionAction, SessionState};
use crate::worker::{SessionWorker, WorkerExit, WorkerMessage};

/// Time before the gate opens from which a thread stays awake: server processes would move to an idle
/// processor.
const AWAKE_NS: u64 = 500_000;
/// Sessions are assigned to threads this long before the gate opens, or stay where they are; the assignment
/// never delays the start.
const ASSIGNED_NS: u64 = 15_000_000;
/// With a rate, the most sessions of a thread that cross a window boundary at the same time; arrivals would
/// wait for Dyno's own requests otherwise. The larger applies: this many, or one in this many of the thread's
/// sessions.
const CROSSING: (usize, usize) = (4, 16);

/// Number of ready sessions from which prefetching pays off.
const LOOK_AHEAD: usize = 8;

/// A session that returns with a new connection, or without one.
type ReturnedSession = (usize, Box<SessionState>, Result<(), WorkerExit>);

/// Runs the sessions of one thread.
pub(crate) struct Multiplexer {
    shared: Arc<SharedRunState>,
    clock: Arc<dyn Clock>,
    waker: Arc<PollWaker>,
    poll: Poll,
    states: Vec<Option<Box<SessionState>>>,
    /// What the sessions did in the window, and whether these counts were sent to the coordinator.
    counts: ThreadCounts,
    handed_in: bool,
    messages: Sender<WorkerMessage>,
    /// Sessions that have not left yet.
    remaining: usize,
    /// The session whose turn it is.
    current_index: usize,
    is_paced: bool,
    /// When idle sessions are due.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    phase: DrivePhase,
    /// Sessions that may have a boundary to cross, and how many are crossing one.
    to_cross: VecDeque<usize>,
    crossing: usize,
    returns: (Sender<ReturnedSession>, Receiver<ReturnedSession>),
    leavers: Sender<SessionState>,
}

/// Prepares the thread's body for `workers`.
///
/// # Errors
/// The system provides no more descriptors.
pub(crate) fn prepare(
    workers: Vec<SessionWorker>,
    counts: ThreadCounts,
    affinity: ThreadAffinity,
    shared: &Arc<SharedRunState>,
) -> io::Result<impl FnOnce() + Send + use<>> {
    let waker = Arc::new(PollWaker::new()?);
    let poll = Poll::new(&waker)?;
    shared.add_sleeper(Sleeper::SessionWaker(Arc::clone(&waker)));
    Ok(move || run(workers, counts, &affinity, waker, poll))
}

fn run(
    workers: Vec<SessionWorker>,
    counts: ThreadCounts,
    affinity: &ThreadAffinity,
    waker: Arc<PollWaker>,
    poll: Poll,
) {
    let Some(first) = workers.first() else { return };
    let (shared, clock) = (Arc::clone(&first.shared), Arc::clone(&first.clock));
    let messages = first.messages.clone();
    let paced = first.pace.is_open();
    first.set_precise_wakeups();
    let states = ends::connect(workers);
    let (leavers, leaving) = channel();
    // This happens before the thread is pinned to a processor: threads that it starts would be pinned too.
    ends::end_in_background(states.len(), leaving);
    let gate = shared.wait_gate();
    // Threads stay pinned until the run has ended, because server processes stay near only then.
    let (states, _pinned) = match gate {
        Some(opens_ns) => affinity.settle(states, &|| clock.now_ns() + ASSIGNED_NS >= opens_ns),
        None => (states, None),
    };
    let states: Vec<_> = states.into_iter().map(Some).collect();
    let mut multiplexer = Multiplexer {
        remaining: states.len(),
        current_index: 0,
        due: BinaryHeap::with_capacity(2 * states.len()),
        to_cross: VecDeque::with_capacity(states.len()),
        crossing: 0,
        phase: DrivePhase::Warmup,
        returns: channel(),
        shared,
        clock,
        waker,
        poll,
        states,
        counts,
        handed_in: false,
        messages,
        is_paced: paced,
        leavers,
    };
    let outcome = match gate {
        Some(opens_ns) => caught(|| multiplexer.lead(opens_ns)),
        None => Ok(Ok(())),
    };
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            multiplexer.shared.fail(format!("waiting for the sessions' sockets failed: {error}"));
        }
        Err(reason) => multiplexer.panicked(&reason),
    }
    for index in 0..multiplexer.states.len() {
        multiplexer.leave(index, Ok(()));
    }
    multiplexer.submit_results();
}

impl Multiplexer {
    /// Runs from the gate until every session has left.
    fn lead(&mut self, opens_ns: u64) -> io::Result<()> {
        for (index, state) in self.states.iter_mut().enumerate() {
            let Some(state) = state else { continue };
            self.poll.add(state.socket(), index)?;
        }
        while self.clock.now_ns() + AWAKE_NS < opens_ns {
            self.clock.park_until(opens_ns - AWAKE_NS);
        }
        while self.clock.now_ns() < opens_ns {
            std::hint::spin_loop();
        }
        for index in 0..self.states.len() {
            let Some(state) = &mut self.states[index] else { continue };
            self.current_index = index;
            state.opens(opens_ns);
            if !state.is_ready() {
                continue;
            }
            state.start();
            let next = state.next_action(&mut self.counts, self.phase);
            self.crossing += usize::from(state.is_at_boundary());
            self.apply(index, next);
        }
        let mut ready = Vec::with_capacity(self.states.len());
        while self.remaining > 0 {
            self.notice_phase_change();
            let patience = self
                .due
                .peek()
                .map(|Reverse((due_ns, _))| Duration::from_nanos(due_ns.saturating_sub(self.clock.now_ns())));
            self.poll.wait(&self.waker, patience, &mut ready)?;
            self.prefetch_ready(&ready);
            for &index in &ready {
                self.receive_reply(index);
            }
            self.take_returned_sessions()?;
            self.start_due();
        }
        Ok(())
    }

    /// Prefetches the data that the operations of ready sessions need. With many sessions, it has left the
    /// processor's cache since their last turn. Loading it here overlaps for several sessions; in their turns
    /// it would happen one by one.
    #[inline]
    fn prefetch_ready(&self, ready: &[usize]) {
        if ready.len() > LOOK_AHEAD {
            let states = ready.iter().filter_map(|&index| self.states[index].as_ref());
            std::hint::black_box(states.fold(0, |seen, state| seen ^ state.prefetch()));
        }
    }

    /// Carries out the decision about what a session does next.
    #[inline]
    fn apply(&mut self, index: usize, next: SessionAction) {
        match next {
            SessionAction::Waits => {}
            SessionAction::Sleeps(due_ns) => self.due.push(Reverse((due_ns, index))),
            SessionAction::Leaves => self.leave(index, Ok(())),
            SessionAction::Failed(error) => self.failed(index, error),
        }
    }

    /// Continues an idle session: it crosses the boundary before it, or starts its next operation.
    #[inline]
    fn advance(&mut self, index: usize) {
        let phase = self.shared.phase();
        let crowded = self.is_crowded(phase);
        let Some(state) = &mut self.states[index] else { return };
        self.current_index = index;
        let next = if crowded && state.needs_boundary(phase) {
            state.note_window_begin(&mut self.counts, phase);
            self.to_cross.push_back(index);
            state.next_op(&mut self.counts)
        } else {
            state.next_action(&mut self.counts, phase)
        };
        // Depends on what the session does now, not on the check above: time has passed, and a request may
        // have become necessary.
        self.crossing += usize::from(state.is_at_boundary());
        self.apply(index, next);
    }

    #[inline]
    fn receive_reply(&mut self, index: usize) {
        let Some(state) = &mut self.states[index] else { return };
        self.current_index = index;
        let (idle, edge) = (state.is_idle(), state.is_at_boundary());
        match state.receive_reply(&mut self.counts) {
            Ok(true) => {
                self.crossing -= usize::from(edge);
                self.advance(index);
            }
            Ok(false) => self.note_rest(index),
            Err(error) if idle => {
                let socket = state.socket();
                self.poll.remove(socket);
                state.note_lost(error);
            }
            Err(error) => self.failed(index, error),
        }
    }

    /// Sends the sessions' results to the coordinator: when no session is left, or when the coordinator no
    /// longer waits for the others.
    fn submit_results(&mut self) {
        if !std::mem::replace(&mut self.handed_in, true) {
            // The coordinator is gone only when it no longer waits.
            let _ = self.messages.send(WorkerMessage::Counted(self.counts.take()));
        }
    }

    /// Removes a session whose work is over.
    fn leave(&mut self, index: usize, outcome: Result<(), WorkerExit>) {
        let Some(mut state) = self.states[index].take() else { return };
        self.remaining -= 1;
        self.poll.remove(state.socket());
        state.worker.note_end(&mut self.counts, outcome);
        // The threads that close sessions live until this thread ends.
        let _ = self.leavers.send(*state);
    }
}

#[cfg(test)]
mod tests;
