//! The processes of jobs: started, found again after a server restart, and stopped by their process id.
//!
//! A child process has a process group of its own, so Ctrl-C at the server's terminal does not reach it. Its
//! output goes to files, so no pipe breaks when the server ends. The server waits for it through a process
//! file descriptor, which also works for processes that an earlier server started.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::job::JobProcess;

/// A running process of a job.
#[derive(Debug)]
pub(super) struct JobWorker {
    descriptor: OwnedFd,
    /// The process, if this server started it.
    child: Option<Child>,
    pub(super) process: JobProcess,
}

impl JobWorker {
    /// Starts `program` with `args`, and appends its output to the file `talk`.
    pub(super) fn spawn(program: &Path, args: &[String], talk: &Path) -> std::io::Result<Self> {
        let log = std::fs::OpenOptions::new().append(true).create(true).open(talk)?;
        let mut child = Command::new(program)
            .args(args)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let identified = Self::of(child.id());
        match identified {
            Ok((descriptor, process)) => Ok(Self { descriptor, child: Some(child), process }),
            Err(error) => {
                // A process that cannot be waited for must not keep running unattended.
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// Returns the process that an earlier server started, if it is still running.
    pub(super) fn reattach(process: &JobProcess) -> Option<Self> {
        let (descriptor, found) = Self::of(process.pid).ok()?;
        // The descriptor belongs to the process that has this id now. Only afterwards can be checked whether
        // it is the same process.
        (found == *process).then_some(Self { descriptor, child: None, process: found })
    }

    fn of(pid: u32) -> std::io::Result<(OwnedFd, JobProcess)> {
        let not_found = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(not_found)?;
        let descriptor = pidfd_open(raw, PidfdFlags::empty())?;
        let start_ticks = start_ticks(pid).ok_or_else(not_found)?;
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
        Ok((descriptor, JobProcess { pid, start_ticks, boot_id }))
    }

    /// Waits for the end of the process, at most this long; returns whether it has ended.
    pub(super) fn wait(&self, most: Duration) -> bool {
        let mut ends = [PollFd::new(&self.descriptor, PollFlags::IN)];
        let most = Timespec { tv_sec: 0, tv_nsec: i64::from(most.subsec_nanos()) };
        matches!(poll(&mut ends, Some(&most)), Ok(ended) if ended > 0)
    }

    /// Returns the exit code after the end; absent if a signal ended the process, or another server started
    /// it.
    pub(super) fn exit(mut self) -> Option<i32> {
        self.child.as_mut()?.wait().ok()?.code()
    }

    /// Creates another handle, through which the process can be stopped from another thread.
    pub(super) fn handle(&self) -> std::io::Result<JobStopHandle> {
        Ok(JobStopHandle(self.descriptor.try_clone()?))
    }
}

/// A handle that stops a process.
#[derive(Debug)]
pub(super) struct JobStopHandle(OwnedFd);

impl JobStopHandle {
    /// Asks the process to end in an orderly way and to keep measured runs; the second time it ends at once.
    pub(super) fn interrupt(&self) -> std::io::Result<()> {
        Ok(pidfd_send_signal(&self.0, Signal::INT)?)
    }
}

/// Start time of the process `pid`, in clock ticks since boot: field 22 of `/proc/PID/stat`.
fn start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses, which may contain parentheses and spaces.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}
