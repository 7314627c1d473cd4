//! Decides which threads run which sessions, and starts them.

use std::sync::Arc;
use std::thread::JoinHandle;

use dyno_engine::Target;
use dyno_plan::{Connect, DriveMode};

use crate::affinity::{Affinity, ThreadAffinity};
use crate::counts::ThreadCounts;
use crate::job::DriveJob;
use crate::multiplex;
use crate::shared::{SharedRunState, Sleeper};
use crate::thread::STACK_BYTES;
use crate::worker::SessionWorker;

/// Number of threads that were started, and of sessions on them.
#[derive(Default)]
pub(super) struct Started {
    pub(super) threads: u32,
    pub(super) sessions: u32,
}

/// Whether one thread can run several sessions on `target`.
///
/// Not for the server drive, whose slices are long enough for a thread of their own. Neither opening a
/// connection nor loading rows is split in two halves.
pub(super) fn can_share_thread(job: &DriveJob<'_>, target: &dyn Target) -> bool {
    let workload = &job.plan.workload;
    !job.loads_data()
        && target.capabilities().duplex
        && workload.drive != DriveMode::Server
        && workload.connect == Connect::Session
}

/// Number of sessions with these targets that need a thread of their own.
pub(super) fn alone(job: &DriveJob<'_>, targets: impl Iterator<Item = usize>) -> u32 {
    let several: Vec<bool> =
        job.targets.iter().map(|context| can_share_thread(job, context.target.as_ref())).collect();
    targets.filter(|at| !several[*at]).count() as u32
}

/// Number of threads for `sessions` that can share one.
pub(super) fn shared_threads(job: &DriveJob<'_>, sessions: u32) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = job.plan.run.threads.map_or_else(processors, |threads| threads as usize);
    threads.min(sessions as usize)
}

pub(super) fn start_shared(
    workers: Vec<SessionWorker>,
    counts: &mut dyn FnMut() -> ThreadCounts,
    affinity: &Arc<Affinity>,
    shared: &Arc<SharedRunState>,
    started: &mut Started,
) -> std::io::Result<()> {
    if workers.is_empty() {
        return Ok(());
    }
    let threads = affinity.threads();
    let mut by_thread: Vec<Vec<SessionWorker>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, worker) in workers.into_iter().enumerate() {
        by_thread[index % threads].push(worker);
    }
    for (index, workers) in by_thread.into_iter().enumerate() {
        let affinity = ThreadAffinity { thread: index, all: Arc::clone(affinity) };
        let sessions = workers.len() as u32;
        spawn(format!("dyno-shared-{index}"), multiplex::prepare(workers, counts(), affinity, shared)?)?;
        started.threads += 1;
        started.sessions += sessions;
    }
    Ok(())
}

pub(super) fn start_own(
    workers: Vec<SessionWorker>,
    counts: &mut dyn FnMut() -> ThreadCounts,
    shared: &Arc<SharedRunState>,
    started: &mut Started,
) -> std::io::Result<()> {
    for worker in workers {
        let name = format!("dyno-{}", worker.setup.number);
        let (target, mut one) = (Arc::clone(&worker.target), Some((worker, counts())));
        let body = move || {
            target.within(&mut || one.take().into_iter().for_each(|(worker, counts)| worker.run(counts)));
        };
        let handle = spawn(name, body)?;
        shared.add_sleeper(Sleeper::Thread(handle.thread().clone()));
        started.threads += 1;
        started.sessions += 1;
    }
    Ok(())
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(body)
}
