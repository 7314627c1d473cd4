//! Peak, 95th percentile and mean of a figure in present use.

use std::collections::BTreeMap;

use dyno_record::{AttributionScope, Metric, RecordKind, RunRecord, Unit};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::ceiling::Ceiling;
use super::part::{CPU, CapacityComponent};
use crate::number::span_s;

/// Present use of a figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Used {
    pub unit: String,
    pub peak: f64,
    /// Begin of the peak, RFC 3339; for a report in its host's own time.
    pub peak_at: String,
    /// Length of the peak, s: a minute, an interval, or the time of a report.
    pub peak_s: f64,
    /// The value that 95 % of the intervals (or reports) do not exceed. It may be above the busiest
    /// minute. Absent with fewer than twenty intervals.
    pub p95: Option<f64>,
    /// The mean over the whole time.
    pub mean: f64,
    /// Seconds for which the figure is known.
    pub seconds: f64,
    /// The highest peak of each day.
    pub days: BTreeMap<String, f64>,
    /// The figure over time: seconds since the first value, and the value.
    #[serde(skip)]
    pub course: Vec<(f64, f64)>,
}

/// Fewest intervals for a 95th percentile.
const INTERVALS_MIN: usize = 20;

impl Used {
    /// The peak's begin and length in words: `the minute from 2026-11-23 09:14:00`.
    pub fn peak_words(&self) -> String {
        let at = self.peak_at.get(..19).unwrap_or(&self.peak_at).replace('T', " ");
        match self.peak_s {
            60.0 => format!("the minute from {at}"),
            seconds => format!("the {} from {at}", span_s(seconds)),
        }
    }
}

/// The use of the figure of `part`, or why it is unknown.
pub(super) fn used(part: &CapacityComponent, records: &[RunRecord]) -> Result<Used, String> {
    let mut used = Used::default();
    let (mut weighted, mut all, mut origin) = (0.0, Vec::new(), None);
    let mut why = format!("use does not report {}", part.metric);
    for record in records {
        let (value, unit) = match record.metrics.get(part.metric) {
            Some(Metric::Value { value, unit }) => (*value, *unit),
            Some(Metric::Absent { absent }) => {
                why = format!("use does not report {}: {absent}", part.metric);
                continue;
            }
            None => continue,
        };
        let observed = record.database_host().filter(|host| host.observed.is_some()).map(|host| host.cpus);
        let cpus = observed.or(record.hosts.iter().map(|host| host.cpus).max()).unwrap_or(0);
        let (unit, factor) = match (part.metric, cpus) {
            (CPU, 0) => {
                why = "the processors of the host in use are unknown".to_owned();
                continue;
            }
            (CPU, cpus) => ("CPUs".to_owned(), f64::from(cpus) / 100.0),
            _ => (unit.name().to_owned(), 1.0),
        };
        if !used.unit.is_empty() && used.unit != unit {
            return Err(format!("use is reported in {} and in {unit}", used.unit));
        }
        used.unit = unit;
        let Some((peak, at_s, seconds, length_s)) = peak(part, record, value) else { continue };
        let begin = record.window.as_ref().map_or("", |window| window.begin.as_str());
        let begin = if begin.is_empty() { record.started_at.as_str() } else { begin };
        let began: Option<Timestamp> = begin.parse().ok();
        let at = began.and_then(|began| began.checked_add(SignedDuration::from_secs_f64(at_s)).ok());
        let at = at.map_or_else(|| begin.to_owned(), |at| at.to_string());
        let peak = peak * factor;
        if used.peak_at.is_empty() || peak > used.peak {
            (used.peak, used.peak_at, used.peak_s) = (peak, at.clone(), length_s);
        }
        if record.is_dated() {
            let day = used.days.entry(at.get(..10).unwrap_or_default().to_owned()).or_insert(peak);
            *day = day.max(peak);
        }
        used.seconds += seconds;
        weighted += value * factor * seconds;
        let since_s =
            began.map_or(0.0, |began| began.duration_since(*origin.get_or_insert(began)).as_secs_f64());
        usage_over_time(part, record, value, seconds, |at_s, seconds, value| {
            all.push((value * factor, seconds));
            used.course.push((since_s + at_s, value * factor));
        });
    }
    if used.unit.is_empty() || used.seconds <= 0.0 {
        return Err(why);
    }
    used.mean = weighted / used.seconds;
    used.course.sort_by(|a, b| a.0.total_cmp(&b.0));
    let alone = match records {
        [one] => one.watched.as_ref().and_then(|watched| watched.spreads.get(part.metric)),
        _ => None,
    };
    let factor = if value_of(part, records) > 0.0 { used.mean / value_of(part, records) } else { 1.0 };
    used.p95 = match alone {
        Some(spread) if all.len() >= INTERVALS_MIN => Some(spread.p95 * factor),
        _ => p95(all),
    };
    Ok(used)
}

fn value_of(part: &CapacityComponent, records: &[RunRecord]) -> f64 {
    records.first().and_then(|record| record.metrics.get(part.metric)?.value()).unwrap_or(0.0)
}

/// The peak of a record, its begin in seconds, the seconds that the record covers, and the length
/// of the peak.
fn peak(part: &CapacityComponent, record: &RunRecord, value: f64) -> Option<(f64, f64, f64, f64)> {
    if let Some(watched) = &record.watched {
        let spread = watched.spreads.get(part.metric)?;
        let interval_s = record.series.measured_interval_s();
        return Some(match (spread.busiest_minute, spread.busiest_minute_at_s) {
            // The whole watch is an interval longer than a minute too.
            (Some(minute), _) if interval_s < 60.0 && value > minute => {
                (value, 0.0, spread.seconds, spread.seconds)
            }
            (Some(minute), Some(at_s)) if interval_s < 60.0 => (minute, at_s, spread.seconds, 60.0),
            _ => (spread.peak, spread.peak_at_s, spread.seconds, interval_s),
        });
    }
    let seconds = record.window.as_ref()?.work_seconds();
    (seconds > 0.0).then_some((value, 0.0, seconds, seconds))
}

fn usage_over_time(
    part: &CapacityComponent,
    record: &RunRecord,
    value: f64,
    seconds: f64,
    mut put: impl FnMut(f64, f64, f64),
) {
    if record.kind != RecordKind::Watch {
        return put(0.0, seconds, value);
    }
    for point in &record.series.points {
        if let Some(value) = point.metrics.get(part.metric) {
            put(point.at_s, point.seconds, *value);
        }
    }
}

/// The value that is not exceeded in 95 % of the time.
fn p95(mut all: Vec<(f64, f64)>) -> Option<f64> {
    if all.len() < INTERVALS_MIN {
        return None;
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let whole: f64 = all.iter().map(|(_, seconds)| seconds).sum();
    let mut below = 0.0;
    let at = all.iter().find(|(_, seconds)| {
        below += seconds;
        below >= 0.95 * whole * (1.0 - 1e-9)
    });
    at.map(|(value, _)| *value)
}

/// What qualifies the figures of a row.
pub(super) fn notes(part: &CapacityComponent, records: &[RunRecord], ceiling: &Ceiling) -> Vec<String> {
    let mut notes = Vec::new();
    if !ceiling.is_most {
        notes.push(
            "the maximum (≥) is a lower bound: load could rise further, or something else limited it"
                .to_owned(),
        );
    }
    let is_short = |record: &RunRecord| {
        let spread = record.watched.as_ref().and_then(|watched| watched.spreads.get(part.metric));
        spread.is_some_and(|spread| spread.busiest_minute.is_none())
            && record.series.measured_interval_s() < 60.0
    };
    if records.iter().any(is_short) {
        notes.push(
            "a watch without a whole minute: its peak covers one interval, which may include the work of \
             several"
                .to_owned(),
        );
    }
    let of_database = |record: &RunRecord| {
        record.whose.get(part.metric).is_some_and(|whose| whose.scope == AttributionScope::Database)
    };
    if records.iter().any(of_database) {
        notes.push("use covers one database, without the other databases of its server".to_owned());
    }
    let gaps: u64 = records.iter().filter_map(|record| Some(record.watched.as_ref()?.gaps_all)).sum();
    if gaps > 0 {
        notes.push(format!("gaps without data: {gaps}"));
    }
    if records.iter().any(|record| record.kind != RecordKind::Watch) {
        notes.push("a report's figure is a mean over its time, and the peak inside it is higher".to_owned());
    }
    if part.metric == CPU {
        notes.push("use covers the whole host, with everything else that runs on it".to_owned());
    }
    let is_unit = |unit: Unit| crate::points::Measure::find(part.metric).is_some_and(|of| of.unit == unit);
    if part.is_database_view && is_unit(Unit::PerSecond) {
        notes.push("requests of any size; the measured requests may have had another size".to_owned());
    }
    notes
}
