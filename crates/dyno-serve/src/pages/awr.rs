//! The page of imported database reports: their intervals along time.

use axum::response::Html;
use dyno_analyze::number::figure;
use dyno_record::{Repository, RunState};
use dyno_report::chart::{Chart, ChartAxis, ChartPoint, ChartSeries, Quantity, SeriesKind};
use dyno_report::text::clean;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use super::frame::{self, escaped, moment};
use crate::reply::HttpError;
use crate::state::{ServeState, SharedServeState};

/// Maximum number of intervals shown; more than the hours of two weeks.
const SHOWN_MAX: usize = 400;

/// An interval of an imported database report.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct WebAwrInterval {
    /// Name of the interval's record.
    pub(crate) id: String,
    /// Begin of the interval, RFC 3339 in UTC.
    pub(crate) started_at: String,
    /// Length of the interval, s.
    pub(crate) seconds: f64,
    /// Name of the database instance.
    pub(crate) instance: String,
    /// Average number of active sessions: DB time divided by elapsed time.
    pub(crate) active_sessions: Option<f64>,
}

/// Returns the intervals of all imported reports, oldest first.
pub(crate) fn intervals(
    state: &ServeState,
    repository: &Repository,
) -> Result<Vec<WebAwrInterval>, HttpError> {
    let listed = state.store.listed(repository)?;
    let imported = listed.runs.iter().filter(|run| run.status == RunState::Imported);
    let mut shown = Vec::new();
    for run in imported {
        let record = repository.load(&run.id)?;
        let Some(reported) = record.imported.as_ref().and_then(|imported| imported.reported.as_ref()) else {
            continue;
        };
        let seconds = record.window.as_ref().map_or(0.0, |window| window.seconds);
        shown.push(WebAwrInterval {
            id: run.id.clone(),
            started_at: run.started_at.clone(),
            seconds,
            instance: run.target.clone(),
            active_sessions: reported.db_time_s.filter(|_| seconds > 0.0).map(|time| time / seconds),
        });
        if shown.len() >= SHOWN_MAX {
            break;
        }
    }
    shown.reverse();
    Ok(shown)
}

/// Answers `GET /awr` with the page of intervals.
pub(crate) async fn page(shared: SharedServeState) -> Result<Html<String>, HttpError> {
    let intervals = shared.read(intervals).await?;
    if intervals.is_empty() {
        let body = html! {
            section id="answer" class="none" {
                p class="line" { "This repository contains no database reports." }
                p { code { "dyno awr FILE… --import" } " imports AWR and STATSPACK reports." }
            }
        };
        return Ok(Html(frame::page("AWR", "/awr", &body).into_string()));
    }
    let body = html! {
        p { "Each interval of imported reports. Choose two, or select a part of the chart, and compare them." }
        (timeline(&intervals))
        (table(&intervals))
    };
    let head = html! { script src="/assets/brush.js" defer {} };
    Ok(Html(frame::page_with("AWR", "/awr", &head, &body).into_string()))
}

fn timeline(intervals: &[WebAwrInterval]) -> Markup {
    let points = intervals.iter().enumerate().filter_map(|(at, interval)| {
        let hover = format!(
            "{}: {} active sessions",
            moment(&interval.started_at),
            figure(interval.active_sessions?)
        );
        // The number of an interval is in the middle of its bar.
        let begin = at as f64 + 0.5;
        Some(ChartPoint { hover, x_end: begin + 1.0, ..ChartPoint::at(begin, interval.active_sessions?) })
    });
    let series = ChartSeries {
        name: "active sessions".into(),
        kind: SeriesKind::Bar,
        style: 0,
        points: points.collect(),
    };
    let chart = Chart {
        id: "timeline".into(),
        title: "Active sessions, interval by interval".into(),
        about: "DB time divided by elapsed time of each report, in order of time.".into(),
        x: ChartAxis::linear("interval", Quantity::Plain("")),
        y: ChartAxis::linear("active sessions", Quantity::Plain("sessions")),
        series: vec![series],
        marks: Vec::new(),
    };
    html! {
        figure class="wide timeline" {
            (maud::PreEscaped(dyno_report::chart::svg::svg(&chart, dyno_report::chart::svg::SvgPlacement::Page)))
            figcaption { (chart.about) }
        }
    }
}

fn table(intervals: &[WebAwrInterval]) -> Markup {
    html! {
        form id="pick" method="get" action="/awr/diff" {
            p class="bar" { button type="submit" { "Compare A with B" } span id="brushed" class="dim" {} }
            div class="scroll" tabindex="0" role="region" aria-label="intervals" {
                table {
                    thead {
                        tr {
                            @for head in ["A", "B", "#", "Begin (UTC)", "Length, s", "Active sessions", "Instance"] { th scope="col" { (head) } }
                        }
                    }
                    tbody {
                        @for (at, interval) in intervals.iter().enumerate() {
                            tr {
                                td { input type="radio" name="a" value=(interval.id) checked[at == 0] aria-label={"A: " (moment(&interval.started_at))}; }
                                td { input type="radio" name="b" value=(interval.id) checked[at + 1 == intervals.len()] aria-label={"B: " (moment(&interval.started_at))}; }
                                td class="n" { (at + 1) }
                                td class="t" { a href={"/runs/" (escaped(&interval.id))} { (moment(&interval.started_at)) } }
                                td class="n" { (figure(interval.seconds)) }
                                td class="n" { (dyno_report::number::optional(interval.active_sessions)) }
                                td { (clean(&interval.instance)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
