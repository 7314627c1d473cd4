//! Drops the kernel's page cache, from which reads are served that a database counts as storage reads.

use std::fs::OpenOptions;
use std::io::{Error, Write};
use std::path::Path;

/// The file through which Linux drops clean pages (`Documentation/admin-guide/sysctl/vm.rst`).
const DROP: &str = "/proc/sys/vm/drop_caches";

/// Checks whether this process may drop this machine's page cache; drops nothing.
///
/// # Errors
/// The process may not, or this is not Linux.
pub fn may_be_dropped() -> Result<(), Error> {
    may(Path::new(DROP))
}

/// Writes back dirty pages, and drops the clean pages of all files of this machine, whichever process uses
/// them.
///
/// # Errors
/// As [`may_be_dropped`].
pub fn drop_clean() -> Result<(), Error> {
    drop_by(Path::new(DROP))
}

fn may(file: &Path) -> Result<(), Error> {
    OpenOptions::new().write(true).open(file).map(|_| ())
}

fn drop_by(file: &Path) -> Result<(), Error> {
    // The kernel drops only clean pages.
    rustix::fs::sync();
    OpenOptions::new().write(true).open(file)?.write_all(b"1\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_cache_drop_requests_only_page_cache() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("drop_caches");
        assert!(may(&file).is_err(), "it is never made");
        assert!(drop_by(&file).is_err(), "it is never made");
        std::fs::write(&file, "").unwrap();
        may(&file).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "", "to ask whether is not to do");
        drop_by(&file).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "1\n");
    }
}
