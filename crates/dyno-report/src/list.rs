//! The repository's runs, one line each.

use dyno_analyze::number::{ABSENT, compact, fixed, time_us};
use dyno_analyze::whose::mark;
use dyno_record::{RunRecord, RunState};

use crate::result::has_result;
use crate::style::{Paint, Style};
use crate::table::{Cell, Column, Table};
use crate::text::truncate;

/// One run in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListRow {
    /// The run's name.
    pub id: String,
    /// When it started, RFC 3339 in UTC.
    pub when: String,
    /// What it came to.
    pub status: RunState,
    /// Whether `when` is only the moment of an import, because the source tells none of the measurement.
    pub undated: bool,
    /// Product and version of the database, where known.
    pub database: Option<String>,
    /// The target's URL, without secrets.
    pub target: String,
    /// Sessions.
    pub sessions: u32,
    /// Updates asked for, %.
    pub update_pct: u32,
    /// Operations per second; absent where the run has no result.
    pub ops_per_s: Option<f64>,
    /// 99th percentile of service time, µs.
    pub p99_us: Option<f64>,
    /// Length of the window, s.
    pub seconds: Option<f64>,
    /// The first reason why it is not valid.
    pub reason: Option<String>,
    /// Metrics in which others had part.
    pub marked: Vec<String>,
}

impl From<&RunRecord> for ListRow {
    fn from(record: &RunRecord) -> Self {
        let all = record.ops.get("all").filter(|_| has_result(record));
        Self {
            id: record.id.clone(),
            when: record.started_at.clone(),
            status: record.status.into(),
            undated: !record.is_dated(),
            database: Some(record.databases()).filter(|name| !name.is_empty()),
            target: record
                .targets
                .first()
                .map_or_else(|| record.plan.target.url.to_string(), |t| t.url.clone()),
            sessions: record.plan.sessions(),
            update_pct: record.plan.workload.update_pct,
            ops_per_s: all.map(|all| all.rate_per_s),
            p99_us: all.and_then(|all| all.service_us.p99),
            seconds: record.window.as_ref().map(dyno_record::Window::work_seconds),
            reason: record.reasons.first().cloned(),
            marked: record.marked().into_iter().map(str::to_owned).collect(),
        }
    }
}

/// `2026-03-21T14:25:01.123Z` as `2026-03-21 14:25:01`; anything else as it is.
fn moment(rfc3339: &str) -> String {
    match (rfc3339.get(..10), rfc3339.get(10..11), rfc3339.get(11..19)) {
        (Some(date), Some("T"), Some(time)) => format!("{date} {time}"),
        _ => rfc3339.to_owned(),
    }
}

/// The version in few characters, where there is room for no more: `16.4` of `PostgreSQL 16.4 (Debian 16.4-1)`, and
/// `10.11.6-MariaDB` with the word that tells it from another product's.
fn version(database: &str) -> String {
    let of_one = |one: &str| {
        let token = one.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let mut parts = token.unwrap_or(ABSENT).split('-');
        let number = parts.next().unwrap_or_default().to_owned();
        match parts.next().filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())) {
            Some(word) => format!("{number}-{word}"),
            None => number,
        }
    };
    let mut versions: Vec<String> = database.split(", ").map(of_one).collect();
    versions.dedup();
    truncate(&versions.join(", "), VERSION_MAX)
}

/// Columns of a version.
const VERSION_MAX: usize = 16;

/// The list; a run that is not valid has its reason beneath.
pub fn list_table(rows: &[ListRow], style: &Style) -> String {
    if rows.is_empty() {
        return "no runs yet: `dyno run` makes one\n".into();
    }
    let mut table = Table::new(vec![
        Column::text("run"),
        Column::text("started (UTC)").spare(3),
        Column::text("status"),
        Column::text("target"),
        Column::figures("version", ""),
        Column::figures("sessions", ""),
        Column::figures("updates", "%").spare(1),
        Column::figures("ops", "/s"),
        Column::figures("p99", ""),
        Column::figures("elapsed", "s").spare(2),
    ]);
    for row in rows {
        let paint = crate::status::paint(row.status);
        let absent = || ABSENT.to_owned();
        table.row([
            Cell::from(row.id.as_str()),
            if row.undated { absent() } else { moment(&row.when) }.into(),
            Cell::painted(row.status.name(), paint),
            row.target.as_str().into(),
            row.database.as_deref().map_or_else(absent, version).into(),
            if row.sessions > 0 { row.sessions.to_string() } else { absent() }.into(),
            // Of imported figures the summary does not know what their source told.
            if row.status == RunState::Imported { absent() } else { row.update_pct.to_string() }.into(),
            mark(
                row.ops_per_s.map_or_else(absent, compact),
                row.marked.iter().any(|name| name == "ops_per_s"),
            )
            .into(),
            row.p99_us.map_or_else(absent, time_us).into(),
            row.seconds.map_or_else(absent, |seconds| fixed(seconds, 1)).into(),
        ]);
        if let Some(reason) = &row.reason {
            table.note(reason, Paint::Dim);
        }
    }
    table.render(style)
}
