//! Maps paths to handlers.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use crate::reply::HttpError;
use crate::state::ServeState;
use crate::{api, assets, guard, pages};

pub(crate) fn router(state: Arc<ServeState>) -> Router {
    Router::new()
        .route("/", get(pages::home::page))
        .route("/new", get(pages::new::page).post(pages::new::post))
        .route("/jobs", get(pages::jobs::page))
        .route("/jobs/{id}", get(pages::live::page))
        .route("/jobs/{id}/stop", post(pages::live::stop))
        .route("/jobs/{id}/steer/{word}", post(pages::live::steer))
        .route("/jobs/{id}/resume", post(pages::live::resume))
        .route("/runs/{id}", get(pages::report::run))
        .route("/sweeps/{id}", get(pages::report::sweep))
        .route("/report", get(pages::report::several))
        .route("/compare", get(pages::compare::page))
        .route("/history", get(pages::history::page))
        .route("/awr", get(pages::awr::page))
        .route("/awr/diff", get(pages::awr_diff::page))
        .route("/export", get(pages::export::page))
        .route("/export/file", get(pages::export::file))
        .route("/login", get(guard::login_page).post(guard::login))
        .route("/logout", post(guard::logout))
        .route("/assets/{name}", get(assets::asset))
        .merge(api::openapi::router())
        .fallback(|| async { HttpError::not_found("there is no such page") })
        .layer(DefaultBodyLimit::max(guard::BODY_BYTES_MAX))
        .layer(from_fn_with_state(Arc::clone(&state), guard::guard))
        .with_state(state)
}
