//! Collects a report's content for the printed sheets: the answer, one chart, the comparison, its price, and
//! what was not measured.

use std::collections::BTreeMap;

use dyno_analyze::conclusion::ConclusionFigures;
use dyno_analyze::number::fixed;
use dyno_analyze::price::{PlatformPrice, costs};
use dyno_analyze::scorecard::ScorecardPlatform;
use dyno_record::{CheckStatus, Metric, RunRecord, Waits};

use crate::content::answer::capacity_cell;
use crate::content::compare::{overall_grid, signed_percent};
use crate::content::price::{costs_grid, curve_price_grid, over, price_grid};
use crate::content::report::Report;
use crate::model::request::ReportRequest;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::text::clean;

use crate::model::document::{SheetPart, Sheets};

/// Maximum number of items named for one reason.
const NAMED_MAX: usize = 6;

/// The sheets after the answer, which the page itself has on the first one.
pub(super) fn summary(report: &Report<'_>, request: &ReportRequest) -> Sheets {
    let compared = compared(report);
    let compared =
        compared.map(|grid| SheetPart { title: "Comparison", grids: vec![grid], ..SheetPart::default() });
    Sheets {
        facts: facts(report, request),
        parts: compared.into_iter().chain([price(report, request)]).collect(),
        missing: not_measured(report),
        ..Sheets::default()
    }
}

/// The price part of the sheets; it says so if no prices were given.
fn price(report: &Report<'_>, request: &ReportRequest) -> SheetPart {
    let part = |lines: Vec<String>, grids| SheetPart { title: "Price", lines, grids };
    let Some(prices) = &request.prices else {
        return part(vec!["Unknown: no prices were given (--prices).".to_owned()], Vec::new());
    };
    let mut grids = Vec::new();
    let mut priced: Vec<(ScorecardPlatform, PlatformPrice)> = Vec::new();
    for conclusion in &report.conclusions {
        let ConclusionFigures::Suite(suite) = &conclusion.figures else { continue };
        let variant = report.seen.variant(Some(&conclusion.of)).unwrap_or_default();
        let Some(price) = prices.of(&[variant, &conclusion.of]) else { continue };
        // Suites of one platform are repeats of each other.
        match priced.iter_mut().find(|(known, _)| known.name == price.name) {
            Some((known, _)) => known.suites.push((**suite).clone()),
            None => {
                let (name, suites) = (price.name.clone(), vec![(**suite).clone()]);
                let (asked, notes, again) = Default::default();
                priced.push((
                    ScorecardPlatform { name, suites, printed: false, plan_settings: asked, notes, again },
                    price.clone(),
                ));
            }
        }
    }
    if !priced.is_empty() {
        let (platforms, each) = costs(prices, &priced);
        grids.extend([
            price_grid(&platforms, &prices.currency),
            costs_grid(&platforms, &each, &prices.currency),
        ]);
    } else if report.has_answers() {
        grids.extend(curve_price_grid(&report.answers.curves, report.seen.variant(None), prices));
    }
    match grids.is_empty() {
        true => part(vec!["Unknown: the prices cover none of these platforms.".to_owned()], grids),
        false => part(vec![over(prices)], grids),
    }
}

fn facts(report: &Report<'_>, request: &ReportRequest) -> Vec<(&'static str, String)> {
    let day = |time: &str| time.get(..10).unwrap_or(time).to_owned();
    let mut facts = Vec::new();
    facts.extend(request.author.clone().map(|author| ("author", author)));
    facts.push(("report generated", day(&request.made_at)));
    if let Some((first, last)) = &report.seen.measured {
        let (first, last) = (day(first), day(last));
        facts.push(("measured", if first == last { first } else { format!("{first} to {last}") }));
    }
    if let Some(record) = report.shown() {
        facts.push(("platforms", platforms(record)));
    }
    facts.push(("runs", report.seen.runs.to_string()));
    facts
}

fn platforms(record: &RunRecord) -> String {
    let targets = record.targets.iter();
    let mut words: Vec<String> =
        targets.map(|target| format!("{} {}", target.identity.product, target.identity.version)).collect();
    words.dedup();
    let host = record.database_host().unwrap_or(record.host());
    if host.cpus > 0 {
        words.push(format!("{} × {}", host.cpus, host.cpu_model));
    }
    words.extend([&host.os, &host.kernel].into_iter().filter(|text| !text.is_empty()).cloned());
    words.join("; ")
}

/// Each curve compared with the first, or the result of an A/B test; `None` if there is nothing to
/// compare.
fn compared(report: &Report<'_>) -> Option<Grid> {
    for conclusion in &report.conclusions {
        if let ConclusionFigures::Ab(ab) = &conclusion.figures {
            return ab.comparison.as_ref().map(overall_grid);
        }
    }
    let curves = &report.answers.curves;
    let first = curves.first().filter(|_| report.has_answers() && curves.len() > 1)?;
    let mut grid = Grid::new(vec![
        GridHead::text("curve"),
        GridHead::figures("capacity", ""),
        GridHead::figures("deviation", "%").explained("of the first"),
        GridHead::text("bottleneck"),
    ]);
    for curve in curves {
        let is_same = curve.measure == first.measure && first.capacity.value > 0.0;
        let deviation_pct = is_same.then(|| 100.0 * (curve.capacity.value / first.capacity.value - 1.0));
        grid.row(vec![
            GridCell::text(&curve.name),
            capacity_cell(curve),
            GridCell::number(deviation_pct, 2, signed_percent),
            GridCell::text(&curve.limit.short()),
        ]);
    }
    Some(grid)
}

/// What could not be measured, by reason: absent figures and skipped checks.
fn not_measured(report: &Report<'_>) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let Some(record) = report.shown() else { return vec!["no run was made".to_owned()] };
    for (name, metric) in &record.metrics {
        if let Metric::Absent { absent } = metric {
            by_reason.entry(absent).or_default().push(clean(name).replace('_', " "));
        }
    }
    if let Waits::Absent { absent } = &record.waits {
        by_reason.entry(absent).or_default().push("waits".to_owned());
    }
    let skipped = record.audit.iter().filter(|check| check.status == CheckStatus::Skipped).count();
    let mut lines: Vec<String> =
        by_reason.iter().map(|(reason, names)| skipped_line(reason, names)).collect();
    if skipped > 0 {
        lines.push(format!("{} checks not applicable", fixed(skipped as f64, 0)));
    }
    lines
}

fn skipped_line(reason: &str, names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let mut list = names[..names.len().min(NAMED_MAX)].join(", ");
    if more > 0 {
        list.push_str(&format!(" and {more} more"));
    }
    format!("{list}: {reason}")
}
