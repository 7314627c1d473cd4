//! Compares two or more sets of runs.

use axum::extract::Query;
use axum::response::Html;
use dyno_analyze::answer::CurveSummaries;
use dyno_analyze::{points, totals};
use dyno_campaign::compare::{ComparisonResult, ComparisonSettings};
use dyno_campaign::select;
use dyno_record::{Repository, RunRecord, RunSummary};
use dyno_report::html::pages_in;
use dyno_report::text::clean;
use dyno_report::{DifferenceReport, RowFilter};
use maud::{Markup, html};

use super::frame::{self, escaped};
use crate::reply::HttpError;
use crate::state::SharedServeState;
use crate::store::RepositoryListing;

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
    let is_full = fields.iter().any(|(name, value)| name == "full" && value == "true");
    let page = shared.read(move |state, repository| {
        let listed = state.store.listed(repository)?;
        let offers = Offers::of(&listed, sides.first().map(String::as_str));
        show(repository, &sides, is_full, &offers)
    });
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

fn show(
    repository: &Repository,
    sides: &[String],
    is_full: bool,
    offers: &Offers,
) -> Result<String, HttpError> {
    let records = records(repository, sides)?;
    let margin_pct = dyno_analyze::compare::MARGIN_PCT;
    let compared = ComparisonSettings::new(&[], margin_pct, &[])?.answers(&records);
    let reports: Vec<DifferenceReport<'_>> = compared.iter().map(report).collect();
    let of_sides =
        records.iter().map(|(name, records)| (name.as_str(), CurveSummaries::of(&points(records))));
    let filter = if is_full { RowFilter::All } else { RowFilter::Differing { margin_pct } };
    let sections = dyno_report::compare_sections(&CurveSummaries::of_sides(of_sides), &reports, filter);
    let query = query(sides);
    let actions = html! {
        (picker(offers, sides))
        @for side in sides { a href={"/report?runs=" (escaped(side))} { (clean(side)) } " " }
        @if is_full { a href={"/compare?" (query)} { "Only differences" } " " }
        @else { a href={"/compare?" (query) "&full=true"} { "Show all rows" } " " }
        a href={"/api/v1/compare?" (query)} { "JSON" }
    };
    let title = format!("{} against {}", sides[1..].join(", "), sides[0]);
    let about = "A change is B − A in percent of A; single runs give no verdict.";
    Ok(pages_in(Some(&frame::around("/compare", &actions)), &title, about, &sections))
}

/// Returns what the page of a comparison shows.
fn report(answer: &ComparisonResult) -> DifferenceReport<'_> {
    let ComparisonResult { comparison, side_by_side, gates, next, .. } = answer;
    DifferenceReport { comparison, beside: side_by_side, gates, next }
}

/// Returns the sets as a URL query.
pub(crate) fn query(sides: &[String]) -> String {
    let pairs = ["a", "b", "b", "b", "b", "b"].iter().zip(sides);
    pairs.map(|(name, side)| format!("{name}={}", escaped(side))).collect::<Vec<_>>().join("&")
}

/// What a user can choose as a side: its name, and words.
struct Offers {
    runs: Vec<(String, String)>,
    sweeps: Vec<(String, String)>,
    labels: Vec<String>,
}

impl Offers {
    /// The newest runs, campaigns, tags and variants. Runs on the target of `first` come first, because they
    /// are chosen most often.
    fn of(listed: &RepositoryListing, first: Option<&str>) -> Self {
        let target = listed.runs.iter().find(|run| Some(run.id.as_str()) == first).map(|run| &run.target);
        let (same, others): (Vec<&RunSummary>, Vec<_>) =
            listed.runs.iter().partition(|run| target.is_none_or(|target| *target == run.target));
        let runs = same.into_iter().chain(others).take(OFFERED);
        let sweeps = listed.sweeps.iter().take(OFFERED);
        let mut labels: Vec<String> = Vec::new();
        for run in &listed.runs {
            let tags = run.tags.iter().map(|tag| format!("tag:{tag}"));
            for label in tags.chain(run.variant.iter().map(|variant| format!("variant:{variant}"))) {
                if !labels.contains(&label) && labels.len() < OFFERED {
                    labels.push(label);
                }
            }
        }
        Self {
            runs: runs.map(|run| (run.id.clone(), frame::run_words(run))).collect(),
            sweeps: sweeps.map(|sweep| (sweep.id.clone(), sweep.id.clone())).collect(),
            labels,
        }
    }

    fn knows(&self, side: &str) -> bool {
        self.runs.iter().chain(&self.sweeps).any(|(name, _)| name == side)
            || self.labels.iter().any(|label| label == side)
    }
}

/// A choice for each side, and one for another side.
fn picker(offers: &Offers, sides: &[String]) -> Markup {
    let group = |title: &str, options: &[(String, String)], chosen: &str| -> Markup {
        html! {
            @if !options.is_empty() {
                optgroup label=(title) {
                    @for (name, words) in options {
                        option value=(name) selected[name == chosen] { (clean(words)) }
                    }
                }
            }
        }
    };
    let labels: Vec<(String, String)> =
        offers.labels.iter().map(|label| (label.clone(), label.clone())).collect();
    let side = |at: usize| -> Markup {
        let chosen = sides.get(at).map_or("", String::as_str);
        let (name, words) = match at {
            0 => ("a", "Baseline (A)"),
            1 => ("b", "Candidate (B)"),
            _ => ("b", "Another candidate"),
        };
        html! {
            label { (words)
                select name=(name) required[at < 2] {
                    option value="" { @if at < 2 { "choose runs" } @else { "none" } }
                    @if !chosen.is_empty() && !offers.knows(chosen) {
                        option value=(chosen) selected { (clean(chosen)) }
                    }
                    (group("Runs", &offers.runs, chosen))
                    (group("Sweeps and A/B tests", &offers.sweeps, chosen))
                    (group("Tags and variants", &labels, chosen))
                }
            }
        }
    };
    let shown = (sides.len() + 1).clamp(3, SIDES_MAX);
    html! {
        form class="filters sides" method="get" action="/compare" {
            @for at in 0..shown { (side(at)) }
            button type="submit" { "Compare" }
        }
    }
}

/// The page on which the user chooses the sides.
async fn choose(shared: &SharedServeState, first: Option<String>) -> Result<Html<String>, HttpError> {
    let wanted = first.clone();
    let offers = shared
        .read(move |state, repository| {
            let listed = state.store.listed(repository)?;
            Ok(Offers::of(&listed, wanted.as_deref()))
        })
        .await?;
    let chosen = first.clone().unwrap_or_default();
    let text = |name: &str, label: &str, value: &str| -> Markup {
        html! { label { (label) input name=(name) value=(value) required; } }
    };
    let sides: Vec<String> = first.into_iter().collect();
    let body = html! {
        (picker(&offers, &sides))
        details {
            summary { "By name, tag or variant" }
            form class="filters" method="get" action="/compare" {
                (text("a", "Baseline (A)", &chosen))
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
