//! Jobs that were started on this server, with their status.

use axum::response::Html;
use dyno_report::text::clean;
use maud::{Markup, html};

use super::frame::{self, moment};
use crate::jobs::{Job, JobState};
use crate::reply::Trouble;
use crate::state::Shared;

/// Jobs that are listed; the others are found by their runs.
const SHOWN_MAX: usize = 200;

/// `GET /jobs`.
pub(crate) async fn page(shared: Shared) -> Result<Html<String>, Trouble> {
    let jobs = shared.jobs.all();
    let body = html! {
        @if jobs.is_empty() {
            section id="answer" class="none" {
                p class="line" { "Nothing was started here yet." }
                p { a href="/new" { "Start something" } }
            }
        } @else { (table(&jobs[..jobs.len().min(SHOWN_MAX)])) }
    };
    Ok(Html(frame::page("Jobs", "/jobs", &body).into_string()))
}

fn table(jobs: &[Job]) -> Markup {
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

/// How a job stands, as a word with a colour.
pub(crate) fn badge(state: JobState) -> Markup {
    let tone = match state {
        JobState::Done => "good",
        JobState::Doubtful | JobState::Failed => "bad",
        JobState::Stopped | JobState::Interrupted => "warn",
        JobState::Queued | JobState::Running => "",
    };
    html! { span class={"badge " (tone)} { (state.name()) } }
}
