//! Sessions whose turn comes without an answer: the phase has changed, a moment has come, or a rest is over.

use std::cmp::Reverse;

use super::{CROSSING, Multiplexer};
use crate::shared::Phase;

impl Multiplexer {
    /// Whether as many sessions cross an edge as may do so at once.
    #[inline]
    pub(super) fn is_crowded(&self, phase: Phase) -> bool {
        let most = CROSSING.0.max(self.states.len() / CROSSING.1);
        self.paced && self.crossing >= most && phase != Phase::Stop
    }

    /// Lets sessions that sleep notice that the phase has changed.
    pub(super) fn look_at_phase(&mut self) {
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

    /// Starts what has become due.
    pub(super) fn start_due(&mut self) {
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

    /// Notes when a session goes on that rests in the middle of an operation.
    #[inline]
    pub(super) fn note_rest(&mut self, index: usize) {
        if let Some(until_ns) = self.states[index].as_ref().and_then(|state| state.rests_until_ns()) {
            self.due.push(Reverse((until_ns, index)));
        }
    }

    /// Lets a session go on whose rest in the middle of an operation is over, or that is not to rest any more.
    #[cold]
    pub(super) fn wake(&mut self, index: usize) {
        let Some(state) = &mut self.states[index] else { return };
        self.turn = index;
        match state.rested(&mut self.counts) {
            Ok(true) => self.go_on(index),
            Ok(false) => self.note_rest(index),
            Err(error) => self.failed(index, error),
        }
    }
}
