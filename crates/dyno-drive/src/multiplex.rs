//! Several sessions on one thread.
//!
//! With more sessions than processors, most of what a client costs is putting threads to sleep and waking them. The thread
//! sends for one session after the other and sleeps once for all of them. Whatever can take long happens on other threads,
//! so no session waits for the trouble of another one on its thread: connecting, connecting anew, and ending.
//!
//! An answer that arrives while the thread is busy with others waits until its turn comes, as a thread would for a processor.

mod ends;
mod trouble;
mod turns;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use dyno_engine::Clock;

use crate::affinity::ThreadAffinity;
use crate::counts::Counts;
use crate::panics::caught;
use crate::poll::{Bell, Poll};
use crate::shared::{Phase, Shared, Sleeper};
use crate::state::{Next, SessionState};
use crate::worker::{Ended, Message, Worker};

/// Time before the gate opens from which on a thread is awake: while a processor is idle, server processes go there.
const AWAKE_NS: u64 = 500_000;
/// Sessions have been assigned to threads this long before the gate opens, or go on where they are: that never delays the start.
const ASSIGNED_NS: u64 = 15_000_000;
/// With a rate, sessions of a thread that cross an edge of the window at the same time: all at once would make arrivals wait
/// for Dyno's own questions. Whichever is more: this many, or one of so many of the thread's sessions.
const CROSSING: (usize, usize) = (4, 16);

/// Sessions that have something at the same time from which on it pays to look ahead.
const LOOK_AHEAD: usize = 8;

/// A session that comes back with a new connection, or without.
type Returned = (usize, Box<SessionState>, Result<(), Ended>);

/// The sessions of one thread.
pub(crate) struct Multiplexer {
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    bell: Arc<Bell>,
    poll: Poll,
    states: Vec<Option<Box<SessionState>>>,
    /// What they have done in the window, and whether that was handed in.
    counts: Counts,
    handed_in: bool,
    messages: Sender<Message>,
    /// Sessions that have not left.
    left: usize,
    /// The session that has the thread.
    turn: usize,
    paced: bool,
    /// When sessions that do nothing are due.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    phase: Phase,
    /// Sessions that may have an edge before them, and how many are in the middle of one.
    to_cross: VecDeque<usize>,
    crossing: usize,
    returns: (Sender<Returned>, Receiver<Returned>),
    leavers: Sender<SessionState>,
}

/// Makes the thread's body for `workers`.
///
/// # Errors
/// The system gives no more descriptors.
pub(crate) fn prepare(
    workers: Vec<Worker>,
    counts: Counts,
    affinity: ThreadAffinity,
    shared: &Arc<Shared>,
) -> io::Result<impl FnOnce() + Send + use<>> {
    let bell = Arc::new(Bell::new()?);
    let poll = Poll::new(&bell)?;
    shared.enlist(Sleeper::Bell(Arc::clone(&bell)));
    Ok(move || run(workers, counts, &affinity, bell, poll))
}

fn run(workers: Vec<Worker>, counts: Counts, affinity: &ThreadAffinity, bell: Arc<Bell>, poll: Poll) {
    let Some(first) = workers.first() else { return };
    let (shared, clock) = (Arc::clone(&first.shared), Arc::clone(&first.clock));
    let messages = first.messages.clone();
    let paced = first.pace.is_open();
    first.wake_sharply();
    let states = ends::connect(workers);
    let (leavers, leaving) = channel();
    // Before this thread is kept on one processor, which those that it starts would be, too.
    ends::end_in_background(states.len(), leaving);
    let gate = shared.wait_gate();
    // Threads stay where they are until the run has ended: what they talk to stays beside them only if they do.
    let (states, _pinned) = match gate {
        Some(opens_ns) => affinity.settle(states, &|| clock.now_ns() + ASSIGNED_NS >= opens_ns),
        None => (states, None),
    };
    let states: Vec<_> = states.into_iter().map(Some).collect();
    let mut multiplexer = Multiplexer {
        left: states.len(),
        turn: 0,
        due: BinaryHeap::with_capacity(2 * states.len()),
        to_cross: VecDeque::with_capacity(states.len()),
        crossing: 0,
        phase: Phase::Warmup,
        returns: channel(),
        shared,
        clock,
        bell,
        poll,
        states,
        counts,
        handed_in: false,
        messages,
        paced,
        leavers,
    };
    let ended = match gate {
        Some(opens_ns) => caught(|| multiplexer.lead(opens_ns)),
        None => Ok(Ok(())),
    };
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            multiplexer.shared.fail(format!("the sessions' sockets cannot be waited for: {error}"));
        }
        Err(reason) => multiplexer.panicked(&reason),
    }
    for index in 0..multiplexer.states.len() {
        multiplexer.leave(index, Ok(()));
    }
    multiplexer.hand_in();
}

impl Multiplexer {
    /// From the gate until every session has left.
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
            self.turn = index;
            state.opens(opens_ns);
            if !state.is_ready() {
                continue;
            }
            state.start();
            let next = state.go_on(&mut self.counts, self.phase);
            self.crossing += usize::from(state.at_edge());
            self.follow(index, next);
        }
        let mut ready = Vec::with_capacity(self.states.len());
        while self.left > 0 {
            self.look_at_phase();
            let patience = self
                .due
                .peek()
                .map(|Reverse((due_ns, _))| Duration::from_nanos(due_ns.saturating_sub(self.clock.now_ns())));
            self.poll.wait(&self.bell, patience, &mut ready)?;
            self.look_ahead(&ready);
            for &index in &ready {
                self.heard(index);
            }
            self.welcome()?;
            self.start_due();
        }
        Ok(())
    }

    /// Looks at what the operations of sessions need that have something. With many of them that has left the processor's cache since
    /// their last turn: here it is fetched for several sessions at once, and in their turns it would be for one after the other.
    #[inline]
    fn look_ahead(&self, ready: &[usize]) {
        if ready.len() > LOOK_AHEAD {
            let states = ready.iter().filter_map(|&index| self.states[index].as_ref());
            std::hint::black_box(states.fold(0, |seen, state| seen ^ state.glance()));
        }
    }

    /// What a session does next has been decided.
    #[inline]
    fn follow(&mut self, index: usize, next: Next) {
        match next {
            Next::Waits => {}
            Next::Sleeps(due_ns) => self.due.push(Reverse((due_ns, index))),
            Next::Leaves => self.leave(index, Ok(())),
            Next::Failed(error) => self.failed(index, error),
        }
    }

    /// A session has nothing under way: it crosses what lies before it, or does its next operation.
    #[inline]
    fn go_on(&mut self, index: usize) {
        let phase = self.shared.phase();
        let crowded = self.is_crowded(phase);
        let Some(state) = &mut self.states[index] else { return };
        self.turn = index;
        let next = if crowded && state.owes_edge(phase) {
            state.notice(&mut self.counts, phase);
            self.to_cross.push_back(index);
            state.next_op(&mut self.counts)
        } else {
            state.go_on(&mut self.counts, phase)
        };
        // Asked of what it does, and not of what it owed: time has passed since, and it may owe more now.
        self.crossing += usize::from(state.at_edge());
        self.follow(index, next);
    }

    #[inline]
    fn heard(&mut self, index: usize) {
        let Some(state) = &mut self.states[index] else { return };
        self.turn = index;
        let (idle, edge) = (state.is_idle(), state.at_edge());
        match state.heard(&mut self.counts) {
            Ok(true) => {
                self.crossing -= usize::from(edge);
                self.go_on(index);
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

    /// Hands in what the sessions have done: when none is left, or when nobody waits any more for those that are.
    fn hand_in(&mut self) {
        if !std::mem::replace(&mut self.handed_in, true) {
            // The coordinator has gone only when it no longer waits for anybody.
            let _ = self.messages.send(Message::Counted(self.counts.take()));
        }
    }

    /// A session's work is over.
    fn leave(&mut self, index: usize, ended: Result<(), Ended>) {
        let Some(mut state) = self.states[index].take() else { return };
        self.left -= 1;
        self.poll.remove(state.socket());
        state.worker.note_end(&mut self.counts, ended);
        // The threads that end sessions are there until this thread has gone.
        let _ = self.leavers.send(*state);
    }
}

#[cfg(test)]
mod tests;
