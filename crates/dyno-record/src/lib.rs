//! What happened: run records, the metric vocabulary, and the repository that keeps them.
//!
//! A [`RunRecord`] is self-contained: everything that shows, compares or judges runs works from records alone, whoever
//! made them. This crate holds the words ([`Counter`], [`Metric`], [`Wait`](waits::WaitTime)) and no behaviour of engines.

mod acceptance;
pub mod audit;
pub mod calibration;
pub mod change;
pub mod class;
pub mod counter;
pub mod counting;
pub mod event_file;
mod finite;
mod fleet;
pub mod host;
pub mod id;
pub mod imported;
mod imported_metric;
pub mod json;
pub mod kind;
pub mod latency;
mod loaded;
mod membership;
pub mod metric;
pub mod ops;
pub mod outage;
mod own;
pub mod phase;
pub mod platform;
pub mod private_file;
pub mod profile;
pub mod record;
pub mod reported;
pub mod repository;
pub mod schema;
pub mod series;
pub mod target_records;
pub mod waits;
pub mod watched;
pub mod whose;
pub mod window;
mod workload;

#[cfg(test)]
mod sample;

pub use acceptance::{Acceptance, AcceptanceFinding, AcceptanceStep, AcceptanceVerdict};
pub use audit::{AuditCheck, CheckStatus};
pub use calibration::{Calibration, RawFigure, RawTest};
pub use change::{Change, Fall, MarkKind};
pub use class::{ALL, COMMIT, CONNECT, Class, SLICE, Share, Touch, is_operation};
pub use counter::{Counter, CounterDelta, Counters, RELOADED, Reading, SETTINGS, SHAPE, Snapshot};
pub use counting::{
    CountingRules, Requests, RowCounters, RowRules, ScanCounters, TableCounters, Transactions,
};
pub use fleet::{ClockFit, Fleet, FleetHost};
pub use host::{Host, HostClock, HostReading, Observed, Role};
pub use id::{RunId, new_run_id, now_rfc3339, rfc3339};
pub use imported::Imported;
pub use imported_metric::{ImportedMetric, ImportedPoint, ImportedWithin};
pub use json::{RECORD_BYTES_MAX, RecordError};
pub use kind::Kind;
pub use latency::{Histogram, Latency};
pub use loaded::Loaded;
pub use membership::{PartOf, Setting, SweepId, SweepKind, new_sweep_id};
pub use metric::{Metric, Unit};
pub use ops::{ErrorTally, OpStats};
pub use outage::{Outage, Silence, Throughput};
pub use own::OwnPart;
pub use phase::PhaseStats;
pub use platform::{Advice, Identity, OwnCalibration, ServerProcesses, Severity, TargetFacts};
pub use profile::{CpuKind, CpuProfile, DatabaseIn, Frame, ProcessShare, Profile, StackNode, SymbolShare};
pub use record::{RunRecord, SCHEMA_VERSION, Status};
pub use reported::{Reported, ReportedEvent, ReportedLoad, ReportedSection};
pub use repository::{
    Batch, COMPONENT, Chunks, Filter, Mark, PackedRecord, Packer, Repository, RepositoryError, RunState,
    RunSummary, SeriesWriter, StartedRun, StartedSweep, SweepState, SweepSummary,
};
pub use schema::schema;
pub use series::{
    BANDS_PER_DECADE, Chunk, FullSeries, Merge, OVERVIEW_POINTS_MAX, Overview, Part, Series, SeriesPoint,
    Slowest, band_of_us, band_us,
};
pub use target_records::place_of_target;
pub use waits::{Company, OtherSessions, SAMPLED_ACTIVE, WAITING, WaitTime, Waits};
pub use watched::{Gap, Spread, Watched};
pub use whose::{Scope, Whose};
pub use window::{Gate, Placed, UnreadIntervals, Window};
pub use workload::{
    Expected, Invariant, Learned, Mean, OwnShare, OwnWorkload, Pipelined, TransactionFacts, Yardstick,
};
