//! What to measure and for how long, with the checks made before anything is written.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_engine::disk::{free_bytes, human};

use crate::commits::LOG_BYTES;
use crate::error::CalibrateError;

/// Smallest useful file, bytes: a smaller one fits into the device's own cache.
pub const FILE_BYTES_MIN: u64 = 64 << 20;
/// Allowed sizes of a commit's block, bytes.
pub const COMMIT_BYTES: std::ops::RangeInclusive<u64> = 512..=1 << 20;
/// Space left free on the device, bytes.
const SPARE: u64 = 256 << 20;

/// A part of a calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalibrationPart {
    Memory,
    Device,
    Commit,
}

dyno_plan::names! {
    /// The word on the command line: `device`.
    CalibrationPart { Memory = "memory", Device = "device", Commit = "commit" }
}

/// The request for a calibration.
#[derive(Debug, Clone)]
pub struct CalibrationSpec {
    /// The folder whose device is measured.
    pub folder: PathBuf,
    /// Whether to run fewer and shorter steps.
    pub quick: bool,
    /// The parts to measure; empty means all.
    pub parts: Vec<CalibrationPart>,
    /// Size of the file, bytes; `None` uses as much as there is room for.
    pub file_bytes: Option<u64>,
    /// Bytes that each commit writes.
    pub commit_bytes: u64,
    /// Limit of the 99th percentile of latency for the highest request rate reported within a limit.
    pub p99_limit: Duration,
    /// Length of each step; `None` uses the default.
    pub step: Option<Duration>,
}

impl CalibrationSpec {
    /// Whether this part is requested.
    pub(crate) fn has(&self, part: CalibrationPart) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    pub(crate) fn time(&self) -> Duration {
        self.step.unwrap_or(if self.quick { Duration::from_millis(600) } else { Duration::from_secs(4) })
    }

    /// Pause between two steps of the device.
    pub(crate) fn rest(&self) -> Duration {
        self.time() / 4
    }

    /// Numbers of concurrent requests or writers: doubled at each step, or quadrupled when quick.
    pub(crate) fn ramp(&self, most: u32) -> Vec<u32> {
        let factor = if self.quick { 4 } else { 2 };
        std::iter::successors(Some(1u32), |last| last.checked_mul(factor))
            .take_while(|n| *n <= most)
            .collect()
    }

    /// The highest number of concurrent writers.
    pub(crate) fn writers(&self) -> u32 {
        if self.quick { 16 } else { 64 }
    }

    /// Returns the folder with links resolved and the size of the file.
    ///
    /// # Errors
    /// The folder is not usable, space is short, or the request is contradictory.
    pub(crate) fn checked(&self) -> Result<(PathBuf, u64), CalibrateError> {
        let wrong = |why: &str| CalibrateError::Folder { folder: self.folder.clone(), why: why.to_owned() };
        let folder = std::fs::canonicalize(&self.folder).map_err(|error| wrong(&error.to_string()))?;
        if !folder.is_dir() {
            return Err(wrong("it is a file"));
        }
        if !COMMIT_BYTES.contains(&self.commit_bytes) || !self.commit_bytes.is_power_of_two() {
            let problem = format!(
                "--commit-size {}: write a power of two from 512 bytes to 1 MiB",
                human(self.commit_bytes)
            );
            return Err(CalibrateError::Asked(problem));
        }
        if self.file_bytes.is_some_and(|bytes| bytes < FILE_BYTES_MIN) {
            let problem = format!(
                "--size {} is too small: less than {} fits in the device's own cache",
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

    /// Size of the file, limited by the free space.
    fn with_room(&self, folder: &Path) -> Result<u64, CalibrateError> {
        let usual = if self.quick { 1 << 30 } else { 4 << 30 };
        let free = folder.to_str().and_then(free_bytes);
        let logs = if self.has(CalibrationPart::Commit) { u64::from(self.writers()) * LOG_BYTES } else { 0 };
        let for_file = free.map_or(usual, |free| free.saturating_sub(SPARE + logs) / 4);
        let bytes = self.file_bytes.unwrap_or(usual.min(for_file.max(FILE_BYTES_MIN)) >> 20 << 20);
        let bytes = if self.has(CalibrationPart::Device) { bytes } else { 0 };
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

    fn order(folder: &Path) -> CalibrationSpec {
        CalibrationSpec {
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
    fn invalid_calibration_settings_are_refused_before_writing() {
        let folder = tempfile::tempdir().unwrap();
        let error_text = |order: CalibrationSpec| order.checked().unwrap_err().to_string();
        let usual = order(folder.path());
        assert!(usual.checked().is_ok());
        assert!(
            error_text(CalibrationSpec { file_bytes: Some(1 << 20), ..usual.clone() })
                .contains("less than 64.0 MiB fits in the device's own cache")
        );
        assert!(
            error_text(CalibrationSpec { file_bytes: Some(1 << 60), ..usual.clone() })
                .contains("free, and a file of")
        );
        assert!(
            error_text(CalibrationSpec { commit_bytes: 5000, ..usual.clone() }).contains("a power of two")
        );
        assert!(
            error_text(CalibrationSpec { step: Some(Duration::from_millis(1)), ..usual.clone() })
                .contains("50 ms")
        );
        assert!(
            error_text(CalibrationSpec { folder: "/there/is/none".into(), ..usual.clone() })
                .contains("/there/is/none is not a usable folder")
        );
        let file = folder.path().join("x");
        std::fs::write(&file, "").unwrap();
        assert!(error_text(CalibrationSpec { folder: file, ..usual }).contains("it is a file"));
    }

    #[test]
    fn calibration_ramp_doubles_or_quadruples() {
        let quick = order(Path::new("/"));
        assert_eq!(quick.ramp(64), [1, 4, 16, 64]);
        assert_eq!(CalibrationSpec { quick: false, ..quick }.ramp(20), [1, 2, 4, 8, 16]);
    }
}
