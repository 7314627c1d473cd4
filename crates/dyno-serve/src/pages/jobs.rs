//! The list of jobs started on this server, with their states.

use axum::response::Html;
use dyno_report::text::clean;
use maud::{Markup, html};

use super::frame::{self, moment};
use crate::jobs::{JobState, ServeJob};
use crate::reply::HttpError;
use crate::state::SharedServeState;

/// Maximum number of jobs listed; older ones are found through their runs.
const SHOWN_MAX: usize = 200;

/// Answers `GET /jobs` with the list of jobs.
pub(crate) async fn page(shared: SharedServeState) -> Result<Html<String>, HttpError> {
    let jobs = shared.jobs.all();
    let body = html! {
        @if jobs.is_empty() {
            section id="answer" class="none" {
                p class="line" { "No jobs yet." }
                p { a href="/new" { "Start a job" } }
            }
        } @else { (table(&jobs[..jobs.len().min(SHOWN_MAX)])) }
    };
    Ok(Html(frame::page("Jobs", "/jobs", &body).into_string()))
}

fn table(jobs: &[ServeJob]) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label="started here" {
            table {
                thead { tr { @for head in ["What", "Target", "State", "Started by", "Started", "Ended"] { th scope="col" { (head) } } } }
                tbody {
                    @for job in jobs {
                        tr {
                            td { a href={"/jobs/" (job.id)} { (job.kind.name()) " " (job.id) } }
                            td { (clean(&job.target)) }
                            td { (badge(job.state)) }
                            td { (job.started_by.as_deref().map(clean).unwrap_or_default()) }
                            td class="t" { (moment(&job.started_at)) }
                            td class="t" { (job.ended_at.as_deref().map(moment).unwrap_or_default()) }
                        }
                    }
                }
            }
        }
    }
}

/// Shows the state of a job as a colored word.
pub(crate) fn badge(state: JobState) -> Markup {
    let tone = match state {
        JobState::Done => "good",
        JobState::Doubtful | JobState::Failed => "bad",
        JobState::Stopped | JobState::Interrupted => "warn",
        JobState::Queued | JobState::Running => "",
    };
    html! { span class={"badge " (tone)} { (state.name()) } }
}
