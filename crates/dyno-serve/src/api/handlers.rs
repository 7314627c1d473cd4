//! The handlers of the API, one for each path.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use dyno_plan::READY;
use dyno_plan::keys::{self, Fallback};
use futures_util::stream;
use serde_json::Value;

use super::types::{
    CheckedOrder, JobFull, JobShown, KeyShown, NamedDescription, PlanShown, PointShown, ReportShown,
    SweepShown,
};
use crate::action_log::Action;
use crate::allowed;
use crate::cards::{self, CardFilterQuery, Cards};
use crate::jobs::{Follower, ServeJob};
use crate::order::JobRequest;
use crate::pages::report::{RunSelectionQuery as Selection, with_report};
use crate::pages::{
    awr as awr_page, awr_diff as awr_diff_page, compare as compare_page, history as history_page, live,
};
use crate::reply::{ApiError, ApiReply, HttpError};
use crate::roles::Caller;
use crate::state::SharedServeState;

/// Longest time without data in a live view.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Number of output lines of a job that are returned.
const TALK: usize = 40;

pub(crate) async fn runs(shared: SharedServeState, Query(wanted): Query<CardFilterQuery>) -> ApiReply<Cards> {
    Ok(Json(shared.read(move |state, repository| cards::cards(state, repository, &wanted)).await?))
}

pub(crate) async fn run(shared: SharedServeState, Path(id): Path<String>) -> Result<Response, ApiError> {
    let json = shared.read(move |_, repository| {
        let record = repository.load(&id)?;
        record
            .to_json()
            .map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), ""))
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?).into_response())
}

pub(crate) async fn sweep(shared: SharedServeState, Path(id): Path<String>) -> ApiReply<SweepShown> {
    let made = shared.read(move |_, repository| {
        let id = repository.resolve_sweep(&id)?;
        let runs = repository.runs_of_sweep(&id)?.into_iter().map(|run| run.id).collect();
        let runs = repository.recorded(runs)?;
        let conclusion = repository.conclusion(&id)?;
        let answer = with_report(repository, &id, |report| Ok(report.answer()))?;
        Ok(SweepShown { id, runs, answer: answer.line, more: answer.more, conclusion })
    });
    Ok(Json(made.await?))
}

pub(crate) async fn report(
    shared: SharedServeState,
    Query(selection): Query<Selection>,
) -> ApiReply<ReportShown> {
    let made = shared.read(move |_, repository| {
        with_report(repository, &selection.runs, |report| {
            let answer = report.answer();
            let points = report.points.points.iter().map(|point| PointShown {
                at: point.values.iter().map(|value| value.text.clone()).collect(),
                runs: point.runs.iter().map(|run| run.id.clone()).collect(),
                measures: point
                    .estimates
                    .iter()
                    .map(|(name, estimate)| (name.clone(), estimate.value))
                    .collect(),
            });
            let left_out = report.points.left_out.iter().map(|out| (out.id.clone(), out.reason.clone()));
            Ok(ReportShown {
                answer: answer.line,
                more: answer.more,
                charts: report.all_charts().map(|chart| chart.id.clone()).collect(),
                axes: report.points.axes.iter().map(|axis| axis.path.clone()).collect(),
                points: points.collect(),
                left_out: left_out.collect(),
            })
        })
    });
    Ok(Json(made.await?))
}

pub(crate) async fn compare(
    shared: SharedServeState,
    Query(fields): Query<Vec<(String, String)>>,
) -> ApiReply<Value> {
    let sides = compare_page::sides(&fields);
    if sides.len() < 2 {
        return Err(
            HttpError::bad_request("a comparison needs two sets of runs", "name them as a and b").into()
        );
    }
    let made = shared.read(move |_, repository| {
        let answers = compare_page::answers(repository, &sides)?;
        serde_json::to_value(answers).map_err(|_| HttpError::task_failed())
    });
    Ok(Json(made.await?))
}

pub(crate) async fn history(
    shared: SharedServeState,
    Query(wanted): Query<history_page::HistoryQuery>,
) -> ApiReply<Value> {
    let made = shared.read(move |_, repository| {
        let trend = history_page::load_trend(repository, &wanted)?;
        serde_json::to_value(trend).map_err(|_| HttpError::task_failed())
    });
    Ok(Json(made.await?))
}

pub(crate) async fn awr(shared: SharedServeState) -> ApiReply<Vec<awr_page::WebAwrInterval>> {
    Ok(Json(shared.read(awr_page::intervals).await?))
}

pub(crate) async fn awr_diff(
    shared: SharedServeState,
    Query(two): Query<awr_diff_page::AwrDiffQuery>,
) -> ApiReply<awr_diff_page::WebAwrDiff> {
    Ok(Json(shared.read(move |_, repository| awr_diff_page::compared(repository, &two)).await?))
}

pub(crate) async fn formats() -> Json<Vec<String>> {
    Json(dyno_report::EXPORTERS.iter().map(|exporter| exporter.name.to_owned()).collect())
}

pub(crate) async fn plan(shared: SharedServeState, Extension(caller): Extension<Caller>) -> Json<PlanShown> {
    let setup = &shared.setup_for(&caller);
    let named = |name: &str, about: &str| NamedDescription { name: name.to_owned(), about: about.to_owned() };
    let is_open = |key: &&keys::PlanKey| {
        allowed::is_listed_host(key.path) || allowed::refusal(key.path, "", setup.allow_commands).is_none()
    };
    let keys = keys::all().filter(is_open).map(|key| KeyShown {
        path: key.path.to_owned(),
        about: key.doc.to_owned(),
        allowed: key.allowed(),
        usual: match key.default {
            Fallback::Value(value) => Some(value.to_owned()),
            Fallback::None(_) | Fallback::Required => None,
        },
    });
    Json(PlanShown {
        targets: setup.targets.all().map(|(name, target)| named(name, &target.about)).collect(),
        hosts: setup.targets.hosts().map(|(name, host)| named(name, &host.about)).collect(),
        ready: READY.iter().map(|ready| named(ready.name, ready.about())).collect(),
        workloads: setup.workloads.iter().map(|known| named(known.name, known.about)).collect(),
        keys: keys.collect(),
    })
}

pub(crate) async fn check(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Json(order): Json<JobRequest>,
) -> Json<CheckedOrder> {
    Json(match order.prepare(&shared.setup_for(&caller)) {
        Ok(made) => CheckedOrder { made: Some(made), wrong: Vec::new() },
        Err(wrong) => CheckedOrder { made: None, wrong },
    })
}

pub(crate) async fn actions(shared: SharedServeState) -> Json<Vec<Action>> {
    Json(shared.actions.latest())
}

fn shown(shared: &SharedServeState, job: &ServeJob) -> JobShown {
    JobShown::of(job, shared.jobs.before(job))
}

pub(crate) async fn jobs(shared: SharedServeState) -> Json<Vec<JobShown>> {
    Json(shared.jobs.all().iter().map(|job| shown(&shared, job)).collect())
}

pub(crate) async fn start(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Json(order): Json<JobRequest>,
) -> Result<Response, ApiError> {
    let refused =
        |made, wrong| (StatusCode::UNPROCESSABLE_ENTITY, Json(CheckedOrder { made, wrong })).into_response();
    let made = match order.prepare(&shared.setup_for(&caller)) {
        Ok(made) => made,
        Err(wrong) => return Ok(refused(None, wrong)),
    };
    match made.confirmed(&order) {
        Ok(start) => {
            let job = shared.jobs.start(start, &caller.name)?;
            Ok((StatusCode::CREATED, Json(shown(&shared, &job))).into_response())
        }
        // The answer includes the commands that would run, so that the user can read and confirm them.
        Err(wrong) => Ok(refused(Some(made), vec![wrong])),
    }
}

fn named(shared: &SharedServeState, id: &str) -> Result<ServeJob, HttpError> {
    shared.jobs.get(id).ok_or_else(|| HttpError::not_found(format!("there is no job {id}")))
}

pub(crate) async fn job(shared: SharedServeState, Path(id): Path<String>) -> ApiReply<JobFull> {
    let job = named(&shared, &id)?;
    let progress = shared.jobs.feed(&job).progress();
    Ok(Json(JobFull { progress, talk: shared.jobs.output_tail(&job, TALK), job: shown(&shared, &job) }))
}

pub(crate) async fn stop(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> ApiReply<JobShown> {
    live::stopped(&shared, &caller, &id)?;
    Ok(Json(shown(&shared, &named(&shared, &id)?)))
}

pub(crate) async fn steer(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Path((id, word)): Path<(String, String)>,
) -> ApiReply<JobShown> {
    live::steered(&shared, &caller, &id, &word)?;
    Ok(Json(shown(&shared, &named(&shared, &id)?)))
}

pub(crate) async fn resume(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let job = live::resumed(&shared, &caller, &id)?;
    Ok((StatusCode::CREATED, Json(shown(&shared, &job))).into_response())
}

/// Streams events with their line numbers, so that a browser that lost its connection continues after the
/// last one.
pub(crate) async fn events(
    shared: SharedServeState,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let job = named(&shared, &id)?;
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let follower = shared.jobs.feed(&job).follow(last.map_or(0, |last| last + 1));
    let pieces = stream::unfold(Some(follower), |follower| async move {
        let mut follower: Follower = follower?;
        match tokio::time::timeout(KEEP_ALIVE, follower.next()).await {
            // A comment line, so that neither server nor proxy closes the connection as idle.
            Err(_) => Some((Ok(": waiting\n\n".to_owned()), Some(follower))),
            Ok(Some(lines)) => {
                let mut text = String::new();
                for (number, line) in lines {
                    text.push_str(&format!("id: {number}\ndata: {line}\n\n"));
                }
                Some((Ok::<_, Infallible>(text), Some(follower)))
            }
            // The page then requests the result, and does not request the events again.
            Ok(None) => Some((Ok("event: over\ndata: {}\n\n".to_owned()), None)),
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(pieces)).into_response())
}
