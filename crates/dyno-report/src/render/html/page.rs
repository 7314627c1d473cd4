//! Builds the page with its sections in reading order.

use dyno_analyze::conclusion::ConclusionFigures;
use dyno_analyze::number;
use dyno_record::{RecordKind, Status};
use maud::{Markup, PreEscaped, html};

use crate::content::answer::{self, tone_class};
use crate::content::by_instance::instances_grid;
use crate::content::by_target::targets_grid;
use crate::content::conclusion;
use crate::content::driver_hosts::driver_hosts_grid;
use crate::content::ramps;
use crate::content::report::Report;
use crate::content::reported::ReportedOverview;
use crate::content::run_facts::LISTED_MAX;
use crate::content::run_rows;
use crate::model::request::ReportRequest;
use crate::text::{capital, clean};

use super::charts::charts;
use super::prose::prose;
use super::{HOLE, PageFrame, grid, page_frame, platform, run_details, sheets, suite, summary};

/// Sections after the answer: anchor and title.
const SECTIONS: [(&str, &str); 11] = [
    ("reported", "Load profile and top timed events"),
    ("tests", "Tests"),
    ("conclusion", "Conclusion"),
    ("matrix", "At a glance"),
    ("charts", "Charts"),
    ("results", "Results"),
    ("closely", "Run details"),
    ("imported", "Imported, not audited"),
    ("audit", "Audit"),
    ("differed", "Differences"),
    ("platform", "Platform"),
];

pub(super) fn page(frame: Option<&PageFrame>, report: &Report<'_>, request: &ReportRequest) -> Markup {
    let answer = report.answer();
    let title = request.title.clone().unwrap_or_else(|| title(report));
    let reported = report.seen.reported.all();
    let hole = PreEscaped(HOLE.to_string());
    let suite = report.suite();
    let is_watch =
        report.seen.runs == 1 && report.seen.first.as_ref().is_some_and(|run| run.kind == RecordKind::Watch);
    let shown = |name: &str| match name {
        "reported" => !reported.is_empty(),
        "conclusion" => !report.conclusions.is_empty(),
        "tests" => suite.is_some(),
        // The tests of a suite are not points of one curve.
        "charts" => !report.charts.is_empty() && suite.is_none(),
        "matrix" => report.matrix.is_some(),
        "results" => suite.is_none() && !is_watch,
        // A watch records only activity of others, so there is nothing to audit.
        "audit" => !is_watch,
        "closely" => report.close.is_some() && suite.is_none(),
        "imported" => {
            report.shown().is_some_and(|record| !record.imported_metrics.is_empty()) && suite.is_none()
        }
        _ => true,
    };
    let about = html! {
        (dates_line(report, &request.made_at)) @if let Some(author) = &request.author { "; by " (clean(author)) }
    };
    let body = html! {
        (sheets::sheets(&summary::summary(report, request, &title)))
        (page_frame::header("Dyno report", &title, &about))
        main {
            section id="answer" class=(tone(report, answer.has_result)) {
                p class="line" { (clean(&answer.line)) }
                @if report.has_answers() { (answer_block(report)) }
                @for line in &answer.more { p { (prose(line)) } }
            }
            nav aria-label="sections" {
                @for (name, title) in SECTIONS.iter().filter(|(name, _)| shown(name)) { a href={"#" (name)} { (title) } " " }
                a href="#runs" { "Runs" }
            }
            @if shown("reported") {
                section id="reported" { h2 { "Load profile and top timed events" } (overview(&reported)) }
            }
            @if let Some(suite) = suite {
                section id="tests" { h2 { "Tests" } (suite::tests(suite)) }
            }
            @if shown("conclusion") {
                section id="conclusion" { h2 { "Conclusion" } (conclusions(report)) }
            }
            @if let Some((rates, limits)) = report.matrix.as_ref().filter(|_| shown("charts")) {
                section id="matrix" {
                    h2 { "At a glance" }
                    p class="dim" { "Throughput per second at each load; the darker, the closer to the maximum of its row." }
                    (grid::table(rates, "throughput at each load"))
                    p class="dim" { "What dominates there; a question mark means likely, but not certain." }
                    (grid::table(limits, "what dominates at each load"))
                    @if !report.multiples.is_empty() { div class="multiples" { (charts(&report.multiples)) } }
                }
            }
            @if shown("charts") {
                section id="charts" { h2 { "Charts" } (charts(&report.charts)) }
            }
            @if shown("results") {
                section id="results" { h2 { "Results" } (results(report)) }
            }
            @if let Some(record) = report.close.as_ref().filter(|_| shown("closely")) {
                section id="closely" { (run_details::closely(record, report)) (run_details::profile(record)) (charts(&report.close_charts)) (run_details::tables(record)) }
            }
            @if let Some(record) = report.shown().filter(|_| shown("imported")) {
                section id="imported" class="foreign" { (run_details::imported(record)) }
            }
            @if shown("audit") {
                section id="audit" { h2 { "Audit" } (run_details::audit(report)) }
            }
            section id="differed" { h2 { "Differences" } (platform::difference_block(report)) }
            section id="platform" { h2 { "Platform" } (platform::platform(report)) }
            section id="runs" {
                h2 { "Runs" }
                @if frame.is_none() {
                    p { "This page contains the complete record of every run: " code { "dyno import results" } " extracts the records." }
                }
                (grid::table_of(&run_rows::heads(), "all runs", &hole))
            }
        }
        div id="tip" role="status" hidden {}
        (hole)
    };
    page_frame::page(frame, &title, &body)
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

/// Capacity, knee, bottleneck, confidence and headroom: of one curve word by word, of several as a table.
fn answer_block(report: &Report<'_>) -> Markup {
    let answers = &report.answers;
    html! {
        p class={"state " (tone_class(answers.tone))} { (answers.tone.word()) }
        @if let [one] = answers.curves.as_slice() {
            dl class="five" { @for (word, said) in answer::pairs(one) { div { dt { (word) } dd { (clean(&said)) } } } }
        } @else {
            (grid::table(&answer::answer_short(answers), "answers"))
        }
        @for line in answer::remaining_lines(answers, answers.curves.len() == 1) { p { (prose(&line)) } }
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

fn conclusions(report: &Report<'_>) -> Markup {
    html! {
        @for conclusion in &report.conclusions {
            h3 { (clean(&conclusion::title(conclusion))) }
            // The tables of a suite have their own section.
            @let is_suite = matches!(conclusion.figures, ConclusionFigures::Suite(_));
            ul { @for sentence in conclusion.sentences().into_iter().chain(conclusion.next_lines()) { li { (prose(&sentence)) } } }
            @if let Some(grid) = conclusion::grid(conclusion).filter(|_| !is_suite) { (grid::table(&grid, conclusion.kind())) }
        }
    }
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
            @if let Some(legend) = report.legend() { p class="legend" { (clean(&legend)) } }
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
            @if !report.curves.is_empty() {
                h3 { "Knee and scalability" }
                @for curve in &report.curves {
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
