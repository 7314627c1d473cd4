//! Lists of runs, newest first; they read only summary columns, so ten thousand runs are listed at once.

use jiff::Timestamp;
use rusqlite::{Row, params};
use serde::Serialize;

use super::marks::NOTE;
use super::member::part_of;
use super::packed::COMPONENT;
use super::process::{ProcessMark, start_ticks_of};
use super::{Repository, RepositoryError, RunLabelKind, RunState};
use crate::id::RunId;
use crate::kind::RecordKind;
use crate::membership::PartOf;

/// One run in a list. An unknown figure is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSummary {
    /// Name of the run, unique in the repository.
    pub id: RunId,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// The state of the run.
    pub status: RunState,
    /// What its record describes; `run` until it has one.
    pub kind: RecordKind,
    /// The engine: `postgres`; several targets' engines are separated by blanks.
    pub engine: String,
    /// Product and version of the databases: `PostgreSQL 16.2`; absent until the run has a record, or if unknown.
    pub database: Option<String>,
    /// The target's URL, without secrets; several are separated by blanks.
    pub target: String,
    /// Number of sessions over all schemas.
    pub sessions: u32,
    /// Share of operations that are updates, in percent; absent without such a share, as for a custom workload.
    pub update_pct: Option<u32>,
    /// Operations per second of class `all`, or of the first workload if background workloads ran.
    pub ops_per_s: Option<f64>,
    /// 99th percentile of response time over all classes, in µs.
    pub p99_us: Option<f64>,
    /// The metric `logical_reads_per_s`, in blocks per second.
    pub logical_reads_per_s: Option<f64>,
    /// The metric `physical_reads_per_s`, in blocks per second.
    pub physical_reads_per_s: Option<f64>,
    /// Metric `redo_bytes_per_s` in MB (10⁶ bytes) per second.
    pub redo_mb_per_s: Option<f64>,
    /// Length of the window, in seconds.
    pub seconds: Option<f64>,
    /// The first reason why it is not valid; absent if it is.
    pub reason: Option<String>,
    /// Whether the source of imported figures has no time of measurement; `started_at` is then the time of the import.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub undated: bool,
    /// Names of metrics that include, or may include, background activity.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marked: Vec<String>,
    /// The variant of the platform in comparisons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Tags in alphabetical order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Notes of its workloads that must accompany its figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its position in a campaign; absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_of: Option<PartOf>,
}

/// Selects the runs to list. The default selects all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The largest number of runs, newest first.
    pub limit: Option<usize>,
    /// Only runs in this state.
    pub status: Option<RunState>,
    /// Only runs that started at this time or later.
    pub since: Option<Timestamp>,
    /// Only runs whose target's URL contains this text.
    pub target: Option<String>,
    /// Only runs on this engine.
    pub engine: Option<String>,
    /// Only runs of the sweep, search, soak or A/B test with this name.
    pub sweep: Option<String>,
}

const COLUMNS: &str =
    "run.id AS id, started_at, status, engine, target, sessions, update_pct, ops_per_s, p99_us,
    logical_reads_per_s, physical_reads_per_s, redo_mb_per_s, seconds, reason,
    pid, pid_start_ticks, boot_id, pid_namespace, host, sweep, kind, point, repeat, side, settings,
    database, undated, marked,
    (SELECT json_group_array(json_array(mark.kind, mark.name)) FROM mark WHERE mark.id = run.id) AS marks";

/// Runs joined with their campaigns and further details.
const RUNS: &str = "run LEFT JOIN member ON member.run = run.id LEFT JOIN detail ON detail.id = run.id";

impl Repository {
    /// Lists runs, newest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>, RepositoryError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {RUNS}
             WHERE (?1 IS NULL OR started_us >= ?1) AND (?2 IS NULL OR instr(target, ?2) > 0)
               AND (?3 IS NULL OR engine = ?3) AND (?4 IS NULL OR sweep = ?4)
             ORDER BY started_us DESC, run.id DESC"
        );
        let since_us = filter.since.map(Timestamp::as_microsecond);
        let this_process = ProcessMark::of_this_process();
        let read = || -> rusqlite::Result<Vec<RunSummary>> {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![since_us, filter.target, filter.engine, filter.sweep])?;
            let mut runs = Vec::new();
            while filter.limit.is_none_or(|limit| runs.len() < limit) {
                let Some(row) = rows.next()? else { break };
                // The file does not say whether an unfinished run is still running, so states are filtered here.
                let run = summary(row, &this_process)?;
                if filter.status.is_none_or(|wanted| wanted == run.status) {
                    runs.push(run);
                }
            }
            Ok(runs)
        };
        read().map_err(|e| self.classify_error(e))
    }

    /// One run's summary; `selector` as for [`Repository::load`], including unfinished runs.
    ///
    /// # Errors
    /// No run or several match the selector, or the file cannot be read.
    pub fn summary(&self, selector: &str) -> Result<RunSummary, RepositoryError> {
        let id = self.resolve(selector)?;
        let this_process = ProcessMark::of_this_process();
        let sql = format!("SELECT {COLUMNS} FROM {RUNS} WHERE run.id = ?1");
        self.connection
            .query_row(&sql, [&id], |row| summary(row, &this_process))
            .map_err(|e| self.classify_error(e))
    }
}

fn summary(row: &Row<'_>, observer: &ProcessMark) -> rusqlite::Result<RunSummary> {
    let status: Option<String> = row.get("status")?;
    let status = match status {
        Some(status) => RunState::from_name(&status).unwrap_or(RunState::Unknown),
        None => process_mark(row)?.liveness_from(observer, start_ticks_of).into(),
    };
    let mut marks: Vec<(String, String)> =
        serde_json::from_str(&row.get::<_, String>("marks")?).unwrap_or_default();
    marks.sort();
    let of_kind = |kind: &'static str| {
        let matching = marks.iter().filter(move |(name, _)| name == kind);
        matching.map(|(_, name)| name.clone())
    };
    let (engine, sessions): (String, u32) = (row.get("engine")?, row.get("sessions")?);
    let kind = match status {
        RunState::Imported => RecordKind::Import,
        _ if engine == COMPONENT => RecordKind::Component,
        // A run has sessions from its start, and a watch is never invalid.
        RunState::Valid | RunState::Interrupted if sessions == 0 => RecordKind::Watch,
        _ => RecordKind::Run,
    };
    Ok(RunSummary {
        variant: of_kind(RunLabelKind::Variant.name()).next(),
        tags: of_kind(RunLabelKind::Tag.name()).collect(),
        notes: of_kind(NOTE).collect(),
        id: row.get("id")?,
        started_at: row.get("started_at")?,
        status,
        kind,
        engine,
        target: row.get("target")?,
        sessions,
        update_pct: u32::try_from(row.get::<_, i64>("update_pct")?).ok(),
        ops_per_s: row.get("ops_per_s")?,
        p99_us: row.get("p99_us")?,
        logical_reads_per_s: row.get("logical_reads_per_s")?,
        physical_reads_per_s: row.get("physical_reads_per_s")?,
        redo_mb_per_s: row.get("redo_mb_per_s")?,
        seconds: row.get("seconds")?,
        reason: row.get("reason")?,
        database: row.get::<_, Option<String>>("database")?.filter(|name| !name.is_empty()),
        undated: row.get::<_, Option<bool>>("undated")?.unwrap_or(false),
        marked: names(&row.get::<_, Option<String>>("marked")?.unwrap_or_default()),
        part_of: part_of(row)?,
    })
}

fn names(list: &str) -> Vec<String> {
    list.split_whitespace().map(str::to_owned).collect()
}

pub(super) fn process_mark(row: &Row<'_>) -> rusqlite::Result<ProcessMark> {
    let start_ticks: Option<i64> = row.get("pid_start_ticks")?;
    Ok(ProcessMark {
        pid: row.get::<_, Option<u32>>("pid")?.unwrap_or_default(),
        start_ticks: start_ticks.and_then(|ticks| u64::try_from(ticks).ok()),
        boot_id: row.get("boot_id")?,
        namespace: row.get("pid_namespace")?,
        host: row.get::<_, Option<String>>("host")?.unwrap_or_default(),
    })
}
