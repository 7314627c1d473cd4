//! The threads of this process as a run's worker pool: they communicate through shared memory, without delay.

use std::time::Duration;

use dyno_engine::target::HungSessionReport;
use dyno_record::{Fleet, ThreadPlacement};

use super::Threads;
use crate::conductor::ANNOUNCED_NS;
use crate::results::Results;
use crate::shared::DrivePhase;
use crate::worker_pool::{WorkerPool, WorkerPoolSize};

impl WorkerPool for Threads {
    fn size(&self) -> WorkerPoolSize {
        WorkerPoolSize {
            sessions: self.numbers.len() as u32,
            leading: self.leading_sessions,
            threads: self.count,
        }
    }

    fn lead_time_ns(&self) -> u64 {
        ANNOUNCED_NS
    }

    fn connect(&mut self) {
        // Sessions connect as soon as they are started.
    }

    fn listen(&mut self, patience: Duration) {
        self.receive(patience);
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

    fn at_boundary(&self, edge: usize) -> u32 {
        self.shared.at_boundary(edge)
    }

    fn ended(&self) -> u32 {
        self.results.len() as u32
    }

    fn reached_ops(&self) -> u32 {
        self.shared.reached_ops()
    }

    fn all_visible_since(&self, since_ns: u64) -> bool {
        self.shared.all_visible_since(since_ns)
    }

    fn mean_visible_ns(&self) -> u64 {
        self.shared.mean_visible_ns()
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
        self.shared.enter(DrivePhase::Opening);
        // If this thread lost its processor just now, operations of that time are not counted.
        let late_ns = self.clock.now_ns().saturating_sub(origin_ns);
        self.shared.wake();
        late_ns
    }

    fn enter_window(&mut self) {
        self.shared.enter(DrivePhase::Window);
        if self.loads {
            self.shared.wake();
        }
    }

    fn close_window(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        self.shared.enter(DrivePhase::Closing);
        self.shared.wake();
        now_ns
    }

    fn announce_snapshot(&mut self, _: usize, _: &[usize]) {
        // The observer's thread updates the shared state directly.
    }

    fn snapshot_taken(&mut self, _: usize, _: usize, _: u64) {}

    fn stop(
        &mut self,
        drain: Duration,
        now_s: &dyn Fn() -> f64,
        impatient: &dyn Fn() -> bool,
        hang: &mut dyn FnMut(&[u32]),
    ) -> Vec<u32> {
        self.end(drain, now_s, impatient, hang)
    }

    fn placement(&self) -> Option<ThreadPlacement> {
        (self.affinity.threads() > 0).then(|| self.affinity.placed())
    }

    fn into_results(self: Box<Self>) -> (Results, Option<Fleet>) {
        (self.collect_results(), None)
    }
    fn stuck(&self) -> Vec<HungSessionReport> {
        Vec::new()
    }
}
