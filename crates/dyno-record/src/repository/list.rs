//! Summaries of runs, newest first: summary columns only, so ten thousand runs are listed at once.

use jiff::Timestamp;
use rusqlite::{Row, params};
use serde::Serialize;

use super::marks::NOTE;
use super::member::part_of;
use super::process::{ProcessMark, start_ticks_of};
use super::{Mark, Repository, RepositoryError, RunState};
use crate::id::RunId;
use crate::membership::PartOf;

/// One run in a list. A figure that is not known is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSummary {
    /// Its name.
    pub id: RunId,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// How it stands.
    pub status: RunState,
    /// The engine: `postgres`; several targets' engines are separated by blanks.
    pub engine: String,
    /// Product and version of the databases: `PostgreSQL 16.2`; absent before a run's record is there, or where nobody tells.
    pub database: Option<String>,
    /// The target's URL, without secrets; several are separated by blanks.
    pub target: String,
    /// Sessions over all schemas.
    pub sessions: u32,
    /// Share of operations that are updates, %; absent where the run has no such share, as transactions of users' own.
    pub update_pct: Option<u32>,
    /// Operations per second: of class `all`, or of the first workload where others ran beside it.
    pub ops_per_s: Option<f64>,
    /// 99th percentile of response time over all classes, µs.
    pub p99_us: Option<f64>,
    /// Metric `logical_reads_per_s`, blocks/s.
    pub logical_reads_per_s: Option<f64>,
    /// Metric `physical_reads_per_s`, blocks/s.
    pub physical_reads_per_s: Option<f64>,
    /// Metric `redo_bytes_per_s` in MB (10⁶ bytes) per second.
    pub redo_mb_per_s: Option<f64>,
    /// Length of the window, s.
    pub seconds: Option<f64>,
    /// The first reason why it is not valid.
    pub reason: Option<String>,
    /// Whether the source of imported figures does not tell when they were measured; `started_at` is then the import's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub undated: bool,
    /// Metrics in which others had part, or that cannot be excluded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marked: Vec<String>,
    /// The variant of the platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Tags, in the order of the alphabet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What its workloads want to have said wherever its figures are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its place in a sweep, if it is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_of: Option<PartOf>,
}

/// Which runs to list. The default is all of them.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// At most this many, the newest.
    pub limit: Option<usize>,
    /// Only those that stand so.
    pub status: Option<RunState>,
    /// Only those that started at this moment or later.
    pub since: Option<Timestamp>,
    /// Only those whose target's URL contains this.
    pub target: Option<String>,
    /// Only those of this engine.
    pub engine: Option<String>,
    /// Only those of the sweep, search, soak or A/B comparison of this name.
    pub sweep: Option<String>,
}

const COLUMNS: &str =
    "run.id AS id, started_at, status, engine, target, sessions, update_pct, ops_per_s, p99_us,
    logical_reads_per_s, physical_reads_per_s, redo_mb_per_s, seconds, reason,
    pid, pid_start_ticks, boot_id, pid_namespace, host, sweep, kind, point, repeat, side, settings,
    database, undated, marked,
    (SELECT json_group_array(json_array(mark.kind, mark.name)) FROM mark WHERE mark.id = run.id) AS marks";

/// Runs with their places and what else is known of them.
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
        let here = ProcessMark::of_this_process();
        let read = || -> rusqlite::Result<Vec<RunSummary>> {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![since_us, filter.target, filter.engine, filter.sweep])?;
            let mut runs = Vec::new();
            while filter.limit.is_none_or(|limit| runs.len() < limit) {
                let Some(row) = rows.next()? else { break };
                // Whether an unfinished run still runs is not in the file, so states are compared here.
                let run = summary(row, &here)?;
                if filter.status.is_none_or(|wanted| wanted == run.status) {
                    runs.push(run);
                }
            }
            Ok(runs)
        };
        read().map_err(|e| self.sorted(e))
    }

    /// One run's summary; `selector` as for [`Repository::load`], here for unfinished runs, too.
    ///
    /// # Errors
    /// No run or several are named so, or the file cannot be read.
    pub fn summary(&self, selector: &str) -> Result<RunSummary, RepositoryError> {
        let id = self.resolve(selector)?;
        let here = ProcessMark::of_this_process();
        let sql = format!("SELECT {COLUMNS} FROM {RUNS} WHERE run.id = ?1");
        self.connection.query_row(&sql, [&id], |row| summary(row, &here)).map_err(|e| self.sorted(e))
    }
}

fn summary(row: &Row<'_>, here: &ProcessMark) -> rusqlite::Result<RunSummary> {
    let status: Option<String> = row.get("status")?;
    let status = match status {
        Some(status) => RunState::from_name(&status).unwrap_or(RunState::Unknown),
        None => process_mark(row)?.seen_from(here, start_ticks_of).into(),
    };
    let mut marks: Vec<(String, String)> =
        serde_json::from_str(&row.get::<_, String>("marks")?).unwrap_or_default();
    marks.sort();
    let of_kind = |kind: &'static str| {
        let own = marks.iter().filter(move |(name, _)| name == kind);
        own.map(|(_, name)| name.clone())
    };
    Ok(RunSummary {
        variant: of_kind(Mark::Variant.name()).next(),
        tags: of_kind(Mark::Tag.name()).collect(),
        notes: of_kind(NOTE).collect(),
        id: row.get("id")?,
        started_at: row.get("started_at")?,
        status,
        engine: row.get("engine")?,
        target: row.get("target")?,
        sessions: row.get("sessions")?,
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
