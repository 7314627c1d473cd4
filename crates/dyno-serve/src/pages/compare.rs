//! Two or more sets of runs against each other.

use axum::extract::Query;
use axum::response::Html;
use dyno_analyze::answer::Answers;
use dyno_analyze::compare::Comparison;
use dyno_analyze::{points, totals};
use dyno_campaign::compare::{Answer, Judge};
use dyno_campaign::select;
use dyno_record::{Repository, RunRecord};
use dyno_report::grid::{Cell, Grid, Head};
use dyno_report::html::{Section, pages_in};
use dyno_report::text::clean;
use maud::{Markup, html};

use super::frame::{self, escaped, moment};
use crate::reply::Trouble;
use crate::state::Shared;

/// Sets that are compared at once.
const SIDES_MAX: usize = 6;

/// Runs that are offered to be compared with.
const OFFERED: usize = 40;

/// The sets that an address names: `run` as often as there are sets, or `a` and `b`.
pub(crate) fn sides(fields: &[(String, String)]) -> Vec<String> {
    let named = fields
        .iter()
        .filter(|(name, value)| matches!(name.as_str(), "run" | "a" | "b") && !value.trim().is_empty());
    let mut sides: Vec<String> = named.map(|(_, value)| value.trim().to_owned()).collect();
    sides.truncate(SIDES_MAX);
    // The page lists the newest first, and what is older is what the newer is held against.
    if fields.iter().all(|(name, _)| name == "run") {
        sides.reverse();
    }
    sides
}

/// `GET /compare?run=X&run=Y`, or `?a=SELECTION&b=SELECTION`.
pub(crate) async fn page(
    shared: Shared,
    Query(fields): Query<Vec<(String, String)>>,
) -> Result<Html<String>, Trouble> {
    let sides = sides(&fields);
    if sides.len() < 2 {
        return choose(&shared, sides.first().cloned()).await;
    }
    let page = shared.read(move |_, repository| show(repository, &sides));
    Ok(Html(page.await?))
}

/// The sets with their records.
fn records(repository: &Repository, sides: &[String]) -> Result<Vec<(String, Vec<RunRecord>)>, Trouble> {
    let records = sides.iter().map(|selection| {
        let settings = totals::settings(select::of_runs(repository, selection)?);
        let wholes: Vec<RunRecord> = settings.into_iter().map(|setting| setting.whole).collect();
        Ok((selection.clone(), wholes))
    });
    Ok(records.collect::<Result<Vec<_>, dyno_campaign::Error>>()?)
}

/// What comes of holding every set against the first.
pub(crate) fn answers(repository: &Repository, sides: &[String]) -> Result<Vec<Answer>, Trouble> {
    let judge = Judge::new(&[], dyno_analyze::compare::MARGIN_PCT, &[])?;
    Ok(judge.answers(&records(repository, sides)?))
}

fn show(repository: &Repository, sides: &[String]) -> Result<String, Trouble> {
    let records = records(repository, sides)?;
    let held = Judge::new(&[], dyno_analyze::compare::MARGIN_PCT, &[])?.answers(&records);
    let comparisons: Vec<&Comparison> = held.iter().map(|answer| &answer.comparison).collect();
    let of_sides = records.iter().map(|(name, records)| (name.as_str(), Answers::of(&points(records))));
    let mut sections = dyno_report::compare_sections(&Answers::of_sides(of_sides), &comparisons);
    sections.extend(comparisons.iter().filter_map(|comparison| differed(comparison)));
    let actions = html! {
        @for side in sides { a href={"/report?runs=" (escaped(side))} { (clean(side)) } " " }
        a href={"/api/v1/compare?" (query(sides))} { "JSON" }
    };
    let title = format!("{} against {}", sides[1..].join(", "), sides[0]);
    let about = "Differences are B less A in percent of A; there is no verdict from single runs.";
    Ok(pages_in(Some(&frame::around("/compare", &actions)), &title, about, &sections))
}

/// The sets as an address names them.
pub(crate) fn query(sides: &[String]) -> String {
    let pairs = ["a", "b", "b", "b", "b", "b"].iter().zip(sides);
    pairs.map(|(name, side)| format!("{name}={}", escaped(side))).collect::<Vec<_>>().join("&")
}

/// What else differed, and runs that count on no side; nothing where there is neither.
fn differed(comparison: &Comparison) -> Option<Section> {
    let mut grid = Grid::new(["what", "A", "B"].map(Head::text).to_vec());
    for difference in &comparison.differed {
        let cells = [difference.name.clone(), difference.a.join(", "), difference.b.join(", ")];
        grid.row(cells.iter().map(|text| Cell::text(text)).collect());
    }
    let lines: Vec<String> =
        comparison.left_out.iter().map(|(run, why)| format!("Left out: {run}, {why}.")).collect();
    let is_told = !grid.rows.is_empty() || !lines.is_empty();
    let title = format!("What else differed: {} against {}", comparison.b, comparison.a);
    is_told.then(|| Section { title, lines, grids: vec![(String::new(), grid)], ..Section::default() })
}

/// The page on which the other side is chosen.
async fn choose(shared: &Shared, first: Option<String>) -> Result<Html<String>, Trouble> {
    let wanted = first.clone();
    let listed = shared.read(move |state, repository| {
        let listed = state.store.listed(repository)?;
        let known =
            wanted.and_then(|id| listed.runs.iter().find(|run| run.id == id).map(|run| run.target.clone()));
        // Runs on the same target first: these are meant most often.
        let (same, others): (Vec<_>, Vec<_>) =
            listed.runs.iter().partition(|run| known.as_ref().is_none_or(|target| *target == run.target));
        Ok(same.into_iter().chain(others).take(OFFERED).cloned().collect::<Vec<_>>())
    });
    let runs = listed.await?;
    let side = |name: &str, label: &str, value: &str| -> Markup {
        html! { label { (label) " " input name=(name) value=(value) list="runs" required; } }
    };
    let body = html! {
        form class="filters" method="get" action="/compare" {
            (side("a", "Baseline (A)", first.as_deref().unwrap_or_default()))
            (side("b", "Candidate (B)", ""))
            button type="submit" { "Compare" }
            datalist id="runs" {
                @for run in &runs {
                    option value=(run.id) { (moment(&run.started_at)) " " (clean(&run.target)) }
                }
            }
        }
        p class="dim" {
            "A side is a run (an id, last, last~2), a sweep, tag:NAME or variant:NAME; several with commas between them are repeats."
        }
        p { "Or tick two on " a href="/" { "the page of all runs" } "." }
    };
    Ok(Html(frame::page("Compare", "/compare", &body).into_string()))
}
