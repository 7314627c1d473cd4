//! Sections of a page with details of one run, and the audit.

use dyno_analyze::number::{self, count};
use dyno_record::{AuditCheck, CheckStatus, RunRecord};
use maud::{Markup, html};

use crate::content::audit::{ORDER, audit_summary, check_label, mark};
use crate::content::concurrent;
use crate::content::custom_workload;
use crate::content::database_report;
use crate::content::imported_metrics;
use crate::content::learned_costs;
use crate::content::load_profile;
use crate::content::loaded;
use crate::content::phases;
use crate::content::profile;
use crate::content::report::Report;
use crate::content::run_facts::{FailedCheck, is_grave};
use crate::content::server_activity;
use crate::content::service_bands::service_bands;
use crate::content::show::{OUTAGES_MAX, metric_grid};
use crate::content::table_activity;
use crate::content::timed_events;
use crate::content::top_statements;
use crate::content::watched::locks;
use crate::figures::anchor;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::text::{capital, clean};

use super::charts::charts;
use super::flame;
use super::grid::table;

pub(super) fn closely(record: &RunRecord, report: &Report<'_>) -> Markup {
    html! {
        p {
            @if report.seen.runs > 1 { "At the highest throughput: " }
            a href={"#" (anchor(&record.id))} { (clean(&record.id)) }
            @if record.sessions() > 0 { ", " (number::sessions(record.sessions().into())) } @if record.knows("workload.update_pct") { ", " (record.plan.workload.update_pct) " % updates" } "."
        }
    }
}

/// The load profile and the top timed events, which administrators read first.
pub(super) fn profile(record: &RunRecord) -> Markup {
    let (load, events) = (load_profile::load(record), timed_events::events(record));
    html! {
        @if load.is_some() || events.is_some() {
            h3 { "Load profile and top timed events" }
            @if let Some((_, words)) = &events { p class="dim" { (words) } }
            div class="beside" {
                @if let Some(load) = &load { (table(load, "load profile of the run")) }
                @if let Some((events, _)) = &events { (table(events, "top timed events of the run")) }
            }
            @if load.is_some() { @for words in load_profile::notes(record) { p class="dim" { (clean(&capital(&words))) "." } } }
            @if let Some(waits) = timed_events::wait_distributions(record, usize::MAX) {
                details { summary { (capital(timed_events::DISTRIBUTIONS)) ", as the database counts them" } (table(&waits, timed_events::DISTRIBUTIONS)) }
            }
        }
    }
}

/// Operation classes, latency bands, and all metrics.
pub(super) fn tables(record: &RunRecord) -> Markup {
    html! {
        @if let Some(watched) = &record.watched {
            h3 { "Distribution of each figure" }
            @for sentence in crate::content::watched::summary::sentences(record, watched) { p { (clean(&sentence)) } }
            (table(&crate::content::watched::summary::grid(record, watched), "spread"))
        }
        @for (title, grid) in locks::tables(record) {
            h3 { (title) }
            (table(&grid, title))
        }
        @if record.statements.is_some() {
            h3 { "Top statements" }
            @if let Some(words) = top_statements::conclusion(record) { p { (capital(&words)) "." } }
            @if let Some(grid) = top_statements::grid(record) { (table(&grid, top_statements::TITLE)) }
            @for words in top_statements::notes(record) { p class="dim" { (clean(&capital(&words))) "." } }
        }
        @if record.tables.is_some() {
            h3 { "Tables and indexes" }
            @for (title, grid) in table_activity::grids(record) { (table(&grid, title)) }
            @for words in table_activity::notes(record) { p class="dim" { (clean(&capital(&words))) "." } }
        }
        @if let Some(grid) = server_activity::grid(record) {
            h3 { "Server activity" }
            p class="dim" { (server_activity::note(record)) "." }
            (table(&grid, server_activity::TITLE))
        }
        @if !record.outages.is_empty() {
            h3 { "Outages" }
            @for outage in record.outages.iter().take(OUTAGES_MAX) {
                p { (clean(&outage.sentence())) "." }
                ul { @for line in outage.details() { li { (clean(&line)) "." } } }
            }
        }
        @if !record.ops.is_empty() {
            h3 { "Operations" }
            (table(&crate::content::classes::classes_grid(record), "operations"))
        }
        @if let Some(grid) = concurrent::beside(record) {
            h3 { "Concurrent workloads" }
            p { (concurrent::EXPLAINED) }
            (table(&grid, concurrent::TITLE))
        }
        @if let Some(grid) = custom_workload::transactions(record) {
            h3 { "Transactions" }
            @for sentence in custom_workload::sentences(record) { p { (clean(&sentence)) } }
            (table(&grid, custom_workload::TITLE))
        }
        @if let Some(grid) = phases::phases(record) {
            h3 { "Phases" }
            p { "An operation belongs to the phase in which it was due; percentiles are those of its own operations." @for words in phases::words(record) { " " (clean(&words)) "." } }
            (table(&grid, phases::TITLE))
        }
        @if let Some(grid) = loaded::loaded(record) {
            h3 { "Bulk load" }
            (table(&grid, loaded::TITLE))
        }
        @if let Some(grid) = learned_costs::learned(record) {
            h3 { "One transaction" }
            p { "Cost and time of one transaction on a single session, measured before the run, next to its \
                mean time in the run." }
            (table(&grid, learned_costs::TITLE))
        }
        @if let Some(grid) = database_report::compared(record) {
            h3 { "The database's own report" }
            @if let Some(words) = database_report::words(record) { p { (clean(&words)) "." } }
            (table(&grid, database_report::TITLE))
        }
        @if let Some(Ok((words, grid))) = service_bands(record) {
            h3 { "Service time in bands" }
            p { (words) "." }
            (table(&grid, "service time in bands"))
        }
        @if let Some(taken) = record.profile.as_ref() {
            h3 { "CPU profile" }
            @for words in profile::words(record) { p { (clean(&words)) } }
            @if let Some(taken) = taken.taken() {
                (flame::flame(taken))
                div class="beside" {
                    (table(&profile::processes(record, taken, profile::ROWS_OF_PAGE), "processor time by process"))
                    (table(&profile::symbols(record, taken, profile::ROWS_OF_PAGE), "processor time by function"))
                }
            }
        }
        details { summary { "All metrics" } (table(&metric_grid(record), "metrics")) }
    }
}

/// Metrics imported for the time of the run.
pub(super) fn imported(record: &RunRecord) -> Markup {
    html! {
        @for words in imported_metrics::words(record) { p { (clean(&words)) } }
        (charts(&imported_metrics::charts(record)))
        @if let Some(grid) = imported_metrics::grid(record) { (table(&grid, imported_metrics::TITLE)) }
    }
}

/// The whole audit of the detailed run, and failures and warnings of all runs, each check once.
pub(super) fn audit(report: &Report<'_>) -> Markup {
    let whole = report.shown();
    html! {
        @if report.seen.runs > 1 && !report.seen.failed_checks.is_empty() {
            h3 { "Failed checks and warnings of all runs" }
            p { "Each check once, with the number of runs it concerns and its finding in the first of them." }
            (table(&grouped(report), "failed checks and warnings of all runs"))
        }
        @if let Some(record) = whole {
            @if report.seen.runs > 1 { h3 { "Every check of one run" } }
            p { "Run " a href={"#" (anchor(&record.id))} { (clean(&record.id)) } ": " (audit_summary(&record.audit)) "." }
            (findings(&record.audit, "audit"))
            @for (at, target) in record.targets.iter().enumerate() {
                @if let Some(own) = &target.own {
                    h3 { "Target " (at + 1) ", " (clean(&target.url)) }
                    p { (audit_summary(&own.audit)) "." }
                    (findings(&own.audit, "audit of one target"))
                }
            }
        }
    }
}

/// Failed checks and warnings; the others are folded behind their numbers.
fn findings(audit: &[AuditCheck], name: &str) -> Markup {
    let (grave, others): (Vec<&AuditCheck>, Vec<&AuditCheck>) =
        audit.iter().partition(|check| is_grave(check));
    let count = |status| others.iter().filter(|check| check.status == status).count();
    let (passed, skipped) = (count(CheckStatus::Pass), count(CheckStatus::Skipped));
    html! {
        @if !grave.is_empty() { (table(&checks(&grave), name)) }
        @if !others.is_empty() {
            details class="passed" {
                summary { (passed) " passed, " (skipped) " skipped" }
                (table(&checks(&others), &format!("{name}: passed and skipped")))
            }
        }
    }
}

/// Failed checks and warnings over all runs.
fn grouped(report: &Report<'_>) -> Grid {
    let mut grid = Grid::new(vec![
        GridHead::text("check"),
        GridHead::figures("failed in", "runs"),
        GridHead::figures("warned in", "runs"),
        GridHead::text("runs"),
        GridHead::text("finding in the first run"),
    ]);
    let mut all: Vec<&FailedCheck> = report.seen.failed_checks.iter().collect();
    all.sort_by_key(|grave| (std::cmp::Reverse(grave.failed), std::cmp::Reverse(grave.warned)));
    for grave in all {
        let runs_cell = |runs: usize| {
            if runs == 0 {
                String::new()
            } else {
                format!("{} of {}", count(runs as u64), count(report.seen.runs as u64))
            }
        };
        let more = (grave.failed + grave.warned).saturating_sub(grave.ids.len());
        let mut ids = grave.ids.join(", ");
        if more > 0 {
            ids.push_str(&format!(" and {} more", count(more as u64)));
        }
        let tone = if grave.failed > 0 { "bad" } else { "warn" };
        grid.row(vec![
            GridCell::from(check_label(&grave.check)).toned(tone),
            GridCell::text(&runs_cell(grave.failed)),
            GridCell::text(&runs_cell(grave.warned)),
            GridCell::text(&ids),
            GridCell::text(&grave.detail),
        ]);
    }
    grid
}

fn checks(checks: &[&AuditCheck]) -> Grid {
    let mut grid =
        Grid::new(vec![GridHead::text("check"), GridHead::text("outcome"), GridHead::text("finding")]);
    for status in ORDER {
        for check in checks.iter().filter(|check| check.status == status) {
            let (mark, word, tone) = mark(status);
            let outcome = GridCell::from(format!("{mark} {word}")).toned(tone);
            grid.row(vec![
                GridCell::text(&check_label(&check.check)),
                outcome,
                GridCell::text(&check.detail),
            ]);
        }
    }
    grid
}
