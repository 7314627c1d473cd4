//! One handler for each address.

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
    CheckedOrder, JobFull, JobShown, KeyShown, Named, PlanShown, PointShown, ReportShown, SweepShown,
};
use crate::action_log::Action;
use crate::allowed;
use crate::cards::{self, Cards, Wanted};
use crate::jobs::{Follower, Job};
use crate::order::Order;
use crate::pages::report::{Named as Selection, with_report};
use crate::pages::{
    awr as awr_page, awr_diff as awr_diff_page, compare as compare_page, history as history_page, live,
};
use crate::reply::{ApiReply, ApiTrouble, Trouble};
use crate::roles::Caller;
use crate::state::Shared;

/// The longest silence of a live view.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Lines that a job's processes said and that are shown.
const TALK: usize = 40;

pub(crate) async fn openapi() -> Json<Value> {
    Json(super::openapi::document())
}

pub(crate) async fn runs(shared: Shared, Query(wanted): Query<Wanted>) -> ApiReply<Cards> {
    Ok(Json(shared.read(move |state, repository| cards::cards(state, repository, &wanted)).await?))
}

pub(crate) async fn run(shared: Shared, Path(id): Path<String>) -> Result<Response, ApiTrouble> {
    let json = shared.read(move |_, repository| {
        let record = repository.load(&id)?;
        record
            .to_json()
            .map_err(|error| Trouble::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), ""))
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?).into_response())
}

pub(crate) async fn sweep(shared: Shared, Path(id): Path<String>) -> ApiReply<SweepShown> {
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

pub(crate) async fn report(shared: Shared, Query(selection): Query<Selection>) -> ApiReply<ReportShown> {
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

pub(crate) async fn compare(shared: Shared, Query(fields): Query<Vec<(String, String)>>) -> ApiReply<Value> {
    let sides = compare_page::sides(&fields);
    if sides.len() < 2 {
        return Err(Trouble::wrong("two sets of runs are compared", "name them as a and b").into());
    }
    let made = shared.read(move |_, repository| {
        let answers = compare_page::answers(repository, &sides)?;
        serde_json::to_value(answers).map_err(|_| Trouble::ended())
    });
    Ok(Json(made.await?))
}

pub(crate) async fn history(shared: Shared, Query(wanted): Query<history_page::Wanted>) -> ApiReply<Value> {
    let made = shared.read(move |_, repository| {
        let trend = history_page::found(repository, &wanted)?;
        serde_json::to_value(trend).map_err(|_| Trouble::ended())
    });
    Ok(Json(made.await?))
}

pub(crate) async fn awr(shared: Shared) -> ApiReply<Vec<awr_page::Interval>> {
    Ok(Json(shared.read(awr_page::intervals).await?))
}

pub(crate) async fn awr_diff(
    shared: Shared,
    Query(two): Query<awr_diff_page::Two>,
) -> ApiReply<awr_diff_page::Compared> {
    Ok(Json(shared.read(move |_, repository| awr_diff_page::compared(repository, &two)).await?))
}

pub(crate) async fn formats() -> Json<Vec<String>> {
    Json(dyno_report::EXPORTERS.iter().map(|exporter| exporter.name.to_owned()).collect())
}

pub(crate) async fn plan(shared: Shared, Extension(caller): Extension<Caller>) -> Json<PlanShown> {
    let setup = &shared.setup_for(&caller);
    let named = |name: &str, about: &str| Named { name: name.to_owned(), about: about.to_owned() };
    let is_open = |key: &&keys::Key| {
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
    shared: Shared,
    Extension(caller): Extension<Caller>,
    Json(order): Json<Order>,
) -> Json<CheckedOrder> {
    Json(match order.make(&shared.setup_for(&caller)) {
        Ok(made) => CheckedOrder { made: Some(made), wrong: Vec::new() },
        Err(wrong) => CheckedOrder { made: None, wrong },
    })
}

pub(crate) async fn actions(shared: Shared) -> Json<Vec<Action>> {
    Json(shared.actions.latest())
}

fn shown(shared: &Shared, job: &Job) -> JobShown {
    JobShown::of(job, shared.jobs.before(job))
}

pub(crate) async fn jobs(shared: Shared) -> Json<Vec<JobShown>> {
    Json(shared.jobs.all().iter().map(|job| shown(&shared, job)).collect())
}

pub(crate) async fn start(
    shared: Shared,
    Extension(caller): Extension<Caller>,
    Json(order): Json<Order>,
) -> Result<Response, ApiTrouble> {
    let refused =
        |made, wrong| (StatusCode::UNPROCESSABLE_ENTITY, Json(CheckedOrder { made, wrong })).into_response();
    let made = match order.make(&shared.setup_for(&caller)) {
        Ok(made) => made,
        Err(wrong) => return Ok(refused(None, wrong)),
    };
    match made.confirmed(&order) {
        Ok(start) => {
            let job = shared.jobs.start(start, &caller.name)?;
            Ok((StatusCode::CREATED, Json(shown(&shared, &job))).into_response())
        }
        // What it would run stands beside, so that it can be looked at and agreed to.
        Err(wrong) => Ok(refused(Some(made), vec![wrong])),
    }
}

fn named(shared: &Shared, id: &str) -> Result<Job, Trouble> {
    shared.jobs.get(id).ok_or_else(|| Trouble::none(format!("there is no job {id}")))
}

pub(crate) async fn job(shared: Shared, Path(id): Path<String>) -> ApiReply<JobFull> {
    let job = named(&shared, &id)?;
    let progress = shared.jobs.feed(&job).progress();
    Ok(Json(JobFull { progress, talk: shared.jobs.talk(&job, TALK), job: shown(&shared, &job) }))
}

pub(crate) async fn stop(
    shared: Shared,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> ApiReply<JobShown> {
    live::stopped(&shared, &caller, &id)?;
    Ok(Json(shown(&shared, &named(&shared, &id)?)))
}

pub(crate) async fn steer(
    shared: Shared,
    Extension(caller): Extension<Caller>,
    Path((id, word)): Path<(String, String)>,
) -> ApiReply<JobShown> {
    live::steered(&shared, &caller, &id, &word)?;
    Ok(Json(shown(&shared, &named(&shared, &id)?)))
}

pub(crate) async fn resume(
    shared: Shared,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Response, ApiTrouble> {
    let job = live::resumed(&shared, &caller, &id)?;
    Ok((StatusCode::CREATED, Json(shown(&shared, &job))).into_response())
}

/// Events as they come: each with the number of its line, so that a browser that lost its connection goes on behind the last.
pub(crate) async fn events(
    shared: Shared,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiTrouble> {
    let job = named(&shared, &id)?;
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let follower = shared.jobs.feed(&job).follow(last.map_or(0, |last| last + 1));
    let pieces = stream::unfold(Some(follower), |follower| async move {
        let mut follower: Follower = follower?;
        match tokio::time::timeout(KEEP_ALIVE, follower.next()).await {
            // A comment, so that neither the server nor a proxy takes the connection for an idle one.
            Err(_) => Some((Ok(": waiting\n\n".to_owned()), Some(follower))),
            Ok(Some(lines)) => {
                let mut text = String::new();
                for (number, line) in lines {
                    text.push_str(&format!("id: {number}\ndata: {line}\n\n"));
                }
                Some((Ok::<_, Infallible>(text), Some(follower)))
            }
            // The page asks for what came of it, and not for the events again.
            Ok(None) => Some((Ok("event: over\ndata: {}\n\n".to_owned()), None)),
        }
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(pieces)).into_response())
}
