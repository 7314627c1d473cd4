//! One line for each run, with every measure that any of them has (RFC 4180). Figures are written in full, so that nothing
//! is lost by rounding; runs without a result have none.

use std::fmt::Write as _;

use dyno_analyze::points::{MEASURES, Points, SESSIONS, points_of};
use dyno_record::RunRecord;

use super::{ExportError, Exporter, Request};
use crate::report::Report;

#[derive(Debug)]
pub(super) struct Csv;

/// What says which run it is; axes and measures follow.
const HEAD: [&str; 7] = ["run", "started_at", "status", "reason", "target", "sessions", "others_had_part"];

impl Exporter for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn export(&self, report: &Report<'_>, _request: &Request) -> Result<Vec<u8>, ExportError> {
        let axes: Vec<(usize, &str)> = report
            .points
            .axes
            .iter()
            .enumerate()
            .map(|(i, axis)| (i, axis.path.as_str()))
            .filter(|(_, path)| *path != SESSIONS)
            .collect();
        let has = |name: &str| report.points.points.iter().any(|point| point.estimates.contains_key(name));
        let measures: Vec<&str> =
            MEASURES.iter().map(|measure| measure.name).filter(|name| has(name)).collect();
        let mut out = HEAD.join(",");
        for name in axes.iter().map(|(_, path)| *path).chain(measures.iter().copied()) {
            let _ = write!(out, ",{}", field(name));
        }
        out.push_str("\r\n");
        for record in report.records {
            out.push_str(&line(report, record, record, &axes, &measures));
            // Behind a total, each target's own line.
            for part in record.parts() {
                out.push_str(&line(report, record, &part, &axes, &measures));
            }
        }
        Ok(out.into_bytes())
    }
}

/// The line of `record`, which is `whole` or one target's part of it.
fn line(
    report: &Report<'_>,
    whole: &RunRecord,
    record: &RunRecord,
    axes: &[(usize, &str)],
    measures: &[&str],
) -> String {
    // One run is one point, whose figures are the run's own.
    let own: Points<'_> = points_of([record]);
    let target = record.targets.iter().map(|target| target.url.as_str()).collect::<Vec<_>>().join(" ");
    let reasons = record.reasons.join("; ");
    // A moment that is only the import's is none.
    let started = if record.is_dated() { record.started_at.as_str() } else { "" };
    let head = [record.id.as_str(), started, record.status.name(), &reasons, &target].map(field);
    let sessions = Some(record.sessions()).filter(|sessions| *sessions > 0);
    let sessions = sessions.map_or_else(String::new, |sessions| sessions.to_string());
    let mut out = format!("{},{sessions},{}", head.join(","), field(&record.marked().join(" ")));
    for (place, _) in axes {
        let _ = write!(out, ",{}", field(&place_value(report, whole, *place)));
    }
    for name in measures {
        out.push(',');
        if let Some(value) = own.points.first().and_then(|point| point.get(name)) {
            let _ = write!(out, "{value}");
        }
    }
    out.push_str("\r\n");
    out
}

fn place_value(report: &Report<'_>, record: &RunRecord, place: usize) -> String {
    let is = |other: &&RunRecord| std::ptr::eq(*other, record);
    let of_point =
        report.points.points.iter().find(|point| point.runs.iter().any(is)).map(|point| &point.values);
    let values =
        of_point.or_else(|| report.points.left_out.iter().find(|out| is(&out.record)).map(|out| &out.values));
    values.and_then(|values| values.get(place)).map_or_else(String::new, |value| value.text.clone())
}

/// Text as a field: quoted where it has to be. A spreadsheet would run a text that begins like a formula, so such a
/// text gets an apostrophe in front.
pub(super) fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_never_formulas() {
        assert_eq!(field("plain"), "plain");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(field("=cmd()"), "'=cmd()");
        assert_eq!(field("two\nlines"), "\"two\nlines\"");
    }
}
