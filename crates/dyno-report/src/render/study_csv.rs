//! Writes a study as CSV with all digits.

use std::fmt::Write as _;

use dyno_analyze::compare::MeasureComparison;
use dyno_analyze::conclusion::study::{StudyResult, StudyRow};
use dyno_analyze::points::median;

use super::csv::field as csv_field;
use crate::content::study::{extent, verdict};

/// The study as CSV with a line for each variant in each figure, with all digits.
pub fn study_csv(study: &StudyResult) -> String {
    let mut out = "task,measure,unit,variant,runs,median,least,most,to_base_pct,interval_low_pct,interval_high_pct,p,p_adjusted,verdict,others_had_part\r\n".to_owned();
    let mut line = |row: &StudyRow, name: &str, values: &[f64], cell: Option<&MeasureComparison>| {
        let (low, high) = extent(values);
        let number = |value: Option<f64>| {
            value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
        };
        let interval = cell.and_then(|cell| cell.interval_pct);
        let marked = cell.is_some_and(|cell| cell.marked.1);
        let fields = [
            csv_field(&row.task),
            csv_field(&row.measure),
            csv_field(row.unit.name()),
            csv_field(name),
            values.len().to_string(),
            number(median(values)),
            number(Some(low)),
            number(Some(high)),
            number(cell.and_then(|cell| cell.difference_pct)),
            number(interval.map(|interval| interval.0)),
            number(interval.map(|interval| interval.1)),
            number(cell.and_then(|cell| cell.p)),
            number(cell.and_then(|cell| cell.p_adjusted)),
            cell.map_or_else(|| "base".to_owned(), |cell| verdict(cell).text),
            if marked { "yes".to_owned() } else { String::new() },
        ];
        let _ = write!(out, "{}\r\n", fields.join(","));
    };
    for row in &study.rows {
        for (at, variant) in study.variants.iter().enumerate() {
            match &row.cells[at] {
                Some(cell) => line(row, &variant.name, &cell.b_runs, Some(cell)),
                None => line(row, &variant.name, &row.base, None),
            }
        }
    }
    out
}
