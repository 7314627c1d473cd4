//! Writes the answers, the conclusions of commands, and the records, one after the other.

use std::io::Write;

use dyno_record::RecordError;
use serde::Serialize;

use super::ExportError;
use crate::content::answer::Answered;
use crate::content::report::Report;
use crate::content::runs::RunsError;
use crate::model::request::ReportRequest;

pub(super) fn export(report: &Report<'_>, _: &ReportRequest, out: &mut dyn Write) -> Result<(), ExportError> {
    let is_one = report.seen.runs == 1 && report.conclusions.is_empty();
    if is_one {
        report.each(|record| Ok(out.write_all(pretty(&Answered::of(record), "")?.as_bytes())?))?;
    } else {
        out.write_all(b"{\n")?;
        if report.has_answers() {
            writeln!(out, "  \"answers\": {},", pretty(&report.answers, "  ")?)?;
        }
        if !report.conclusions.is_empty() {
            writeln!(out, "  \"conclusions\": {},", pretty(&report.conclusions, "  ")?)?;
        }
        out.write_all(b"  \"runs\": ")?;
        runs(report, "  ", out)?;
        out.write_all(b"\n}")?;
    }
    Ok(out.write_all(b"\n")?)
}

/// Writes the records, indented by `indent`.
fn runs(report: &Report<'_>, indent: &str, out: &mut dyn Write) -> Result<(), RunsError> {
    let (inside, mut before) = (format!("{indent}  "), "[");
    report.each(|record| {
        write!(out, "{before}\n{inside}{}", pretty(record, &inside)?)?;
        before = ",";
        Ok(())
    })?;
    match report.seen.runs {
        0 => out.write_all(b"[]")?,
        _ => write!(out, "\n{indent}]")?,
    }
    Ok(())
}

/// Multi-line JSON whose later lines are indented by `indent`; no string in it contains a line break.
fn pretty(value: &impl Serialize, indent: &str) -> Result<String, RunsError> {
    let json = serde_json::to_string_pretty(value);
    let json = json.map_err(|error| RecordError::Malformed { detail: error.to_string() })?;
    Ok(json.replace('\n', &format!("\n{indent}")))
}
