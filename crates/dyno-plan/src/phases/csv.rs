//! Reads a CSV file of times and rates.

use std::path::Path;

use super::text::{ROWS_MAX, check, moment, rate};
use crate::error::{PlanError, PlanErrorKind, PlanErrors, shown};
use crate::lines::SourceLines;
use crate::read::PlanFile;
use crate::units::TimeSpan;

/// The required format, as errors state it.
const FORM: &str =
    "each line is TIME,RATE: seconds starting at 0 (`90`, `1m`), operations per second (`500`, `500/s`)";

/// Reads a file with one time and rate per row, from time 0 on, with or without a header.
///
/// # Errors
/// The file cannot be read, or a row is invalid; the error has its line and column.
pub(crate) fn read_rows(path: &Path) -> Result<Vec<(TimeSpan, f64)>, PlanErrors> {
    let file = PlanFile::open_schedule(path)?;
    rows(&file)
}

/// The rows of a file that is already read.
pub(super) fn rows(file: &PlanFile) -> Result<Vec<(TimeSpan, f64)>, PlanErrors> {
    let lines = SourceLines::new(&file.name, &file.text);
    let refuse = |at: usize, value: &str, problem: String| {
        PlanErrors::from(PlanError {
            kind: PlanErrorKind::Type,
            origin: lines.origin(at),
            key: None,
            value: None,
            problem: if value.is_empty() { problem } else { format!("{}: {problem}", shown(value)) },
            hint: FORM.into(),
        })
    };
    let mut rows: Vec<(TimeSpan, f64)> = Vec::new();
    let (mut begin, mut seen) = (0, false);
    for line in file.text.split_inclusive('\n') {
        let at = begin;
        begin += line.len();
        let text = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        // A header: two names.
        let is_head = !seen && !text.contains(|c: char| c.is_ascii_digit()) && text.split(',').count() == 2;
        seen = true;
        if is_head {
            continue;
        }
        let Some((time, per_s)) = text.split_once(',') else {
            return Err(refuse(at, text, "a row without a comma".into()));
        };
        let place = |part: &str| at + (part.as_ptr() as usize - line.as_ptr() as usize);
        let (time, per_s) = (time.trim(), per_s.trim());
        let number = |text: &str, unit: &str| match text.ends_with(|c: char| c.is_ascii_digit()) {
            true => format!("{text}{unit}"),
            false => text.to_owned(),
        };
        let row_time =
            moment(&number(time, "s")).map_err(|_| refuse(place(time), time, "not a time".into()))?;
        let row_rate =
            rate(&number(per_s, "/s")).map_err(|_| refuse(place(per_s), per_s, "not a rate".into()))?;
        let problem = match rows.last() {
            None if !row_time.0.is_zero() => Some("the first row is not at time 0".to_owned()),
            Some((last, _)) if row_time < *last => {
                Some(format!("the time is before that of the row above, {last}"))
            }
            _ if rows.len() == ROWS_MAX => Some(format!("more than {ROWS_MAX} rows")),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(refuse(place(time), time, problem));
        }
        rows.push((row_time, row_rate));
    }
    check(&rows).map_err(|problem| refuse(file.text.trim_end().len(), "", problem))?;
    Ok(rows)
}
