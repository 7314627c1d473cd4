//! Writes one line for each run with every measure of any run (RFC 4180). Figures have all digits; runs
//! without a result have none.

use std::collections::BTreeMap;
use std::io::Write;

use dyno_analyze::points::{MEASURES, MeasuredPoint, SESSIONS, SettingAxis, points};
use dyno_record::{ALL, RunRecord};

use super::{ExportError, ReportRequest};
use crate::report::Report;
use crate::runs::RunsError;

/// Columns that identify the run and qualify its figures; axes and measures follow.
const HEAD: [&str; 8] =
    ["run", "started_at", "status", "reason", "target", "sessions", "others_had_part", "note"];

/// The last column: the length of the window.
const WINDOW: &str = "window_s";

pub(super) fn export(report: &Report<'_>, _: &ReportRequest, out: &mut dyn Write) -> Result<(), ExportError> {
    let texts = texts(report);
    each(report, &mut |fields| {
        let is_text = |at: usize| at < texts;
        let quoted = fields.iter().enumerate().map(|(at, text)| match is_text(at) {
            true => field(text),
            // A signed number is not a formula.
            false => text.clone(),
        });
        let line: Vec<String> = quoted.collect();
        Ok(write!(out, "{}\r\n", line.join(","))?)
    })
}

/// Number of text columns, which come first; figure columns follow.
pub(super) fn texts(report: &Report<'_>) -> usize {
    HEAD.len() + axes(report).len()
}

fn axes<'r>(report: &'r Report<'_>) -> Vec<&'r SettingAxis> {
    report.points.axes.iter().filter(|axis| axis.path != SESSIONS).collect()
}

/// Passes the raw fields of each line to `take`, heads first.
pub(super) fn each(
    report: &Report<'_>,
    take: &mut dyn FnMut(&[String]) -> Result<(), RunsError>,
) -> Result<(), ExportError> {
    let axes = axes(report);
    let has = |name: &str| report.points.points.iter().any(|point| point.estimates.contains_key(name));
    let measures: Vec<&str> = MEASURES.iter().map(|measure| measure.name).filter(|name| has(name)).collect();
    let heads = HEAD.iter().copied().chain(axes.iter().map(|axis| axis.path.as_str()));
    let heads: Vec<String> =
        heads.chain(measures.iter().copied()).chain([WINDOW]).map(str::to_owned).collect();
    take(&heads)?;
    report.each(|record| {
        take(&line(record, record, &axes, &measures))?;
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
            take(&line(record, &alone, &axes, &measures))?;
        }
        // After a total, a line for each target.
        for part in record.parts() {
            take(&line(record, &part, &axes, &measures))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// The fields of `record`, which is `whole` or one target's part of it.
fn line(whole: &RunRecord, record: &RunRecord, axes: &[&SettingAxis], measures: &[&str]) -> Vec<String> {
    // One run is one point, whose figures are the run's own.
    let run_points = points(std::slice::from_ref(record));
    let target = record.targets.iter().map(|target| target.url.as_str()).collect::<Vec<_>>().join(" ");
    let reasons = record.reasons.join("; ");
    // A start time that is only the time of the import is left empty.
    let started = if record.is_dated() { record.started_at.as_str() } else { "" };
    let head = [record.id.as_str(), started, record.status.name(), &reasons, &target].map(str::to_owned);
    let sessions = Some(record.sessions()).filter(|sessions| *sessions > 0);
    let sessions = sessions.map_or_else(String::new, |sessions| sessions.to_string());
    let mut fields: Vec<String> = head.into();
    let mut notes: Vec<&str> =
        whole.workloads().map(|own| own.note.as_str()).filter(|note| !note.is_empty()).collect();
    notes.dedup();
    fields.extend([sessions, record.marked().join(" "), notes.join("; ")]);
    fields.extend(axes.iter().map(|axis| axis.of(whole).text));
    let figure = |name: &&str| run_points.points.first().and_then(|point| point.get(name));
    fields
        .extend(measures.iter().map(|name| figure(name).map_or_else(String::new, |value| value.to_string())));
    let window_s = run_points.points.first().and_then(MeasuredPoint::window_s);
    fields.push(window_s.map_or_else(String::new, |window_s| window_s.to_string()));
    fields
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
