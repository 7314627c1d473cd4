//! Whoever does the work of a run, as the conductor leads them: threads of this process, or agents on other hosts.
//!
//! All moments are on the run's own clock; a crew whose hosts have clocks of their own maps them. The database is observed by the
//! conductor alone.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use dyno_engine::target::Stuck;
use dyno_engine::{Clock, TargetError};
use dyno_record::{Fleet, Placed};

use crate::interval::Interval;
use crate::job::Job;
use crate::results::Results;

/// How many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Sessions of the run.
    pub sessions: u32,
    /// Those of the first workload, whose operations say when a window of so many operations is over.
    pub leading: u32,
    /// Threads that lead them.
    pub threads: u32,
}

/// Those who do a run's sessions. There are no default methods: who wraps another one passes on all of them.
pub trait Crew {
    /// How many there are.
    fn size(&self) -> Size;

    /// How long before a moment they have to be told of it, ns.
    fn lead_ns(&self) -> u64;

    /// Sessions connect from now on, where they do not yet: the counters before that are read.
    fn connect(&mut self);

    /// Takes in what they report, for up to `patience` or until something has come.
    fn listen(&mut self, patience: Duration);

    /// Why the run has failed, if it has.
    fn failure(&self) -> Option<String>;

    /// Numbers of the processes on this machine, beside this one, that drive sessions of the run.
    fn local_clients(&self) -> Vec<u32>;

    /// Sessions that are connected and prepared.
    fn ready(&self) -> u32;

    /// Sessions that have reached the begin (0) or the end (1) of the window.
    fn at_edge(&self, edge: usize) -> u32;

    /// Sessions that have ended.
    fn ended(&self) -> u32;

    /// Sessions of the first workload that have done the operations that the plan asks of each.
    fn reached_ops(&self) -> u32;

    /// Whether every session has made visible what it had done at `since_ns`.
    fn all_shown(&self, since_ns: u64) -> bool;

    /// When sessions made visible what they had done, on average.
    fn shown_ns_mean(&self) -> u64;

    /// Transactions of the sessions of a target, so far, that were no operations.
    fn overhead(&self, target: usize) -> i64;

    /// A moment for all is chosen next: what has to be known for that is learned now, however long it takes.
    fn prepare_gate(&mut self);

    /// Every session starts at `opens_ns`.
    fn open_gate(&mut self, opens_ns: u64);

    /// What ends from `origin_ns` on counts; the window ends at `ends_ns`, where that is known. Returns how much too late the last of
    /// them heard of it, ns.
    fn open_window(&mut self, origin_ns: u64, ends_ns: Option<u64>) -> u64;

    /// The window's begin is read.
    fn enter_window(&mut self);

    /// The window is over, at the moment that was announced or as soon as it can be; returns when.
    fn close_window(&mut self) -> u64;

    /// The counters of these targets at an edge of the window are read next: returns when all know it.
    fn looking(&mut self, edge: usize, targets: &[usize]);

    /// The counters of a target at an edge are there since `answered_ns`.
    fn looked(&mut self, edge: usize, target: usize, answered_ns: u64);

    /// Stops every session: waits `drain` for operations under way, or until the user is `impatient`, then breaks off what is
    /// left. Returns the numbers of sessions that had to be broken off; `hang` is told of them before they are, unless the user
    /// is impatient.
    fn stop(
        &mut self,
        drain: Duration,
        now_s: &dyn Fn() -> f64,
        impatient: &dyn Fn() -> bool,
        hang: &mut dyn FnMut(&[u32]),
    ) -> Vec<u32>;

    /// Where threads that lead several sessions were kept; nothing where there are none, or they are on other hosts.
    fn placement(&self) -> Option<Placed>;

    /// What the sessions measured, with those who did it where they are on hosts of their own; what never answered is missing.
    fn into_results(self: Box<Self>) -> (Results, Option<Fleet>);

    /// What servers said of sessions that hung, where it was not `hang` that asked them.
    fn stuck(&self) -> Vec<Stuck>;
}

/// A crew, and where its sessions' intervals come from.
pub type Mustered = (Box<dyn Crew>, Receiver<Box<Interval>>);

/// Gets a crew together.
pub trait Muster: Send + Sync {
    /// The clock of its runs.
    fn clock(&self) -> Arc<dyn Clock>;

    /// The record of a run is safe: nobody has to keep what it was made of.
    fn stored(&self, run_id: &str);

    /// Gets those together who do the sessions of `job`, which connect when [`Crew::connect`] says so. Their intervals come by the
    /// channel. Where somebody has to be waited for, `tell` hears how many are there, and of how many.
    ///
    /// # Errors
    /// There is no crew.
    fn start(&self, job: &Job<'_>, tell: &dyn Fn(usize, usize)) -> Result<Mustered, TargetError>;
}
