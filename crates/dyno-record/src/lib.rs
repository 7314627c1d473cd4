//! Run records, the metric vocabulary, and the repository that stores them.
//!
//! A [`RunRecord`] is self-contained: display, comparison and analysis need only records, whatever program made them. This
//! crate defines the vocabulary ([`Counter`], [`Metric`], [`Wait`](waits::WaitTime)) and contains no engine-specific code.

#![warn(missing_docs)]

mod acceptance;
pub mod attribution;
pub mod audit;
pub mod calibration;
pub mod change;
pub mod class;
pub mod counter;
pub mod counting;
mod database_report;
pub mod event_file;
mod finite;
mod fleet;
pub mod host;
pub mod id;
pub mod imported;
mod imported_metric;
mod instance_load;
pub mod json;
pub mod kind;
pub mod latency;
mod loaded;
mod membership;
pub mod metric;
pub mod ops;
pub mod outage;
pub mod phase;
pub mod platform;
pub mod private_file;
pub mod profile;
pub mod record;
pub mod reported;
pub mod repository;
pub mod schema;
pub mod series;
mod table_activity;
pub mod target_records;
mod target_results;
mod top_statements;
pub mod waits;
pub mod watched;
pub mod window;
mod workload;

#[cfg(test)]
mod sample;

pub use acceptance::{Acceptance, AcceptanceFinding, AcceptanceStep, AcceptanceVerdict};
pub use attribution::{Attribution, AttributionScope};
pub use audit::{AuditCheck, CheckStatus};
pub use calibration::{Calibration, RawFigure, RawTest};
pub use change::{CounterReset, MarkChange, MarkKind};
pub use class::{ALL, COMMIT, CONNECT, Class, ClassShare, RowEffect, SLICE, is_operation};
pub use counter::{Counter, CounterDelta, CounterReading, Counters, RELOADED, SETTINGS, SHAPE, Snapshot};
pub use counting::{
    BlocksPerReadRequest, CountingRules, EventCounters, ParseCounters, RowCounters, RowRules, ScanCounters,
    TableCounters, Transactions,
};
pub use database_report::DatabaseReport;
pub use fleet::{ClockFit, Fleet, FleetHost};
pub use host::{Host, HostClock, HostReading, Observed, Role};
pub use id::{RunId, new_run_id, now_rfc3339, rfc3339};
pub use imported::ImportSource;
pub use imported_metric::{ImportedMetric, ImportedPoint, ImportedWithin};
pub use instance_load::InstanceLoad;
pub use json::{RECORD_BYTES_MAX, RecordError};
pub use kind::RecordKind;
pub use latency::{Histogram, Latency};
pub use loaded::BulkLoadResult;
pub use membership::{PartOf, PointSetting, SweepId, SweepKind, new_sweep_id};
pub use metric::{Metric, Unit};
pub use ops::{ErrorTally, OpStats};
pub use outage::{Outage, Silence, Throughput};
pub use phase::PhaseStats;
pub use platform::{Advice, Identity, OwnCalibration, ServerProcesses, Severity, TargetFacts};
pub use profile::{
    CpuKind, CpuProfile, DatabaseIn, ProcessShare, Profile, StackFrame, StackNode, SymbolShare,
};
pub use record::{RunRecord, SCHEMA_VERSION, Status};
pub use reported::{Reported, ReportedEvent, ReportedLoad, ReportedSection};
pub use repository::{
    COMPONENT, Filter, PackedRecord, Packer, RecordBatch, Repository, RepositoryError, RunLabelKind,
    RunState, RunSummary, SeriesWriter, StartedRun, StartedSweep, StoredChunks, SweepState, SweepSummary,
};
pub use schema::schema;
pub use series::{
    BANDS_PER_DECADE, FullSeries, Merge, OVERVIEW_POINTS_MAX, Series, SeriesChunk, SeriesOverview,
    SeriesPart, SeriesPoint, Slowest, band_of_us, band_us,
};
pub use table_activity::{CountedTables, RelationActivity, TableActivity};
pub use target_records::place_of_target;
pub use target_results::TargetFigures;
pub use top_statements::{CountedStatements, StatementCounts, StatementGroup, StatementUse, TopStatements};
pub use waits::{ForeignActivity, OtherSessions, SAMPLED_ACTIVE, WAITING, WaitTime, Waits};
pub use watched::{Gap, LockBlocker, LongTransaction, Spread, WatchSummary};
pub use window::{StartGate, ThreadPlacement, UnreadIntervals, Window};
pub use workload::{
    Expected, InvariantResult, Learned, Mean, Pipelined, ReferenceFigure, TransactionFacts, WorkloadFacts,
    WorkloadShareFacts,
};
