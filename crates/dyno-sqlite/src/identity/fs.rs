//! Reports the file system under a path: its type, its free space, and whether it supports `O_DIRECT`.

// statfs and access have no safe interface in the standard library.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The result of statfs(2) for a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileSystem {
    magic: u64,
    /// Bytes that an ordinary user can still write.
    pub(super) free_bytes: u64,
}

/// Magic numbers of statfs(2) with names, and whether data goes over a network.
const KINDS: [(u64, &str, bool); 15] = [
    (0xef53, "ext4", false),
    (0x5846_5342, "xfs", false),
    (0x9123_683e, "btrfs", false),
    (0x2fc1_2fc1, "zfs", false),
    (0xf2f5_2010, "f2fs", false),
    (0x0102_1994, "tmpfs", false),
    (0x8584_58f6, "ramfs", false),
    (0x794c_7630, "overlayfs", false),
    (0x6969, "nfs", true),
    (0xff53_4d42, "cifs", true),
    (0xfe53_4d42, "smb2", true),
    (0x517b, "smb", true),
    (0x00c3_6400, "ceph", true),
    (0x0bd0_0bd0, "lustre", true),
    (0x6573_5546, "fuse", false),
];

impl FileSystem {
    /// The file system that contains `path`, which must exist.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        let mut facts = MaybeUninit::<libc::statfs>::uninit();
        // SAFETY: the name ends with a zero byte; statfs fills the structure when it returns 0.
        let facts = unsafe {
            if libc::statfs(name.as_ptr(), facts.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
            facts.assume_init()
        };
        // Magic numbers have 32 bits; the field is signed and may be wider.
        let magic = facts.f_type as u64 & 0xffff_ffff;
        Ok(Self { magic, free_bytes: facts.f_bavail * facts.f_bsize as u64 })
    }

    fn kind(self) -> Option<&'static (u64, &'static str, bool)> {
        KINDS.iter().find(|(magic, ..)| *magic == self.magic)
    }

    /// The file system's name: `ext4`; the magic number if it is unknown.
    pub(super) fn name(self) -> String {
        self.kind().map_or_else(|| format!("type {:#x}", self.magic), |(_, name, _)| (*name).to_owned())
    }

    /// Whether its files are on another machine.
    pub(super) fn is_network(self) -> bool {
        self.kind().is_some_and(|(.., network)| *network)
    }

    /// Whether its files are in memory.
    pub(super) fn is_memory(self) -> bool {
        matches!(self.magic, 0x0102_1994 | 0x8584_58f6)
    }
}

/// Whether this user may write to `path`.
pub(super) fn writable(path: &Path) -> bool {
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: the name ends with a zero byte.
    unsafe { libc::access(name.as_ptr(), libc::W_OK) == 0 }
}

/// Whether files in `folder` support `O_DIRECT`; `None` if testing that would leave a file.
pub(super) fn knows_direct(folder: &Path) -> Option<bool> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    match options.custom_flags(libc::O_TMPFILE | libc::O_DIRECT).open(folder) {
        Ok(_) => Some(true),
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => Some(false),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_system_reports_name_and_free_space() {
        let folder = tempfile::tempdir().unwrap();
        let file_system = FileSystem::of(folder.path()).unwrap();
        assert!(file_system.free_bytes > 0);
        assert!(!file_system.name().is_empty());
        assert!(writable(folder.path()));
        assert!(FileSystem::of(&folder.path().join("nothing")).is_err());
        assert!(FileSystem { magic: 0x6969, free_bytes: 0 }.is_network());
        assert!(FileSystem { magic: 0x0102_1994, free_bytes: 0 }.is_memory());
        assert_eq!(FileSystem { magic: 0x1234, free_bytes: 0 }.name(), "type 0x1234");
    }
}
