//! Handles sessions whose request failed or whose connection is lost: they continue, reconnect on another
//! thread, or leave.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use dyno_engine::panics::caught;
use dyno_engine::{ErrorClass, OpError};

use super::Multiplexer;
use crate::shared::Sleeper;
use crate::thread::STACK_BYTES;
use crate::worker::WorkerExit;

impl Multiplexer {
    /// Handles a failed request of a session.
    #[cold]
    pub(super) fn failed(&mut self, index: usize, error: Box<OpError>) {
        let Some(state) = &mut self.states[index] else { return };
        let error = match state.worker.name_closer(&error) {
            Cow::Owned(named) => Box::new(named),
            Cow::Borrowed(_) => error,
        };
        self.crossing -= usize::from(state.is_at_boundary());
        let now_ns = self.clock.now_ns();
        let failed = state.give_up(&error);
        let class = state.class();
        if failed.in_doubt {
            state.worker.recorder.in_doubt(&mut self.counts, class, &error);
        }
        if failed.may_again {
            state.worker.recorder.retried(&mut self.counts, class, &error);
        } else {
            state.worker.recorder.failed(&mut self.counts, class, &error, now_ns);
            if let Err(ended) = state.worker.check_recovery(&error, now_ns) {
                return self.leave(index, Err(ended));
            }
        }
        match error.class {
            ErrorClass::Retryable if failed.is_open || failed.may_again => {
                let next = match failed.is_open {
                    true => state.roll_back(failed.may_again),
                    false => state.retry(&mut self.counts),
                };
                self.apply(index, next);
            }
            ErrorClass::Retryable => {
                state.recovered();
                self.advance(index);
            }
            ErrorClass::Fatal if state.worker.recorder.is_disconnected() => {
                self.reconnect_in_background(index, error);
            }
            ErrorClass::Fatal => self.leave(index, Err(WorkerExit::Failed(error.to_string()))),
            ErrorClass::Connection => self.reconnect_in_background(index, error),
        }
    }

    /// Lets a session reconnect on a thread of its own.
    pub(super) fn reconnect_in_background(&mut self, index: usize, lost: Box<OpError>) {
        let Some(mut state) = self.states[index].take() else { return };
        self.poll.remove(state.socket());
        let (home, bell) = (self.returns.0.clone(), Arc::clone(&self.waker));
        let search = move || {
            let shared = Arc::clone(&state.worker.shared);
            shared.add_sleeper(Sleeper::Thread(std::thread::current()));
            let outcome = caught(|| state.worker.reconnect(state.session.as_mut(), &lost));
            let reconnect_result = outcome.unwrap_or_else(|reason| Err(WorkerExit::Failed(reason)));
            shared.remove_sleeper();
            // The receiving thread lives until every session has returned.
            let _ = home.send((index, state, reconnect_result));
            bell.wake();
        };
        let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(search);
        if let Err(error) = spawned {
            self.remaining -= 1;
            self.shared.fail(format!("no thread could be started to reconnect: {error}"));
        }
    }

    /// Takes back sessions that have reconnected.
    pub(super) fn take_returned_sessions(&mut self) -> io::Result<()> {
        while let Ok((index, mut state, found)) = self.returns.1.try_recv() {
            match found {
                Ok(()) => {
                    self.poll.add(state.socket(), index)?;
                    state.recovered();
                    self.states[index] = Some(state);
                    self.advance(index);
                }
                Err(ended) => {
                    self.states[index] = Some(state);
                    self.leave(index, Err(ended));
                }
            }
        }
        Ok(())
    }

    /// Ends the run for all sessions: the one whose turn it was has panicked.
    #[cold]
    pub(super) fn panicked(&mut self, reason: &str) {
        let Some(mut state) = self.states[self.current_index].take() else {
            return self.shared.fail(reason.to_owned());
        };
        let doing = state.class();
        state.worker.panicked(&mut self.counts, doing, reason);
        state.worker.abandon(state.session);
    }
}
