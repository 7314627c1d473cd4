//! Styles and scripts, embedded in the program so that no network access is needed.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The embedded files, with their media types.
const FILES: [(&str, &str, &str); 7] = [
    ("app.css", "text/css; charset=utf-8", include_str!("../assets/app.css")),
    ("home.js", "text/javascript; charset=utf-8", include_str!("../assets/home.js")),
    ("live.js", "text/javascript; charset=utf-8", include_str!("../assets/live.js")),
    ("brush.js", "text/javascript; charset=utf-8", include_str!("../assets/brush.js")),
    ("uplot.js", "text/javascript; charset=utf-8", include_str!("../assets/uplot/uPlot.iife.min.js")),
    ("uplot.css", "text/css; charset=utf-8", include_str!("../assets/uplot/uPlot.min.css")),
    ("uplot-license.txt", "text/plain; charset=utf-8", include_str!("../assets/uplot/LICENSE")),
];

/// Answers `GET /assets/NAME` with an embedded file.
pub(crate) async fn asset(Path(name): Path<String>) -> Response {
    let (kind, text) = match name.as_str() {
        "report.css" => ("text/css; charset=utf-8", dyno_report::html::style()),
        "report.js" => ("text/javascript; charset=utf-8", dyno_report::html::SCRIPT.to_owned()),
        name => match FILES.iter().find(|(known, ..)| *known == name) {
            Some((_, kind, text)) => (*kind, (*text).to_owned()),
            None => return (StatusCode::NOT_FOUND, "there is no such file").into_response(),
        },
    };
    // The files change only with the program, and a browser does not notice its restart. One hour is short
    // enough.
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "private, max-age=3600")], text).into_response()
}
