//! Processes of what was started: begun, found again after a restart, stopped by their id alone.
//!
//! A child is in a process group of its own, so that Ctrl-C at the server's terminal is not its; what it says goes to files, so
//! that no pipe breaks when the server ends. It is waited for by a descriptor of the process, which also works for one that an
//! earlier server began.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::job::Process;

/// A process that is at work.
#[derive(Debug)]
pub(super) struct Worker {
    descriptor: OwnedFd,
    /// The process, if this server began it.
    child: Option<Child>,
    pub(super) process: Process,
}

impl Worker {
    /// Starts `program` with `args`; what it says is appended to `talk`.
    pub(super) fn begin(program: &Path, args: &[String], talk: &Path) -> std::io::Result<Self> {
        let said = std::fs::OpenOptions::new().append(true).create(true).open(talk)?;
        let mut child = Command::new(program)
            .args(args)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(said)
            .spawn()?;
        let found = Self::of(child.id());
        match found {
            Ok((descriptor, process)) => Ok(Self { descriptor, child: Some(child), process }),
            Err(error) => {
                // One that cannot be waited for must not be left to itself.
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// The process that an earlier server began, if it still lives.
    pub(super) fn again(process: &Process) -> Option<Self> {
        let (descriptor, found) = Self::of(process.pid).ok()?;
        // The descriptor is of the process that has this id now; that it is the one that was begun is known only after that.
        (found == *process).then_some(Self { descriptor, child: None, process: found })
    }

    fn of(pid: u32) -> std::io::Result<(OwnedFd, Process)> {
        let gone = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(gone)?;
        let descriptor = pidfd_open(raw, PidfdFlags::empty())?;
        let start_ticks = start_ticks(pid).ok_or_else(gone)?;
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
        Ok((descriptor, Process { pid, start_ticks, boot_id }))
    }

    /// Waits at most so long for its end; whether it has ended.
    pub(super) fn wait(&self, most: Duration) -> bool {
        let mut ends = [PollFd::new(&self.descriptor, PollFlags::IN)];
        let most = Timespec { tv_sec: 0, tv_nsec: i64::from(most.subsec_nanos()) };
        matches!(poll(&mut ends, Some(&most)), Ok(ended) if ended > 0)
    }

    /// Its exit code once it has ended; nothing where a signal ended it, or another server began it.
    pub(super) fn exit(mut self) -> Option<i32> {
        self.child.as_mut()?.wait().ok()?.code()
    }

    /// Another handle on it, to stop it from elsewhere.
    pub(super) fn handle(&self) -> std::io::Result<Handle> {
        Ok(Handle(self.descriptor.try_clone()?))
    }
}

/// Stops a process.
#[derive(Debug)]
pub(super) struct Handle(OwnedFd);

impl Handle {
    /// Asks it to end in good order and to keep what was measured; asked twice, it ends at once.
    pub(super) fn interrupt(&self) -> std::io::Result<()> {
        Ok(pidfd_send_signal(&self.0, Signal::INT)?)
    }
}

/// When the process `pid` started, in clock ticks after the boot: field 22 of `/proc/PID/stat`.
fn start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in brackets, and may itself hold brackets and blanks.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}
