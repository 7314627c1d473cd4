//! Converts a file to values with times. A file with an error is refused, with the line and the reason.

use std::collections::BTreeMap;
use std::io::Read;
use std::rc::Rc;

use jiff::tz::TimeZone;

use super::columns::{MetricColumn, MetricLabels, MetricTableLayout, layout};
use crate::table::CsvError;
use crate::table::csv::Csv;
use crate::table::moment::{self, MomentStyle};
use crate::table::number;
use crate::{DateOrder, DecimalMark};

/// Maximum lines above the first value, values of a file, and metrics of a file.
const HEADS_MAX: usize = 40;
const VALUES_MAX: usize = 2_000_000;
const METRICS_MAX: usize = 500;
/// Maximum characters of a name.
const NAME_MAX: usize = 200;

/// The metric to which values belong.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MetricKey {
    pub(super) name: String,
    pub(super) instance: String,
    pub(super) statistic: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MetricValues {
    pub(super) unit: String,
    /// Period length stated in the file, s.
    pub(super) period_s: Option<f64>,
    /// Times in seconds since 1970 in ascending order, and values.
    pub(super) points: Vec<(f64, f64)>,
}

pub(super) type FileMetrics = BTreeMap<MetricKey, MetricValues>;

/// Reading options from the user.
#[derive(Debug)]
pub(super) struct MetricReadOptions {
    pub(super) separator: u8,
    /// `None`: a point, without thousands separators.
    pub(super) decimal: Option<DecimalMark>,
    pub(super) moments: MomentStyle,
    /// The metric of a file that does not name it.
    pub(super) metric: Option<String>,
}

impl Default for MetricReadOptions {
    fn default() -> Self {
        Self { separator: b',', decimal: None, moments: MomentStyle::default(), metric: None }
    }
}

impl MetricReadOptions {
    fn number(&self, cell: &str) -> Option<f64> {
        match self.decimal {
            Some(decimal) => number::number(cell, decimal),
            None => cell.parse().ok().filter(|number: &f64| number.is_finite()),
        }
    }
}

/// Reads the whole file.
///
/// # Errors
/// The line with the error, and the reason.
pub(super) fn read(text: impl Read, options: &MetricReadOptions) -> Result<FileMetrics, CsvError> {
    let mut table = Csv::rows(text, options.separator);
    let mut heads: Vec<Vec<String>> = Vec::new();
    let mut reading: Option<Reading<'_>> = None;
    let mut last = 0;
    while let Some((line, cells)) = table.next_row()? {
        let wrong = |problem: String| CsvError { line, problem };
        last = line;
        match &mut reading {
            None if !heads.is_empty() && starts_rows(&heads, &cells) => {
                let layout = Rc::new(layout(&heads).map_err(wrong)?);
                let first_reading = Reading { layout, options, metrics: BTreeMap::new(), values: 0 };
                reading.insert(first_reading).row(line, &cells).map_err(wrong)?;
            }
            None if cells.first().is_some_and(|cell| is_time(cell)) => {
                return Err(wrong("there is no line above it that names the columns".to_owned()));
            }
            None if heads.len() >= HEADS_MAX => {
                return Err(wrong(format!("none of the first {HEADS_MAX} lines begins with a time")));
            }
            None => heads.push(cells.iter().map(|cell| (*cell).to_owned()).collect()),
            Some(reading) => reading.row(line, &cells).map_err(wrong)?,
        }
    }
    let end_error = |problem: &str| CsvError { line: last.max(1), problem: problem.to_owned() };
    let reading = reading.ok_or_else(|| end_error("there is no line with a time and a value"))?;
    let mut all = FileMetrics::new();
    for (key, MetricEntry { unit, period_s, points }) in reading.metrics {
        let points = points.into_iter().map(|(bits, (value, _))| (f64::from_bits(bits), value)).collect();
        all.insert(key, MetricValues { unit, period_s, points });
    }
    match all.is_empty() {
        true => Err(end_error("all of its values are empty")),
        false => Ok(all),
    }
}

/// Whether a cell looks like a time in any zone.
fn is_time(cell: &str) -> bool {
    moment::seconds(cell, &MomentStyle { zone: Some(TimeZone::UTC), order: Some(DateOrder::DayMonth) })
        .is_ok()
        || moment::order_evidence(cell).is_some()
}

/// Whether this is the first row below the heads: its time is a valid time. After a single head line, values
/// follow in any case.
fn starts_rows(heads: &[Vec<String>], cells: &[&str]) -> bool {
    let is_long = heads.len() == 1 && matches!(layout(heads), Ok(MetricTableLayout::Long(_)));
    is_long || cells.first().is_some_and(|cell| is_time(cell))
}

#[derive(Default)]
struct MetricEntry {
    unit: String,
    period_s: Option<f64>,
    /// By the bits of the time, which sort like the time because all are above 0: the value and its line.
    points: BTreeMap<u64, (f64, u64)>,
}

struct Reading<'t> {
    layout: Rc<MetricTableLayout>,
    options: &'t MetricReadOptions,
    metrics: BTreeMap<MetricKey, MetricEntry>,
    values: usize,
}

impl Reading<'_> {
    fn row(&mut self, line: u64, cells: &[&str]) -> Result<(), String> {
        let layout = Rc::clone(&self.layout);
        let width = match &*layout {
            MetricTableLayout::Long(columns) => columns.len(),
            MetricTableLayout::Wide { labels, .. } => labels.len() + 1,
        };
        if cells.len() != width {
            return Err(format!("{} cells under {width} columns: the file may be truncated", cells.len()));
        }
        match &*layout {
            MetricTableLayout::Long(columns) => self.read_long_row(line, columns, cells),
            MetricTableLayout::Wide { labels: column_labels, is_utc } => {
                self.read_wide_row(line, column_labels, *is_utc, cells)
            }
        }
    }

    fn time(&self, text: &str, is_utc: bool) -> Result<f64, String> {
        let mut style = self.options.moments.clone();
        if is_utc {
            style.zone = Some(TimeZone::UTC);
        }
        moment::seconds(text, &style)
    }

    fn read_long_row(&mut self, line: u64, columns: &[MetricColumn], cells: &[&str]) -> Result<(), String> {
        let cell = |wanted: &MetricColumn| {
            let at = columns.iter().position(|column| column == wanted);
            at.map_or("", |at| cells[at])
        };
        let mut at_s = 0.0;
        for (column, cell) in columns.iter().zip(cells) {
            if let MetricColumn::Time { is_utc } = column {
                at_s = self.time(cell, *is_utc)?;
            }
        }
        let name = match (cell(&MetricColumn::Name), &self.options.metric) {
            ("", Some(metric)) => metric.as_str(),
            ("", None) => return Err("nothing names the metric; --metric NAME does".to_owned()),
            (name, _) => name,
        };
        for (column, value) in columns.iter().zip(cells) {
            let statistic = match column {
                MetricColumn::Value => cell(&MetricColumn::Statistic),
                MetricColumn::ValueOf(statistic) => statistic,
                _ => continue,
            };
            let labels = MetricLabels {
                name: name.to_owned(),
                instance: cell(&MetricColumn::Instance).to_owned(),
                statistic: statistic.to_owned(),
                unit: cell(&MetricColumn::Unit).to_owned(),
                period: cell(&MetricColumn::Period).to_owned(),
            };
            self.add_value(line, &labels, at_s, value)?;
        }
        Ok(())
    }

    fn read_wide_row(
        &mut self,
        line: u64,
        column_labels: &[MetricLabels],
        is_utc: bool,
        cells: &[&str],
    ) -> Result<(), String> {
        let at_s = self.time(cells[0], is_utc)?;
        for (own, value) in column_labels.iter().zip(&cells[1..]) {
            match (own.name.is_empty(), value.is_empty()) {
                (true, true) => {}
                (true, false) => return Err(format!("the value {value:?} is in a column without a name")),
                _ => self.add_value(line, own, at_s, value)?,
            }
        }
        Ok(())
    }

    /// Adds one value; an empty cell is skipped.
    fn add_value(&mut self, line: u64, labels: &MetricLabels, at_s: f64, value: &str) -> Result<(), String> {
        if value.is_empty() {
            return Ok(());
        }
        let number: f64 = self.options.number(value).ok_or_else(|| {
            format!("{value:?} under {} is not a number; write it as 1234.5, without a unit", labels.name)
        })?;
        let period_s = if labels.period.is_empty() { None } else { Some(period(&labels.period)?) };
        if labels.name.len().max(labels.instance.len()).max(labels.statistic.len()).max(labels.unit.len())
            > NAME_MAX
        {
            return Err(format!("a name has more than {NAME_MAX} bytes"));
        }
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err(format!(
                "the file has more than {VALUES_MAX} values: export only the time of the run"
            ));
        }
        let key = MetricKey {
            name: labels.name.clone(),
            instance: labels.instance.clone(),
            statistic: labels.statistic.clone(),
        };
        if !self.metrics.contains_key(&key) && self.metrics.len() >= METRICS_MAX {
            return Err(format!("the file has more than {METRICS_MAX} metrics"));
        }
        let entry = self.metrics.entry(key).or_default();
        if entry.unit.is_empty() {
            entry.unit.clone_from(&labels.unit);
        } else if !labels.unit.is_empty() && entry.unit != labels.unit {
            return Err(format!(
                "the unit of {} is {:?} here and {:?} before",
                labels.name, labels.unit, entry.unit
            ));
        }
        match (entry.period_s, period_s) {
            (Some(before), Some(here)) if before != here => {
                return Err(format!(
                    "the periods of {} are {here} s here and {before} s before",
                    labels.name
                ));
            }
            (None, Some(_)) => entry.period_s = period_s,
            _ => {}
        }
        match entry.points.insert(at_s.to_bits(), (number, line)) {
            Some((before, earlier)) if before != number => Err(format!(
                "{} has the value {number} here and {before} on line {earlier}, for the same time; where several instances are in one \
                 file, name them in a column `instance`",
                labels.name
            )),
            _ => Ok(()),
        }
    }
}

/// Parses the length of a period: `60`, `60s`, `5 minutes`, `1 min`.
pub(super) fn period(text: &str) -> Result<f64, String> {
    let wrong = || format!("{text:?} is not the length of a period; write it in seconds, such as 60");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| wrong())?;
    let unit_s = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "s" | "sec" | "second" | "seconds" => 1.0,
        "m" | "min" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3_600.0,
        _ => return Err(wrong()),
    };
    let seconds = number * unit_s;
    if (0.001..=86_400.0).contains(&seconds) { Ok(seconds) } else { Err(wrong()) }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
