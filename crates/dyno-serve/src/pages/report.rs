//! A run, a sweep, and any selection of runs: the report's own pages, with the server's navigation around them.

use axum::extract::{Path, Query};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use dyno_analyze::conclusion::{Conclusion, Figures};
use dyno_campaign::{conclusions, select};
use dyno_record::{Repository, RepositoryError, RunState};
use dyno_report::study_page::study_page_in;
use dyno_report::{Report, Stored};
use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{self, escaped};
use crate::reply::Trouble;
use crate::state::Shared;

/// Which runs a page is about, as commands name them: `last`, an id, a sweep, `tag:NAME`, several with commas between them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Named {
    pub(crate) runs: String,
}

/// `GET /runs/ID`.
pub(crate) async fn run(shared: Shared, Path(id): Path<String>) -> Result<Response, Trouble> {
    // One that was started here and has no record yet is watched.
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
        (None, None) => Err(Trouble::none(format!("run {id} is under way, and was not started here"))),
    }
}

/// `GET /sweeps/ID`.
pub(crate) async fn sweep(shared: Shared, Path(id): Path<String>) -> Result<Html<String>, Trouble> {
    let made = shared.read(move |_, repository| match study(repository, &id)? {
        Some(page) => Ok(page),
        None => report(repository, &id, &sweep_actions(&id)),
    });
    Ok(Html(made.await?))
}

/// The page of a study that has come to something; nothing where `id` is of anything else.
fn study(repository: &Repository, id: &str) -> Result<Option<String>, Trouble> {
    let Ok(id) = repository.resolve_sweep(id) else { return Ok(None) };
    let conclusion = repository.conclusion(&id)?;
    let Some(Ok(conclusion)) = conclusion.map(serde_json::from_value::<Conclusion>) else { return Ok(None) };
    let Figures::Study(study) = &conclusion.figures else { return Ok(None) };
    let actions = html! { a href={"/report?runs=" (escaped(&id))} { "Its runs" } " " (sweep_actions(&id)) };
    Ok(Some(study_page_in(Some(&frame::around("/", &actions)), &conclusion, study)))
}

/// `GET /report?runs=SELECTION`.
pub(crate) async fn several(shared: Shared, Query(named): Query<Named>) -> Result<Html<String>, Trouble> {
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

/// The page of the runs that `selection` names.
fn report(repository: &Repository, selection: &str, actions: &Markup) -> Result<String, Trouble> {
    with_report(repository, selection, |report| {
        let mut page = Vec::new();
        let request = dyno_report::Request { made_at: dyno_record::now_rfc3339(), ..Default::default() };
        dyno_report::html::html_in(Some(&frame::around("/", actions)), report, &request, &mut page)?;
        String::from_utf8(page).map_err(|_| Trouble::ended())
    })
}

/// What `make` makes of the report of the runs that `selection` names.
pub(crate) fn with_report<T>(
    repository: &Repository,
    selection: &str,
    make: impl FnOnce(&Report<'_>) -> Result<T, Trouble>,
) -> Result<T, Trouble> {
    let named = select::runs(repository, selection).map_err(|error| match error {
        // What is in an address and is not there is no wrong usage.
        dyno_campaign::Error::Repository(error) => Trouble::from(error),
        error => Trouble::none(error.to_string()),
    })?;
    let ids = repository.recorded(named)?;
    if ids.is_empty() {
        return Err(RepositoryError::NoSuchRun { selector: selection.to_owned(), newest: Vec::new() }.into());
    }
    let mut report = Report::over(Stored { repository, ids: &ids })?;
    let here: std::collections::BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    report.conclude(conclusions::of_named(repository, &report.seen.parts, |id| here.contains(id))?);
    make(&report)
}
