//! From a file to values with their times: each is read, or the file is refused with the line and the reason.

use std::collections::BTreeMap;
use std::io::Read;
use std::rc::Rc;

use jiff::tz::TimeZone;

use super::columns::{Column, Layout, Own, layout};
use crate::cli::{DateOrder, DecimalMark};
use crate::commands::import::csv::Csv;
use crate::commands::import::moment::{self, MomentStyle};
use crate::commands::import::number;
use crate::commands::import::strict::CsvError;

/// Lines above the first value, values of a file, and metrics of one, at most.
const HEADS_MAX: usize = 40;
const VALUES_MAX: usize = 2_000_000;
const METRICS_MAX: usize = 500;
/// Characters of a name.
const NAME_MAX: usize = 200;

/// Which metric values are of.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) of: String,
    pub(super) statistic: String,
}

/// The values of a metric.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Values {
    pub(super) unit: String,
    /// What the file says of how long its periods are, s.
    pub(super) period_s: Option<f64>,
    /// Times, s since 1970, rising, and values.
    pub(super) points: Vec<(f64, f64)>,
}

/// Metrics of a file.
pub(super) type Metrics = BTreeMap<Key, Values>;

/// What the user says of a file.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) separator: u8,
    /// `None`: a point, and no marks of thousands.
    pub(super) decimal: Option<DecimalMark>,
    pub(super) moments: MomentStyle,
    /// The metric of a file that does not name it.
    pub(super) metric: Option<String>,
}

impl Default for Told {
    fn default() -> Self {
        Self { separator: b',', decimal: None, moments: MomentStyle::default(), metric: None }
    }
}

impl Told {
    fn number(&self, cell: &str) -> Option<f64> {
        match self.decimal {
            Some(decimal) => number::number(cell, decimal),
            None => cell.parse().ok().filter(|number: &f64| number.is_finite()),
        }
    }
}

/// Reads all of it.
///
/// # Errors
/// The line, and what is wrong there.
pub(super) fn read(text: impl Read, told: &Told) -> Result<Metrics, CsvError> {
    let mut table = Csv::rows(text, told.separator);
    let mut heads: Vec<Vec<String>> = Vec::new();
    let mut reading: Option<Reading<'_>> = None;
    let mut last = 0;
    while let Some((line, cells)) = table.next_row()? {
        let wrong = |problem: String| CsvError { line, problem };
        last = line;
        match &mut reading {
            None if !heads.is_empty() && begins(&heads, &cells) => {
                let layout = Rc::new(layout(&heads).map_err(wrong)?);
                let begun = Reading { layout, told, seen: BTreeMap::new(), values: 0 };
                reading.insert(begun).row(line, &cells).map_err(wrong)?;
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
    let ended = |problem: &str| CsvError { line: last.max(1), problem: problem.to_owned() };
    let reading = reading.ok_or_else(|| ended("there is no line with a time and a value"))?;
    let mut all = Metrics::new();
    for (key, Seen { unit, period_s, points }) in reading.seen {
        let points = points.into_iter().map(|(bits, (value, _))| (f64::from_bits(bits), value)).collect();
        all.insert(key, Values { unit, period_s, points });
    }
    match all.is_empty() {
        true => Err(ended("all of its values are empty")),
        false => Ok(all),
    }
}

/// Whether a cell looks like a time, with whatever zone.
fn is_time(cell: &str) -> bool {
    moment::seconds(cell, &MomentStyle { zone: Some(TimeZone::UTC), order: Some(DateOrder::DayMonth) })
        .is_ok()
        || moment::order_evidence(cell).is_some()
}

/// Whether this is the first row below the heads: its time is one. Where a single line names columns, values follow it in any case.
fn begins(heads: &[Vec<String>], cells: &[&str]) -> bool {
    let is_long = heads.len() == 1 && matches!(layout(heads), Ok(Layout::Long(_)));
    is_long || cells.first().is_some_and(|cell| is_time(cell))
}

#[derive(Default)]
struct Seen {
    unit: String,
    period_s: Option<f64>,
    /// By time, whose bits rise with it, as all are above 0: the value and its line.
    points: BTreeMap<u64, (f64, u64)>,
}

struct Reading<'t> {
    layout: Rc<Layout>,
    told: &'t Told,
    seen: BTreeMap<Key, Seen>,
    values: usize,
}

impl Reading<'_> {
    fn row(&mut self, line: u64, cells: &[&str]) -> Result<(), String> {
        let layout = Rc::clone(&self.layout);
        let width = match &*layout {
            Layout::Long(columns) => columns.len(),
            Layout::Wide { own, .. } => own.len() + 1,
        };
        if cells.len() != width {
            return Err(format!(
                "{} cells under {width} columns: the file may have been cut off",
                cells.len()
            ));
        }
        match &*layout {
            Layout::Long(columns) => self.long(line, columns, cells),
            Layout::Wide { own, is_utc } => self.wide(line, own, *is_utc, cells),
        }
    }

    fn time(&self, text: &str, is_utc: bool) -> Result<f64, String> {
        let mut style = self.told.moments.clone();
        if is_utc {
            style.zone = Some(TimeZone::UTC);
        }
        moment::seconds(text, &style)
    }

    fn long(&mut self, line: u64, columns: &[Column], cells: &[&str]) -> Result<(), String> {
        let cell = |wanted: &Column| {
            let at = columns.iter().position(|column| column == wanted);
            at.map_or("", |at| cells[at])
        };
        let mut at_s = 0.0;
        for (column, cell) in columns.iter().zip(cells) {
            if let Column::Time { is_utc } = column {
                at_s = self.time(cell, *is_utc)?;
            }
        }
        let name = match (cell(&Column::Name), &self.told.metric) {
            ("", Some(metric)) => metric.as_str(),
            ("", None) => return Err("nothing names the metric; --metric NAME does".to_owned()),
            (name, _) => name,
        };
        for (column, value) in columns.iter().zip(cells) {
            let statistic = match column {
                Column::Value => cell(&Column::Statistic),
                Column::ValueOf(statistic) => statistic,
                _ => continue,
            };
            let own = Own {
                name: name.to_owned(),
                of: cell(&Column::Of).to_owned(),
                statistic: statistic.to_owned(),
                unit: cell(&Column::Unit).to_owned(),
                period: cell(&Column::Period).to_owned(),
            };
            self.put(line, &own, at_s, value)?;
        }
        Ok(())
    }

    fn wide(&mut self, line: u64, own: &[Own], is_utc: bool, cells: &[&str]) -> Result<(), String> {
        let at_s = self.time(cells[0], is_utc)?;
        for (own, value) in own.iter().zip(&cells[1..]) {
            match (own.name.is_empty(), value.is_empty()) {
                (true, true) => {}
                (true, false) => return Err(format!("the value {value:?} stands under no name")),
                _ => self.put(line, own, at_s, value)?,
            }
        }
        Ok(())
    }

    /// Takes one value; an empty one is nothing.
    fn put(&mut self, line: u64, own: &Own, at_s: f64, value: &str) -> Result<(), String> {
        if value.is_empty() {
            return Ok(());
        }
        let number: f64 = self.told.number(value).ok_or_else(|| {
            format!("{value:?} under {} is no number; write it as 1234.5, without a unit", own.name)
        })?;
        let period_s = if own.period.is_empty() { None } else { Some(period(&own.period)?) };
        if own.name.len().max(own.of.len()).max(own.statistic.len()).max(own.unit.len()) > NAME_MAX {
            return Err(format!("a name has more than {NAME_MAX} bytes"));
        }
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err(format!(
                "the file has more than {VALUES_MAX} values: export the time of the run alone"
            ));
        }
        let key = Key { name: own.name.clone(), of: own.of.clone(), statistic: own.statistic.clone() };
        if !self.seen.contains_key(&key) && self.seen.len() >= METRICS_MAX {
            return Err(format!("the file has more than {METRICS_MAX} metrics"));
        }
        let seen = self.seen.entry(key).or_default();
        if seen.unit.is_empty() {
            seen.unit.clone_from(&own.unit);
        } else if !own.unit.is_empty() && seen.unit != own.unit {
            return Err(format!(
                "the unit of {} is {:?} here and {:?} before",
                own.name, own.unit, seen.unit
            ));
        }
        match (seen.period_s, period_s) {
            (Some(before), Some(here)) if before != here => {
                return Err(format!("the periods of {} are {here} s here and {before} s before", own.name));
            }
            (None, Some(_)) => seen.period_s = period_s,
            _ => {}
        }
        match seen.points.insert(at_s.to_bits(), (number, line)) {
            Some((before, earlier)) if before != number => Err(format!(
                "{} has the value {number} here and {before} on line {earlier}, for the same time; where several instances are in one \
                 file, name them in a column `instance`",
                own.name
            )),
            _ => Ok(()),
        }
    }
}

/// The length of a period: `60`, `60s`, `5 minutes`, `1 min`.
pub(super) fn period(text: &str) -> Result<f64, String> {
    let wrong = || format!("{text:?} is no length of a period; write it in seconds, such as 60");
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
