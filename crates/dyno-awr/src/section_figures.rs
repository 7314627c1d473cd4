//! Extracts the section figures by which reports are compared, each per second of the interval or
//! as printed.

use std::collections::BTreeMap;

use crate::number::PrintedNumber;
use crate::read::{AwrComparisonKind, compared};
use crate::report::AwrReport;

/// A figure of one row of a section.
#[derive(Debug, Clone, PartialEq)]
pub struct SectionFigure<'r> {
    /// The list in JSON that contains it: `latches`.
    pub section: &'static str,
    /// The row's name, for example `cache buffers chains`.
    pub row: &'r str,
    /// The figure with its unit: `wait_s`.
    pub figure: &'static str,
    /// Its value; per second of the interval if `per_s`.
    pub reading: PrintedNumber,
    /// Whether it is a total of the interval, divided by its length.
    pub per_s: bool,
}

/// The figures that are not 0, by section, row and figure. Text may truncate several names to one:
/// totals of such rows are added up, and of other figures the first is kept.
pub fn section_figures(report: &AwrReport) -> Vec<SectionFigure<'_>> {
    let seconds = report.value("elapsed_min").map(|min| min * 60.0).filter(|s| *s > 0.0);
    let mut by_name: BTreeMap<(&'static str, &str, &'static str), SectionFigure<'_>> = BTreeMap::new();
    for (&section, rows) in &report.details {
        for row in rows {
            for (&figure, &printed) in &row.figures {
                let Some(compared) = compared(section, figure) else { continue };
                let per_s = compared == AwrComparisonKind::PerSecond;
                let reading = match (per_s, seconds) {
                    (false, _) => printed,
                    (true, Some(seconds)) => printed.times(1.0 / seconds),
                    (true, None) => continue,
                };
                let key = (section, row.name.as_str(), figure);
                let value = SectionFigure { section, row: &row.name, figure, reading, per_s };
                let sum = by_name.entry(key).or_insert_with(|| SectionFigure {
                    reading: PrintedNumber { value: 0.0, step: 0.0 },
                    ..value.clone()
                });
                if per_s {
                    sum.reading.value += reading.value;
                    sum.reading.step += reading.step;
                } else if sum.reading.value == 0.0 {
                    sum.reading = reading;
                }
            }
        }
    }
    by_name.into_values().filter(|of| of.reading.value != 0.0).collect()
}
