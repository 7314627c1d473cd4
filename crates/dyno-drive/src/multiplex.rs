//! Several sessions on one thread.
//!
//! With more sessions than processors, most of what a client costs is putting threads to sleep and waking them. The thread
//! sends for one session after the other and sleeps once for all of them. Whatever can take long happens on other threads,
//! so no session waits for the trouble of another one on its thread: connecting, connecting anew, and ending.
//!
//! An answer that arrives while the thread is busy with others waits until its turn comes, as a thread would for a processor.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dyno_engine::{Clock, ErrorClass, OpError};

use crate::affinity::{States, ThreadAffinity};
use crate::counts::Counts;
use crate::panics::caught;
use crate::poll::{Bell, Poll};
use crate::shared::{Phase, Shared, Sleeper};
use crate::state::{Next, SessionState};
use crate::thread::STACK_BYTES;
use crate::worker::{Ended, Message, Worker};

/// Further threads that connect the sessions of one thread, and that end them.
const HELPERS: usize = 8;
/// Time before the gate opens from which on a thread is awake: while a processor is idle, server processes go there.
const AWAKE_NS: u64 = 500_000;
/// Sessions have been assigned to threads this long before the gate opens, or go on where they are: that never delays the start.
const ASSIGNED_NS: u64 = 15_000_000;
/// With a rate, sessions of a thread that cross an edge of the window at the same time: all at once would make arrivals wait
/// for Dyno's own questions. Whichever is more: this many, or one of so many of the thread's sessions.
const CROSSING: (usize, usize) = (4, 16);

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
    let states = connect(workers);
    let (leavers, leaving) = channel();
    // Before this thread is kept on one processor, which those that it starts would be, too.
    end_in_background(states.len(), leaving);
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

/// Opens all sessions, several at a time; those that cannot be opened have said so and are missing.
fn connect(workers: Vec<Worker>) -> States {
    let helpers = HELPERS.min(workers.len());
    let waiting = Mutex::new(workers.into_iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let open = || {
        let mut states = Vec::new();
        while let Some(mut worker) = next() {
            match worker.connect() {
                Some(session) => states.push(Box::new(SessionState::new(worker, session))),
                None => worker.hand_in(),
            }
        }
        states
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..helpers)
            .filter_map(|_| {
                std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, open).ok()
            })
            .collect();
        let mut states = open();
        for other in others {
            // A panic has been printed; the sessions it took with it never report, and the run says so.
            states.extend(other.join().unwrap_or_default());
        }
        states.sort_by_key(|state| state.worker.setup.number);
        states
    })
}

/// Ends sessions that leave, several at a time: the server takes its time to book what each has done.
fn end_in_background(states: usize, leaving: Receiver<SessionState>) {
    let leaving = Arc::new(Mutex::new(leaving));
    for _ in 0..HELPERS.min(states) {
        let leaving = Arc::clone(&leaving);
        let finish = move || loop {
            let next = leaving.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(SessionState { worker, session, .. }) = next else { return };
            worker.finish(session);
        };
        if std::thread::Builder::new().stack_size(STACK_BYTES).spawn(finish).is_err() {
            return;
        }
    }
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
        let touch = std::env::var_os("DYNO_TOUCH").is_some();
        let mut ready = Vec::with_capacity(self.states.len());
        while self.left > 0 {
            self.look_at_phase();
            let patience = self
                .due
                .peek()
                .map(|Reverse((due_ns, _))| Duration::from_nanos(due_ns.saturating_sub(self.clock.now_ns())));
            self.poll.wait(&self.bell, patience, &mut ready)?;
            if touch {
                let seen =
                    ready.iter().filter_map(|&index| self.states[index].as_ref()).map(|state| state.glance());
                std::hint::black_box(seen.fold(0, |sum, one| sum ^ one));
            }
            for &index in &ready {
                self.heard(index);
            }
            self.welcome()?;
            self.start_due();
        }
        Ok(())
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

    /// Whether as many sessions cross an edge as may do so at once.
    #[inline]
    fn is_crowded(&self, phase: Phase) -> bool {
        let most = CROSSING.0.max(self.states.len() / CROSSING.1);
        self.paced && self.crossing >= most && phase != Phase::Stop
    }

    /// Lets sessions that sleep notice that the phase has changed.
    fn look_at_phase(&mut self) {
        let phase = self.shared.phase();
        if phase == Phase::Stop && self.shared.is_called_in() {
            self.hand_in();
        }
        if phase != self.phase {
            self.phase = phase;
            self.to_cross.clear();
            self.to_cross.extend(0..self.states.len());
        }
        for _ in 0..self.to_cross.len() {
            if self.is_crowded(phase) {
                return;
            }
            let Some(index) = self.to_cross.pop_front() else { return };
            // Those that have something under way look for themselves when it has ended.
            match &self.states[index] {
                Some(state) if state.is_idle() => self.go_on(index),
                Some(state) if phase == Phase::Stop && state.rests_until_ns().is_some() => self.wake(index),
                _ => {}
            }
        }
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

    /// Notes when a session goes on that rests in the middle of an operation.
    #[inline]
    fn note_rest(&mut self, index: usize) {
        if let Some(until_ns) = self.states[index].as_ref().and_then(|state| state.rests_until_ns()) {
            self.due.push(Reverse((until_ns, index)));
        }
    }

    /// Lets a session go on whose rest in the middle of an operation is over, or that is not to rest any more.
    #[cold]
    fn wake(&mut self, index: usize) {
        let Some(state) = &mut self.states[index] else { return };
        self.turn = index;
        match state.rested(&mut self.counts) {
            Ok(true) => self.go_on(index),
            Ok(false) => self.note_rest(index),
            Err(error) => self.failed(index, error),
        }
    }

    /// A request has failed.
    #[cold]
    fn failed(&mut self, index: usize, error: Box<OpError>) {
        let Some(state) = &mut self.states[index] else { return };
        self.crossing -= usize::from(state.at_edge());
        let now_ns = self.clock.now_ns();
        let failed = state.give_up(&error);
        if failed.may_again {
            state.worker.recorder.retried(&error);
        } else {
            let class = state.class();
            state.worker.recorder.failed(&mut self.counts, class, &error, now_ns);
            if let Err(ended) = state.worker.hope(&error, now_ns) {
                return self.leave(index, Err(ended));
            }
        }
        match error.class {
            ErrorClass::Retryable if failed.is_open || failed.may_again => {
                let next = match failed.is_open {
                    true => state.roll_back(failed.may_again),
                    false => state.again(&mut self.counts),
                };
                self.follow(index, next);
            }
            ErrorClass::Retryable => {
                state.recovered();
                self.go_on(index);
            }
            ErrorClass::Fatal => self.leave(index, Err(Ended::Failed(error.to_string()))),
            ErrorClass::Connection => self.send_away(index, error),
        }
    }

    /// Lets a session find a new connection on a thread of its own.
    fn send_away(&mut self, index: usize, lost: Box<OpError>) {
        let Some(mut state) = self.states[index].take() else { return };
        self.poll.remove(state.socket());
        let (home, bell) = (self.returns.0.clone(), Arc::clone(&self.bell));
        let search = move || {
            let shared = Arc::clone(&state.worker.shared);
            shared.enlist(Sleeper::Thread(std::thread::current()));
            let found = caught(|| state.worker.reconnect(state.session.as_mut(), &lost));
            let found = found.unwrap_or_else(|reason| Err(Ended::Failed(reason)));
            shared.discharge();
            // The thread is there until every session has come back.
            let _ = home.send((index, state, found));
            bell.ring();
        };
        let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(search);
        if let Err(error) = spawned {
            self.left -= 1;
            self.shared.fail(format!("no thread could be started to connect anew: {error}"));
        }
    }

    /// Takes sessions back that were away.
    fn welcome(&mut self) -> io::Result<()> {
        while let Ok((index, mut state, found)) = self.returns.1.try_recv() {
            match found {
                Ok(()) => {
                    self.poll.add(state.socket(), index)?;
                    state.recovered();
                    self.states[index] = Some(state);
                    self.go_on(index);
                }
                Err(ended) => {
                    self.states[index] = Some(state);
                    self.leave(index, Err(ended));
                }
            }
        }
        Ok(())
    }

    /// Hands in what the sessions have done: when none is left, or when nobody waits any more for those that are.
    fn hand_in(&mut self) {
        if !std::mem::replace(&mut self.handed_in, true) {
            // The coordinator has gone only when it no longer waits for anybody.
            let _ = self.messages.send(Message::Counted(self.counts.take()));
        }
    }

    /// Starts what has become due.
    fn start_due(&mut self) {
        // Those that are due again at once wait until all have been heard.
        for _ in 0..self.due.len() {
            let Some(&Reverse((due_ns, index))) = self.due.peek() else { return };
            if due_ns > self.clock.now_ns() {
                return;
            }
            self.due.pop();
            // One that is busy starts it when that has ended; one that has started it already goes back to sleep.
            match &self.states[index] {
                Some(state) if state.is_idle() => self.go_on(index),
                Some(state) if state.rests_until_ns().is_some_and(|until_ns| until_ns <= due_ns) => {
                    self.wake(index);
                }
                _ => {}
            }
        }
    }

    /// The session that had the thread has panicked: the run is over for all of them.
    #[cold]
    fn panicked(&mut self, reason: &str) {
        let Some(mut state) = self.states[self.turn].take() else {
            return self.shared.fail(reason.to_owned());
        };
        let doing = state.class();
        state.worker.panicked(&mut self.counts, doing, reason);
        state.worker.abandon(state.session);
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
