//! `dyno import-metrics`: adds a cloud provider's database metrics to a run.

mod columns;
mod read;
mod run_overlap;

use std::cell::Cell;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use dyno_campaign::select;
use dyno_record::{ImportedMetric, RunRecord};
use jiff::Timestamp;
use serde_json::json;

use super::import::moment::{self, MomentStyle};
use super::import::source::ImportFile;
use crate::cli::{CommonArgs, ImportMetrics};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};
use read::{FileMetrics, MetricReadOptions};
use run_overlap::RunWindowSpan;

pub(super) fn run(common: &CommonArgs, args: &ImportMetrics, talk: &Console) -> anyhow::Result<Exit> {
    let repository = context::repository(common)?;
    let mut records = select::of_runs(&repository, &args.run)?;
    if args.remove {
        let mut removed = 0;
        for record in records.iter_mut().filter(|record| !record.imported_metrics.is_empty()) {
            removed += std::mem::take(&mut record.imported_metrics).len();
            repository.amend(record)?;
        }
        talk.say(&format!("{removed} imported metrics removed"));
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
    let mut updated = Vec::new();
    for record in &mut records {
        let run_metrics = of_run(record, &files, period_s)?;
        if run_metrics.is_empty() {
            if let Some(window) = &record.window {
                talk.say(&format!(
                    "{}: no row lies in its window, {} to {}",
                    record.id, window.begin, window.end
                ));
            }
            continue;
        }
        put(record, run_metrics);
        if !args.dry_run {
            repository.amend(record)?;
        }
        updated.push(&*record);
    }
    if updated.is_empty() {
        return Err(usage(
            format!("no value lies in the window of a run: the values cover {}", span(&files)),
            "check --time-zone, and whether the export covers the run's window: `dyno show` shows it",
        ));
    }
    show(&updated, args.dry_run, talk)
}

/// Reads all files, each with its name.
fn read_all(args: &ImportMetrics, talk: &Console) -> anyhow::Result<Vec<(String, FileMetrics)>> {
    let zone = args.time_zone.as_deref().map(moment::zone).transpose();
    let zone = zone.map_err(|why| usage(format!("--time-zone: {why}"), ""))?;
    let moments = MomentStyle { zone, order: args.date_order };
    let options = MetricReadOptions {
        separator: args.separator.byte(),
        decimal: args.decimal_mark,
        moments,
        metric: args.metric.clone(),
    };
    let mut all = Vec::new();
    for path in &args.files {
        let mut source = ImportFile::open(path)?;
        let last = Rc::new(Cell::new(b'\n'));
        let text = LastByteReader { inner: source.reader()?, last: Rc::clone(&last) };
        let metrics = read::read(text, &options).map_err(|error| {
            let hint = match error.problem.contains("has no time zone") {
                true => "--time-zone UTC, or the zone in which it was exported, such as Europe/Berlin",
                false if error.problem.contains("may mean two days") => {
                    "--date-order month-day or --date-order day-month says which comes first"
                }
                false if error.problem.contains("is not a number") => {
                    "--decimal-mark comma reads 1.234,5; --decimal-mark point reads 1,234.5"
                }
                false if error.problem.contains("no line") => {
                    "use --separator semicolon or tab if commas do not separate the cells; `dyno \
                        import-metrics --help` shows such a file"
                }
                false => "`dyno import-metrics --help` shows such a file",
            };
            usage(format!("{}: {error}", path.display()), hint)
        })?;
        if last.get() != b'\n' {
            let name = path.display();
            talk.say(&format!(
                "warning: {name}: its last line has no end: if the file is truncated, so is its last value"
            ));
        }
        all.push((file_name(path), metrics));
    }
    Ok(all)
}

/// Passes bytes on and remembers the last one.
struct LastByteReader<R> {
    inner: R,
    last: Rc<Cell<u8>>,
}

impl<R: Read> Read for LastByteReader<R> {
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

/// The values in the files for the time of a run; none for a run that was never measured.
fn of_run(
    record: &RunRecord,
    files: &[(String, FileMetrics)],
    period_s: Option<f64>,
) -> anyhow::Result<Vec<ImportedMetric>> {
    let Some(window) = &record.window else { return Ok(Vec::new()) };
    let Ok(begin) = window.begin.parse::<Timestamp>() else { return Ok(Vec::new()) };
    let when = RunWindowSpan { begin_s: begin.as_nanosecond() as f64 / 1e9, seconds: window.seconds };
    let mut run_metrics: Vec<ImportedMetric> = Vec::new();
    for (name, metrics) in files {
        let settled = run_overlap::align_to_window(metrics, name, when, period_s)
            .map_err(|why| usage(format!("{name}: {why}"), ""))?;
        for metric in settled {
            if let Some(other) = run_metrics.iter().find(|other| other.is_same(&metric)) {
                return Err(usage(
                    format!("{} {} is in {} and in {name}", metric.name, metric.statistic, other.file),
                    "import one of them; if they are of two instances, name these in a column `instance`",
                ));
            }
            run_metrics.push(metric);
        }
    }
    Ok(run_metrics)
}

/// Adds the metrics to the record and replaces existing ones with the same name.
fn put(record: &mut RunRecord, new_metrics: Vec<ImportedMetric>) {
    record.imported_metrics.retain(|old| !new_metrics.iter().any(|new| new.is_same(old)));
    record.imported_metrics.extend(new_metrics);
    record
        .imported_metrics
        .sort_by(|a, b| (&a.of, &a.name, &a.statistic).cmp(&(&b.of, &b.name, &b.statistic)));
}

/// The period that the values cover.
fn span(files: &[(String, FileMetrics)]) -> String {
    let times = files.iter().flat_map(|(_, metrics)| metrics.values()).flat_map(|values| &values.points);
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    for (at_s, _) in times {
        (first, last) = (first.min(*at_s), last.max(*at_s));
    }
    let words =
        |at_s: f64| Timestamp::from_second(at_s as i64).map_or_else(|_| String::new(), |at| at.to_string());
    format!("{} to {}", words(first), words(last))
}

fn show(records: &[&RunRecord], dry_run: bool, talk: &Console) -> anyhow::Result<Exit> {
    for record in records {
        if records.len() > 1 {
            talk.show(&format!("{}\n", record.id))?;
        }
        talk.show(&dyno_report::imported_metrics_text(record, &talk.style()))?;
    }
    let runs_json =
        records.iter().map(|record| json!({ "run": record.id, "imported_metrics": record.imported_metrics }));
    talk.json(&json!({ "runs": runs_json.collect::<Vec<_>>() }))?;
    let verb = if dry_run { "would be shown" } else { "are shown" };
    talk.say(&format!(
        "they {verb} with the run by `dyno show` and `dyno report`, and not used in its figures"
    ));
    Ok(Exit::Done)
}
