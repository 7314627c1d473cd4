//! What cannot be answered, with the way out: as a page, or as JSON.

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

/// Why a request is not answered.
#[derive(Debug, Clone)]
pub(crate) struct Trouble {
    pub(crate) status: StatusCode,
    pub(crate) problem: String,
    pub(crate) hint: String,
}

/// The same as JSON.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// What is wrong.
    pub(crate) error: String,
    /// The way out; may be empty.
    pub(crate) hint: String,
}

impl Trouble {
    pub(crate) fn new(status: StatusCode, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, problem: problem.into(), hint: hint.into() }
    }

    /// The server ends, or one of its threads did.
    pub(crate) fn ended() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the answer could not be made", "")
    }

    pub(crate) fn none(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, what, "the first page lists everything that is there")
    }

    pub(crate) fn wrong(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, problem, hint)
    }

    pub(crate) fn refused(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, problem, hint)
    }

    /// As JSON.
    pub(crate) fn json(self) -> Response {
        let problem = Problem { error: self.problem, hint: self.hint };
        (self.status, Json(problem)).into_response()
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        let body = html! {
            section id="answer" class="none" {
                p class="line" { (dyno_report::text::capital(&dyno_report::text::clean(&self.problem))) "." }
                @if !self.hint.is_empty() { p { (dyno_report::text::clean(&self.hint)) } }
            }
            p { a href="/" { "All runs" } }
        };
        let page = frame::page("Not answered", "", &body);
        (self.status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], Html(page.into_string()))
            .into_response()
    }
}

impl From<RepositoryError> for Trouble {
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

impl From<dyno_campaign::Error> for Trouble {
    fn from(error: dyno_campaign::Error) -> Self {
        let hint = error.hint().to_owned();
        match error {
            dyno_campaign::Error::Repository(error) => error.into(),
            error if error.kind() == ErrorKind::Usage => Self::wrong(error.to_string(), hint),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), hint),
        }
    }
}

impl From<dyno_report::RunsError> for Trouble {
    fn from(error: dyno_report::RunsError) -> Self {
        match error {
            dyno_report::RunsError::Repository(error) => error.into(),
            error => Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), ""),
        }
    }
}

impl From<StopError> for Trouble {
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

/// What a handler of the API returns.
pub(crate) type ApiReply<T> = Result<Json<T>, ApiTrouble>;

/// A trouble that is told as JSON.
#[derive(Debug)]
pub(crate) struct ApiTrouble(Trouble);

impl<T: Into<Trouble>> From<T> for ApiTrouble {
    fn from(trouble: T) -> Self {
        Self(trouble.into())
    }
}

impl IntoResponse for ApiTrouble {
    fn into_response(self) -> Response {
        self.0.json()
    }
}
