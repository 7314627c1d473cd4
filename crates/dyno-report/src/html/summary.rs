//! Two pages of paper for who has to decide: the answer, one chart, the comparison, and what was not measured. All else is the
//! appendix behind them. On a screen the page itself begins with the answer, so these are for paper alone.

use std::collections::BTreeMap;

use dyno_analyze::conclusion::Figures;
use dyno_analyze::number::{ABSENT, fixed};
use dyno_analyze::points::phrase;
use dyno_analyze::whose::mark;
use dyno_record::{CheckStatus, Metric, RunRecord, Waits};
use maud::{Markup, PreEscaped, html};

use crate::answer::{answer_short, tone_class};
use crate::audit::spoken;
use crate::chart::Chart;
use crate::chart::svg::{Look, svg};
use crate::compare_table::{overall_grid, signed_percent};
use crate::grid::{Cell, Grid, Head};
use crate::report::Report;
use crate::request::Request;
use crate::text::clean;

use super::grid::table;

/// Rows of a table, and reasons, that two pages have room for.
const ROWS_MAX: usize = 12;
/// Things of one reason that are named.
const NAMED_MAX: usize = 6;

pub(super) fn summary(report: &Report<'_>, request: &Request, title: &str) -> Markup {
    let answer = report.answer();
    let chart = chart(report);
    html! {
        section id="summary" {
            h1 { (clean(title)) }
            dl {
                @for (name, value) in facts(report, request) { div { dt { (name) } dd { (clean(&value)) } } }
            }
            h2 { "Answer" }
            p class="line" { (clean(&answer.line)) }
            @if report.has_answers() {
                p class={"state " (tone_class(report.answers.tone))} { (report.answers.tone.word()) }
                (table(&first_rows(answer_short(&report.answers)), "answers in short"))
                @for line in crate::answer::rest(&report.answers, false) { p { (clean(&line)) } }
            } @else {
                @for line in &answer.more { p { (clean(line)) } }
            }
            @if let Some(chart) = chart {
                figure { (PreEscaped(svg(&own_names(chart), Look::Page))) figcaption { (clean(&chart.about)) } }
            }
            @if let Some(compared) = compared(report) {
                h2 { "Comparison" }
                (table(&first_rows(compared), "comparison in short"))
            }
            h2 { "Not measured" }
            ul { @for line in not_measured(report) { li { (clean(&line)) } } }
            p { "Prices are not part of a report: " code { "dyno price" } " reckons with a file of them. The appendix has every figure, the audit and the platform." }
        }
    }
}

/// Author, date, platforms.
fn facts(report: &Report<'_>, request: &Request) -> Vec<(&'static str, String)> {
    let day = |time: &str| time.get(..10).unwrap_or(time).to_owned();
    let mut facts = Vec::new();
    facts.extend(request.author.clone().map(|author| ("author", author)));
    facts.push(("report made", day(&request.made_at)));
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

/// The chart that says most: over all points, or of the one run.
fn chart<'r>(report: &'r Report<'_>) -> Option<&'r Chart> {
    report.charts.first().or_else(|| report.close_charts.first())
}

/// The same chart under a name of its own: its other place in the page has the first one.
fn own_names(chart: &Chart) -> Chart {
    Chart { id: format!("summary-{}", chart.id), ..chart.clone() }
}

fn first_rows(mut grid: Grid) -> Grid {
    let left = grid.rows.len().saturating_sub(ROWS_MAX);
    grid.rows.truncate(ROWS_MAX);
    if left > 0 {
        grid.row(vec![Cell::text(&format!("and {left} more rows in the appendix"))]);
    }
    grid
}

/// Each curve against the first, or what an A/B comparison came to; none where there is nothing to compare.
fn compared(report: &Report<'_>) -> Option<Grid> {
    for conclusion in &report.conclusions {
        if let Figures::Ab(ab) = &conclusion.figures {
            return ab.comparison.as_ref().map(overall_grid);
        }
    }
    let curves = &report.answers.curves;
    let first = curves.first().filter(|_| report.has_answers() && curves.len() > 1)?;
    let mut grid = Grid::new(vec![
        Head::text("curve"),
        Head::figures("capacity", ""),
        Head::figures("deviation", "%").explained("of the first"),
        Head::text("limit"),
    ]);
    for curve in curves {
        let is_same = curve.measure == first.measure && first.capacity.value > 0.0;
        let by = is_same.then(|| 100.0 * (curve.capacity.value / first.capacity.value - 1.0));
        grid.row(vec![
            Cell::text(&curve.name),
            Cell::text(&mark(phrase(&curve.measure, curve.capacity.value), curve.marked)),
            Cell::text(&by.map_or_else(|| ABSENT.to_owned(), signed_percent)),
            Cell::text(&curve.limit.short()),
        ]);
    }
    Some(grid)
}

/// What nobody could tell, by its reason: the figures that are absent, and the checks that were skipped.
fn not_measured(report: &Report<'_>) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let Some(record) = report.shown() else { return vec!["no run was made".to_owned()] };
    for (name, metric) in &record.metrics {
        if let Metric::Absent { absent } = metric {
            by_reason.entry(absent).or_default().push(spoken(name));
        }
    }
    if let Waits::Absent { absent } = &record.waits {
        by_reason.entry(absent).or_default().push("waits".to_owned());
    }
    let skipped = record.audit.iter().filter(|check| check.status == CheckStatus::Skipped).count();
    let mut lines: Vec<String> =
        by_reason.iter().take(ROWS_MAX).map(|(reason, names)| told(reason, names)).collect();
    if by_reason.len() > ROWS_MAX {
        lines.push(format!(
            "and more, for {} other reasons: the appendix has them",
            by_reason.len() - ROWS_MAX
        ));
    }
    if skipped > 0 {
        lines.push(format!("{} checks of the audit had nothing to go by", fixed(skipped as f64, 0)));
    }
    if lines.is_empty() {
        lines.push("nothing that was looked for is missing".to_owned());
    }
    lines
}

fn told(reason: &str, names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let mut list = names[..names.len().min(NAMED_MAX)].join(", ");
    if more > 0 {
        list.push_str(&format!(" and {more} more"));
    }
    format!("{list}: {reason}")
}
