//! `dyno report`: writes runs as one page, a picture, or a table for other programs.

use std::collections::BTreeSet;
use std::io::{BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use dyno_campaign::{conclusions, files, select};
use dyno_report::{EXPORTERS, ExportError, Report, ReportExporter, ReportRequest, RunsError, StoredRuns};

use super::price;
use crate::cli::{self, CommonArgs};
use crate::console::Console;
use crate::context;
use crate::exit::{Exit, usage};
use crate::output::StdoutWriter;
use crate::statement_texts;

pub(super) fn run(common: &CommonArgs, args: &cli::ReportArgs, talk: &Console) -> anyhow::Result<Exit> {
    let exporter = exporter(args, common.json)?;
    let output = output(args, exporter)?;
    let repository = context::repository_to_read(common)?;
    let ids = repository.recorded(select::runs(&repository, &args.runs.join(","))?)?;
    let mut report = Report::over(StoredRuns { repository: &repository, ids: &ids })?;
    report.close.iter_mut().for_each(statement_texts::add);
    let selected_ids: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    report.conclude(conclusions::of_named(&repository, &report.seen.parts, |id| selected_ids.contains(id))?);
    let request = ReportRequest {
        made_at: dyno_record::now_rfc3339(),
        chart: args.chart.clone(),
        author: args.author.clone(),
        title: args.title.clone(),
        prices: args.prices.as_deref().map(price::read).transpose()?,
    };
    match &output {
        Some(path) => {
            let write = |out: &mut dyn Write| -> Result<(), ExportError> {
                let mut out = BufWriter::new(out);
                (exporter.export)(&report, &request, &mut out)?;
                Ok(out.flush()?)
            };
            files::replace_with(path, write).map_err(|error| match error {
                ExportError::Runs(RunsError::Write(error)) => {
                    anyhow::Error::from(error).context(format!("{} cannot be written", path.display()))
                }
                error => explained(error),
            })?;
            talk.say(&report.answer().line);
            talk.say(&format!("written: {}", path.display()));
        }
        None => {
            let mut out = if exporter.name == "json" { StdoutWriter::json() } else { StdoutWriter::text() };
            (exporter.export)(&report, &request, &mut out).map_err(explained)?;
            out.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// The requested format: by name, by file extension, or HTML.
fn exporter(args: &cli::ReportArgs, json: bool) -> anyhow::Result<&'static ReportExporter> {
    let ending = args.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    let wanted = match (&args.format, json, ending) {
        (Some(format), _, _) => format.clone(),
        (None, true, _) => "json".to_owned(),
        (None, false, Some(ending)) => ending.to_ascii_lowercase(),
        (None, false, None) => "html".to_owned(),
    };
    let formats = EXPORTERS.iter().map(|exporter| exporter.name).collect::<Vec<_>>().join(", ");
    let aliases = [("htm", "html"), ("markdown", "md")];
    let name =
        aliases.into_iter().find(|(alias, _)| *alias == wanted).map_or(wanted.as_str(), |(_, name)| name);
    let chosen_exporter = EXPORTERS.iter().find(|exporter| exporter.name == name);
    chosen_exporter.ok_or_else(|| {
        usage(format!("unknown report format {wanted:?}"), format!("use --format with one of {formats}"))
    })
}

/// The file to write; stdout for formats that are often piped, unless a file is named.
fn output(args: &cli::ReportArgs, exporter: &ReportExporter) -> anyhow::Result<Option<PathBuf>> {
    match args.output.as_deref() {
        Some(path) if path == Path::new("-") => Ok(None),
        Some(path) => Ok(Some(path.to_owned())),
        None if exporter.name == "html" => Ok(Some("report.html".into())),
        None if !exporter.is_text && std::io::stdout().is_terminal() => Err(usage(
            format!("{} cannot be shown on a terminal", exporter.name),
            format!("name a file: -o report.{}", exporter.name),
        )),
        None => Ok(None),
    }
}

/// Maps errors of wrong usage to usage errors.
fn explained(error: ExportError) -> anyhow::Error {
    match error {
        ExportError::NoSuchChart { .. } => usage(error.to_string(), "omit --chart to write all charts"),
        ExportError::Runs(RunsError::Write(error)) => error.into(),
        error => error.into(),
    }
}
