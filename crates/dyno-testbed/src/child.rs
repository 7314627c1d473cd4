//! Child processes that die with the test process and do not run as root.
#![allow(unsafe_code, reason = "prctl between fork and exec, kill and geteuid have no safe form in std")]

use std::ffi::CString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// A user that a server can run as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunAs {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl RunAs {
    /// The user that servers run as: `None` unless the test runs as root; then `postgres`, or `nobody` if
    /// there is no such user.
    pub(crate) fn choose() -> Option<Self> {
        // SAFETY: geteuid has no preconditions and cannot fail.
        let root = unsafe { libc::geteuid() } == 0;
        if root { user("postgres").or_else(|| user("nobody")) } else { None }
    }

    pub(crate) fn apply(self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }
}

fn user(name: &str) -> Option<RunAs> {
    let name = CString::new(name).ok()?;
    // SAFETY: `name` is a valid C string; the result points to static storage that is read at once. Called under the
    // lock of the one place that starts servers, so no other call of this crate overwrites it meanwhile.
    let entry = unsafe { libc::getpwnam(name.as_ptr()).as_ref() }?;
    Some(RunAs { uid: entry.pw_uid, gid: entry.pw_gid })
}

type Request = (Command, Sender<io::Result<Child>>);

/// Starts a server without output in a folder that any user may enter, as `run_as` if that is another user.
pub(crate) fn serve(mut command: Command, run_as: Option<RunAs>) -> io::Result<Child> {
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(user) = run_as {
        user.apply(&mut command);
    }
    spawn(command)
}

/// Starts `command` so that it receives SIGQUIT when this process ends.
///
/// Linux sends the parent-death signal when the *thread* that forked ends, and every test has its own thread.
/// Therefore one thread that lives as long as the process does all the forking.
pub(crate) fn spawn(mut command: Command) -> io::Result<Child> {
    static NURSERY: OnceLock<Mutex<Sender<Request>>> = OnceLock::new();
    let nursery = NURSERY.get_or_init(|| {
        let (sender, receiver) = channel::<Request>();
        std::thread::spawn(move || {
            for (mut command, reply) in receiver {
                // The receiver is gone only if the test is; then the child is dropped and dies with the process.
                let _ = reply.send(command.spawn());
            }
        });
        Mutex::new(sender)
    });
    let parent = std::process::id();
    // SAFETY: prctl, getppid and _exit are async-signal-safe and touch no memory of the parent. std runs the closure after it
    // changed user and group, which would clear the parent-death signal.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGQUIT) != 0 {
                return Err(io::Error::last_os_error());
            }
            if libc::getppid().cast_unsigned() != parent {
                libc::_exit(1);
            }
            Ok(())
        });
    }
    let (sender, receiver) = channel();
    let spawner_gone = |_| io::Error::other("the thread that starts servers is gone");
    nursery.lock().map_err(|_| spawner_gone(()))?.send((command, sender)).map_err(|_| spawner_gone(()))?;
    receiver.recv().map_err(|_| spawner_gone(()))?
}

/// Sends `signal` to a process that this crate started, or to a child of it.
pub(crate) fn signal(pid: u32, signal: libc::c_int) {
    // SAFETY: kill has no memory effects; a process that is gone already is what the caller wants.
    unsafe { libc::kill(pid.cast_signed(), signal) };
}

/// The children of a process.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Whether a process has ended, reaped or not.
pub(crate) fn ended(pid: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        // `pid (name) state …`; the name may contain any character, so the state follows the last
        // parenthesis.
        Ok(stat) => stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['Z', 'X'])),
        Err(_) => true,
    }
}

/// Calls `condition` until it returns true or `limit` has passed; returns whether it did.
pub(crate) fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while !condition() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}
