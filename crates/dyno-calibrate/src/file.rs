//! The test file. It is unlinked as soon as it is created, so nothing is left behind however the process
//! ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use dyno_engine::Cancel;
use rustix::fs::{Advice, OFlags, fadvise};

/// Size of one write, in bytes.
const PIECE: usize = 1 << 20;

/// Bytes between two syncs, which limit how much of the file the page cache must hold.
const SYNC_EACH: u64 = 64 << 20;

/// An unlinked file. It disappears with this process, however the process ends.
#[derive(Debug)]
pub(crate) struct Unnamed {
    pub(crate) file: File,
}

impl Unnamed {
    /// Creates and unlinks a file in `folder`.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = folder.join(format!(".dyno-calibrate-{}-{count}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&name)?;
        std::fs::remove_file(&name)?;
        Ok(Self { file })
    }

    /// A path by which other programs of this user can open the file while this process holds it open.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }

    /// Whether the file lies on the device of `folder`.
    pub(crate) fn is_on_device_of(&self, folder: &Path) -> io::Result<bool> {
        Ok(self.file.metadata()?.dev() == std::fs::metadata(folder)?.dev())
    }

    /// Whether the file supports direct I/O.
    pub(crate) fn takes_direct(&self) -> bool {
        let flags = i32::try_from(OFlags::DIRECT.bits()).unwrap_or(0);
        OpenOptions::new().read(true).write(true).custom_flags(flags).open(self.path()).is_ok()
    }

    /// Fills the whole file with incompressible data and syncs it to the device. Returns false after a stop
    /// request. The callback receives the number of bytes written.
    pub(crate) fn fill(
        &mut self,
        bytes: u64,
        cancel: &Cancel,
        on_progress: &dyn Fn(u64),
    ) -> io::Result<bool> {
        let mut random = IncompressibleBytes(0x9e37_79b9_7f4a_7c15 ^ u64::from(std::process::id()));
        let mut piece = vec![0u8; PIECE];
        let mut written = 0;
        while written < bytes {
            if cancel.is_cancelled() {
                return Ok(false);
            }
            random.fill(&mut piece);
            let length = PIECE.min(usize::try_from(bytes - written).unwrap_or(PIECE));
            self.file.write_all(&piece[..length])?;
            written += length as u64;
            if written % SYNC_EACH == 0 || written == bytes {
                self.file.sync_all()?;
                on_progress(written);
            }
        }
        // Direct reads should not find the data in the page cache. The kernel may ignore this advice; the
        // device's counters are the proof.
        let _ = fadvise(&self.file, 0, None, Advice::DontNeed);
        Ok(true)
    }
}

/// Generates incompressible bytes with xorshift64*, which is fast and sufficient here.
pub(crate) struct IncompressibleBytes(pub(crate) u64);

impl IncompressibleBytes {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for word in bytes.chunks_mut(8) {
            let next = self.next().to_le_bytes();
            word.copy_from_slice(&next[..word.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_file_is_unnamed_and_incompressible() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = Unnamed::new(folder.path()).unwrap();
        assert!(file.fill(3 << 20, &Cancel::default(), &|_| {}).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(file.is_on_device_of(folder.path()).unwrap());
        let bytes = std::fs::read(file.path()).unwrap();
        assert_eq!(bytes.len(), 3 << 20);
        let zeros = bytes.iter().filter(|byte| **byte == 0).count();
        assert!(zeros < bytes.len() / 100, "{zeros} zeros");
        assert_ne!(bytes[..4096], bytes[1 << 20..(1 << 20) + 4096], "no piece is as the one before");
    }

    #[test]
    fn cancel_ends_filling_of_calibration_file() {
        let cancel = Cancel::default();
        cancel.cancel();
        let mut file = Unnamed::new(tempfile::tempdir().unwrap().path()).unwrap();
        assert!(!file.fill(1 << 30, &cancel, &|_| {}).unwrap());
    }
}
