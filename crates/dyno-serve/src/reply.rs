//! Error answers with a hint, as a page or as JSON.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use dyno_campaign::ErrorKind;
use dyno_record::RepositoryError;
use maud::html;
use schemars::JsonSchema;
use serde::Serialize;

use crate::jobs::StopError;
use crate::pages::frame;

/// An error that answers a request.
#[derive(Debug, Clone)]
pub(crate) struct HttpError {
    pub(crate) status: StatusCode,
    pub(crate) problem: String,
    pub(crate) hint: String,
}

/// An error answer of the API.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// A description of the problem.
    pub(crate) error: String,
    /// What the user can do; may be empty.
    pub(crate) hint: String,
}

impl HttpError {
    pub(crate) fn new(status: StatusCode, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, problem: problem.into(), hint: hint.into() }
    }

    /// The server is shutting down, or one of its threads ended.
    pub(crate) fn task_failed() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "cannot create the response", "")
    }

    pub(crate) fn not_found(problem: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, problem, "the first page lists all runs")
    }

    pub(crate) fn bad_request(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, problem, hint)
    }

    pub(crate) fn forbidden(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, problem, hint)
    }

    /// Returns the error as a JSON response.
    pub(crate) fn json(self) -> Response {
        let problem = Problem { error: self.problem, hint: self.hint };
        (self.status, Json(problem)).into_response()
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let body = html! {
            section id="answer" class="none" {
                p class="line" { (dyno_report::text::capital(&dyno_report::text::clean(&self.problem))) "." }
                @if !self.hint.is_empty() { p { (dyno_report::text::clean(&self.hint)) } }
            }
            p { a href="/" { "All runs" } }
        };
        let page = frame::page("Error", "", &body);
        (self.status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], Html(page.into_string()))
            .into_response()
    }
}

impl From<RepositoryError> for HttpError {
    fn from(error: RepositoryError) -> Self {
        let status = match &error {
            RepositoryError::NoSuchRun { .. } | RepositoryError::NoSuchSweep { .. } => StatusCode::NOT_FOUND,
            RepositoryError::NoRecord { .. } => StatusCode::NOT_FOUND,
            RepositoryError::Ambiguous { .. } => StatusCode::BAD_REQUEST,
            RepositoryError::Locked { .. } | RepositoryError::Full { .. } => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string(), "")
    }
}

impl From<dyno_campaign::Error> for HttpError {
    fn from(error: dyno_campaign::Error) -> Self {
        let hint = error.hint().to_owned();
        match error {
            dyno_campaign::Error::Repository(error) => error.into(),
            error if error.kind() == ErrorKind::Usage => Self::bad_request(error.to_string(), hint),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), hint),
        }
    }
}

impl From<dyno_report::RunsError> for HttpError {
    fn from(error: dyno_report::RunsError) -> Self {
        match error {
            dyno_report::RunsError::Repository(error) => error.into(),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), ""),
        }
    }
}

impl From<StopError> for HttpError {
    fn from(error: StopError) -> Self {
        let status = match &error {
            StopError::None(_) => StatusCode::NOT_FOUND,
            StopError::Over(_) => StatusCode::CONFLICT,
            StopError::Full => StatusCode::SERVICE_UNAVAILABLE,
            StopError::Io(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string(), "")
    }
}

/// The result of an API handler.
pub(crate) type ApiReply<T> = Result<Json<T>, ApiError>;

/// An error that is answered as JSON.
#[derive(Debug)]
pub(crate) struct ApiError(HttpError);

impl<T: Into<HttpError>> From<T> for ApiError {
    fn from(trouble: T) -> Self {
        Self(trouble.into())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.0.json()
    }
}
