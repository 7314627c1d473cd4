//! Continues sessions without an answer: after a change of phase, at a due time, or after a pause.

use std::cmp::Reverse;

use super::{CROSSING, Multiplexer};
use crate::shared::DrivePhase;

impl Multiplexer {
    /// Whether as many sessions as allowed are crossing a boundary.
    #[inline]
    pub(super) fn is_crowded(&self, phase: DrivePhase) -> bool {
        let most = CROSSING.0.max(self.states.len() / CROSSING.1);
        self.is_paced && self.crossing >= most && phase != DrivePhase::Stop
    }

    /// Lets idle sessions notice a change of phase.
    pub(super) fn notice_phase_change(&mut self) {
        let phase = self.shared.phase();
        if phase == DrivePhase::Stop && self.shared.early_results_requested() {
            self.submit_results();
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
            // Sessions with a request in progress notice it when that has ended.
            match &self.states[index] {
                Some(state) if state.is_idle() => self.advance(index),
                Some(state) if phase == DrivePhase::Stop && state.rests_until_ns().is_some() => {
                    self.wake(index);
                }
                _ => {}
            }
        }
    }

    /// Starts the work that has become due.
    pub(super) fn start_due(&mut self) {
        // Sessions that are due again at once wait until all answers have been received.
        for _ in 0..self.due.len() {
            let Some(&Reverse((due_ns, index))) = self.due.peek() else { return };
            if due_ns > self.clock.now_ns() {
                return;
            }
            self.due.pop();
            // A busy session starts the due work when its request has ended; one that has already started it
            // sleeps again.
            match &self.states[index] {
                Some(state) if state.is_idle() => self.advance(index),
                Some(state) if state.rests_until_ns().is_some_and(|until_ns| until_ns <= due_ns) => {
                    self.wake(index);
                }
                _ => {}
            }
        }
    }

    /// Notes when a session that pauses inside an operation continues.
    #[inline]
    pub(super) fn note_rest(&mut self, index: usize) {
        if let Some(until_ns) = self.states[index].as_ref().and_then(|state| state.rests_until_ns()) {
            self.due.push(Reverse((until_ns, index)));
        }
    }

    /// Continues a session whose pause inside an operation is over, or cut short.
    #[cold]
    pub(super) fn wake(&mut self, index: usize) {
        let Some(state) = &mut self.states[index] else { return };
        self.current_index = index;
        match state.rested(&mut self.counts) {
            Ok(true) => self.advance(index),
            Ok(false) => self.note_rest(index),
            Err(error) => self.failed(index, error),
        }
    }
}
