//! `dyno import-metrics`: what a cloud measured of a database beside a run of ours.

mod columns;
mod read;
mod settle;

use std::cell::Cell;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use dyno_campaign::select;
use dyno_record::{ImportedMetric, RunRecord};
use jiff::Timestamp;
use serde_json::json;

use super::import::moment::{self, MomentStyle};
use super::import::source::Source;
use crate::cli::{Common, ImportMetrics};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;
use read::{Metrics, Told};
use settle::When;

pub(super) fn run(common: &Common, args: &ImportMetrics, talk: &Talk) -> anyhow::Result<Exit> {
    let repository = context::repository(common)?;
    let mut records = select::of_runs(&repository, &args.run)?;
    if args.remove {
        let mut removed = 0;
        for record in records.iter_mut().filter(|record| !record.imported_metrics.is_empty()) {
            removed += std::mem::take(&mut record.imported_metrics).len();
            repository.amend(record)?;
        }
        talk.say(&format!("{removed} imported metrics taken out again"));
        talk.json(&json!({ "removed": removed }))?;
        return Ok(Exit::Done);
    }
    let files = read_all(args, talk)?;
    let period_s = args
        .period
        .as_deref()
        .map(read::period)
        .transpose()
        .map_err(|why| usage(format!("--period: {why}"), ""))?;
    let mut taken = Vec::new();
    for record in &mut records {
        let found = of_run(record, &files, period_s)?;
        if found.is_empty() {
            if let Some(window) = &record.window {
                talk.say(&format!(
                    "{}: no row is of its window, {} to {}",
                    record.id, window.begin, window.end
                ));
            }
            continue;
        }
        put(record, found);
        if !args.dry_run {
            repository.amend(record)?;
        }
        taken.push(&*record);
    }
    if taken.is_empty() {
        return Err(usage(
            format!("none of the values is of the time of a run: they are of {}", span(&files)),
            "check --time-zone, and whether the export covers the run's window: `dyno show` names it",
        ));
    }
    show(&taken, args.dry_run, talk)
}

/// All files, each with its name.
fn read_all(args: &ImportMetrics, talk: &Talk) -> anyhow::Result<Vec<(String, Metrics)>> {
    let zone = args.time_zone.as_deref().map(moment::zone).transpose();
    let zone = zone.map_err(|why| usage(format!("--time-zone: {why}"), ""))?;
    let moments = MomentStyle { zone, order: args.date_order };
    let told = Told {
        separator: args.separator.byte(),
        decimal: args.decimal_mark,
        moments,
        metric: args.metric.clone(),
    };
    let mut all = Vec::new();
    for path in &args.files {
        let mut source = Source::open(path)?;
        let last = Rc::new(Cell::new(b'\n'));
        let text = Noted { inner: source.reader()?, last: Rc::clone(&last) };
        let metrics = read::read(text, &told).map_err(|error| {
            let hint = match error.problem.contains("tells no time zone") {
                true => "--time-zone UTC, or the zone in which it was exported, such as Europe/Berlin",
                false if error.problem.contains("may be of two days") => {
                    "--date-order month-day or --date-order day-month says which comes first"
                }
                false if error.problem.contains("is no number") => {
                    "--decimal-mark comma reads 1.234,5; --decimal-mark point reads 1,234.5"
                }
                false if error.problem.contains("no line") => {
                    "--separator semicolon or tab where no commas stand between cells; `dyno import-metrics --help` shows such a file"
                }
                false => "`dyno import-metrics --help` shows what such a file looks like",
            };
            usage(format!("{}: {error}", path.display()), hint)
        })?;
        if last.get() != b'\n' {
            let name = path.display();
            talk.say(&format!(
                "warning: {name}: its last line has no end: if it was cut off, so is its last value"
            ));
        }
        all.push((file_name(path), metrics));
    }
    Ok(all)
}

/// Passes bytes on, and notes the last.
struct Noted<R> {
    inner: R,
    last: Rc<Cell<u8>>,
}

impl<R: Read> Read for Noted<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.inner.read(into)?;
        if let Some(last) = into[..length].last() {
            self.last.set(*last);
        }
        Ok(length)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// What the files tell of the time of a run; nothing of one that was never measured.
fn of_run(
    record: &RunRecord,
    files: &[(String, Metrics)],
    period_s: Option<f64>,
) -> anyhow::Result<Vec<ImportedMetric>> {
    let Some(window) = &record.window else { return Ok(Vec::new()) };
    let Ok(begin) = window.begin.parse::<Timestamp>() else { return Ok(Vec::new()) };
    let when = When { begin_s: begin.as_nanosecond() as f64 / 1e9, seconds: window.seconds };
    let mut found: Vec<ImportedMetric> = Vec::new();
    for (name, metrics) in files {
        let settled = settle::settle(metrics, name, when, period_s)
            .map_err(|why| usage(format!("{name}: {why}"), ""))?;
        for metric in settled {
            if let Some(other) = found.iter().find(|other| other.is_same(&metric)) {
                return Err(usage(
                    format!("{} {} is in {} and in {name}", metric.name, metric.statistic, other.file),
                    "take one of them; where they are of two instances, name these in a column `instance`",
                ));
            }
            found.push(metric);
        }
    }
    Ok(found)
}

/// Puts them into the record, in place of those of the same metric.
fn put(record: &mut RunRecord, found: Vec<ImportedMetric>) {
    record.imported_metrics.retain(|old| !found.iter().any(|new| new.is_same(old)));
    record.imported_metrics.extend(found);
    record
        .imported_metrics
        .sort_by(|a, b| (&a.of, &a.name, &a.statistic).cmp(&(&b.of, &b.name, &b.statistic)));
}

/// Of which time the values are.
fn span(files: &[(String, Metrics)]) -> String {
    let times = files.iter().flat_map(|(_, metrics)| metrics.values()).flat_map(|values| &values.points);
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    for (at_s, _) in times {
        (first, last) = (first.min(*at_s), last.max(*at_s));
    }
    let words =
        |at_s: f64| Timestamp::from_second(at_s as i64).map_or_else(|_| String::new(), |at| at.to_string());
    format!("{} to {}", words(first), words(last))
}

fn show(records: &[&RunRecord], dry_run: bool, talk: &Talk) -> anyhow::Result<Exit> {
    for record in records {
        if records.len() > 1 {
            talk.show(&format!("{}\n", record.id))?;
        }
        talk.show(&dyno_report::imported_metrics_text(record, &talk.style()))?;
    }
    let told =
        records.iter().map(|record| json!({ "run": record.id, "imported_metrics": record.imported_metrics }));
    talk.json(&json!({ "runs": told.collect::<Vec<_>>() }))?;
    let done = if dry_run { "would be shown" } else { "are shown" };
    talk.say(&format!("they {done} beside the run, by `dyno show` and `dyno report`, and used for nothing"));
    Ok(Exit::Done)
}
