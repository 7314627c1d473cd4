//! Builds the page with its sections in reading order.

use dyno_analyze::conclusion::ConclusionFigures;
use dyno_analyze::number;
use dyno_record::{RecordKind, RunRecord, Status};
use maud::{Markup, PreEscaped, html};

use crate::chart::Chart;
use crate::content::answer::tone_class;
use crate::content::by_instance::instances_grid;
use crate::content::by_target::targets_grid;
use crate::content::conclusion;
use crate::content::driver_hosts::driver_hosts_grid;
use crate::content::ramps;
use crate::content::report::{Report, ReportAnswer};
use crate::content::reported::ReportedOverview;
use crate::content::run_facts::LISTED_MAX;
use crate::content::run_rows;
use crate::model::request::ReportRequest;
use crate::model::table::Grid;
use crate::text::{capital, clean};

use super::charts::charts;
use super::prose::prose;
use super::{HOLE, PageFrame, grid, head, page_frame, platform, run_details, sheets, suite, summary};

/// Sections after the answer in order: anchor, title, and whether they are open at first. What a result was
/// measured on stands last.
const SECTIONS: [(&str, &str, bool); 13] = [
    ("reported", "Load profile and top timed events", true),
    ("tests", "Tests", true),
    ("conclusion", "Conclusion", true),
    ("matrix", "At a glance", true),
    ("charts", "Charts", true),
    ("results", "Results", true),
    ("audit", "Audit", true),
    ("imported", "Imported, not audited", true),
    ("closely", "Run details", false),
    ("differed", "Differences", false),
    ("runs", "Runs", false),
    ("platform", "Platform", false),
    ("settings", "Plan, settings and host", false),
];

pub(super) fn page(frame: Option<&PageFrame>, report: &Report<'_>, request: &ReportRequest) -> Markup {
    let answer = report.answer();
    let title = request.title.clone().unwrap_or_else(|| title(report));
    let reported = report.seen.reported.all();
    let hole = PreEscaped(HOLE.to_string());
    let suite = report.suite();
    let is_watch =
        report.seen.runs == 1 && report.seen.first.as_ref().is_some_and(|run| run.kind == RecordKind::Watch);
    let about = html! {
        (dates_line(report, &request.made_at)) @if let Some(author) = &request.author { "; by " (clean(author)) }
    };
    let charts_below: Vec<&Chart> = report.charts.iter().skip(1).collect();
    let content = |name: &str| -> Option<Markup> {
        let curves = || suite.is_none();
        match name {
            "reported" => (!reported.is_empty()).then(|| overview(&reported)),
            "tests" => suite.map(suite::tests),
            "conclusion" => conclusions(report),
            "matrix" => report.matrix.as_ref().filter(|_| curves()).map(|tables| matrix(report, tables)),
            // The tests of a suite are not points of one curve.
            "charts" => (curves() && !charts_below.is_empty()).then(|| charts(charts_below.iter().copied())),
            "results" => (curves() && !is_watch).then(|| results(report)),
            "closely" => report.close.as_ref().filter(|_| curves()).map(|record| closely(record, report)),
            "imported" => {
                let record = report.shown().filter(|record| !record.imported_metrics.is_empty() && curves());
                record.map(run_details::imported)
            }
            // A watch records only activity of others, so there is nothing to audit.
            "audit" => (!is_watch).then(|| run_details::audit(report)),
            "differed" => Some(platform::difference_block(report)),
            "runs" => Some(runs(frame.is_none(), &hole)),
            "platform" => Some(platform::platform(report)),
            "settings" => platform::settings(report),
            _ => None,
        }
    };
    let sections: Vec<(&str, &str, bool, Markup)> = SECTIONS
        .into_iter()
        .filter_map(|(name, title, open)| {
            // The details of a single run are its report.
            Some((name, title, open || name == "closely" && report.seen.runs == 1, content(name)?))
        })
        .collect();
    let body = html! {
        (page_frame::header("Dyno report", &title, &about))
        main {
            (answer_section(report, &answer))
            (sheets::sheets(&summary::summary(report, request)))
            nav aria-label="sections" {
                @for (name, title, ..) in &sections { a href={"#" (name)} { (title) } " " }
            }
            @for (name, title, open, content) in &sections {
                section id=(name) class=[(*name == "imported").then_some("foreign")] {
                    details class="section" open[*open] { summary { h2 { (title) } } (content) }
                }
            }
        }
        div id="tip" role="status" hidden {}
        (hole)
    };
    page_frame::page(frame, &title, &body)
}

pub(super) fn answer_section(report: &Report<'_>, answer: &ReportAnswer) -> Markup {
    html! { section id="answer" class=(tone(report, answer.has_result)) { (head::answer(report, answer)) } }
}

/// Load profile and top timed events of imported database reports.
fn overview(reported: &[ReportedOverview]) -> Markup {
    html! {
        @for of in reported {
            @if !of.name.is_empty() { h3 { (clean(&of.name)) } }
            p class="dim" { (clean(&of.about)) }
            div class="beside" {
                (grid::table(&of.load, "load profile"))
                (grid::table(&of.events, "top timed events"))
            }
        }
    }
}

/// The overview of a sweep: throughput and what dominates at each load, and a small chart of each curve.
fn matrix(report: &Report<'_>, (rates, limits): &(Grid, Grid)) -> Markup {
    html! {
        p class="dim" { "Throughput per second at each load; the darker, the closer to the maximum of its row." }
        (grid::table(rates, "throughput at each load"))
        p class="dim" { "What dominates there; a question mark means likely, but not certain." }
        (grid::table(limits, "what dominates at each load"))
        @if !report.multiples.is_empty() { div class="multiples" { (charts(&report.multiples)) } }
    }
}

/// One run in detail. A single run has its first chart at the head of the page.
fn closely(record: &RunRecord, report: &Report<'_>) -> Markup {
    let is_at_head = |chart: &&Chart| report.main_chart().is_some_and(|main| std::ptr::eq(main, *chart));
    html! {
        (run_details::closely(record, report))
        (run_details::profile(record))
        (charts(report.close_charts.iter().filter(|chart| !is_at_head(chart))))
        (run_details::tables(record))
    }
}

/// All runs; their rows are written into the `hole`.
fn runs(has_records: bool, hole: &PreEscaped<String>) -> Markup {
    html! {
        @if has_records {
            p { "This page contains the complete record of every run: " code { "dyno import results" } " extracts the records." }
        }
        (grid::table_of(&run_rows::heads(), "all runs", hole))
    }
}

/// CSS class of the answer: its confidence, or that there is none.
fn tone(report: &Report<'_>, has_result: bool) -> &'static str {
    let imported = report.close.as_ref().is_some_and(|record| record.status == Status::Imported);
    match (has_result, imported) {
        (false, _) => "bad",
        (true, true) => "foreign",
        (true, false) if report.has_answers() => tone_class(report.answers.tone),
        (true, false) => "plain",
    }
}

/// What conclusions say beyond the answer; `None` if that is nothing.
fn conclusions(report: &Report<'_>) -> Option<Markup> {
    let parts: Vec<_> = report
        .conclusions
        .iter()
        .filter_map(|conclusion| {
            // The tables of a suite have their own section.
            let is_suite = matches!(conclusion.figures, ConclusionFigures::Suite(_));
            let grid = conclusion::grid(conclusion).filter(|_| !is_suite);
            let sentences = report.further_sentences(conclusion);
            (grid.is_some() || !sentences.is_empty()).then_some((conclusion, sentences, grid))
        })
        .collect();
    (!parts.is_empty()).then(|| {
        html! {
            @for (conclusion, sentences, grid) in &parts {
                h3 { (clean(&conclusion::title(conclusion))) }
                @if !sentences.is_empty() { ul { @for sentence in sentences { li { (prose(sentence)) } } } }
                @if let Some(grid) = grid { (grid::table(grid, conclusion.kind())) }
            }
        }
    })
}

fn title(report: &Report<'_>) -> String {
    let Some(first) = &report.seen.first else { return "no runs".into() };
    let names = first.targets.iter().map(|t| format!("{} {}", t.identity.product, t.identity.version));
    let database = match names.collect::<Vec<_>>() {
        names if names.is_empty() => first.plan.target.url.to_string(),
        names => names.join(" and "),
    };
    // Imported records may not state it.
    let on = match database.trim() {
        "" => String::new(),
        database => format!(" on {}", clean(database)),
    };
    if let Some(suite) = report.suite() {
        let tests = number::count(suite.tests.len() as u64);
        return format!("Suite of {tests} {}{on}", if suite.tests.len() == 1 { "test" } else { "tests" });
    }
    if let (Some(_), Some(part)) = (report.ab_test(), &report.seen.part_of) {
        return format!("A/B test {}{on}", clean(&part.id));
    }
    match report.seen.runs {
        1 if first.kind == RecordKind::Watch => format!("Watch {}{on}", clean(&first.id)),
        1 => format!("Run {}{on}", clean(&first.id)),
        count => format!("{count} runs{on}"),
    }
}

fn dates_line(report: &Report<'_>, made_at: &str) -> String {
    let day = |time: &str| clean(time.get(..19).unwrap_or(time)).replace('T', " ");
    let made = day(made_at);
    match &report.seen.measured {
        None => format!("imported; time of measurement not stated by the source; report generated {made}"),
        Some((first, last)) => {
            format!("measured {} to {} UTC; report generated {made}", day(first), day(last))
        }
    }
}

fn results(report: &Report<'_>) -> Markup {
    let left_out = &report.points.left_out;
    html! {
        @if !report.points.points.is_empty() {
            p class="dim" { "One row for each setting: medians over its runs; percentiles of the runs' merged histograms." }
            (grid::table(&report.grid(), "results"))
            @if ramps::has_tables(&report.points) {
                @for table in &ramps::TABLES {
                    h3 { (capital(table.title)) }
                    (grid::table(&table.grid(&report.points), table.title))
                    @for reason in table.reasons(&report.points) { p class="dim" { (clean(&reason)) "." } }
                }
            }
            @for words in report.seen.machines.iter().take(LISTED_MAX) { p class="legend" { (clean(words)) "." } }
            @if let Some(targets) = report.close.as_ref().and_then(targets_grid) {
                h3 { "Targets" }
                p class="dim" { "Each target's own figures, and their total." }
                (grid::table(&targets, "targets"))
            }
            @if let Some(instances) = report.close.as_ref().and_then(instances_grid) {
                h3 { "Load per instance" }
                p class="dim" { "The instances of the database that served the sessions" @if report.seen.runs > 1 { ", of the run at the highest throughput" } "." }
                (grid::table(&instances, "instances"))
            }
            @if let Some(hosts) = report.close.as_ref().and_then(driver_hosts_grid) {
                h3 { "Driver hosts" }
                p class="dim" { "The hosts that ran the sessions, by rank." }
                (grid::table(&hosts, "driver-hosts"))
            }
            @if !report.unconcluded_curves().is_empty() {
                h3 { "Knee and scalability" }
                @for curve in report.unconcluded_curves() {
                    @if !curve.name.is_empty() { p { strong { (clean(&curve.name)) } } }
                    ul { @for sentence in &curve.sentences { li { (clean(sentence)) } } }
                }
            }
        }
        @if !left_out.is_empty() {
            h3 { "Without a result" }
            p { "The figures above do not include these runs." }
            ul class="left-out" {
                @for out in left_out {
                    li { a href={"#" (crate::figures::anchor(&out.id))} { (clean(&out.id)) } " " (clean(&out.reason)) }
                }
            }
        }
    }
}
