//! A cloud provider's database metrics, for the time of a run.

mod columns;
mod read;
mod run_overlap;

use std::cell::Cell;
use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use dyno_record::{ImportedMetric, RunRecord};
use jiff::Timestamp;

use crate::table::CsvError;
use crate::table::moment::MomentStyle;
use crate::{Error, ImportFile, TableNotation};
use read::{FileMetrics, MetricReadOptions};
use run_overlap::RunWindowSpan;

/// The values in one file.
#[derive(Debug)]
pub struct MetricFile {
    /// The file's name without its folder.
    name: String,
    metrics: FileMetrics,
    /// Whether the last line has no end, as in a truncated file.
    pub is_last_line_open: bool,
}

/// Reads a file with one row for each value, or one column for each metric; `metric` names the values of a file
/// that does not.
///
/// # Errors
/// The file has an error, with its line.
pub fn read_file(path: &Path, notation: &TableNotation, metric: Option<&str>) -> Result<MetricFile, Error> {
    let options = MetricReadOptions {
        separator: notation.separator.map_or(b',', |separator| separator.byte()),
        decimal: notation.decimal_mark,
        moments: MomentStyle::new(notation.time_zone.as_deref(), notation.date_order)?,
        metric: metric.map(str::to_owned),
    };
    let mut source = ImportFile::open(path)?;
    let last = Rc::new(Cell::new(b'\n'));
    let text = LastByteReader { inner: source.reader()?, last: Rc::clone(&last) };
    let metrics = read::read(text, &options)
        .map_err(|error| Error::input(format!("{}: {error}", path.display()), hint(&error)))?;
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    Ok(MetricFile { name, metrics, is_last_line_open: last.get() != b'\n' })
}

/// What the user can do about an error in a file.
fn hint(error: &CsvError) -> &'static str {
    match error.problem.contains("has no time zone") {
        true => "--time-zone UTC, or the zone in which it was exported, such as Europe/Berlin",
        false if error.problem.contains("may mean two days") => {
            "--date-order month-day or --date-order day-month says which comes first"
        }
        false if error.problem.contains("is not a number") => {
            "--decimal-mark comma reads 1.234,5; --decimal-mark point reads 1,234.5"
        }
        false if error.problem.contains("no line") => {
            "use --separator semicolon or tab if commas do not separate the cells; `dyno import metrics \
                --help` shows such a file"
        }
        false => "`dyno import metrics --help` shows such a file",
    }
}

/// Parses the length of a period as `--period` states it, s.
///
/// # Errors
/// It is not a length.
pub fn period(text: &str) -> Result<f64, Error> {
    read::period(text).map_err(|problem| Error::input(format!("--period: {problem}"), ""))
}

/// The values in the files for the time of a run; none for a run that was never measured.
///
/// # Errors
/// A metric is in two files, or there are more values than a record can contain.
pub fn of_run(
    record: &RunRecord,
    files: &[MetricFile],
    period_s: Option<f64>,
) -> Result<Vec<ImportedMetric>, Error> {
    let Some(window) = &record.window else { return Ok(Vec::new()) };
    let Ok(begin) = window.begin.parse::<Timestamp>() else { return Ok(Vec::new()) };
    let when = RunWindowSpan { begin_s: begin.as_nanosecond() as f64 / 1e9, seconds: window.seconds };
    let mut run_metrics: Vec<ImportedMetric> = Vec::new();
    for MetricFile { name, metrics, .. } in files {
        let settled = run_overlap::align_to_window(metrics, name, when, period_s)
            .map_err(|problem| Error::input(format!("{name}: {problem}"), ""))?;
        for metric in settled {
            if let Some(other) = run_metrics.iter().find(|other| other.is_same(&metric)) {
                return Err(Error::input(
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
pub fn put(record: &mut RunRecord, new_metrics: Vec<ImportedMetric>) {
    record.imported_metrics.retain(|old| !new_metrics.iter().any(|new| new.is_same(old)));
    record.imported_metrics.extend(new_metrics);
    record
        .imported_metrics
        .sort_by(|a, b| (&a.of, &a.name, &a.statistic).cmp(&(&b.of, &b.name, &b.statistic)));
}

/// The period that the values cover, in words.
pub fn covered_period(files: &[MetricFile]) -> String {
    let times = files.iter().flat_map(|file| file.metrics.values()).flat_map(|values| &values.points);
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    for (at_s, _) in times {
        (first, last) = (first.min(*at_s), last.max(*at_s));
    }
    let words =
        |at_s: f64| Timestamp::from_second(at_s as i64).map_or_else(|_| String::new(), |at| at.to_string());
    format!("{} to {}", words(first), words(last))
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
