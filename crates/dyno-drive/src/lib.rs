//! Drives and measures a run: sessions start together, work at their pace, and are measured inside one
//! window.
//!
//! [`run`] takes a plan and a target and returns a run record. Sessions and coordinator share the gate and
//! the phases. Threads run the sessions ([`dyno_workload`] decides what to do next, and when). Recorders
//! count without a lock, observers cannot hang the run, and the last step assembles the record.

mod ack_comparison;
mod ack_recorder;
mod affinity;
mod assemble;
mod backoff;
mod boundary_marks;
mod collector;
mod complete;
mod conductor;
mod connection_losses;
mod count_max;
mod counts;
mod descriptors;
mod failures;
mod fold;
mod hang_reasons;
mod interval;
mod intervals;
mod job;
mod learn;
mod leftover;
mod lifetime_counts;
mod line;
mod machine;
mod measured;
mod multiplex;
mod observe;
mod packed;
mod part;
mod phased;
mod poll;
mod prepared;
mod processors;
mod profiler;
mod recorder;
mod results;
mod run;
mod served_by;
mod session;
mod shared;
mod slices;
mod snapshot_status;
mod stalls;
mod state;
mod statement_names;
mod tally;
#[cfg(test)]
mod testing;
mod thread;
mod thread_result;
mod threads;
mod totals;
mod watch;
mod watcher;
mod worker;
mod worker_pool;

pub use ack_recorder::AckLedger;
pub use complete::{CoarseLatencies, CompletedInterval, RunningTotals};
pub use descriptors::{open_files_max, raise_limit, too_few};
pub use interval::IntervalCounts;
pub use job::{DriveJob, TargetContext};
pub use learn::{CostProfiler, CostProfilerHandle};
pub use leftover::Leftover;
pub use part::{SessionGroup, WorkerStatus};
pub use results::{ResultShape, Results};
pub use run::{draft, run, run_by, without_leader};
pub use stalls::Stalls;
pub use watch::{LiveProgress, NoopRunListener, RunEvent, RunListener};
pub use worker_pool::{StartedWorkerPool, WorkerPool, WorkerPoolFactory, WorkerPoolSize};
