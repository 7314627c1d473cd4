//! The routes under `/api/v1`, and the OpenAPI document that describes them and their response types.

use std::sync::Arc;

use axum::routing::{self, MethodRouter};
use axum::{Json, Router};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::handlers;
use super::types::{CheckedOrder, JobFull, JobShown, PlanShown, ReportShown, SweepShown};
use crate::action_log::Action;
use crate::cards::Cards;
use crate::order::JobRequest;
use crate::pages::awr::WebAwrInterval;
use crate::pages::awr_diff::WebAwrDiff;
use crate::reply::Problem;
use crate::roles::ACTIONS;
use crate::state::ServeState;

/// A parameter of a path or a query.
struct Parameter {
    name: &'static str,
    is_path: bool,
    about: &'static str,
}

/// The body of a response.
#[derive(Clone, Copy)]
enum Body {
    /// JSON of this schema.
    Json(fn(&mut SchemaGenerator) -> schemars::Schema),
    /// A run record, whose schema is published separately.
    Record,
    /// Server-sent events, each a line of this schema.
    Events,
    /// JSON that is not described further.
    Any,
}

/// A path, its response, and what answers it.
struct Route {
    method: &'static str,
    path: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
    takes: Option<fn(&mut SchemaGenerator) -> schemars::Schema>,
    status: &'static str,
    answers: Body,
    handler: fn() -> MethodRouter<Arc<ServeState>>,
}

const fn path(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, is_path: true, about }
}

const fn query(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, is_path: false, about }
}

const SELECTION: &str = "Runs as commands name them: an id, last, last~2, a sweep, tag:NAME, variant:NAME; several with commas between them.";

const fn get(
    path: &'static str,
    about: &'static str,
    parameters: &'static [Parameter],
    answers: Body,
    handler: fn() -> MethodRouter<Arc<ServeState>>,
) -> Route {
    Route { method: "get", path, about, parameters, takes: None, status: "200", answers, handler }
}

/// All routes under `/api/v1`.
const ROUTES: &[Route] = &[
    get("/api/v1/openapi.json", "This document.", &[], Body::Any, || routing::get(show_document)),
    get(
        "/api/v1/runs",
        "Runs and their campaigns, newest first, page by page.",
        &[
            query("q", "Words; a run matches if all of them are found."),
            query("kind", "run, sweep, search, soak, ab, suite or import."),
            query("status", "Their status: valid, running, …"),
            query("variant", "The variant."),
            query("tag", "The tag."),
            query("page", "The page, from 1."),
        ],
        Body::Json(SchemaGenerator::subschema_for::<Cards>),
        || routing::get(handlers::runs),
    ),
    get(
        ACTIONS,
        "The latest requests that changed something or were refused, newest first. Needs the role administer.",
        &[],
        Body::Json(SchemaGenerator::subschema_for::<Vec<Action>>),
        || routing::get(handlers::actions),
    ),
    get("/api/v1/runs/{id}", "The record of a run.", &[path("id", "Its id, or last.")], Body::Record, || {
        routing::get(handlers::run)
    }),
    get(
        "/api/v1/sweeps/{id}",
        "The runs of a campaign, and its conclusion.",
        &[path("id", "The name of a sweep, search, soak, comparison or suite.")],
        Body::Json(SchemaGenerator::subschema_for::<SweepShown>),
        || routing::get(handlers::sweep),
    ),
    get(
        "/api/v1/report",
        "The combined results of runs, point by point.",
        &[query("runs", SELECTION)],
        Body::Json(SchemaGenerator::subschema_for::<ReportShown>),
        || routing::get(handlers::report),
    ),
    get(
        "/api/v1/compare",
        "Two or more sets of runs, each compared with the first, as `dyno compare --json` prints it.",
        &[query("a", SELECTION), query("b", SELECTION)],
        Body::Any,
        || routing::get(handlers::compare),
    ),
    get(
        "/api/v1/history",
        "A measure over the runs of one plan, as `dyno trend --json` prints it.",
        &[
            query("like", "A run of that plan and target."),
            query("runs", SELECTION),
            query("metric", "The measure."),
        ],
        Body::Any,
        || routing::get(handlers::history),
    ),
    get(
        "/api/v1/awr",
        "Intervals of databases' own reports that were imported.",
        &[],
        Body::Json(SchemaGenerator::subschema_for::<Vec<WebAwrInterval>>),
        || routing::get(handlers::awr),
    ),
    get(
        "/api/v1/awr/diff",
        "Two intervals, compared line by line.",
        &[
            query("a", "The record of the first."),
            query("b", "The record of the second."),
            query("anyway", "true: show differences even if they are not changes of one database."),
        ],
        Body::Json(SchemaGenerator::subschema_for::<WebAwrDiff>),
        || routing::get(handlers::awr_diff),
    ),
    get(
        "/api/v1/export",
        "Formats of `/export/file?runs=SELECTION&format=FORMAT`.",
        &[],
        Body::Json(SchemaGenerator::subschema_for::<Vec<String>>),
        || routing::get(handlers::formats),
    ),
    get(
        "/api/v1/plan",
        "Targets, ready plans and workloads, and the keys of a plan.",
        &[],
        Body::Json(SchemaGenerator::subschema_for::<PlanShown>),
        || routing::get(handlers::plan),
    ),
    Route {
        method: "post",
        path: "/api/v1/check",
        about: "The job that would be started, or all problems of the request.",
        parameters: &[],
        takes: Some(SchemaGenerator::subschema_for::<JobRequest>),
        status: "200",
        answers: Body::Json(SchemaGenerator::subschema_for::<CheckedOrder>),
        handler: || routing::post(handlers::check),
    },
    get(
        "/api/v1/jobs",
        "Jobs started here, newest first.",
        &[],
        Body::Json(SchemaGenerator::subschema_for::<Vec<JobShown>>),
        || routing::get(handlers::jobs),
    ),
    Route {
        method: "post",
        path: "/api/v1/jobs",
        about: "Starts a job, or queues it until its target is free. A job that runs commands (a study, a proof of durability) starts only if `confirmed` is the mark of the commands that `check` returns.",
        parameters: &[],
        takes: Some(SchemaGenerator::subschema_for::<JobRequest>),
        status: "201",
        answers: Body::Json(SchemaGenerator::subschema_for::<JobShown>),
        handler: || routing::post(handlers::start),
    },
    get(
        "/api/v1/jobs/{id}",
        "A job and its progress.",
        &[path("id", "Its name.")],
        Body::Json(SchemaGenerator::subschema_for::<JobFull>),
        || routing::get(handlers::job),
    ),
    get(
        "/api/v1/jobs/{id}/events",
        "The events of a job as server-sent events; `Last-Event-ID` continues after that line.",
        &[path("id", "Its name.")],
        Body::Events,
        || routing::get(handlers::events),
    ),
    Route {
        method: "post",
        path: "/api/v1/jobs/{id}/stop",
        about: "Stops a job, which stores what was measured; a second request ends it at once. A queued job is removed.",
        parameters: &[path("id", "Its name.")],
        takes: None,
        status: "200",
        answers: Body::Json(SchemaGenerator::subschema_for::<JobShown>),
        handler: || routing::post(handlers::stop),
    },
    Route {
        method: "post",
        path: "/api/v1/jobs/{id}/steer/{word}",
        about: "Pauses a campaign before its next run (pause), continues it (go), or skips its current point (skip).",
        parameters: &[path("id", "Its name."), path("word", "pause, go or skip.")],
        takes: None,
        status: "200",
        answers: Body::Json(SchemaGenerator::subschema_for::<JobShown>),
        handler: || routing::post(handlers::steer),
    },
    Route {
        method: "post",
        path: "/api/v1/jobs/{id}/resume",
        about: "Resumes a stopped sweep, suite or study.",
        parameters: &[path("id", "Its name.")],
        takes: None,
        status: "201",
        answers: Body::Json(SchemaGenerator::subschema_for::<JobShown>),
        handler: || routing::post(handlers::resume),
    },
];

/// Routes requests to the handlers of [`ROUTES`].
pub(crate) fn router() -> Router<Arc<ServeState>> {
    ROUTES.iter().fold(Router::new(), |router, route| router.route(route.path, (route.handler)()))
}

async fn show_document() -> Json<Value> {
    Json(document())
}

/// Creates the document in OpenAPI 3.1.
pub fn document() -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let mut paths = serde_json::Map::new();
    for route in ROUTES {
        let operation = operation(route, &mut generator);
        paths.entry(route.path).or_insert_with(|| json!({}))[route.method] = operation;
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "dyno serve",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Runs of a repository, and jobs started by this server. Every request needs the token, as a bearer token or in the cookie of a browser."
        },
        "security": [{ "bearer": [] }, { "cookie": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "cookie": { "type": "apiKey", "in": "cookie", "name": "dyno_PORT" }
            }
        }
    })
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let parameters: Vec<Value> = route
        .parameters
        .iter()
        .map(|parameter| {
            json!({
                "name": parameter.name, "in": if parameter.is_path { "path" } else { "query" },
                "required": parameter.is_path, "description": parameter.about, "schema": { "type": "string" },
            })
        })
        .collect();
    let content = match route.answers {
        Body::Json(schema) => json!({ "application/json": { "schema": schema(generator) } }),
        Body::Record => json!({ "application/json": { "schema": {
            "type": "object", "description": "A run record: catalog/schema/run-record.schema.json."
        } } }),
        Body::Events => {
            let schema = generator.subschema_for::<dyno_campaign::ProgressEvent>();
            json!({ "text/event-stream": { "schema": schema } })
        }
        Body::Any => json!({ "application/json": { "schema": {} } }),
    };
    let problem = json!({
        "description": "Error.",
        "content": { "application/json": { "schema": generator.subschema_for::<Problem>() } }
    });
    let mut operation = json!({
        "summary": route.about,
        "parameters": parameters,
        "responses": { route.status: { "description": "Success.", "content": content }, "default": problem },
    });
    if let Some(takes) = route.takes {
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": takes(generator) } } });
    }
    operation
}
