//! Compares two or more sets of runs.

use axum::extract::Query;
use axum::response::Html;
use dyno_analyze::answer::CurveSummaries;
use dyno_analyze::compare::RunComparison;
use dyno_analyze::{points, totals};
use dyno_campaign::compare::{ComparisonResult, ComparisonSettings};
use dyno_campaign::select;
use dyno_record::{Repository, RunRecord};
use dyno_report::differences_grid;
use dyno_report::html::pages_in;
use dyno_report::model::PageSection;
use dyno_report::text::clean;
use maud::{Markup, html};

use super::frame::{self, escaped};
use crate::reply::HttpError;
use crate::state::SharedServeState;

/// Maximum number of sets compared at once.
const SIDES_MAX: usize = 6;

/// Maximum number of runs offered for a comparison.
const OFFERED: usize = 40;

/// Returns the sets that a URL names: `run` once for each set, or `a` and `b`.
pub(crate) fn sides(fields: &[(String, String)]) -> Vec<String> {
    let named = fields
        .iter()
        .filter(|(name, value)| matches!(name.as_str(), "run" | "a" | "b") && !value.trim().is_empty());
    let mut sides: Vec<String> = named.map(|(_, value)| value.trim().to_owned()).collect();
    sides.truncate(SIDES_MAX);
    // The page lists the newest runs first, and newer runs are compared with older ones.
    if fields.iter().all(|(name, _)| name == "run") {
        sides.reverse();
    }
    sides
}

/// Answers `GET /compare?run=X&run=Y`, or `?a=SELECTION&b=SELECTION`.
pub(crate) async fn page(
    shared: SharedServeState,
    Query(fields): Query<Vec<(String, String)>>,
) -> Result<Html<String>, HttpError> {
    let sides = sides(&fields);
    if sides.len() < 2 {
        return choose(&shared, sides.first().cloned()).await;
    }
    let page = shared.read(move |_, repository| show(repository, &sides));
    Ok(Html(page.await?))
}

/// Loads the records of each set.
fn records(repository: &Repository, sides: &[String]) -> Result<Vec<(String, Vec<RunRecord>)>, HttpError> {
    let records = sides.iter().map(|selection| {
        let settings = totals::settings(select::of_runs(repository, selection)?);
        let wholes: Vec<RunRecord> = settings.into_iter().map(|setting| setting.whole).collect();
        Ok((selection.clone(), wholes))
    });
    Ok(records.collect::<Result<Vec<_>, dyno_campaign::Error>>()?)
}

/// Compares every set with the first one.
pub(crate) fn answers(repository: &Repository, sides: &[String]) -> Result<Vec<ComparisonResult>, HttpError> {
    let judge = ComparisonSettings::new(&[], dyno_analyze::compare::MARGIN_PCT, &[])?;
    Ok(judge.answers(&records(repository, sides)?))
}

fn show(repository: &Repository, sides: &[String]) -> Result<String, HttpError> {
    let records = records(repository, sides)?;
    let held = ComparisonSettings::new(&[], dyno_analyze::compare::MARGIN_PCT, &[])?.answers(&records);
    let comparisons: Vec<&RunComparison> = held.iter().map(|answer| &answer.comparison).collect();
    let of_sides =
        records.iter().map(|(name, records)| (name.as_str(), CurveSummaries::of(&points(records))));
    let mut sections = dyno_report::compare_sections(&CurveSummaries::of_sides(of_sides), &comparisons);
    sections.extend(comparisons.iter().filter_map(|comparison| differed(comparison)));
    let actions = html! {
        @for side in sides { a href={"/report?runs=" (escaped(side))} { (clean(side)) } " " }
        a href={"/api/v1/compare?" (query(sides))} { "JSON" }
    };
    let title = format!("{} against {}", sides[1..].join(", "), sides[0]);
    let about = "Differences are B − A in percent of A; single runs give no verdict.";
    Ok(pages_in(Some(&frame::around("/compare", &actions)), &title, about, &sections))
}

/// Returns the sets as a URL query.
pub(crate) fn query(sides: &[String]) -> String {
    let pairs = ["a", "b", "b", "b", "b", "b"].iter().zip(sides);
    pairs.map(|(name, side)| format!("{name}={}", escaped(side))).collect::<Vec<_>>().join("&")
}

/// Shows other differences, and runs that do not count on either side; `None` if there are neither.
fn differed(comparison: &RunComparison) -> Option<PageSection> {
    let grid = differences_grid(&comparison.differed);
    let lines: Vec<String> =
        comparison.left_out.iter().map(|(run, why)| format!("Left out: {run}, {why}.")).collect();
    let is_told = !grid.rows.is_empty() || !lines.is_empty();
    let title = format!("Other differences: {} against {}", comparison.b, comparison.a);
    is_told.then(|| PageSection {
        title,
        lines,
        grids: vec![(String::new(), grid)],
        ..PageSection::default()
    })
}

/// The page on which the user chooses the other side.
async fn choose(shared: &SharedServeState, first: Option<String>) -> Result<Html<String>, HttpError> {
    let wanted = first.clone();
    let listed = shared.read(move |state, repository| {
        let listed = state.store.listed(repository)?;
        let first_target =
            wanted.and_then(|id| listed.runs.iter().find(|run| run.id == id).map(|run| run.target.clone()));
        // Runs on the same target come first, because they are chosen most often.
        let (same, others): (Vec<_>, Vec<_>) = listed
            .runs
            .iter()
            .partition(|run| first_target.as_ref().is_none_or(|target| *target == run.target));
        Ok(same.into_iter().chain(others).take(OFFERED).cloned().collect::<Vec<_>>())
    });
    let runs = listed.await?;
    let chosen = first.as_deref().unwrap_or_default();
    let side = |name: &str, label: &str, chosen: &str| -> Markup {
        html! {
            label { (label)
                select name=(name) required {
                    option value="" { "choose a run" }
                    @if !chosen.is_empty() && runs.iter().all(|run| run.id != chosen) {
                        option value=(chosen) selected { (clean(chosen)) }
                    }
                    @for run in &runs {
                        option value=(run.id) selected[run.id == chosen] { (clean(&frame::run_words(run))) }
                    }
                }
            }
        }
    };
    let text = |name: &str, label: &str, value: &str| -> Markup {
        html! { label { (label) input name=(name) value=(value) required; } }
    };
    let body = html! {
        form class="filters" method="get" action="/compare" {
            (side("a", "Baseline (A)", chosen))
            (side("b", "Candidate (B)", ""))
            button type="submit" { "Compare" }
        }
        details {
            summary { "By name, tag or variant" }
            form class="filters" method="get" action="/compare" {
                (text("a", "Baseline (A)", chosen))
                (text("b", "Candidate (B)", ""))
                button type="submit" { "Compare these" }
            }
            p class="dim" {
                "A side is a run (an id, last, last~2), a sweep, tag:NAME or variant:NAME; several with commas between them are repeats."
            }
        }
        p { "Or select two on " a href="/" { "the page of all runs" } "." }
    };
    Ok(Html(frame::page("Compare", "/compare", &body).into_string()))
}
