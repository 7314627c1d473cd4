//! `dyno report`: runs as one page, a picture, or a table for other programs.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dyno_campaign::{conclusions, files, select};
use dyno_report::{ExportError, Exporter, Request, exporters};

use crate::cli::{Common, Report};
use crate::context;
use crate::exit::{Exit, usage};
use crate::output::Output;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Report, talk: &Talk) -> anyhow::Result<Exit> {
    let exporter = exporter(args, common.json)?;
    let output = output(args, exporter.as_ref())?;
    let repository = context::repository_to_read(common)?;
    let mut records = select::records(&repository, &args.runs.join(","))?;
    records.sort_by(|a, b| a.started_at.cmp(&b.started_at).then_with(|| a.id.cmp(&b.id)));
    let conclusions = conclusions::of(&repository, &records)?;
    let report = dyno_report::Report::concluded(&records, conclusions);
    let request = Request { made_at: dyno_record::now_rfc3339(), chart: args.chart.clone() };
    let bytes = exporter.export(&report, &request).map_err(explained)?;
    match &output {
        Some(path) => {
            files::replace(path, &bytes).with_context(|| format!("{} cannot be written", path.display()))?;
            talk.say(&report.answer().line);
            talk.say(&format!("written: {}", path.display()));
        }
        None => {
            let mut out = if exporter.name() == "json" { Output::json() } else { Output::text() };
            out.write_all(&bytes)?;
            out.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// The format that was asked for: by name, by the ending of the file, or HTML.
fn exporter(args: &Report, json: bool) -> anyhow::Result<Box<dyn Exporter>> {
    let ending = args.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    let wanted = match (&args.format, json, ending) {
        (Some(format), _, _) => format.clone(),
        (None, true, _) => "json".to_owned(),
        (None, false, Some(ending)) => ending.to_ascii_lowercase(),
        (None, false, None) => "html".to_owned(),
    };
    let all = exporters();
    let known = all.iter().map(|exporter| exporter.name()).collect::<Vec<_>>().join(", ");
    let aliases = [("htm", "html"), ("markdown", "md")];
    let name =
        aliases.into_iter().find(|(alias, _)| *alias == wanted).map_or(wanted.as_str(), |(_, name)| name);
    let found = all.into_iter().find(|exporter| exporter.name() == name);
    found.ok_or_else(|| {
        usage(format!("{wanted:?} is no format of a report"), format!("--format with one of {known}"))
    })
}

/// The file to write; stdout for formats that pipes read, unless a file is named.
fn output(args: &Report, exporter: &dyn Exporter) -> anyhow::Result<Option<PathBuf>> {
    match args.output.as_deref() {
        Some(path) if path == Path::new("-") => Ok(None),
        Some(path) => Ok(Some(path.to_owned())),
        None if exporter.name() == "html" => Ok(Some("report.html".into())),
        None if !exporter.is_text() && std::io::stdout().is_terminal() => Err(usage(
            format!("{} is no text for a terminal", exporter.name()),
            format!("name a file: -o report.{}", exporter.name()),
        )),
        None => Ok(None),
    }
}

/// Wrong usage told as such.
fn explained(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::NoSuchChart { .. } => usage(error.to_string(), "leave out --chart for all of them"),
        error => error.into(),
    }
}
