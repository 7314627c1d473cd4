//! Converts a line of a table to run records: one for the line, and one for each target with its own figures.

use std::collections::BTreeMap;

use dyno_record::{
    AuditCheck, CheckStatus, Identity, ImportSource, Metric, OpStats, RecordKind, RunRecord, StartGate,
    Status, TargetFacts, Unit, Window, new_run_id, rfc3339,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::context::ImportContext;
use super::dialect::{CsvDialect, RecordRows};
use super::logs::LogRun;
use super::map::{ColumnMapping, MappedField};
use super::plans::Plans;
use crate::table::CsvError;
use crate::table::moment;
use crate::table::number::{number, plain};
use crate::{Error, ImportFile};

/// Cell texts that mean a missing figure.
const NO_FIGURE: [&str; 6] = ["", "-", "–", "n/a", "N/A", "NA"];

/// Figures of a record under construction.
#[derive(Default)]
struct ImportFigures {
    ops: Option<f64>,
    metrics: BTreeMap<String, Metric>,
}

#[derive(Default)]
struct ImportLine {
    sessions: Option<u32>,
    seconds: Option<f64>,
    variant: Option<String>,
    tags: Vec<String>,
    started_at: Option<Timestamp>,
    sets: Vec<String>,
    labels: BTreeMap<String, String>,
    whole: ImportFigures,
    targets: BTreeMap<String, ImportFigures>,
}

/// Iterates over the lines of a table as records.
pub struct ImportLines<'t> {
    source: &'t mut ImportFile,
    maps: &'t [ColumnMapping],
    common: &'t ImportContext<'t>,
    dialect: &'t CsvDialect,
    plans: Plans,
}

impl<'t> ImportLines<'t> {
    /// The lines of `source`, whose columns have the meaning of `maps`.
    pub fn new(
        source: &'t mut ImportFile,
        maps: &'t [ColumnMapping],
        common: &'t ImportContext<'t>,
        dialect: &'t CsvDialect,
    ) -> Self {
        Self { source, maps, common, dialect, plans: Plans::default() }
    }

    /// Passes the records of each line to `take`: the whole line first, then its parts. A file always gives
    /// equal records.
    ///
    /// # Errors
    /// An error of `take`; or the first error of the file, with its place.
    pub fn each<E: From<Error>>(
        &mut self,
        mut take: impl FnMut(&mut Vec<RunRecord>) -> Result<(), E>,
    ) -> Result<(), E> {
        let common = self.common;
        let wrong = |error: CsvError| {
            Error::input(
                format!("{}: {error}", common.path),
                "--separator names the separator between two cells; `dyno import results --help` describes tables",
            )
        };
        let mut table =
            RecordRows::open(self.source.reader().map_err(Error::from)?, self.dialect.layout, self.maps)
                .map_err(wrong)?;
        let columns = columns(table.columns(), self.maps, common)?;
        let mut before = 0;
        while let Some((number, cells)) = table.next().map_err(wrong)? {
            let mut line = ImportLine::default();
            for &(at, map) in &columns {
                read(&mut line, map, cells[at], number, common, self.dialect)?;
            }
            let frame = frame(&mut line, number, common, &mut self.plans)?;
            let mut records = build(before, line, frame, common)?;
            before += records.len();
            if !records.is_empty() {
                take(&mut records)?;
            }
        }
        Ok(())
    }
}

/// Converts the results of another tool to records.
///
/// # Errors
/// A key or value of the command line is invalid.
pub fn log_records(runs: Vec<LogRun>, common: &ImportContext<'_>) -> Result<Vec<RunRecord>, Error> {
    let (mut plans, mut records) = (Plans::default(), Vec::with_capacity(runs.len()));
    for run in runs {
        let metrics = run.metrics.into_iter();
        let metrics = metrics.map(|(name, (value, unit))| (name, Metric::Value { value, unit })).collect();
        let mut line = ImportLine {
            sessions: run.sessions,
            seconds: run.seconds,
            started_at: run.started_at,
            labels: run.labels,
            whole: ImportFigures { ops: None, metrics },
            ..ImportLine::default()
        };
        let frame = frame(&mut line, run.line, common, &mut plans)?;
        records.append(&mut build(records.len(), line, frame, common)?);
    }
    Ok(records)
}

/// Position of each mapped column.
fn columns<'m>(
    names: &[String],
    maps: &'m [ColumnMapping],
    common: &ImportContext<'_>,
) -> Result<Vec<(usize, &'m ColumnMapping)>, Error> {
    if maps.is_empty() {
        return Err(Error::input(
            "no --map states the meaning of the columns",
            format!(
                "the columns are {}; see `dyno import results --help`, which also lists the tools whose logs are known",
                names.join(", ")
            ),
        ));
    }
    let place = |map: &'m ColumnMapping| match names.iter().position(|column| *column == map.column) {
        Some(at) => Ok((at, map)),
        None => Err(Error::input(
            format!("{} has no column {:?}", common.file, map.column),
            format!("its columns are {}", names.join(", ")),
        )),
    };
    maps.iter().map(place).collect()
}

fn read(
    line: &mut ImportLine,
    map: &ColumnMapping,
    cell: &str,
    number: u64,
    common: &ImportContext<'_>,
    dialect: &CsvDialect,
) -> Result<(), Error> {
    apply_cell(line, map, cell, dialect).map_err(|problem| {
        let place = format!("{} line {number}, column {:?}", common.file, map.column);
        Error::input(
            format!("{place}: {cell:?} {problem}"),
            match problem.as_str() {
                NO_ZONE => "--time-zone UTC, or the zone in which it was written, such as Europe/Berlin",
                _ => "correct the cell, or leave it empty if it has no figure",
            },
        )
    })
}

/// Adds a cell to the line; the error completes a sentence that begins with the cell.
fn apply_cell(
    line: &mut ImportLine,
    map: &ColumnMapping,
    cell: &str,
    dialect: &CsvDialect,
) -> Result<(), String> {
    if NO_FIGURE.contains(&cell) {
        return Ok(());
    }
    let number = || number(cell, dialect.decimal).ok_or_else(|| "is not a number".to_owned());
    match &map.field {
        MappedField::Sessions => {
            let whole = number().ok().filter(|number| number.fract() == 0.0 && *number >= 0.0);
            let whole = whole.filter(|number| *number <= f64::from(u32::MAX));
            line.sessions = Some(whole.ok_or_else(|| "is not a number of sessions".to_owned())? as u32);
        }
        MappedField::Seconds(factor) => line.seconds = Some(number()? * factor),
        MappedField::Variant => line.variant = Some(cell.to_owned()),
        MappedField::Tag => line.tags.push(cell.to_owned()),
        MappedField::StartedAt => line.started_at = Some(started_at(cell, dialect)?),
        MappedField::Key { path, is_number } => {
            let plain = is_number.then(|| plain(cell, dialect.decimal)).flatten();
            line.sets.push(format!("{path}={}", plain.as_deref().unwrap_or(cell)));
        }
        MappedField::Label => {
            line.labels.insert(map.column.clone(), cell.to_owned());
        }
        MappedField::Ops => figures(line, map).ops = Some(number()?),
        MappedField::Metric { name, unit, factor } => {
            // A factor of 1 is exact, so figures stay as printed.
            let metric = Metric::Value { value: number()? * factor, unit: *unit };
            figures(line, map).metrics.insert(name.clone(), metric);
        }
    }
    Ok(())
}

fn figures<'l>(line: &'l mut ImportLine, map: &ColumnMapping) -> &'l mut ImportFigures {
    match &map.target {
        Some(target) => line.targets.entry(target.clone()).or_default(),
        None => &mut line.whole,
    }
}

/// Error text of a time that needs `--time-zone`.
const NO_ZONE: &str = "has no time zone";

/// Parses a start time. A date without a time is UTC if no zone is given.
fn started_at(cell: &str, dialect: &CsvDialect) -> Result<Timestamp, String> {
    let mut style = dialect.moments.clone();
    if style.zone.is_none() && !cell.contains(':') {
        style.zone = Some(TimeZone::UTC);
    }
    moment::moment(cell, &style).map_err(|problem| match problem.ends_with(NO_ZONE) {
        true => NO_ZONE.to_owned(),
        false => "is not a time: write 2026-03-21T14:25:01Z or 2026-03-21".to_owned(),
    })
}

/// The records of one line; `index` records precede them.
fn build(
    index: usize,
    line: ImportLine,
    frame: RunRecord,
    common: &ImportContext<'_>,
) -> Result<Vec<RunRecord>, Error> {
    let started = line.started_at.unwrap_or(common.now);
    let seconds = frame.window.as_ref().map_or(0.0, |window| window.seconds);
    let length = SignedDuration::try_from_secs_f64(seconds).unwrap_or_default();
    // Lines of one table keep their order.
    let at = |index: usize| started + SignedDuration::from_micros(index as i64);
    let whole_id = name(at(index), index, common.salt);
    let has_whole = line.whole.ops.is_some() || !line.whole.metrics.is_empty();
    let whole = has_whole.then_some((index, None, line.whole));
    let parts =
        (index + 1..).zip(line.targets).map(|(index, (target, figures))| (index, Some(target), figures));
    let mut all = whole.into_iter().chain(parts).peekable();
    let (mut records, mut frame) = (Vec::with_capacity(1), Some(frame));
    while let Some((index, target, figures)) = all.next() {
        // Most lines have one record: the last one takes the frame without a copy.
        let record_frame = if all.peek().is_some() { frame.clone() } else { frame.take() };
        let mut record = record_frame.expect("only the last takes it");
        let at = at(index);
        record.started_at = rfc3339(at);
        record.ended_at = match at.checked_add(length) {
            Ok(ended) if !length.is_zero() => rfc3339(ended),
            _ => record.started_at.clone(),
        };
        match target {
            None => record.id.clone_from(&whole_id),
            Some(target) => {
                record.id = name(at, index, common.salt);
                record.one_target_of = Some(whole_id.clone());
                for facts in &mut record.targets {
                    facts.url = format!("{}?target={target}", facts.url);
                }
            }
        }
        put_figures(&mut record, figures)?;
        records.push(record);
    }
    Ok(records)
}

/// The name of record `index`. A name has sixteen bits for each second, and a table may have more lines.
fn name(at: Timestamp, index: usize, salt: u16) -> String {
    let at = at.checked_add(SignedDuration::from_secs((index >> 16) as i64)).unwrap_or(at);
    new_run_id(at, salt.wrapping_add(index as u16))
}

fn put_figures(record: &mut RunRecord, figures: ImportFigures) -> Result<(), Error> {
    record.metrics = figures.metrics;
    if let Some(ops) = figures.ops {
        let seconds = record.window.as_ref().map(|window| window.seconds).filter(|seconds| *seconds > 0.0);
        let seconds = seconds.ok_or_else(|| {
            Error::input(
                "a column is mapped to ops, the operations of a whole run, but the length of the run is \
                    unknown",
                "map a column to seconds, or write --set run.time=180s",
            )
        })?;
        let rate = ops / seconds;
        let all = OpStats { count: ops.max(0.0).round() as u64, rate_per_s: rate, ..OpStats::default() };
        record.ops.insert("all".into(), all);
        record.metrics.insert("ops_per_s".into(), Metric::Value { value: rate, unit: Unit::PerSecond });
    }
    Ok(())
}

/// The record of a line without its figures and names; takes everything except the figures from the line.
fn frame(
    line: &mut ImportLine,
    number: u64,
    common: &ImportContext<'_>,
    plans: &mut Plans,
) -> Result<RunRecord, Error> {
    let mut sets: Vec<String> = common.marks.sets.iter().chain(&line.sets).cloned().collect();
    if let Some(sessions) = line.sessions {
        sets.push(format!("run.sessions_per_schema={sessions}"));
    }
    let known_keys = sets.iter().filter_map(|set| Some(set.split_once('=')?.0.trim().to_owned())).collect();
    let plan = plans.of(sets, &common.file)?;
    let imported = ImportSource {
        format: common.format.into(),
        file: common.file.clone(),
        line: Some(number),
        imported_at: common.imported_at.clone(),
        undated: line.started_at.is_none(),
        known: known_keys,
        labels: std::mem::take(&mut line.labels),
        reported: None,
    };
    let plan_seconds = plan.run.time.filter(|_| imported.knows("run.time")).map(|time| time.0.as_secs_f64());
    let seconds = line.seconds.or(plan_seconds);
    let target = TargetFacts {
        url: plan.target.url.to_string(),
        engine: "imported".into(),
        identity: Identity {
            product: common.marks.product.unwrap_or_default().to_owned(),
            ..Identity::default()
        },
        ..TargetFacts::default()
    };
    let not_audited = AuditCheck {
        check: "imported".into(),
        status: CheckStatus::Skipped,
        expected: String::new(),
        observed: String::new(),
        detail: format!("not audited: imported from {} line {number}", common.file),
    };
    Ok(RunRecord {
        kind: RecordKind::Import,
        dyno_version: env!("CARGO_PKG_VERSION").into(),
        variant: line.variant.take().or_else(|| common.marks.variant.map(str::to_owned)),
        tags: common.marks.tags.iter().cloned().chain(line.tags.drain(..)).collect(),
        imported: Some(imported),
        targets: vec![target],
        gate: StartGate { sessions: line.sessions.unwrap_or(0), ..StartGate::default() },
        window: seconds.map(|seconds| Window { seconds, ..Window::default() }),
        audit: vec![not_audited],
        ..RunRecord::blank(Status::Imported, plan)
    })
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
