//! The workers of a run, as the conductor controls them: threads of this process, or agents on other hosts.
//!
//! All times are on the run's clock; a pool whose hosts have their own clocks converts them. Only the
//! conductor observes the database.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use dyno_engine::target::HungSessionReport;
use dyno_engine::{Clock, TargetError};
use dyno_record::{Fleet, ThreadPlacement};

use crate::interval::IntervalCounts;
use crate::job::DriveJob;
use crate::results::Results;

/// The numbers of sessions and threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerPoolSize {
    /// Number of sessions in the run.
    pub sessions: u32,
    /// Sessions of the first workload; their operations decide when a window measured in operations ends.
    pub leading: u32,
    /// Number of threads that run them.
    pub threads: u32,
}

/// The workers that drive a run's sessions. There are no default methods, so that a wrapper must forward
/// every call.
pub trait WorkerPool {
    fn size(&self) -> WorkerPoolSize;

    /// How long before a moment it must be announced, ns.
    fn lead_time_ns(&self) -> u64;

    /// Lets sessions connect, where they have not yet; the counters before that have been read.
    fn connect(&mut self);

    /// Receives the sessions' reports, for up to `patience` or until one has arrived.
    fn listen(&mut self, patience: Duration);

    /// Why the run has failed, if it has.
    fn failure(&self) -> Option<String>;

    /// Process numbers on this machine, besides this process, that drive sessions of the run.
    fn local_clients(&self) -> Vec<u32>;

    /// Number of sessions that are connected and prepared.
    fn ready(&self) -> u32;

    /// Number of sessions that have reached the begin (0) or the end (1) of the window.
    fn at_boundary(&self, edge: usize) -> u32;

    fn ended(&self) -> u32;

    /// Sessions of the first workload that have done the operations that the plan asks of each.
    fn reached_ops(&self) -> u32;

    /// Whether every session has published its work up to `since_ns`.
    fn all_visible_since(&self, since_ns: u64) -> bool;

    /// The mean of the times at which sessions last published their work.
    fn mean_visible_ns(&self) -> u64;

    /// Overhead transactions of a target's sessions so far: those that are not operations.
    fn overhead(&self, target: usize) -> i64;

    /// Prepares for the choice of a common start: measures what that needs, however long it takes.
    fn prepare_gate(&mut self);

    /// Lets every session start at `opens_ns`.
    fn open_gate(&mut self, opens_ns: u64);

    /// Begins the window: work that ends after `origin_ns` counts, until `ends_ns` if that is known. Returns
    /// how late the last session learned of it, ns.
    fn open_window(&mut self, origin_ns: u64, ends_ns: Option<u64>) -> u64;

    /// Notes that the counters of the window's begin were read.
    fn enter_window(&mut self);

    /// Ends the window, at the announced time or as soon as possible; returns the time.
    fn close_window(&mut self) -> u64;

    /// Announces that the counters of these targets at a window boundary are read next; returns when all
    /// sessions know.
    fn announce_snapshot(&mut self, edge: usize, targets: &[usize]);

    /// Notes that the counters of a target at a boundary arrived at `answered_ns`.
    fn snapshot_taken(&mut self, edge: usize, target: usize, answered_ns: u64);

    /// Stops every session: waits up to `drain` for operations in progress, or until the user is `impatient`,
    /// then interrupts the rest. Returns the numbers of interrupted sessions. `hang` receives them before the
    /// interruption, unless the user is impatient.
    fn stop(
        &mut self,
        drain: Duration,
        now_s: &dyn Fn() -> f64,
        impatient: &dyn Fn() -> bool,
        hang: &mut dyn FnMut(&[u32]),
    ) -> Vec<u32>;

    /// Where threads that run several sessions were pinned; `None` if there are none, or they are on other
    /// hosts.
    fn placement(&self) -> Option<ThreadPlacement>;

    /// The sessions' results, and the agents if they are on other hosts; results that never arrived are
    /// missing.
    fn into_results(self: Box<Self>) -> (Results, Option<Fleet>);

    /// The servers' reports on hanging sessions, where the pool asked them and not `hang`.
    fn stuck(&self) -> Vec<HungSessionReport>;
}

/// A worker pool, and the receiver of its sessions' intervals.
pub type StartedWorkerPool = (Box<dyn WorkerPool>, Receiver<Box<IntervalCounts>>);

pub trait WorkerPoolFactory: Send + Sync {
    /// The clock of the runs of its pools.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Notes that the record of a run is stored; its source data is no longer needed.
    fn stored(&self, run_id: &str);

    /// Starts a pool for the sessions of `job`, which connect on [`WorkerPool::connect`]. Their intervals
    /// arrive through the channel. While agents are awaited, `tell` receives how many have joined, and of how
    /// many.
    ///
    /// # Errors
    /// No pool could be started.
    fn start(
        &self,
        job: &DriveJob<'_>,
        tell: &dyn Fn(usize, usize),
    ) -> Result<StartedWorkerPool, TargetError>;
}
