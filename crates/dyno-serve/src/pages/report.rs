//! Reports of a run, a campaign, or any selection of runs, with the server's navigation.

use axum::extract::{Path, Query};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use dyno_analyze::conclusion::{Conclusion, ConclusionFigures};
use dyno_campaign::{conclusions, select};
use dyno_record::{Repository, RepositoryError, RunState};
use dyno_report::html::document_page;
use dyno_report::{Report, StoredRuns, study_document};
use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{self, escaped};
use crate::reply::HttpError;
use crate::state::SharedServeState;

/// A selection of runs, as on the command line: `last`, an id, a campaign, `tag:NAME`, or several separated
/// by commas.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunSelectionQuery {
    pub(crate) runs: String,
}

/// Answers `GET /runs/ID` with the report of a run.
pub(crate) async fn run(shared: SharedServeState, Path(id): Path<String>) -> Result<Response, HttpError> {
    // A run of a job that has no record yet is shown on the page of its job.
    let job = shared
        .jobs
        .all()
        .into_iter()
        .filter(|job| !job.state.is_over())
        .find(|job| shared.jobs.feed(job).progress().run.as_deref() == Some(id.as_str()));
    let name = id.clone();
    let made = shared.read(move |_, repository| match report(repository, &name, &run_actions(&name)) {
        Ok(page) => Ok(Some(page)),
        Err(trouble) => match repository.summary(&name) {
            Ok(run) if run.status == RunState::Running => Ok(None),
            _ => Err(trouble),
        },
    });
    match (made.await?, job) {
        (Some(page), _) => Ok(Html(page).into_response()),
        (None, Some(job)) => Ok(Redirect::to(&format!("/jobs/{}", job.id)).into_response()),
        (None, None) => {
            Err(HttpError::not_found(format!("run {id} is in progress, and was not started here")))
        }
    }
}

/// Answers `GET /sweeps/ID` with the report of a campaign.
pub(crate) async fn sweep(
    shared: SharedServeState,
    Path(id): Path<String>,
) -> Result<Html<String>, HttpError> {
    let made = shared.read(move |_, repository| match study(repository, &id)? {
        Some(page) => Ok(page),
        None => report(repository, &id, &sweep_actions(&id)),
    });
    Ok(Html(made.await?))
}

/// Returns the page of a study that has a conclusion; `None` if `id` is something else.
fn study(repository: &Repository, id: &str) -> Result<Option<String>, HttpError> {
    let Ok(id) = repository.resolve_sweep(id) else { return Ok(None) };
    let conclusion = repository.conclusion(&id)?;
    let Some(Ok(conclusion)) = conclusion.map(serde_json::from_value::<Conclusion>) else { return Ok(None) };
    let ConclusionFigures::Study(study) = &conclusion.figures else { return Ok(None) };
    let actions = html! { a href={"/report?runs=" (escaped(&id))} { "Its runs" } " " (sweep_actions(&id)) };
    Ok(Some(document_page(Some(&frame::around("/", &actions)), &study_document(&conclusion, study))))
}

/// Answers `GET /report?runs=SELECTION` with one report of all selected runs.
pub(crate) async fn several(
    shared: SharedServeState,
    Query(named): Query<RunSelectionQuery>,
) -> Result<Html<String>, HttpError> {
    let made = shared.read(move |_, repository| report(repository, &named.runs, &sweep_actions(&named.runs)));
    Ok(Html(made.await?))
}

fn run_actions(id: &str) -> Markup {
    let id = escaped(id);
    html! {
        a href={"/export?runs=" (id)} { "Export" } " "
        a href={"/compare?run=" (id)} { "Compare with …" } " "
        a href={"/history?like=" (id)} { "History" } " "
        a href={"/api/v1/runs/" (id)} { "JSON" }
    }
}

fn sweep_actions(selection: &str) -> Markup {
    let selection = escaped(selection);
    html! {
        a href={"/export?runs=" (selection)} { "Export" } " "
        a href={"/compare?run=" (selection)} { "Compare with …" } " "
        a href={"/api/v1/report?runs=" (selection)} { "JSON" }
    }
}

/// Creates the report page of the selected runs.
fn report(repository: &Repository, selection: &str, actions: &Markup) -> Result<String, HttpError> {
    with_report(repository, selection, |report| {
        let mut page = Vec::new();
        let request =
            dyno_report::ReportRequest { made_at: dyno_record::now_rfc3339(), ..Default::default() };
        dyno_report::html::html_in(Some(&frame::around("/", actions)), report, &request, &mut page)?;
        String::from_utf8(page).map_err(|_| HttpError::task_failed())
    })
}

/// Creates the report of the selected runs, and passes it to `make`.
pub(crate) fn with_report<T>(
    repository: &Repository,
    selection: &str,
    make: impl FnOnce(&Report<'_>) -> Result<T, HttpError>,
) -> Result<T, HttpError> {
    let named = select::runs(repository, selection).map_err(|error| match error {
        // A name in a URL that does not exist is not a usage error.
        dyno_campaign::Error::Repository(error) => HttpError::from(error),
        error => HttpError::not_found(error.to_string()),
    })?;
    let ids = repository.recorded(named)?;
    if ids.is_empty() {
        return Err(RepositoryError::NoSuchRun { selector: selection.to_owned(), newest: Vec::new() }.into());
    }
    let mut report = Report::over(StoredRuns { repository, ids: &ids })?;
    let selected_ids: std::collections::BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    report.conclude(conclusions::of_named(repository, &report.seen.parts, |id| selected_ids.contains(id))?);
    make(&report)
}
