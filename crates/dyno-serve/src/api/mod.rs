//! The content of the pages as JSON.

pub(crate) mod handlers;
pub(crate) mod openapi;
pub(crate) mod types;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::roles;
use crate::state::ServeState;

/// The routes under `/api/v1`; [`openapi::ROUTES`] describes each of them.
pub(crate) fn router() -> Router<Arc<ServeState>> {
    Router::new()
        .route("/api/v1/openapi.json", get(handlers::openapi))
        .route("/api/v1/runs", get(handlers::runs))
        .route("/api/v1/runs/{id}", get(handlers::run))
        .route("/api/v1/sweeps/{id}", get(handlers::sweep))
        .route("/api/v1/report", get(handlers::report))
        .route("/api/v1/compare", get(handlers::compare))
        .route("/api/v1/history", get(handlers::history))
        .route("/api/v1/awr", get(handlers::awr))
        .route("/api/v1/awr/diff", get(handlers::awr_diff))
        .route("/api/v1/export", get(handlers::formats))
        .route("/api/v1/plan", get(handlers::plan))
        .route("/api/v1/check", post(handlers::check))
        .route(roles::ACTIONS, get(handlers::actions))
        .route("/api/v1/jobs", get(handlers::jobs).post(handlers::start))
        .route("/api/v1/jobs/{id}", get(handlers::job))
        .route("/api/v1/jobs/{id}/events", get(handlers::events))
        .route("/api/v1/jobs/{id}/stop", post(handlers::stop))
        .route("/api/v1/jobs/{id}/steer/{word}", post(handlers::steer))
        .route("/api/v1/jobs/{id}/resume", post(handlers::resume))
}
