//! The history of a measure over the runs of one plan, with its change points.

use std::collections::HashSet;

use axum::extract::Query;
use axum::response::Html;
use dyno_analyze::number::figure;
use dyno_analyze::points::Measure;
use dyno_analyze::trend::{ChangePointOptions, Trend, leading_measure, trend};
use dyno_analyze::{number, totals};
use dyno_campaign::select;
use dyno_record::{Repository, RunRecord, RunState, RunSummary, Unit};
use dyno_report::chart::{
    Chart, ChartAxis, ChartMark, ChartPoint, ChartSeries, MarkAt, Quantity, SeriesKind,
};
use dyno_report::html::pages_in;
use dyno_report::model::PageSection;
use dyno_report::text::{capital, clean};
use dyno_report::trend_grid;
use maud::{Markup, html};
use serde::Deserialize;

use super::frame::{self, escaped, moment};
use crate::reply::HttpError;
use crate::state::SharedServeState;

/// Maximum number of runs in a history.
const RUNS_MAX: usize = 300;

/// Which runs and which measure the history shows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HistoryQuery {
    /// A run: all runs with its plan and target. Empty: those of the latest run.
    like: String,
    /// Alternatively these runs, whatever their plans are.
    runs: String,
    /// The measure; empty for the leading measure of the plan.
    metric: String,
}

/// Answers `GET /history?like=RUN&metric=MEASURE` with the page of a trend.
pub(crate) async fn page(
    shared: SharedServeState,
    Query(wanted): Query<HistoryQuery>,
) -> Result<Html<String>, HttpError> {
    let request = wanted.clone();
    let made = shared.read(move |state, repository| {
        if repository.list(&dyno_record::Filter { limit: Some(1), ..Default::default() })?.is_empty() {
            return Ok(None);
        }
        let plans = plans(&state.store.listed(repository)?.runs);
        Ok(Some((load_trend(repository, &wanted)?, plans)))
    });
    let Some((trend, plans)) = made.await? else {
        let body = html! { section id="answer" class="none" { p class="line" { "There are no runs yet." } } };
        return Ok(Html(frame::page("History", "/history", &body).into_string()));
    };
    Ok(Html(show(&request, &trend, &plans)))
}

/// Computes the requested trend.
pub(crate) fn load_trend(repository: &Repository, wanted: &HistoryQuery) -> Result<Trend, HttpError> {
    let like = if wanted.like.is_empty() { "last" } else { &wanted.like };
    let records = match wanted.runs.as_str() {
        "" => select::like(repository, like, RUNS_MAX)?,
        runs => select::of_runs(repository, runs)?,
    };
    let wholes: Vec<RunRecord> = totals::settings(records).into_iter().map(|setting| setting.whole).collect();
    let latest: Vec<&RunRecord> = wholes.iter().collect();
    let metric = match wanted.metric.as_str() {
        "" => leading_measure(&latest),
        metric => metric,
    };
    Ok(trend(&latest, metric, &ChangePointOptions::for_history(latest.len())))
}

/// Maximum number of run names listed for each reason why runs are left out.
const NAMED_MAX: usize = 5;

/// Maximum number of plans offered.
const PLANS_MAX: usize = 40;

/// The plans that a user can choose: the latest run of each target, load and variant, in words.
fn plans(runs: &[RunSummary]) -> Vec<(String, String)> {
    let mut known = HashSet::new();
    let is_new = |run: &&RunSummary| {
        let plan = (run.target.clone(), run.database.clone(), run.sessions, run.update_pct);
        matches!(run.status, RunState::Valid | RunState::Imported)
            && known.insert((plan, run.variant.clone()))
    };
    let latest = runs.iter().filter(is_new).take(PLANS_MAX);
    latest.map(|run| (run.id.clone(), frame::run_words(run))).collect()
}

/// The choice of a plan, by its latest run.
fn picker(wanted: &HistoryQuery, measure: &str, plans: &[(String, String)]) -> Markup {
    html! {
        form class="filters" method="get" action="/history" {
            label { "Runs like"
                select name="like" {
                    @if plans.iter().all(|(id, _)| *id != wanted.like) && !wanted.like.is_empty() {
                        option value=(wanted.like) selected { (clean(&wanted.like)) }
                    }
                    @for (id, words) in plans {
                        option value=(id) selected[*id == wanted.like] { (clean(words)) }
                    }
                }
            }
            input type="hidden" name="metric" value=(measure);
            button type="submit" { "Show" }
        }
    }
}

fn show(wanted: &HistoryQuery, trend: &Trend, plans: &[(String, String)]) -> String {
    let query = format!(
        "like={}&runs={}&metric={}",
        escaped(&wanted.like),
        escaped(&wanted.runs),
        escaped(&wanted.metric)
    );
    let measures = [
        "ops_per_s",
        "service_mean_us",
        "service_p99_us",
        "cpu_busy_pct",
        "physical_reads_per_s",
        "redo_mb_per_s",
    ];
    let actions = html! {
        (picker(wanted, &trend.measure, plans))
        @for measure in measures {
            a href={"/history?like=" (escaped(&wanted.like)) "&runs=" (escaped(&wanted.runs)) "&metric=" (measure)}
                aria-current=[(measure == trend.measure).then_some("true")] { (label(measure)) } " "
        }
        a href={"/api/v1/history?" (query)} { "JSON" }
    };
    let mut lines: Vec<String> = trend.words().iter().map(|line| capital(line)).collect();
    lines.extend(trend.others.iter().chain(&trend.notes).cloned());
    lines.extend(left_out(&trend.left_out));
    let section = PageSection {
        title: "Run by run".into(),
        lines,
        charts: chart(trend).into_iter().collect(),
        grids: vec![("Runs".into(), trend_grid(trend))],
        ..PageSection::default()
    };
    let title = format!("History of {}", label(&trend.measure));
    let about = match trend.points.len() {
        1 => "one run of this plan and target".to_owned(),
        runs => format!("{} runs of one plan and target", number::count(runs as u64)),
    };
    pages_in(Some(&frame::around("/history", &actions)), &title, &about, &[section])
}

/// Lists the runs that are left out, grouped by reason.
fn left_out(runs: &[(String, String)]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (run, why) in runs {
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, names)) => names.push(run),
            None => reasons.push((why, vec![run])),
        }
    }
    let describe_group = |(why, names): &(&str, Vec<&str>)| match names.as_slice() {
        [only] => format!("Left out: {only}, {why}."),
        many => {
            let more = if many.len() > NAMED_MAX { ", …" } else { "" };
            let named = many[..many.len().min(NAMED_MAX)].join(", ");
            format!("{} runs are left out, {why}: {named}{more}.", number::count(many.len() as u64))
        }
    };
    reasons.iter().map(describe_group).collect()
}

fn label(measure: &str) -> &str {
    Measure::find(measure).map_or(measure, |measure| measure.label)
}

/// Draws the runs in order of time, with a line at each change point.
fn chart(trend: &Trend) -> Option<Chart> {
    if trend.points.len() < 2 {
        return None;
    }
    let quantity = match trend.unit {
        Some(Unit::Microseconds) => Quantity::Micros,
        Some(Unit::Percent) => Quantity::Percent,
        // The label names what is counted: operations/s.
        Some(Unit::PerSecond) => Quantity::Plain("/s"),
        _ => Quantity::Plain(trend.unit.map_or("", Unit::name)),
    };
    let points = trend.points.iter().enumerate().map(|(at, point)| {
        let hover = format!("{}, {}: {}", point.run, moment(&point.started_at), figure(point.value));
        ChartPoint { hover, ..ChartPoint::at((at + 1) as f64, point.value) }
    });
    let series = ChartSeries {
        name: label(&trend.measure).into(),
        kind: SeriesKind::Line,
        style: 0,
        points: points.collect(),
    };
    let marks = trend.changes.iter().map(|change| ChartMark {
        name: format!("changed {}", moment(&change.started_at)),
        at: MarkAt::X(change.at as f64 + 0.5),
    });
    Some(Chart {
        id: "history".into(),
        title: format!("{} run by run", label(&trend.measure)),
        about: "Each run of the plan in order of time; dashed lines mark changes of the measure.".into(),
        x: ChartAxis::linear("run", Quantity::Plain("")),
        y: ChartAxis::linear(label(&trend.measure), quantity),
        series: vec![series],
        marks: marks.collect(),
    })
}
