//! Which threads lead which sessions, and their start.

use std::sync::Arc;
use std::thread::JoinHandle;

use dyno_engine::Target;
use dyno_plan::{Connect, Drive};

use crate::affinity::{Affinity, ThreadAffinity};
use crate::counts::Counts;
use crate::job::Job;
use crate::multiplex;
use crate::shared::{Shared, Sleeper};
use crate::thread::STACK_BYTES;
use crate::worker::Worker;

/// How many threads have been started, and how many sessions are on them.
#[derive(Default)]
pub(super) struct Started {
    pub(super) threads: u32,
    pub(super) sessions: u32,
}

/// Whether one thread can lead several sessions on `target`.
///
/// A slice of the server drive is long, so nothing is saved there; and neither opening a connection nor loading rows is done in two
/// halves.
pub(super) fn leads_several(job: &Job<'_>, target: &dyn Target) -> bool {
    let workload = &job.plan.workload;
    !job.loads()
        && target.capabilities().duplex
        && workload.drive != Drive::Server
        && workload.connect == Connect::Session
}

/// Of sessions that go to these targets, how many need a thread of their own.
pub(super) fn alone(job: &Job<'_>, targets: impl Iterator<Item = usize>) -> u32 {
    let several: Vec<bool> = job.targets.iter().map(|aim| leads_several(job, aim.target.as_ref())).collect();
    targets.filter(|at| !several[*at]).count() as u32
}

/// Threads that lead `sessions` which can share one.
pub(super) fn shared_threads(job: &Job<'_>, sessions: u32) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = job.plan.run.threads.map_or_else(processors, |threads| threads as usize);
    threads.min(sessions as usize)
}

pub(super) fn start_shared(
    workers: Vec<Worker>,
    counts: &mut dyn FnMut() -> Counts,
    affinity: &Arc<Affinity>,
    shared: &Arc<Shared>,
    started: &mut Started,
) -> std::io::Result<()> {
    if workers.is_empty() {
        return Ok(());
    }
    let threads = affinity.threads();
    let mut by_thread: Vec<Vec<Worker>> = (0..threads).map(|_| Vec::new()).collect();
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
    workers: Vec<Worker>,
    counts: &mut dyn FnMut() -> Counts,
    shared: &Arc<Shared>,
    started: &mut Started,
) -> std::io::Result<()> {
    for worker in workers {
        let name = format!("dyno-{}", worker.setup.number);
        let (target, mut one) = (Arc::clone(&worker.target), Some((worker, counts())));
        let body = move || {
            target.within(&mut || one.take().into_iter().for_each(|(worker, counts)| worker.run(counts)));
        };
        let handle = spawn(name, body)?;
        shared.enlist(Sleeper::Thread(handle.thread().clone()));
        started.threads += 1;
        started.sessions += 1;
    }
    Ok(())
}

fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(body)
}
