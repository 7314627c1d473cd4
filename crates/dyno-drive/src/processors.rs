//! Measures who used the processors in the window.
//!
//! The processes are read right after each snapshot and not with it, since reading every process of the
//! machine takes milliseconds. The two readings include the machine's own times, so the shares are exact for
//! the time between them.

use dyno_host::{ProcessTimes, ProcessorShares};
use dyno_record::ServerProcesses;

use crate::job::DriveJob;

/// Readings at both ends of the window.
#[derive(Debug, Default)]
pub(crate) struct Processors {
    begin: Option<ProcessTimes>,
    end: Option<ProcessTimes>,
}

impl Processors {
    pub(crate) fn begin(&mut self, job: &DriveJob<'_>, clients: &[u32]) {
        self.begin = read(job, clients);
    }

    pub(crate) fn end(&mut self, job: &DriveJob<'_>, clients: &[u32]) {
        self.end = read(job, clients);
    }

    /// The readings, the latest first.
    pub(crate) fn readings(&self) -> Vec<&ProcessTimes> {
        self.end.iter().chain(&self.begin).collect()
    }

    /// Who used the processors between the readings, if there are both.
    pub(crate) fn shares(&self) -> Option<ProcessorShares> {
        ProcessorShares::between(self.begin.as_ref()?, self.end.as_ref()?)
    }
}

fn read(job: &DriveJob<'_>, clients: &[u32]) -> Option<ProcessTimes> {
    let servers: Vec<ServerProcesses> =
        job.targets.iter().map(|context| context.identity.processes.clone()).collect();
    ProcessTimes::read(&servers, clients)
}
