//! Drives and measures a run: sessions start together, work at their pace, and are measured inside one
//! window.
//!
//! [`run`] takes a plan and a target and returns a run record. Sessions and coordinator share the gate and
//! the phases. Threads lead the sessions ([`dyno_workload`] decides what to do next, and when). Recorders
//! count without a lock, observers cannot hang the run, and the last step assembles the record.

mod acknowledged;
mod affinity;
mod assemble;
mod collector;
mod complete;
mod conductor;
mod count_max;
mod counts;
mod cover;
mod crew;
mod descriptors;
mod failures;
mod far;
mod fold;
mod hosts;
mod interval;
mod intervals;
mod job;
mod learn;
mod leftover;
mod life;
mod line;
mod loaded;
mod looks;
mod losses;
mod marks;
mod measured;
mod metrics;
mod multiplex;
mod observe;
mod outages;
mod own_part;
mod packed;
mod panics;
mod part;
mod phased;
mod phases;
mod poll;
mod prepared;
pub mod present;
mod processors;
mod profiler;
pub mod prove;
mod recorder;
mod rest;
mod results;
mod run;
mod samples;
pub mod scripted;
mod session;
mod shared;
mod slices;
mod stalls;
mod state;
mod stuck;
mod summed;
mod tally;
#[cfg(test)]
mod testing;
mod thread;
mod thread_result;
mod threads;
mod totals;
mod vigil;
mod watch;
mod watcher;
mod witness;
mod worker;

pub use complete::{CoarseLatencies, CompletedInterval, CumulativeCounters, RunningTotals};
pub use crew::{StartedWorkerPool, WorkerPool, WorkerPoolFactory, WorkerPoolSize};
pub use descriptors::{raise_limit, too_few};
pub use far::RemoteHost;
pub use interval::IntervalCounts;
pub use job::{DriveJob, TargetContext};
pub use learn::{CostProfiler, CostProfilerStop};
pub use leftover::Leftover;
pub use observe::OWN_COMMITS;
pub use part::{SessionGroup, WorkerStatus};
pub use results::{ResultShape, Results};
pub use run::{draft, run, run_by, without_leader};
pub use stalls::Stalls;
pub use watch::{LiveProgress, NoopRunListener, RunEvent, RunListener};
