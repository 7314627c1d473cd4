//! Records in their stored form. Producing this form takes most of the time of storing a record and needs no repository, so
//! imports of thousands of records do it in other threads.

use dyno_plan::Plan;
use jiff::Timestamp;

use super::marks::NOTE;
use super::{RepositoryError, RunLabelKind, pack};
use crate::id::RunId;
use crate::id::is_name;
use crate::json::RecordError;
use crate::membership::PartOf;
use crate::metric::{Metric, Unit};
use crate::record::RunRecord;
use crate::window::Window;

/// Replaces the engine's name in a record of a component; [`Filter`](super::Filter) finds such records by it.
pub const COMPONENT: &str = "component";

/// A record in its stored form: columns for lists, and the compressed JSON.
#[derive(Debug)]
pub struct PackedRecord {
    pub(super) id: RunId,
    pub(super) started_at: String,
    /// When it started, in microseconds since the Unix epoch.
    pub(super) started_us: i64,
    pub(super) status: &'static str,
    pub(super) engine: String,
    pub(super) target: String,
    pub(super) sessions: u32,
    /// Percent of updates, from [`update_pct`].
    pub(super) update_pct: i64,
    pub(super) ops_per_s: Option<f64>,
    pub(super) p99_us: Option<f64>,
    pub(super) logical_reads_per_s: Option<f64>,
    pub(super) physical_reads_per_s: Option<f64>,
    pub(super) redo_mb_per_s: Option<f64>,
    pub(super) seconds: Option<f64>,
    pub(super) reason: Option<String>,
    pub(super) part_of: Option<PartOf>,
    pub(super) database: String,
    pub(super) undated: bool,
    pub(super) marked: String,
    /// Tags, variant and notes for the table of marks.
    pub(super) marks: Vec<(&'static str, String)>,
    /// Whether its series is an overview, with the intervals stored in chunks.
    pub(super) is_overview: bool,
    /// Length of the JSON in bytes.
    pub(super) json_bytes: usize,
    /// The compressed JSON of the record.
    pub(super) packed: Vec<u8>,
}

impl PackedRecord {
    /// The name of the run.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// Converts records into their stored form. Each thread needs its own.
#[derive(Debug)]
pub struct Packer {
    compressor: pack::Compressor,
}

impl Packer {
    /// A packer with a new compressor.
    #[allow(
        clippy::new_without_default,
        reason = "it holds hundreds of kilobytes: nobody should get one by the way"
    )]
    pub fn new() -> Self {
        Self { compressor: pack::Compressor::new() }
    }

    /// Converts a record into its stored form.
    ///
    /// # Errors
    /// The record cannot be written as JSON and read back, or its start is not a valid time.
    pub fn pack(&mut self, record: &RunRecord) -> Result<PackedRecord, RepositoryError> {
        self.packed(record, record.to_json())
    }

    /// Converts one of thousands of records whose plan was already read back as JSON; they differ in figures and texts.
    ///
    /// # Errors
    /// The same as for [`Packer::pack`].
    pub fn pack_known_plan(&mut self, record: &RunRecord) -> Result<PackedRecord, RepositoryError> {
        self.packed(record, record.to_json_of_known_plan())
    }

    fn packed(
        &mut self,
        record: &RunRecord,
        json: Result<String, RecordError>,
    ) -> Result<PackedRecord, RepositoryError> {
        check_names(record)?;
        let json = json.map_err(|source| RepositoryError::Record { id: record.id.clone(), source })?;
        let all = record.leading_ops();
        let join = |part: fn(&crate::TargetFacts) -> &str| {
            record.targets.iter().map(part).collect::<Vec<_>>().join(" ")
        };
        let component = record.calibration.as_deref();
        let tags = record.tags.iter().map(|tag| (RunLabelKind::Tag.name(), tag.clone()));
        let variant = record.variant.iter().map(|variant| (RunLabelKind::Variant.name(), variant.clone()));
        Ok(PackedRecord {
            id: record.id.clone(),
            started_at: record.started_at.clone(),
            started_us: microseconds(&record.id, &record.started_at)?,
            status: record.status.name(),
            engine: component.map_or_else(|| join(|target| &target.engine), |_| COMPONENT.to_owned()),
            target: component.map_or_else(|| join(|target| &target.url), |own| own.folder.clone()),
            sessions: record.sessions(),
            update_pct: update_pct(&record.plan, record.knows("workload.update_pct")),
            ops_per_s: all.map(|all| all.rate_per_s).or_else(|| value(record, "ops_per_s")),
            p99_us: all.and_then(|all| all.response_us.p99),
            logical_reads_per_s: value(record, "logical_reads_per_s"),
            physical_reads_per_s: value(record, "physical_reads_per_s"),
            redo_mb_per_s: redo_mb_per_s(record),
            seconds: record.window.as_ref().map(Window::work_seconds),
            reason: record.reasons.first().cloned(),
            part_of: record.part_of.clone(),
            database: record.databases(),
            undated: !record.is_dated(),
            marked: record.marked().join(" "),
            marks: tags.chain(variant).chain(record.notes().map(|note| (NOTE, note))).collect(),
            is_overview: record.series.full.is_some(),
            json_bytes: json.len(),
            packed: self.compressor.pack(&json),
        })
    }
}

fn value(record: &RunRecord, metric: &str) -> Option<f64> {
    record.metrics.get(metric).and_then(Metric::value).filter(|value| value.is_finite())
}

/// Redo in MB/s, from `redo_bytes_per_s` in either of its two units.
fn redo_mb_per_s(record: &RunRecord) -> Option<f64> {
    match record.metrics.get("redo_bytes_per_s")? {
        Metric::Value { value, unit: Unit::BytesPerSecond } => Some(value / 1e6),
        Metric::Value { value, unit: Unit::MegabytesPerSecond } => Some(*value),
        _ => None,
    }
}

pub(super) fn microseconds(id: &str, started_at: &str) -> Result<i64, RepositoryError> {
    let parsed: Result<Timestamp, _> = started_at.parse();
    parsed.map(Timestamp::as_microsecond).map_err(|_| {
        malformed(id, format!("started_at {started_at:?} is not a timestamp: write 2026-03-21T14:25:01Z"))
    })
}

pub(super) fn malformed(id: &str, detail: String) -> RepositoryError {
    RepositoryError::Record { id: id.to_owned(), source: RecordError::Malformed { detail } }
}

/// The share of updates for a column that cannot be NULL: −1 if the run has no such share.
pub(super) fn update_pct(plan: &Plan, is_known: bool) -> i64 {
    match is_known && plan.workload.folder.is_none() {
        true => i64::from(plan.workload.update_pct),
        false => -1,
    }
}

/// Refuses names that look like a selector, or are not plain text.
fn check_names(record: &RunRecord) -> Result<(), RepositoryError> {
    let mut names = std::iter::once(&record.id).chain(record.part_of.iter().map(|part| &part.id));
    let bad = names.find(|name| !is_name(name));
    bad.map_or(Ok(()), |name| Err(RepositoryError::BadName { name: name.chars().take(60).collect() }))
}
