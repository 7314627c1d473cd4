//! A small file system in memory that can be filled, enlarged and made read-only.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted tmpfs that is unmounted when dropped.
pub struct Tmpfs {
    folder: tempfile::TempDir,
}

impl Tmpfs {
    /// Mounts one of `mib` MiB; without the necessary rights, the test `scenario` is skipped.
    pub fn mount(scenario: &str, mib: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={mib}m,mode=0777");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "dyno-test"]).arg(folder.path());
        match mount.output() {
            Ok(output) if output.status.success() => Some(Self { folder }),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                dyno_testbed::skip(scenario, &format!("no tmpfs can be mounted, which needs root: {why}"));
                None
            }
            Err(error) => {
                dyno_testbed::skip(scenario, &format!("mount cannot be run: {error}"));
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn fill(&self) {
        let mut file = std::fs::File::create(self.file("filler")).unwrap();
        let mut piece = vec![0; 64 * 1024];
        while !piece.is_empty() {
            if file.write_all(&piece).is_err() {
                piece.truncate(piece.len() / 2);
            }
        }
    }

    /// Frees the space used by [`Tmpfs::fill`].
    pub fn free(&self) {
        std::fs::remove_file(self.file("filler")).unwrap();
    }

    /// Remounts it with other options: `size=64m`, `ro`.
    pub fn remount(&self, options: &str) {
        let mut mount = Command::new("mount");
        mount.args(["-o", &format!("remount,{options}")]).arg(self.path());
        assert!(mount.status().unwrap().success());
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        // Lazily, so that an open file does not prevent it.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}
