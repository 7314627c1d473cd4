//! Writes one line for each run with every measure of any run (RFC 4180). Figures have all digits; runs
//! without a result have none.

use std::collections::BTreeMap;
use std::io::Write;

use dyno_analyze::points::{MEASURES, MeasuredPoint, SESSIONS, SettingAxis, points};
use dyno_record::{ALL, RunRecord};

use super::ExportError;
use crate::content::report::Report;
use crate::content::runs::RunsError;
use crate::model::request::ReportRequest;
use crate::model::table::{GridCell, GridHead};

/// Columns that identify the run and qualify its figures; axes and measures follow.
const HEAD: [&str; 8] =
    ["run", "started_at", "status", "reason", "target", "sessions", "others_had_part", "note"];

/// The last column: the length of the window.
const WINDOW: &str = "window_s";

pub(super) fn export(report: &Report<'_>, _: &ReportRequest, out: &mut dyn Write) -> Result<(), ExportError> {
    let heads: Vec<String> = heads(report).iter().map(|head| field(&head.label)).collect();
    write!(out, "{}\r\n", heads.join(","))?;
    each(report, &mut |cells| {
        let line: Vec<String> = cells.iter().map(cell_field).collect();
        Ok(write!(out, "{}\r\n", line.join(","))?)
    })
}

fn axes<'r>(report: &'r Report<'_>) -> Vec<&'r SettingAxis> {
    report.points.axes.iter().filter(|axis| axis.path != SESSIONS).collect()
}

/// The measures that any run has.
fn measures(report: &Report<'_>) -> Vec<&'static str> {
    let has = |name: &str| report.points.points.iter().any(|point| point.estimates.contains_key(name));
    MEASURES.iter().map(|measure| measure.name).filter(|name| has(name)).collect()
}

/// The heads of the columns.
pub(super) fn heads(report: &Report<'_>) -> Vec<GridHead> {
    let texts = HEAD.into_iter().chain(axes(report).into_iter().map(|axis| axis.path.as_str()));
    let figures = measures(report).into_iter().chain([WINDOW]).map(|name| GridHead::figures(name, ""));
    texts.map(GridHead::text).chain(figures).collect()
}

/// Passes the cells of each line to `take`; figures are in full.
pub(super) fn each(
    report: &Report<'_>,
    take: &mut dyn FnMut(Vec<GridCell>) -> Result<(), RunsError>,
) -> Result<(), ExportError> {
    let (axes, measures) = (axes(report), measures(report));
    report.each(|record| {
        take(line(record, record, &axes, &measures))?;
        // After a run with a schedule, a line for each phase.
        for phase in &record.phases {
            let led = phase.led().map(|led| (ALL.to_owned(), led.clone()));
            let alone = RunRecord {
                id: format!("{}: {:.1} s, {}", record.id, phase.begin_s.max(0.0), phase.name),
                ops: phase.ops.clone().into_iter().chain(led).collect(),
                metrics: BTreeMap::new(),
                // The figures are those of the workload that the schedule drives.
                beside: Vec::new(),
                // A phase has a length of its own.
                window: None,
                ..record.clone()
            };
            take(line(record, &alone, &axes, &measures))?;
        }
        // After a total, a line for each target.
        for part in record.parts() {
            take(line(record, &part, &axes, &measures))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// The fields of `record`, which is `whole` or one target's part of it.
fn line(whole: &RunRecord, record: &RunRecord, axes: &[&SettingAxis], measures: &[&str]) -> Vec<GridCell> {
    // One run is one point, whose figures are the run's own.
    let run_points = points(std::slice::from_ref(record));
    let target = record.targets.iter().map(|target| target.url.as_str()).collect::<Vec<_>>().join(" ");
    let reasons = record.reasons.join("; ");
    // A start time that is only the time of the import is left empty.
    let started = if record.is_dated() { record.started_at.as_str() } else { "" };
    let mut cells: Vec<GridCell> =
        [record.id.as_str(), started, record.status.name(), &reasons, &target].map(GridCell::from).into();
    let sessions = Some(f64::from(record.sessions())).filter(|sessions| *sessions > 0.0);
    let mut notes: Vec<&str> =
        whole.workloads().map(|own| own.note.as_str()).filter(|note| !note.is_empty()).collect();
    notes.dedup();
    cells.extend([GridCell::full(sessions), record.marked().join(" ").into(), notes.join("; ").into()]);
    cells.extend(axes.iter().map(|axis| GridCell::setting(&axis.of(whole).text)));
    let point = run_points.points.first();
    cells.extend(measures.iter().map(|name| GridCell::full(point.and_then(|point| point.get(name)))));
    cells.push(GridCell::full(point.and_then(MeasuredPoint::window_s)));
    cells
}

/// A cell as a field: a figure with all digits, and with its qualification if it has one.
pub(super) fn cell_field(cell: &GridCell) -> String {
    match &cell.number {
        // A signed number is not a formula.
        Some(number) if number.is_plain() => number.value.to_string(),
        _ => field(&cell.text),
    }
}

/// Text as a field, quoted if needed. A spreadsheet would execute a text that begins like a formula, so such
/// a text is prefixed with an apostrophe.
pub(crate) fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    // A file may also be shown on a terminal, which obeys control characters.
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    let text: String = text.chars().map(|c| if acts(c) { char::REPLACEMENT_CHARACTER } else { c }).collect();
    let text = if formula { format!("'{text}") } else { text };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_fields_are_quoted_and_never_formulas() {
        assert_eq!(field("plain"), "plain");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(field("=cmd()"), "'=cmd()");
        assert_eq!(field("two\nlines"), "\"two\nlines\"");
        assert_eq!(field("a\u{1b}[2J\u{9b}b\u{7}"), "a\u{fffd}[2J\u{fffd}b\u{fffd}");
    }
}
