//! What applies to all records of one import.

use std::path::Path;

use dyno_engine::data::mix;
use dyno_record::rfc3339;
use jiff::Timestamp;

use crate::ImportFile;

/// What the command line says about all records of a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportMarks<'c> {
    /// Plan keys with values: `run.time=180s`.
    pub sets: &'c [String],
    /// Variant of records without one of their own.
    pub variant: Option<&'c str>,
    /// Tags that each imported record gets.
    pub tags: &'c [String],
    /// Product to which the figures belong.
    pub product: Option<&'c str>,
}

/// Data that applies to all lines.
pub struct ImportContext<'c> {
    /// Format of the figures: `csv`, `sysbench`.
    pub(super) format: &'static str,
    pub(super) file: String,
    /// Path of the file in errors.
    pub(super) path: String,
    pub(super) marks: ImportMarks<'c>,
    pub(super) now: Timestamp,
    /// The import time as records store it.
    pub(super) imported_at: String,
    /// Sixteen random bits at the start of the record names.
    pub(super) salt: u16,
}

impl<'c> ImportContext<'c> {
    /// Data for the records of `source` in this format, which are imported now.
    pub fn new(format: &'static str, source: &ImportFile, marks: ImportMarks<'c>) -> Self {
        let now = Timestamp::now();
        let file = Path::new(source.name()).file_name();
        Self {
            format,
            file: file.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            path: source.name().to_owned(),
            marks,
            now,
            imported_at: rfc3339(now),
            salt: mix(now.as_nanosecond() as u64 ^ u64::from(std::process::id())) as u16,
        }
    }

    /// Context for the lines of `file` in a test.
    #[cfg(test)]
    pub(super) fn for_test(file: &str) -> Self {
        Self {
            format: "csv",
            file: file.into(),
            path: file.into(),
            marks: ImportMarks::default(),
            now: Timestamp::UNIX_EPOCH,
            imported_at: rfc3339(Timestamp::UNIX_EPOCH),
            salt: 0,
        }
    }
}
