//! What is to be measured, and how long.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_engine::disk::{free_bytes, human};

use crate::commits::LOG_BYTES;
use crate::error::CalibrateError;

/// The smallest file that says anything of a device, bytes: less is in the device's own cache.
pub const FILE_BYTES_MIN: u64 = 64 << 20;
/// Sizes of a commit's block that are possible, bytes.
pub const COMMIT_BYTES: std::ops::RangeInclusive<u64> = 512..=1 << 20;
/// What is left free on the device, bytes.
const SPARE: u64 = 256 << 20;

/// A part of a calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Bandwidth of memory.
    Memory,
    /// The device, by `fio`.
    Device,
    /// Commits a second.
    Commit,
}

dyno_plan::names! {
    /// The word on the command line: `device`.
    Part { Memory = "memory", Device = "device", Commit = "commit" }
}

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct Order {
    /// The folder whose device it is about.
    pub folder: PathBuf,
    /// A short look: fewer steps, and shorter ones.
    pub quick: bool,
    /// The parts; all of them where there is none.
    pub parts: Vec<Part>,
    /// Size of the file, bytes; where it is not said, as much as there is room for.
    pub file_bytes: Option<u64>,
    /// Bytes of a commit.
    pub commit_bytes: u64,
    /// The 99th percentile of latency that the most requests keep.
    pub p99_limit: Duration,
    /// The length of each step; where it is not said, as long as is usual.
    pub step: Option<Duration>,
}

impl Order {
    /// Whether a part is asked for.
    pub(crate) fn has(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    /// The length of a step.
    pub(crate) fn time(&self) -> Duration {
        self.step.unwrap_or(if self.quick { Duration::from_millis(600) } else { Duration::from_secs(4) })
    }

    /// The rest between two steps of the device.
    pub(crate) fn rest(&self) -> Duration {
        self.time() / 4
    }

    /// Numbers of requests at once, or of writers: doubled each time, or fourfold where it is quick.
    pub(crate) fn ramp(&self, most: u32) -> Vec<u32> {
        let factor = if self.quick { 4 } else { 2 };
        std::iter::successors(Some(1u32), |last| last.checked_mul(factor))
            .take_while(|n| *n <= most)
            .collect()
    }

    /// Writers at most.
    pub(crate) fn writers(&self) -> u32 {
        if self.quick { 16 } else { 64 }
    }

    /// The folder without links, and the size of the file.
    ///
    /// # Errors
    /// The folder is none, there is not room enough, or what is asked for makes no sense.
    pub(crate) fn checked(&self) -> Result<(PathBuf, u64), CalibrateError> {
        let wrong = |why: &str| CalibrateError::Folder { folder: self.folder.clone(), why: why.to_owned() };
        let folder = std::fs::canonicalize(&self.folder).map_err(|error| wrong(&error.to_string()))?;
        if !folder.is_dir() {
            return Err(wrong("it is a file"));
        }
        if !COMMIT_BYTES.contains(&self.commit_bytes) || !self.commit_bytes.is_power_of_two() {
            let problem = format!(
                "--commit-size {}: a power of two from 512 bytes to 1 MiB is possible",
                human(self.commit_bytes)
            );
            return Err(CalibrateError::Asked(problem));
        }
        if self.file_bytes.is_some_and(|bytes| bytes < FILE_BYTES_MIN) {
            let problem = format!(
                "--size {} is no size for a file: less than {} is in the device's own cache",
                human(self.file_bytes.unwrap_or(0)),
                human(FILE_BYTES_MIN)
            );
            return Err(CalibrateError::Asked(problem));
        }
        if self.step.is_some_and(|step| step < Duration::from_millis(50)) {
            return Err(CalibrateError::Asked("--step: less than 50 ms measures nothing".to_owned()));
        }
        let bytes = self.with_room(&folder)?;
        Ok((folder, bytes))
    }

    /// The size of the file, for which there is room.
    fn with_room(&self, folder: &Path) -> Result<u64, CalibrateError> {
        let usual = if self.quick { 1 << 30 } else { 4 << 30 };
        let free = folder.to_str().and_then(free_bytes);
        let logs = if self.has(Part::Commit) { u64::from(self.writers()) * LOG_BYTES } else { 0 };
        let for_file = free.map_or(usual, |free| free.saturating_sub(SPARE + logs) / 4);
        let bytes = self.file_bytes.unwrap_or(usual.min(for_file.max(FILE_BYTES_MIN)) >> 20 << 20);
        let bytes = if self.has(Part::Device) { bytes } else { 0 };
        match free {
            Some(free) if free < bytes + logs + SPARE => Err(CalibrateError::Room {
                folder: folder.to_owned(),
                free: human(free),
                needed: human(bytes + logs),
                spare: human(SPARE),
            }),
            _ => Ok(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(folder: &Path) -> Order {
        Order {
            folder: folder.to_owned(),
            quick: true,
            parts: Vec::new(),
            file_bytes: None,
            commit_bytes: 8192,
            p99_limit: Duration::from_millis(1),
            step: None,
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let said = |order: Order| order.checked().unwrap_err().to_string();
        let usual = order(folder.path());
        assert!(usual.checked().is_ok());
        assert!(
            said(Order { file_bytes: Some(1 << 20), ..usual.clone() })
                .contains("64.0 MiB is in the device's own cache")
        );
        assert!(said(Order { file_bytes: Some(1 << 60), ..usual.clone() }).contains("free, and a file of"));
        assert!(said(Order { commit_bytes: 5000, ..usual.clone() }).contains("a power of two"));
        assert!(said(Order { step: Some(Duration::from_millis(1)), ..usual.clone() }).contains("50 ms"));
        assert!(
            said(Order { folder: "/there/is/none".into(), ..usual.clone() })
                .contains("/there/is/none is no folder")
        );
        let file = folder.path().join("x");
        std::fs::write(&file, "").unwrap();
        assert!(said(Order { folder: file, ..usual }).contains("it is a file"));
    }

    #[test]
    fn ramps_double_or_go_fourfold() {
        let quick = order(Path::new("/"));
        assert_eq!(quick.ramp(64), [1, 4, 16, 64]);
        assert_eq!(Order { quick: false, ..quick }.ramp(20), [1, 2, 4, 8, 16]);
    }
}
