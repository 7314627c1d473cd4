//! The page of a job, while it runs and afterwards.
//!
//! The page contains the state at the time of the request. A script updates it; without scripts the page
//! reloads itself.

use axum::Extension;
use axum::extract::Path;
use axum::response::{Html, Redirect};
use dyno_campaign::RunProgress;
use dyno_campaign::progress::{CampaignRun, RunResult};
use dyno_record::CheckStatus;
use dyno_report::number::{count, figure, optional, time_us};
use dyno_report::text::{capital, clean};
use maud::{Markup, PreEscaped, html};

use super::frame::{self, escaped, moment};
use super::job_status::status_text;
use super::jobs::badge;
use super::report::with_report;
use crate::jobs::{JobKind, JobStart, JobState, MACHINE, ServeJob, Steering};
use crate::reply::HttpError;
use crate::roles::Caller;
use crate::state::SharedServeState;

/// Maximum number of output lines shown while a job runs, and afterwards; for a check and a proof, the output is the
/// only result.
const TALK: usize = 12;
const OUTPUT_LINES_MAX: usize = 200;

/// Answers `GET /jobs/ID` with the page of a job.
pub(crate) async fn page(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Html<String>, HttpError> {
    let job = shared.jobs.get(&id).ok_or_else(|| HttpError::not_found(format!("there is no job {id}")))?;
    let progress = shared.jobs.feed(&job).progress();
    let over = job.state.is_over();
    let result = if over { result(&shared, &progress).await } else { None };
    let head = html! {
        @if result.is_some() { script src="/assets/report.js" defer {} }
        @if !over {
            link rel="stylesheet" href="/assets/uplot.css";
            script src="/assets/uplot.js" defer {}
            script src="/assets/live.js" defer {}
            noscript { meta http-equiv="refresh" content="5"; }
        }
    };
    let body = html! {
        (state(&shared, &caller, &job, &progress, result.is_some()))
        @if let Some(result) = &result { (PreEscaped(result)) div id="tip" role="status" hidden {} }
        (strip(&job, &progress))
        @if !over {
            section id="charts" class="live" data-kind=(job.kind.name()) data-events={"/api/v1/jobs/" (job.id) "/events"} {
                p class="dim nojs" { "Charts need a script; without it this page reloads every five seconds." }
            }
        }
        @if !over { (intervals(job.kind)) }
        (grid(&progress))
        (audit(&progress))
        (about(&shared, &job))
    };
    let title = format!("{} on {}", title_words(job.kind), place(&job));
    Ok(Html(frame::page_with(&title, "/jobs", &head, &body).into_string()))
}

fn title_words(kind: JobKind) -> String {
    if kind == JobKind::Ab { "A/B test".to_owned() } else { capital(kind.name()) }
}

/// Where the job runs: the name in the list of targets, or the URL of a target that has only a made-up name (`target`,
/// `target-2`) because it came from the command line.
fn place(job: &ServeJob) -> &str {
    let number = job.target.strip_prefix("target").map(|rest| rest.trim_start_matches('-'));
    let is_made_up = number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    if is_made_up && job.place != MACHINE { &job.place } else { &job.target }
}

/// The selection of what the job stored: its campaign, or its last run; absent if it stored nothing.
fn stored(progress: &RunProgress) -> Option<&str> {
    progress.stored.last().map(|run| progress.sweep.as_deref().unwrap_or(&run.id))
}

/// The answer of the finished job as the report's page begins with it: main figures, chart and next steps. Absent
/// without a stored run, or if the run was deleted.
async fn result(shared: &SharedServeState, progress: &RunProgress) -> Option<String> {
    let selection = stored(progress)?.to_owned();
    let made = shared.read(move |_, repository| {
        with_report(repository, &selection, |report| Ok(dyno_report::html::answer_section(report)))
    });
    made.await.ok()
}

fn state(
    shared: &SharedServeState,
    caller: &Caller,
    job: &ServeJob,
    progress: &RunProgress,
    has_result: bool,
) -> Markup {
    let before = shared.jobs.before(job);
    let may_control = !shared.setup.read_only && caller.controls(job.started_by.as_deref());
    html! {
        section id=(if has_result { "job" } else { "answer" }) class=[(job.state != JobState::Done && job.state.is_over()).then_some("none")] {
            p class="line" { span id="state" { (badge(job.state)) } " " span id="says" { (shared.jobs.refusal(job).map_or_else(|| status_text(job, progress, before), str::to_owned)) } }
            @if let Some(starter) = &job.started_by { p class="dim" { "Started by " (clean(starter)) } }
            @if !progress.targets.is_empty() { p class="dim" { (clean(&progress.targets)) } }
            p class="actions" {
                @if let Some(sweep) = &progress.sweep {
                    a class="go" href={"/sweeps/" (escaped(sweep))} { @if job.state.is_over() { "Full report of " } @else { "Runs so far of " } (clean(sweep)) }
                } @else if let Some(run) = progress.stored.last().filter(|_| job.state.is_over()) {
                    a class="go" href={"/runs/" (escaped(&run.id))} { "Full report of " (clean(&run.id)) }
                }
            }
            @if !job.state.is_over() && may_control {
                form method="post" action={"/jobs/" (job.id) "/stop"} {
                    button class="stop" type="submit" { @if job.stop { "End at once" } @else { (stop_words(job.kind)) } }
                    @if job.stop { " " span class="dim" { "The job is stopping and stores what was measured." } }
                }
            }
            @if let Some(words) = steerings(job, progress).filter(|_| may_control) {
                div class="actions" {
                    @for (word, label) in words {
                        form class="inline" method="post" action={"/jobs/" (job.id) "/steer/" (word.name())} { button type="submit" { (label) } }
                    }
                }
            }
            @if is_resumable(job, progress) && may_control {
                form method="post" action={"/jobs/" (job.id) "/resume"} { button type="submit" { "Resume" } }
            }
        }
    }
}

/// Label of the button that stops a job.
fn stop_words(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Study => "Stop, revert all changes, and store what was measured",
        JobKind::Watch => "Stop, and store what was measured",
        _ => "Stop, and store what was measured",
    }
}

/// Returns the requests that control the job's campaign, with the labels of their buttons.
fn steerings(job: &ServeJob, progress: &RunProgress) -> Option<Vec<(Steering, &'static str)>> {
    if job.state != JobState::Running
        || progress.sweep.is_none()
        || !progress.is_reached
        || matches!(job.kind, JobKind::Soak | JobKind::Study)
    {
        return None;
    }
    let mut words = vec![match progress.paused {
        true => (Steering::Go, "Continue with the next run"),
        false => (Steering::Pause, "Pause before the next run"),
    }];
    if progress.skips {
        words.push((Steering::Skip, "Skip point"));
    }
    Some(words)
}

/// Answers `POST /jobs/ID/steer/WORD`, and redirects to the job.
pub(crate) async fn steer(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Path((id, word)): Path<(String, String)>,
) -> Result<Redirect, HttpError> {
    steered(&shared, &caller, &id, &word)?;
    Ok(Redirect::to(&format!("/jobs/{}", escaped(&id))))
}

/// Sends the request `word` to the campaign of the job `id`.
pub(crate) fn steered(
    shared: &SharedServeState,
    caller: &Caller,
    id: &str,
    word: &str,
) -> Result<(), HttpError> {
    let word = Steering::from_name(word).ok_or_else(|| HttpError::not_found("unknown request"))?;
    controlled(shared, caller, id)?;
    Ok(shared.jobs.steer(id, word)?)
}

/// The figures of the last complete interval.
fn strip(job: &ServeJob, progress: &RunProgress) -> Markup {
    let last = progress.last.as_ref().filter(|_| job.state == JobState::Running);
    let rate = last.filter(|last| last.seconds > 0.0).map(|last| last.ops as f64 / last.seconds);
    let time = |us: Option<f64>| us.map_or_else(|| optional(None), time_us);
    let cpu = last.and_then(|last| last.metrics.get("cpu_busy_pct").copied());
    if job.kind == JobKind::Watch {
        return watch_strip(job, progress);
    }
    html! {
        @if job.state == JobState::Running && !matches!(job.kind, JobKind::Calibrate) {
            dl class="strip" aria-label="the last complete interval" {
                div { dt { "operations/s" } dd data-live="rate" { (rate.map_or_else(|| optional(None), figure)) } }
                div { dt { "p50" } dd data-live="p50" { (time(last.and_then(|last| last.p50_us))) } }
                div { dt { "p99" } dd data-live="p99" { (time(last.and_then(|last| last.p99_us))) } }
                div { dt { "max" } dd data-live="max" { (time(last.and_then(|last| last.max_us))) } }
                div { dt { "CPU busy" } dd data-live="cpu" { (cpu.map_or_else(|| optional(None), |cpu| format!("{} %", figure(cpu)))) } }
                div { dt { "errors" } dd data-live="errors" { (count(progress.errors)) } }
            }
            p class="dim" { "Audit so far: " span id="live-audit" { (so_far(progress)) } }
            progress id="done" max="1" value=(progress.done.unwrap_or(0.0)) aria-label="completed share of the window" {}
        }
    }
}

/// The figures of the last interval of an observed database.
fn watch_strip(job: &ServeJob, progress: &RunProgress) -> Markup {
    let last = progress.watched.as_ref().filter(|_| progress.away.is_none());
    let metric = |name: &str| last.and_then(|last| last.metrics.get(name).copied());
    let shown = [
        ("commits", "commits/s", metric("commits_per_s")),
        ("active", "active sessions", metric("average_active_sessions")),
        ("reads", "physical reads/s", metric("physical_reads_per_s")),
        ("redo", "redo, MB/s", metric("redo_bytes_per_s").map(|bytes| bytes / 1e6)),
    ];
    let cpu = metric("cpu_busy_pct").map_or_else(|| optional(None), |cpu| format!("{} %", figure(cpu)));
    html! {
        @if job.state == JobState::Running {
            dl class="strip" aria-label="the last complete interval" {
                @for (live, label, value) in shown { div { dt { (label) } dd data-live=(live) { (optional(value)) } } }
                div { dt { "CPU busy" } dd data-live="cpu" { (cpu) } }
            }
            progress id="done" max="1" value=(progress.done.unwrap_or(0.0)) aria-label="completed share of the watch" {}
        }
    }
}

/// Empty charts, which a script fills.
fn intervals(kind: JobKind) -> Markup {
    const COUNTED: [&str; 4] = ["CPU busy, %", "physical reads/s", "redo, MB/s", "commits/s"];
    let kind_heads: &[&str] = match kind {
        JobKind::Watch => &["s in the watch", "active sessions"],
        _ => &["s in the window", "operations/s", "p50", "p99", "max"],
    };
    let heads = kind_heads.iter().chain(&COUNTED);
    html! {
        details id="intervals" {
            summary { "The last 30 intervals as a table" }
            div class="scroll" tabindex="0" role="region" aria-label="intervals" {
                table { thead { tr { @for head in heads { th scope="col" class="n" { (head) } } } } tbody {} }
            }
        }
    }
}

/// What the audit has found so far, in words.
fn so_far(progress: &RunProgress) -> String {
    match (progress.looks, progress.found.as_slice()) {
        (0, _) => "no snapshots compared yet".into(),
        (looks, []) => format!("{} snapshots compared, nothing changed", count(looks)),
        (_, found) => clean(&found.join("; ")),
    }
}

/// A table of the campaign's finished runs, in the order in which they ended.
fn grid(progress: &RunProgress) -> Markup {
    let keys: Vec<&str> = progress
        .ended
        .iter()
        .chain(&progress.next)
        .next()
        .map(|step| step.settings.iter().map(|(key, _)| key.rsplit('.').next().unwrap_or(key)).collect())
        .unwrap_or_default();
    html! {
        @if progress.next.is_some() || !progress.ended.is_empty() {
            section id="steps" {
                h2 { "Runs" }
                div class="scroll" tabindex="0" role="region" aria-label="runs" {
                    table {
                        thead {
                            tr {
                                th scope="col" class="n" { "#" }
                                @for key in &keys { th scope="col" class="n" { (clean(key)) } }
                                @for head in ["repeat", "operations/s", "p99"] { th scope="col" class="n" { (head) } }
                                th scope="col" { "status" }
                            }
                        }
                        tbody { @for step in progress.ended.iter().chain(&progress.next) { (row(step)) } }
                    }
                }
            }
        }
    }
}

fn row(step: &CampaignRun) -> Markup {
    let result = step.run.as_ref();
    html! {
        tr {
            td class="n" { @if let Some(told) = result { a href={"/runs/" (escaped(&told.id))} { (step.number) } } @else { (step.number) } }
            @for (_, value) in &step.settings { td class="n" { (clean(value)) } }
            td class="n" { (step.repeat) @if let Some(side) = &step.side { " " (clean(side)) } }
            td class="n" { (optional(result.and_then(|told| told.ops_per_s))) }
            td class="n" { (result.and_then(|told| told.p99_us).map_or_else(|| optional(None), time_us)) }
            td {
                @if let Some(told) = result { (told.status.words()) }
                @else if let Some(failed) = &step.failed { (clean(failed)) }
                @else { "running" }
            }
        }
    }
}

/// `40 checks passed, 1 warning`.
fn audit_words(run: &RunResult) -> String {
    let count = |status| run.doubts.iter().filter(|check| check.status == status).count();
    let (failed, warned) = (count(CheckStatus::Fail), count(CheckStatus::Warn));
    let checks = if run.passed == 1 { "check" } else { "checks" };
    let warnings = if warned == 1 { "warning" } else { "warnings" };
    let mut words = format!("{} {checks} passed", run.passed);
    if failed > 0 {
        words.push_str(&format!(", {failed} failed"));
    }
    if warned > 0 {
        words.push_str(&format!(", {warned} {warnings}"));
    }
    words
}

/// The doubtful audit checks of stored runs.
fn audit(progress: &RunProgress) -> Markup {
    html! {
        @if let Some(told) = progress.stored.last() {
            section id="audit" {
                h2 { @if progress.stored.len() > 1 { "Audit of the last run" } @else { "Audit" } }
                p { (audit_words(told)) "." }
                ul {
                    @for check in &told.doubts {
                        li class={(if check.status == CheckStatus::Fail { "bad" } else { "warn" })} {
                            strong { (clean(&dyno_analyze::check_label(&check.check))) } " " (clean(&check.detail))
                        }
                    }
                }
            }
        }
    }
}

fn about(shared: &SharedServeState, job: &ServeJob) -> Markup {
    // The output of a check and of a proof is their only result.
    let is_all = matches!(job.kind, JobKind::Check | JobKind::Prove);
    let is_long = is_all || job.state.is_over();
    let talk = shared.jobs.output_tail(job, if is_long { OUTPUT_LINES_MAX } else { TALK });
    html! {
        section id="about" {
            h2 { "Job" }
            p { "Started " (moment(&job.started_at)) " UTC on " strong { (clean(&job.target)) } ". The same at a terminal:" }
            pre { code { (clean_lines(&job.command)) } }
            @if !talk.is_empty() {
                h3 { "Output" }
                pre id="talk" { @for line in &talk { (line) "\n" } }
            }
            @if let Some(plan) = shared.jobs.plan(job) {
                details { summary { "Plan" } pre { code { (clean_lines(&without_secrets(&plan))) } } }
            }
        }
    }
}

fn clean_lines(text: &str) -> String {
    text.lines().map(|line| clean(line) + "\n").collect()
}

/// Removes the lines that locate the password, which only the server needs.
fn without_secrets(plan: &str) -> String {
    let is_own = |line: &&str| !line.starts_with("password_");
    plan.lines().filter(is_own).map(|line| format!("{line}\n")).collect()
}

/// Answers `POST /jobs/ID/stop`, and redirects to the job.
pub(crate) async fn stop(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Redirect, HttpError> {
    stopped(&shared, &caller, &id)?;
    Ok(Redirect::to(&format!("/jobs/{}", escaped(&id))))
}

/// Asks the job `id` to stop.
pub(crate) fn stopped(shared: &SharedServeState, caller: &Caller, id: &str) -> Result<(), HttpError> {
    controlled(shared, caller, id)?;
    Ok(shared.jobs.stop(id)?)
}

/// Returns the job `id` if the caller may control it.
fn controlled(shared: &SharedServeState, caller: &Caller, id: &str) -> Result<ServeJob, HttpError> {
    let job = shared.jobs.get(id).ok_or_else(|| HttpError::not_found(format!("there is no job {id}")))?;
    if !caller.controls(job.started_by.as_deref()) {
        let starter = job.started_by.as_deref().unwrap_or("another user");
        let problem = format!("job {id} was started by {starter}");
        return Err(HttpError::forbidden(
            problem,
            "only the user who started it or an administrator can do this",
        ));
    }
    Ok(job)
}

fn is_resumable(job: &ServeJob, progress: &RunProgress) -> bool {
    let has_ended = matches!(job.state, JobState::Stopped | JobState::Interrupted | JobState::Failed);
    has_ended
        && matches!(job.kind, JobKind::Sweep | JobKind::Suite | JobKind::Study)
        && progress.sweep.is_some()
}

/// Answers `POST /jobs/ID/resume`: a sweep, suite or study continues where it stopped.
pub(crate) async fn resume(
    shared: SharedServeState,
    Extension(caller): Extension<Caller>,
    Path(id): Path<String>,
) -> Result<Redirect, HttpError> {
    Ok(Redirect::to(&format!("/jobs/{}", resumed(&shared, &caller, &id)?.id)))
}

/// Starts a new job that continues the job `id`.
pub(crate) fn resumed(shared: &SharedServeState, caller: &Caller, id: &str) -> Result<ServeJob, HttpError> {
    let job = controlled(shared, caller, id)?;
    let setup = shared.setup_for(caller);
    let progress = shared.jobs.feed(&job).progress();
    let Some(sweep) = progress.sweep.clone().filter(|_| is_resumable(&job, &progress)) else {
        return Err(HttpError::bad_request(
            "this job cannot be resumed",
            "a stopped sweep, suite or study can be resumed",
        ));
    };
    if job.runs_commands && !setup.allow_commands {
        return Err(HttpError::forbidden(
            "the job runs commands: it needs a server with --allow-commands and an administrator",
            "resume it at a terminal; `dyno study resume` also restores what a study changed",
        ));
    }
    let (mut step, command) = match job.kind {
        JobKind::Study => (
            vec!["study".to_owned(), "resume".to_owned(), sweep.clone()],
            format!("dyno study resume {sweep}"),
        ),
        kind => {
            let name = kind.name();
            (vec![name.to_owned(), format!("--resume={sweep}")], format!("dyno {name} --resume {sweep}"))
        }
    };
    step.push(format!("--repository={}", shared.setup.repository.display()));
    if setup.allow_commands {
        step.push("--allow-hooks".into());
    }
    let start = JobStart {
        kind: job.kind,
        target: job.target.clone(),
        place: job.place.clone(),
        plan: shared.jobs.plan(&job),
        command,
        steps: vec![step],
        runs_commands: job.runs_commands,
    };
    Ok(shared.jobs.start(start, &caller.name)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(target: &str, place: &str) -> ServeJob {
        let job = json!({
            "id": "job-1", "kind": "run", "target": target, "place": place, "command": "dyno run",
            "started_at": "2026-01-01T00:00:00Z", "ended_at": null, "state": "done", "steps": [[]], "step": 0,
            "process": null, "stop": false, "exit": 0,
        });
        serde_json::from_value(job).unwrap()
    }

    #[test]
    fn job_title_has_the_url_of_a_target_without_a_chosen_name() {
        assert_eq!(place(&job("target", "sqlite:x.db")), "sqlite:x.db");
        assert_eq!(place(&job("target-2", "sqlite:y.db")), "sqlite:y.db");
        assert_eq!(place(&job("target", MACHINE)), "target");
        assert_eq!(place(&job("shop", "sqlite:x.db")), "shop");
        assert_eq!(place(&job("target-shop", "sqlite:x.db")), "target-shop");
    }

    #[test]
    fn warning_of_a_valid_run_is_called_a_warning() {
        let run = |doubts: &[&str]| -> RunResult {
            let doubt = |status: &&str| json!({ "check": "cpu", "status": status, "expected": "", "observed": "", "detail": "" });
            let doubts: Vec<_> = doubts.iter().map(doubt).collect();
            serde_json::from_value(
                json!({ "id": "r", "status": "valid", "reasons": [], "doubts": doubts, "passed": 40 }),
            )
            .unwrap()
        };
        assert_eq!(audit_words(&run(&[])), "40 checks passed");
        assert_eq!(audit_words(&run(&["warn"])), "40 checks passed, 1 warning");
        assert_eq!(audit_words(&run(&["warn", "fail", "warn"])), "40 checks passed, 1 failed, 2 warnings");
    }
}
