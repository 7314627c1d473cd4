//! Records as the repository keeps them. Making that form takes most of the time of storing a record and needs no repository, so
//! whoever stores thousands has other threads do it.

use jiff::Timestamp;

use super::{RepositoryError, pack};
use crate::json::RecordError;
use crate::record::RunRecord;

/// A record with the form in which it is kept.
#[derive(Debug)]
pub struct PackedRecord {
    /// The record.
    pub record: RunRecord,
    pub(super) form: Form,
}

/// What is kept of a record beside its summary.
#[derive(Debug)]
pub(super) struct Form {
    /// When it began, in microseconds of the Unix epoch.
    pub(super) started_us: i64,
    /// Length of the JSON.
    pub(super) json_bytes: usize,
    /// The JSON, compressed.
    pub(super) packed: Vec<u8>,
}

/// Brings records into the form in which they are kept, one after the other. Each thread has its own.
#[derive(Debug)]
pub struct Packer {
    compressor: pack::Compressor,
}

impl Packer {
    /// A packer.
    #[allow(
        clippy::new_without_default,
        reason = "it holds hundreds of kilobytes: nobody should get one by the way"
    )]
    pub fn new() -> Self {
        Self { compressor: pack::Compressor::new() }
    }

    /// Packs a record.
    ///
    /// # Errors
    /// The record cannot be written as JSON, or its start is no moment.
    pub fn pack(&mut self, record: RunRecord) -> Result<PackedRecord, RepositoryError> {
        let form = self.form(&record)?;
        Ok(PackedRecord { record, form })
    }

    pub(super) fn form(&mut self, record: &RunRecord) -> Result<Form, RepositoryError> {
        let json =
            record.to_json().map_err(|source| RepositoryError::Record { id: record.id.clone(), source })?;
        let started_us = microseconds(&record.id, &record.started_at)?;
        Ok(Form { started_us, json_bytes: json.len(), packed: self.compressor.pack(&json) })
    }
}

pub(super) fn microseconds(id: &str, started_at: &str) -> Result<i64, RepositoryError> {
    let parsed: Result<Timestamp, _> = started_at.parse();
    parsed.map(Timestamp::as_microsecond).map_err(|_| {
        malformed(id, format!("started_at {started_at:?} is not a moment: write 2026-03-21T14:25:01Z"))
    })
}

pub(super) fn malformed(id: &str, detail: String) -> RepositoryError {
    RepositoryError::Record { id: id.to_owned(), source: RecordError::Malformed { detail } }
}
