//! Threads of this process as the crew of a run: what they share with the conductor is in memory, so they hear of everything at once.

use std::time::Duration;

use dyno_engine::target::Stuck;
use dyno_record::{Fleet, Placed};

use super::Threads;
use crate::conductor::ANNOUNCED_NS;
use crate::crew::{Crew, Size};
use crate::results::Results;
use crate::shared::Phase;

impl Crew for Threads {
    fn size(&self) -> Size {
        Size { sessions: self.numbers.len() as u32, leading: self.leading, threads: self.count }
    }

    fn lead_ns(&self) -> u64 {
        ANNOUNCED_NS
    }

    fn connect(&mut self) {
        // They do since they were started.
    }

    fn listen(&mut self, patience: Duration) {
        self.hear(patience);
    }

    fn failure(&self) -> Option<String> {
        self.shared.failure()
    }

    fn local_clients(&self) -> Vec<u32> {
        Vec::new()
    }

    fn ready(&self) -> u32 {
        self.shared.readiness().0
    }

    fn at_edge(&self, edge: usize) -> u32 {
        self.shared.at_edge(edge)
    }

    fn ended(&self) -> u32 {
        self.ended.len() as u32
    }

    fn reached_ops(&self) -> u32 {
        self.shared.reached_ops()
    }

    fn all_shown(&self, since_ns: u64) -> bool {
        self.shared.all_shown(since_ns)
    }

    fn shown_ns_mean(&self) -> u64 {
        self.shared.shown_ns_mean()
    }

    fn overhead(&self, target: usize) -> i64 {
        self.shared.overhead(target)
    }

    fn prepare_gate(&mut self) {}

    fn open_gate(&mut self, opens_ns: u64) {
        self.shared.open_gate(opens_ns);
    }

    fn open_window(&mut self, origin_ns: u64, _: Option<u64>) -> u64 {
        self.shared.set_origin(origin_ns);
        self.shared.enter(Phase::Opening);
        // Where this thread lost its processor just now, operations of that time are in nobody's count.
        let late_ns = self.clock.now_ns().saturating_sub(origin_ns);
        self.shared.wake();
        late_ns
    }

    fn enter_window(&mut self) {
        self.shared.enter(Phase::Window);
        if self.loads {
            self.shared.wake();
        }
    }

    fn close_window(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        self.shared.enter(Phase::Closing);
        self.shared.wake();
        now_ns
    }

    fn looking(&mut self, _: usize, _: &[usize]) {
        // The observer's thread tells them to the instruction.
    }

    fn looked(&mut self, _: usize, _: usize, _: u64) {}

    fn stop(
        &mut self,
        drain: Duration,
        now_s: &dyn Fn() -> f64,
        impatient: &dyn Fn() -> bool,
        hang: &mut dyn FnMut(&[u32]),
    ) -> Vec<u32> {
        self.end(drain, now_s, impatient, hang)
    }

    fn placement(&self) -> Option<Placed> {
        (self.affinity.threads() > 0).then(|| self.affinity.placed())
    }

    fn into_results(self: Box<Self>) -> (Results, Option<Fleet>) {
        (self.into_handed(), None)
    }
    fn stuck(&self) -> Vec<Stuck> {
        Vec::new()
    }
}
