//! What became of a measure over the runs of one plan, with the moments at which it changed.

use axum::extract::Query;
use axum::response::Html;
use dyno_analyze::number::figure;
use dyno_analyze::points::Measure;
use dyno_analyze::trend::{Search, Trend, leading_measure, trend};
use dyno_analyze::{number, totals};
use dyno_campaign::select;
use dyno_record::{Repository, RunRecord, Unit};
use dyno_report::chart::{Axis, Chart, Kind, Mark, MarkAt, Point, Quantity, Series};
use dyno_report::grid::{Cell, Grid, Head};
use dyno_report::html::{Section, pages_in};
use dyno_report::text::capital;
use maud::html;
use serde::Deserialize;

use super::frame::{self, escaped, moment};
use crate::reply::Trouble;
use crate::state::Shared;

/// Runs that a history looks at, at most.
const RUNS_MAX: usize = 300;

/// Which history.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    /// A run: all of its plan and target. Empty: the latest.
    like: String,
    /// Or these runs, whatever their plans.
    runs: String,
    /// The measure; empty: the leading one.
    metric: String,
}

/// `GET /history?like=RUN&metric=MEASURE`.
pub(crate) async fn page(shared: Shared, Query(wanted): Query<Wanted>) -> Result<Html<String>, Trouble> {
    let asked = wanted.clone();
    let made = shared.read(move |_, repository| {
        if repository.list(&dyno_record::Filter { limit: Some(1), ..Default::default() })?.is_empty() {
            return Ok(None);
        }
        found(repository, &wanted).map(Some)
    });
    let Some(trend) = made.await? else {
        let body = html! { section id="answer" class="none" { p class="line" { "There are no runs yet." } } };
        return Ok(Html(frame::page("History", "/history", &body).into_string()));
    };
    Ok(Html(show(&asked, &trend)))
}

/// The trend that is wanted.
pub(crate) fn found(repository: &Repository, wanted: &Wanted) -> Result<Trend, Trouble> {
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
    // Fewer shuffles than at a terminal: somebody waits for the page.
    Ok(trend(&latest, metric, &Search { shuffles: 199, ..Search::default() }))
}

/// Names of runs that are told of those without a place.
const NAMED_MAX: usize = 5;

fn show(wanted: &Wanted, trend: &Trend) -> String {
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
        @for measure in measures {
            a href={"/history?like=" (escaped(&wanted.like)) "&runs=" (escaped(&wanted.runs)) "&metric=" (measure)}
                aria-current=[(measure == trend.measure).then_some("true")] { (label(measure)) } " "
        }
        a href={"/api/v1/history?" (query)} { "JSON" }
    };
    let mut lines: Vec<String> = trend.words().iter().map(|line| capital(line)).collect();
    lines.extend(trend.others.iter().chain(&trend.notes).cloned());
    lines.extend(left_out(&trend.left_out));
    let section = Section {
        title: "Run by run".into(),
        lines,
        charts: chart(trend).into_iter().collect(),
        grids: vec![("Runs".into(), table(trend))],
        ..Section::default()
    };
    let title = format!("History of {}", label(&trend.measure));
    let about = format!("{} runs of one plan and target", number::count(trend.points.len() as u64));
    pages_in(Some(&frame::around("/history", &actions)), &title, &about, &[section])
}

/// Runs without a place in it, those of one reason together.
fn left_out(runs: &[(String, String)]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (run, why) in runs {
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, names)) => names.push(run),
            None => reasons.push((why, vec![run])),
        }
    }
    let one = |(why, names): &(&str, Vec<&str>)| match names.as_slice() {
        [only] => format!("Left out: {only}, {why}."),
        many => {
            let more = if many.len() > NAMED_MAX { ", …" } else { "" };
            let named = many[..many.len().min(NAMED_MAX)].join(", ");
            format!("{} runs are left out, {why}: {named}{more}.", number::count(many.len() as u64))
        }
    };
    reasons.iter().map(one).collect()
}

fn label(measure: &str) -> &str {
    Measure::find(measure).map_or(measure, |measure| measure.label)
}

/// Each run a place, in the order of time, and a line where it changed.
fn chart(trend: &Trend) -> Option<Chart> {
    if trend.points.len() < 2 {
        return None;
    }
    let quantity = match trend.unit {
        Some(Unit::Microseconds) => Quantity::Micros,
        Some(Unit::Percent) => Quantity::Percent,
        _ => Quantity::Plain(trend.unit.map_or("", Unit::name)),
    };
    let points = trend.points.iter().enumerate().map(|(at, point)| {
        let hover = format!("{}, {}: {}", point.run, moment(&point.started_at), figure(point.value));
        Point { hover, ..Point::at((at + 1) as f64, point.value) }
    });
    let series =
        Series { name: label(&trend.measure).into(), kind: Kind::Line, style: 0, points: points.collect() };
    let marks = trend.changes.iter().map(|change| Mark {
        name: format!("changed {}", moment(&change.started_at)),
        at: MarkAt::X(change.at as f64 + 0.5),
    });
    Some(Chart {
        id: "history".into(),
        title: format!("{} run by run", label(&trend.measure)),
        about: "Each run of the plan in the order of time; dashed lines are the moments at which it changed."
            .into(),
        x: Axis::linear("run", Quantity::Plain("")),
        y: Axis::linear(label(&trend.measure), quantity),
        series: vec![series],
        marks: marks.collect(),
    })
}

fn table(trend: &Trend) -> Grid {
    let unit = trend.unit.map_or("", Unit::name);
    let mut grid = Grid::new(vec![
        Head::figures("#", ""),
        Head::tight("run"),
        Head::tight("started"),
        Head::figures(label(&trend.measure), unit),
        Head::text("changed"),
    ]);
    for (at, point) in trend.points.iter().enumerate() {
        let change = trend.changes.iter().find(|change| change.at == at);
        let change = change.map_or_else(String::new, |change| {
            format!("from {} to {}", figure(change.before), figure(change.after))
        });
        let cells = [
            (at + 1).to_string(),
            point.run.clone(),
            moment(&point.started_at),
            dyno_analyze::whose::mark(figure(point.value), point.marked),
            change,
        ];
        grid.row(cells.iter().map(|text| Cell::text(text)).collect());
    }
    grid
}
