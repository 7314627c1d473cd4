//! Checks the limit on files and connections that this process may have open at once.
//!
//! Other errors hide this cause: "no server can be reached" makes users check their firewall.

use std::error::Error;
use std::fs::File;
use std::io;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Each session has a connection; on some engines also a second handle that interrupts it, or another file.
const PER_SESSION: &str = "1 or 2";
/// The repository, the observer, the sampler, the files of the machine's counters, and room for connecting.
const BESIDE: u32 = 40;
/// The most that is requested: programs started by hooks may loop over all numbers up to the limit.
const RAISED_MAX: u64 = 65_536;
/// Descriptors needed to open a database file; with fewer left it fails without a reason.
const OPENING: usize = 4;

/// Raises the limit to what the system allows this user; does nothing where it refuses.
pub fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(RAISED_MAX).min(RAISED_MAX);
    if limit.current.is_some_and(|current| current < allowed) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), maximum: limit.maximum });
    }
}

/// Files and connections that this process may have open at once. Absent where there is no limit.
pub fn open_files_max() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// The hint, if `error` says that this process has too many files and connections open.
pub fn too_few(error: &(dyn Error + 'static)) -> Option<String> {
    let words = io::Error::from(Errno::MFILE).to_string();
    let mut chain = std::iter::successors(Some(error), |&error| error.source());
    chain.any(|error| error.to_string().contains(&words)).then(way_out)
}

/// The hint, if this process cannot open another file now.
pub(crate) fn used_up() -> Option<String> {
    let open: io::Result<Vec<File>> = (0..OPENING).map(|_| File::open("/dev/null")).collect();
    let is_out = open.is_err_and(|error| error.raw_os_error() == Some(Errno::MFILE.raw_os_error()));
    is_out.then(way_out)
}

fn way_out() -> String {
    let limit = getrlimit(Resource::Nofile).current;
    let limit = limit.map_or_else(|| "any number of".to_owned(), |files| files.to_string());
    // The hint comes first, because lists truncate long reasons.
    format!(
        "`ulimit -n 65536`, or fewer sessions: {limit} files and connections are allowed, {PER_SESSION} for \
         each session and {BESIDE} more are needed"
    )
}

#[cfg(test)]
mod tests {
    use dyno_engine::{TargetError, TargetErrorKind};

    use super::*;

    #[test]
    fn descriptor_limit_error_suggests_ulimit() {
        let few = io::Error::from(Errno::MFILE);
        let message_only =
            TargetError::new(TargetErrorKind::Unreachable, format!("no server can be reached ({few})"));
        let caused =
            TargetError::new(TargetErrorKind::Unreachable, "the server cannot be reached").cause(few);
        for error in [&message_only, &caused] {
            let hint = too_few(error).expect("it is told");
            assert!(hint.contains("ulimit -n"), "{hint}");
            assert!(hint.contains("1 or 2 for each session"), "{hint}");
        }
        let other = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(too_few(&other).is_none());
        assert!(used_up().is_none());
    }
}
