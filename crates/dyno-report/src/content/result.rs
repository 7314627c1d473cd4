//! The figures of runs as a database administrator expects them.
//!
//! A run whose audit failed has no result: its row says so with the reason and omits the figures, so that
//! nobody copies them. `dyno show` shows them for diagnosis.

use std::collections::BTreeMap;

use dyno_analyze::attribution::{MetricAttributions, marked_metrics};
use dyno_analyze::number::{ABSENT, percent};
use dyno_plan::Placement;
use dyno_record::{CheckStatus, RecordKind, RunRecord, Status, ThreadPlacement};

use crate::model::table::GridCell;
use crate::text::clean;

/// Characters of a figure that a column is designed for, so that both blocks fit into 100 columns; a longer
/// one is shown as `1.23G`. Megabytes and syncs per second are smaller numbers than operations and blocks.
const FIGURE_MAX: usize = 10;
const SMALL_FIGURE_MAX: usize = 8;

/// One run in a result table.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRow {
    pub id: String,
    pub status: Status,
    /// Reasons why it is not valid.
    pub reasons: Vec<String>,
    /// Sessions; absent if the source of imported figures does not state them.
    pub sessions: Option<u32>,
    /// Requested updates, %; absent if the source of imported figures does not state them.
    pub update_pct: Option<u32>,
    /// The figures; absent if the run has no result.
    pub figures: Option<RunFigures>,
    /// The metrics that include activity of others.
    pub marked: MetricAttributions,
}

/// Figures of one run in results, by metric name; unknown ones are absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFigures {
    /// Length of the window, s.
    pub seconds: f64,
    values: BTreeMap<&'static str, f64>,
}

/// Whether a run has a result to show: a valid or imported run has one, and an interrupted one unless its
/// audit failed. Limits of a component have none.
pub(crate) fn has_result(record: &RunRecord) -> bool {
    let failed = record.audit.iter().any(|check| check.status == CheckStatus::Fail);
    match record.status {
        _ if record.kind == RecordKind::Component => false,
        Status::Valid | Status::Imported => true,
        Status::Interrupted => record.window.is_some() && !failed,
        Status::Invalid | Status::Failed => false,
    }
}

impl From<&RunRecord> for ResultRow {
    fn from(record: &RunRecord) -> Self {
        Self {
            id: record.id.clone(),
            status: record.status,
            reasons: record.reasons.clone(),
            sessions: Some(record.sessions()).filter(|sessions| *sessions > 0),
            update_pct: record.knows("workload.update_pct").then_some(record.plan.workload.update_pct),
            figures: has_result(record).then(|| RunFigures::of(record)),
            marked: marked_metrics(record),
        }
    }
}

impl RunFigures {
    /// The figures of a record, whatever its status.
    pub fn of(record: &RunRecord) -> Self {
        let seconds = record.window.as_ref().map_or(0.0, |window| window.work_seconds());
        let all = record.leading_ops();
        let per_s = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
        // Imported records have their times among the metrics, because they have no operation classes.
        let timed = |name| match name {
            "service_mean_us" => all?.service_us.mean,
            "service_p50_us" => all?.service_us.p50,
            "service_p95_us" => all?.service_us.p95,
            "service_p99_us" => all?.service_us.p99,
            ELAPSED => Some(seconds).filter(|seconds| *seconds > 0.0),
            _ => None,
        };
        let counted = |name| match name {
            "ops_per_s" => per_s(all?.count),
            "rows_per_s" => per_s(all?.rows),
            _ => None,
        };
        let metric = |name| record.metrics.get(name)?.value();
        let values = card_columns().filter_map(|&(name, ..)| {
            let value = timed(name).or_else(|| metric(name)).or_else(|| counted(name));
            Some((name, value?))
        });
        Self { seconds, values: values.collect() }
    }

    /// Value of `metric`; absent if unknown.
    pub fn get(&self, metric: &str) -> Option<f64> {
        self.values.get(metric).copied()
    }
}

/// Common unit for all times of a table: its name, and microseconds in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableTimeUnit {
    name: &'static str,
    us: f64,
}

impl TableTimeUnit {
    /// Chooses the unit so that the median is readable and the largest value has at most seven characters.
    pub(super) fn of<'f>(figures: impl IntoIterator<Item = &'f RunFigures>) -> Self {
        let largest =
            figures.into_iter().flat_map(|f| TIMES.map(|time| f.get(time))).flatten().fold(0.0, f64::max);
        match largest {
            us if us < 100_000.0 => Self { name: "µs", us: 1.0 },
            us if us < 100_000_000.0 => Self { name: "ms", us: 1e3 },
            _ => Self { name: "s", us: 1e6 },
        }
    }
}

/// Format of a figure, and its unit.
#[derive(Debug, Clone, Copy)]
pub(super) enum FigureFormat {
    /// In a column of the usual width.
    Wide(&'static str),
    Narrow(&'static str),
    Percent,
    /// As a time in the common unit.
    Time,
    /// As a length in seconds.
    Elapsed,
}

impl FigureFormat {
    pub(super) fn unit(self, time: TableTimeUnit) -> &'static str {
        match self {
            Self::Wide(unit) | Self::Narrow(unit) => unit,
            Self::Percent => "%",
            Self::Time => time.name,
            Self::Elapsed => "s",
        }
    }

    fn cell(self, value: Option<f64>, time: TableTimeUnit) -> GridCell {
        match self {
            Self::Wide(_) => GridCell::within(value, FIGURE_MAX),
            Self::Narrow(_) => GridCell::within(value, SMALL_FIGURE_MAX),
            Self::Percent => GridCell::percent(value),
            Self::Time => GridCell::figure(value.map(|us| us / time.us)),
            Self::Elapsed => GridCell::fixed(value, 1),
        }
    }
}

/// A figure of a run, with the mark if it includes activity of others.
pub(super) fn figure_cell(row: &ResultRow, column: &ResultColumn, time: TableTimeUnit) -> GridCell {
    let &(metric, .., format) = column;
    let value = row.figures.as_ref().and_then(|figures| figures.get(metric));
    format.cell(value, time).marked(row.marked.contains_key(metric))
}

pub(super) fn count(value: Option<u32>) -> GridCell {
    GridCell::setting(&value.map_or_else(|| ABSENT.to_owned(), |value| value.to_string()))
}

/// The metric, its shared head, its name, and its format.
pub(super) type ResultColumn = (&'static str, &'static str, &'static str, FigureFormat);

/// Columns of one block of the table.
pub(super) type Block = &'static [ResultColumn];

/// Length of the window as a pseudo-metric; an imported record may not state it.
const ELAPSED: &str = "elapsed";

/// Service times in the table.
const TIMES: [&str; 4] = ["service_mean_us", "service_p50_us", "service_p95_us", "service_p99_us"];

pub(super) const LOAD: Block = &[
    ("ops_per_s", "", "ops", FigureFormat::Wide("/s")),
    ("rows_per_s", "", "rows", FigureFormat::Wide("/s")),
    ("service_mean_us", "service time", "mean", FigureFormat::Time),
    ("service_p50_us", "service time", "p50", FigureFormat::Time),
    ("service_p95_us", "service time", "p95", FigureFormat::Time),
    ("service_p99_us", "service time", "p99", FigureFormat::Time),
    (ELAPSED, "", "elapsed", FigureFormat::Elapsed),
];
pub(super) const CPU: Block = &[
    ("cpu_busy_pct", "CPU", "busy", FigureFormat::Percent),
    ("cpu_user_pct", "CPU", "user", FigureFormat::Percent),
    ("cpu_sys_pct", "CPU", "sys", FigureFormat::Percent),
    ("cpu_iowait_pct", "CPU", "iowait", FigureFormat::Percent),
];
pub(super) const IO: Block = &[
    ("logical_reads_per_s", "reads", "logical", FigureFormat::Wide("/s")),
    ("physical_reads_per_s", "reads", "physical", FigureFormat::Wide("/s")),
    ("physical_read_mb_per_s", "reads", "physical", FigureFormat::Narrow("MB/s")),
    ("redo_mb_per_s", "redo", "written", FigureFormat::Narrow("MB/s")),
    ("redo_syncs_per_s", "redo", "syncs", FigureFormat::Narrow("/s")),
];

/// Both sides of the card, below sessions and updates; it contains all figures of the table.
pub(super) const CARD_LEFT: Block = &[
    (ELAPSED, "", "elapsed", FigureFormat::Elapsed),
    ("ops_per_s", "", "operations", FigureFormat::Wide("/s")),
    ("rows_per_s", "", "rows", FigureFormat::Wide("/s")),
    ("commits_per_s", "", "commits", FigureFormat::Wide("/s")),
    ("service_mean_us", "", "service time, mean", FigureFormat::Time),
    ("service_p50_us", "", "service time, p50", FigureFormat::Time),
    ("service_p95_us", "", "service time, p95", FigureFormat::Time),
    ("service_p99_us", "", "service time, p99", FigureFormat::Time),
];
pub(super) const CARD_RIGHT: Block = &[
    ("logical_reads_per_s", "", "logical reads", FigureFormat::Wide("/s")),
    ("buffer_hit_pct", "", "cache hit ratio", FigureFormat::Percent),
    ("physical_reads_per_s", "", "physical reads", FigureFormat::Wide("/s")),
    ("physical_read_mb_per_s", "", "physical reads", FigureFormat::Wide("MB/s")),
    ("redo_mb_per_s", "", "redo", FigureFormat::Wide("MB/s")),
    ("redo_syncs_per_s", "", "redo syncs", FigureFormat::Wide("/s")),
    ("cpu_busy_pct", "", "CPU busy", FigureFormat::Percent),
    ("cpu_user_pct", "", "CPU user", FigureFormat::Percent),
    ("cpu_sys_pct", "", "CPU sys", FigureFormat::Percent),
    ("cpu_iowait_pct", "", "CPU iowait", FigureFormat::Percent),
];
/// Figures of scans, and of sessions that slept because the plan requires it.
pub(super) const CARD_SCANS: [ResultColumn; 3] = [
    ("scans_per_s", "", "scans", FigureFormat::Wide("/s")),
    ("scan_mb_per_s", "", "scanned", FigureFormat::Wide("MB/s")),
    ("scan_blocks_per_s", "", "scanned blocks", FigureFormat::Wide("/s")),
];
pub(super) const CARD_SLEPT: ResultColumn = ("think_pct", "", "time slept", FigureFormat::Percent);

pub(super) fn card_columns() -> impl Iterator<Item = &'static ResultColumn> {
    [CARD_LEFT, CARD_RIGHT, &CARD_SCANS, &[CARD_SLEPT]].into_iter().flatten()
}

/// Placement of the threads that drive several sessions, relative to the server's processes; `None` if there
/// are none.
pub fn placement_words(record: &RunRecord) -> Option<String> {
    let ThreadPlacement { kept, told, beside } = record.gate.placement?;
    if kept == 0 {
        let why = match record.plan.run.placement {
            Placement::None => " (run.placement = none)",
            Placement::Auto => "",
        };
        return Some(format!(
            "client placement: threads placed by the operating system alone{why}, which may slow short calls"
        ));
    }
    // A session whose server process runs elsewhere has to wake up another processor.
    let effect = match told.saturating_sub(beside) {
        0 => "which is fastest for short calls".to_owned(),
        1 => "1 wakes up another CPU with each call, which slows short calls".to_owned(),
        more => format!("{more} wake up another CPU with each call, which slows short calls"),
    };
    Some(format!(
        "client placement: {kept} threads pinned; {beside} of {told} sessions run on their backend's CPU, {effect}"
    ))
}

/// The host of the processor and device figures, if it is not the driver host; else `None`.
pub fn host_words(record: &RunRecord) -> Option<String> {
    let words = machine_words(record)?;
    let host = record.database_host().filter(|host| host.observed.is_some());
    let driver = host.and_then(|_| record.driver().counters.get("cpu.busy_pct"));
    let driver = driver.map(|busy| format!("; the driver's was {} %", percent(*busy)));
    Some(words + &driver.unwrap_or_default())
}

/// The same without the driver's own figure, which differs in each run.
pub(crate) fn machine_words(record: &RunRecord) -> Option<String> {
    if record.is_total() && record.database_host().is_none() {
        let is_observed = record.hosts.iter().any(|host| host.observed.is_some());
        return is_observed.then(|| {
            "CPU and device are shown for each target, as the targets are on several machines".to_owned()
        });
    }
    let host = record.database_host()?;
    let observed = host.observed.as_ref()?;
    // On the driver host, the owners of processor time are known, and the audit states them.
    let owner_note = match observed.is_driver {
        true => "",
        false => " (attribution unknown)",
    };
    let is_whole = observed.begin.is_some() && observed.end.is_some();
    let lost = if is_whole { "" } else { ", and its counters were not read to the end" };
    Some(format!("CPU and device are those of {}{owner_note}{lost}", clean(&host.words())))
}
