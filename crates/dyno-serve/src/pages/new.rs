//! The page that starts a job: a form generated from the plan keys, which is checked before anything runs.

use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::{Form, Query};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use dyno_plan::READY;
use dyno_plan::study::READY_STUDIES;
use dyno_report::number::{count, span_s};
use dyno_report::text::clean;
use maud::{Markup, html};
use serde::Deserialize;

use super::form::{self, problem};
use super::frame;
use super::jobs::badge;
use crate::jobs::{JobKind, JobState, ServeJob};
use crate::order::{FieldError, JobRequest, PARTS, PROOFS, PreparedJob};
use crate::reply::HttpError;
use crate::roles::Caller;
use crate::setup::Setup;
use crate::state::SharedServeState;

/// Longest wait for a check of the target, and how often its state is polled.
const LOOK_MAX: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The id of the form. The checkbox that confirms commands is outside the form and refers to it.
const FORM: &str = "plan";

/// Maximum number of output lines of the check that are shown.
const LOOK_LINES: usize = 100;

/// The values that a link can preselect.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NewPageQuery {
    ready: String,
    workload: String,
    target: String,
    kind: String,
}

/// Answers `GET /new` with the empty or preselected form.
pub(crate) async fn page(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Query(chosen): Query<NewPageQuery>,
) -> Result<Html<String>, HttpError> {
    let kind = JobKind::from_name(&chosen.kind).unwrap_or(JobKind::Run);
    let NewPageQuery { ready, workload, target, .. } = chosen;
    let order = JobRequest { kind, ready, workload, target, ..JobRequest::default() };
    Ok(Html(show(&shared.setup_for(&caller), &order, &[], None, None).into_string()))
}

/// Answers `POST /new`: checks the request, or starts the job.
pub(crate) async fn post(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, HttpError> {
    let setup = shared.setup_for(&caller);
    let does = |word: &str| fields.iter().any(|(name, value)| name == "do" && value == word);
    let (starts, looks) = (does("start"), does("target"));
    let order = JobRequest::of_form(&fields)
        .map_err(|wrong| HttpError::bad_request(format!("{}: {}", wrong.field, wrong.problem), wrong.hint))?;
    match order.prepare(&setup) {
        Ok(made) if starts => match made.confirmed(&order) {
            Ok(start) => {
                let job = shared.jobs.start(start, &caller.name)?;
                Ok(Redirect::to(&format!("/jobs/{}", job.id)).into_response())
            }
            Err(wrong) => {
                let page = Html(show(&setup, &order, &[wrong], Some(&made), None).into_string());
                Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
            }
        },
        Ok(made) => {
            let check_result = if looks { Some(look(&shared, &caller, &order).await?) } else { None };
            Ok(Html(show(&setup, &order, &[], Some(&made), check_result.as_ref()).into_string())
                .into_response())
        }
        Err(wrong) => {
            let page = Html(show(&setup, &order, &wrong, None, None).into_string());
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

/// The result of a check of the target.
struct TargetCheckView {
    job: ServeJob,
    said: Vec<String>,
}

/// Checks the target with a job that waits in the queue like all others. If that takes too long, the page
/// links to the job.
async fn look(
    shared: &SharedServeState,
    caller: &Caller,
    order: &JobRequest,
) -> Result<TargetCheckView, HttpError> {
    let order = JobRequest { kind: JobKind::Check, ..order.clone() };
    let start = order
        .prepare(&shared.setup_for(caller))
        .and_then(|made| made.confirmed(&order).map_err(|wrong| vec![wrong]));
    let start = start.map_err(|wrong| {
        let wrong = wrong.into_iter().next();
        HttpError::bad_request(wrong.map_or_else(String::new, |wrong| wrong.problem), "")
    })?;
    let mut job = shared.jobs.start(start, &caller.name)?;
    let began = Instant::now();
    while !job.state.is_over() && began.elapsed() < LOOK_MAX {
        tokio::time::sleep(LOOK_AGAIN).await;
        job = shared.jobs.get(&job.id).unwrap_or(job);
    }
    let output = shared.jobs.output_tail(&job, LOOK_LINES);
    Ok(TargetCheckView { job, said: output })
}

fn show(
    setup: &Setup,
    order: &JobRequest,
    wrong: &[FieldError],
    made: Option<&PreparedJob>,
    looked: Option<&TargetCheckView>,
) -> Markup {
    let body = html! {
        @if setup.read_only {
            section id="answer" class="none" { p class="line" { "This server is read-only: it starts no jobs." } }
        } @else {
            @if setup.targets.all().next().is_none() { (no_targets()) }
            (findings(wrong))
            @if let Some(looked) = looked { (target(looked)) }
            @if let Some(made) = made { (checked(made, looked)) }
            (fields(setup, order, wrong))
        }
    };
    frame::page("New", "/new", &body)
}

fn no_targets() -> Markup {
    html! {
        section id="answer" class="none" {
            p class="line" { "The server has no list of targets." }
            p { "Start it with " code { "--targets targets.toml" } " or " code { "--target URL" } "; a page cannot name a database." }
        }
    }
}

fn findings(wrong: &[FieldError]) -> Markup {
    html! {
        @if !wrong.is_empty() {
            section id="answer" class="none" {
                p class="line" { "The job cannot be started." }
                @for wrong in wrong { (problem(wrong)) }
            }
        }
    }
}

/// Shows the job that would be started, and whether the check of its target allows it.
fn checked(made: &PreparedJob, looked: Option<&TargetCheckView>) -> Markup {
    let verdict = match looked.map(|looked| looked.job.state) {
        None | Some(JobState::Done) => "The job can be started: ",
        Some(state) if state.is_over() => "The plan is valid, but the check of the target found a problem: ",
        Some(_) => "The plan is valid: ",
    };
    let time = made.seconds.map_or_else(
        || "the duration is unknown".to_owned(),
        |seconds| format!("warm-ups, windows and pauses take {}", span_s(seconds)),
    );
    let runs = match made.runs {
        Some(1) => "one run; ".to_owned(),
        Some(runs) => format!("{} runs; ", count(runs.into())),
        None => String::new(),
    };
    html! {
        section id="answer" {
            p class="line" { (verdict) (runs) (time) "." }
            p { "The same at a terminal:" }
            pre { code { (made.command) } }
            @if let Some(commands) = &made.commands { (commands.shown(FORM)) }
            details { summary { "The plan" } pre { code { (made.toml) } } }
        }
    }
}

/// Shows the result of the check of the target.
fn target(check_result: &TargetCheckView) -> Markup {
    let TargetCheckView { job, said } = check_result;
    html! {
        section id="target-check" {
            h2 { "The target " (clean(&job.target)) }
            @if job.state.is_over() {
                p { (badge(job.state)) " " @if job.state == JobState::Done { "no problem found" } @else { "see its output" } "." }
                pre { @for line in said { (line) "\n" } }
            } @else {
                p { "The check is still running, or another job uses the target: " a href={"/jobs/" (job.id)} { "see the job" } "." }
            }
        }
    }
}

fn fields(setup: &Setup, order: &JobRequest, wrong: &[FieldError]) -> Markup {
    let axes: Vec<String> = order
        .set
        .iter()
        .filter_map(|(key, value)| Some((key.strip_prefix("sweep.")?, value)))
        .filter(|(key, _)| dyno_plan::keys::find(&format!("sweep.{key}")).is_none())
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    html! {
        form id=(FORM) class="plan" method="post" action="/new" {
            fieldset {
                legend { "What" }
                div class="fields" {
                    (choice("kind", "Kind", order.kind.name(), JobKind::ALL.iter().map(|kind| (kind.name(), kind.about().to_owned()))))
                    (choice("target", "Target", &order.target, setup.targets.all().map(|(name, target)| (name, clean(&target.about)))))
                    (choice("ready", "Ready plan", &order.ready, std::iter::once(("", "default".to_owned())).chain(READY.iter().map(|ready| (ready.name, ready.about().to_owned())))))
                    (choice("workload", "Ready workload", &order.workload, std::iter::once(("", "as the plan says".to_owned())).chain(setup.workloads.iter().map(|known| (known.name, known.about.to_owned())))))
                    (text("variant", "Variant", &order.variant, "the variant of the platform"))
                    (text("tags", "Tags", &order.tags.join(", "), "separated by commas"))
                }
                p class="of of-run of-search of-soak of-ab of-prove" { label { input type="checkbox" name="load" checked[order.load]; " Load missing data first" } }
            }
            fieldset { legend { "How" } div class="fields" { (form::usual(order, wrong)) } }
            fieldset class="of of-sweep of-search of-soak of-ab of-suite of-watch of-calibrate of-prove of-study" {
                legend { "Options of this kind" }
                div class="fields of of-sweep" { (area("axes", "Sweep: axes", &axes.join("\n"), "one per line: sessions = 1, 2, 4, 8")) }
                div class="fields of of-search" {
                    (area("limits", "Search: limits", &order.limits.join("\n"), "one per line: p99 <= 2ms"))
                    (choice("over", "Search: load to raise", &order.over, [("sessions", "over all schemas"), ("rate", "operations per second")].into_iter().map(|(word, about)| (word, about.to_owned()))))
                    (text("max", "Search: the highest load to try", &order.max, "sessions per schema, or operations per second"))
                }
                div class="fields of of-soak" { (text("time", "Soak: how long", &order.time, "8h")) }
                div class="fields of of-ab" {
                    (text("a", "A/B test: side A", &order.a, "settings that override the plan, KEY=VALUE[,KEY=VALUE…]; empty: the plan unchanged"))
                    (text("b", "A/B test: side B", &order.b, "workload.commit=nowait"))
                    (text("pairs", "A/B test: most runs of each side", &order.pairs.to_string(), "1 to 1,000"))
                    @if setup.allow_commands {
                        (area("settings", "A/B test: settings of the database server", &order.settings.join("\n"), "one per line: work_mem = 4MB, 64MB; changed for all users of the server, and restored"))
                        (text("settings_restart", "A/B test: the command that restarts the server", &order.settings_restart, "empty if the settings need no restart"))
                    } @else {
                        p class="dim" { "Comparing settings of the database server changes it: start the server with " code { "--allow-commands" } "." }
                    }
                }
                div class="fields of of-suite" {
                    (text("groups", "Suite: groups", &order.groups.join(", "), "separated by commas; empty: all"))
                    (text("tests", "Suite: tests", &order.tests.join(", "), "such as cpu-integer, separated by commas; empty: all"))
                }
                (of_platform(setup, order))
                p class="of of-suite of-calibrate" { label { input type="checkbox" name="quick" checked[order.quick]; " Quick" } }
            }
            fieldset { legend { "All other plan keys" } (form::others(order, wrong, setup)) }
            p class="actions" {
                button type="submit" name="do" value="check" { "Check" }
                " " button type="submit" name="do" value="target" { "Also check the target" }
                " " button class="go" type="submit" name="do" value="start" { "Start" }
            }
        }
    }
}

/// Fields of jobs that examine or change the platform.
fn of_platform(setup: &Setup, order: &JobRequest) -> Markup {
    let params: Vec<String> = order.params.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    html! {
        div class="fields of of-watch" { (text("watch_for", "Watch: how long", &order.watch_for, "8h; a watch that is stopped is stored")) }
        fieldset class="of of-calibrate" {
            legend { "Calibration: parts (none: all)" }
            @for part in PARTS {
                label { input type="checkbox" name="parts" value=(part) checked[order.parts.iter().any(|one| one == part)]; " " (part) } " "
            }
        }
        div class="fields of of-prove" {
            (choice("proof", "Proof", &order.proof, PROOFS.into_iter().map(|(name, about)| (name, about.to_owned()))))
            @if setup.allow_commands {
                (text("kill_command", "Durability: the command that kills the server", &order.kill_command, "ssh db1 pkill -9 postgres"))
                (text("restart_command", "Durability: the command that starts it again", &order.restart_command, "empty if the server restarts by itself"))
            }
        }
        @if setup.allow_commands {
            div class="fields of of-study" {
                (choice("study", "Study", &order.study, READY_STUDIES.iter().map(|study| (study.name, String::new()))))
                (area("params", "Study: parameters", &params.join("\n"), "one per line: size = 4G"))
            }
            p class="of of-study" { label { input type="checkbox" name="on_target" checked[order.on_target]; " Study: on the target above, instead of the study's own" } }
        } @else {
            p class="of of-study" { "A study runs commands: start the server with " code { "--allow-commands" } "." }
        }
    }
}

fn choice<'v>(
    name: &str,
    label: &str,
    chosen: &str,
    options: impl Iterator<Item = (&'v str, String)>,
) -> Markup {
    html! {
        div class="field" {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                @for (value, about) in options {
                    option value=(value) selected[value == chosen] {
                        (value) @if !value.is_empty() && !about.is_empty() { ": " } (about)
                    }
                }
            }
        }
    }
}

fn text(name: &str, label: &str, value: &str, help: &str) -> Markup {
    html! {
        div class="field" {
            label for=(name) { (label) }
            input id=(name) name=(name) value=(value) aria-describedby={"help-" (name)} autocomplete="off";
            p id={"help-" (name)} class="dim" { (help) }
        }
    }
}

fn area(name: &str, label: &str, value: &str, help: &str) -> Markup {
    html! {
        div class="field" {
            label for=(name) { (label) }
            textarea id=(name) name=(name) rows="2" aria-describedby={"help-" (name)} { (value) }
            p id={"help-" (name)} class="dim" { (help) }
        }
    }
}
