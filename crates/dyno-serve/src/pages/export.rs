//! Exports runs as files, in every format of reports.

use std::io::Write;

use axum::body::{Body, Bytes};
use axum::extract::Query;
use axum::http::header;
use axum::response::{Html, IntoResponse as _, Response};
use dyno_report::{EXPORTERS, ReportExporter, ReportRequest};
use futures_util::stream;
use maud::html;
use serde::Deserialize;
use tokio::sync::mpsc;

use super::frame::{self, escaped};
use super::report::{RunSelectionQuery, with_report};
use crate::reply::HttpError;
use crate::state::SharedServeState;

/// Size of a piece that is sent, bytes.
const PIECE: usize = 64 << 10;

/// The runs to export, and the format.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ExportQuery {
    #[serde(default)]
    runs: String,
    #[serde(default)]
    format: String,
    chart: Option<String>,
}

/// Answers `GET /export?runs=SELECTION` with the list of formats.
pub(crate) async fn page(
    shared: SharedServeState,
    Query(named): Query<RunSelectionQuery>,
) -> Result<Html<String>, HttpError> {
    let selection = if named.runs.is_empty() { "last".to_owned() } else { named.runs };
    let wanted = selection.clone();
    let (line, charts) = shared
        .read(move |_, repository| {
            with_report(repository, &wanted, |report| {
                let charts = report.all_charts().map(|chart| (chart.id.clone(), chart.title.clone()));
                Ok((report.answer().line, charts.collect::<Vec<_>>()))
            })
        })
        .await?;
    let to = |format: &str, chart: Option<&str>| {
        let chart = chart.map_or_else(String::new, |chart| format!("&chart={}", escaped(chart)));
        format!("/export/file?runs={}&format={format}{chart}", escaped(&selection))
    };
    let pictures = EXPORTERS.iter().filter(|exporter| matches!(exporter.name, "svg" | "png"));
    let pictures: Vec<&str> = pictures.map(|exporter| exporter.name).collect();
    let body = html! {
        section id="answer" { p class="line" { (dyno_report::text::clean(&line)) } }
        form class="filters" method="get" action="/export" {
            label { "Runs" input name="runs" value=(selection) aria-describedby="runs-help"; }
            button type="submit" { "Choose" }
            p id="runs-help" class="dim" { "An id, last, last~2, a sweep, tag:NAME, variant:NAME; several with commas between them." }
        }
        h2 { "The whole report" }
        ul class="files" {
            @for exporter in EXPORTERS {
                li { a href=(to(exporter.name, None)) download { (about(exporter.name)) } }
            }
        }
        @if !charts.is_empty() && !pictures.is_empty() {
            h2 { "One chart, for slides" }
            ul class="files" {
                @for (id, title) in &charts {
                    li {
                        (dyno_report::text::clean(title)) ": "
                        @for format in &pictures { a href=(to(format, Some(id))) download { (format) } " " }
                    }
                }
            }
        }
    };
    Ok(Html(frame::page("Export", "/export", &body).into_string()))
}

fn about(format: &str) -> String {
    let words = match format {
        "html" => "one page with everything, including the records, for mail",
        "md" => "Markdown, for tickets and wikis",
        "csv" => "one row for each run, for spreadsheets",
        "json" => "the records",
        "svg" => "the charts as vectors",
        "png" => "the charts as a picture",
        "xlsx" => "tables for Excel",
        _ => "",
    };
    if words.is_empty() { format.to_uppercase() } else { format!("{}: {words}", format.to_uppercase()) }
}

/// Returns the media type of a format.
fn mime(exporter: &ReportExporter) -> &'static str {
    match exporter.name {
        "html" => "text/html; charset=utf-8",
        "md" => "text/markdown; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        _ => "application/octet-stream",
    }
}

/// Answers `GET /export/file?runs=SELECTION&format=FORMAT` with the exported file.
pub(crate) async fn file(
    shared: SharedServeState,
    Query(wanted): Query<ExportQuery>,
) -> Result<Response, HttpError> {
    let exporter = EXPORTERS.iter().find(|exporter| exporter.name == wanted.format).ok_or_else(|| {
        let format_names: Vec<&str> = EXPORTERS.iter().map(|exporter| exporter.name).collect();
        HttpError::bad_request(
            format!("unknown format {:?}", wanted.format),
            format!("available: {}", format_names.join(", ")),
        )
    })?;
    let (pieces, mut come) = mpsc::channel::<Result<Bytes, std::io::Error>>(4);
    let selection = wanted.runs.clone();
    let making = tokio::spawn({
        let state = shared.0.clone();
        async move {
            let made = state.read(move |_, repository| {
                with_report(repository, &wanted.runs, |report| {
                    let request = ReportRequest {
                        made_at: dyno_record::now_rfc3339(),
                        chart: wanted.chart.clone(),
                        ..ReportRequest::default()
                    };
                    let mut out = std::io::BufWriter::with_capacity(PIECE, Pieces(pieces.clone()));
                    let written = (exporter.export)(report, &request, &mut out);
                    if let Err(error) = written {
                        // The connection breaks, so the browser notices that the file is incomplete.
                        let (Pieces(pieces), _) = out.into_parts();
                        let _ = pieces.blocking_send(Err(std::io::Error::other("cannot create the report")));
                        return Err(HttpError::bad_request(error.to_string(), ""));
                    }
                    out.flush().map_err(|_| HttpError::task_failed())
                })
            });
            made.await
        }
    });
    // A failure before the first piece is answered as an error, and not as a file.
    let first = match come.recv().await {
        Some(first @ Ok(_)) => first,
        Some(Err(_)) | None => {
            return Err(making
                .await
                .map_err(|_| HttpError::task_failed())?
                .err()
                .unwrap_or_else(HttpError::task_failed));
        }
    };
    let rest = stream::unfold((Some(first), come), |(first, mut come)| async move {
        let piece = match first {
            Some(first) => first,
            None => come.recv().await?,
        };
        Some((piece, (None, come)))
    });
    let name: String = selection
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .take(60)
        .collect();
    let disposition = format!("attachment; filename=\"dyno-{name}.{}\"", exporter.name);
    let headers =
        [(header::CONTENT_TYPE, mime(exporter).to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, Body::from_stream(rest)).into_response())
}

/// Sends written bytes to the response in pieces; the writer waits while the client reads.
struct Pieces(mpsc::Sender<Result<Bytes, std::io::Error>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let sent = self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map_err(|_| std::io::Error::from(std::io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
