//! Sessions whose request has failed, or whose connection is lost: they go on, find a new one elsewhere, or leave.

use std::io;
use std::sync::Arc;

use dyno_engine::{ErrorClass, OpError};

use super::Multiplexer;
use crate::panics::caught;
use crate::shared::Sleeper;
use crate::thread::STACK_BYTES;
use crate::worker::Ended;

impl Multiplexer {
    /// A request has failed.
    #[cold]
    pub(super) fn failed(&mut self, index: usize, error: Box<OpError>) {
        let Some(state) = &mut self.states[index] else { return };
        self.crossing -= usize::from(state.at_edge());
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
            ErrorClass::Fatal if state.worker.recorder.is_out() => self.send_away(index, error),
            ErrorClass::Fatal => self.leave(index, Err(Ended::Failed(error.to_string()))),
            ErrorClass::Connection => self.send_away(index, error),
        }
    }

    /// Lets a session find a new connection on a thread of its own.
    pub(super) fn send_away(&mut self, index: usize, lost: Box<OpError>) {
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
    pub(super) fn welcome(&mut self) -> io::Result<()> {
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

    /// The session that had the thread has panicked: the run is over for all of them.
    #[cold]
    pub(super) fn panicked(&mut self, reason: &str) {
        let Some(mut state) = self.states[self.turn].take() else {
            return self.shared.fail(reason.to_owned());
        };
        let doing = state.class();
        state.worker.panicked(&mut self.counts, doing, reason);
        state.worker.abandon(state.session);
    }
}
