//! One run closely, and the audit.

use dyno_analyze::bands::{bands, sentence};
use dyno_analyze::number::{self, ABSENT, count, figure, percent, time_us};
use dyno_analyze::whose::{is_marked, mark, scope_words, whose};
use dyno_record::{AuditCheck, CheckStatus, Histogram, Latency, Metric, RunRecord, Unit};
use maud::{Markup, html};

use crate::audit::{ORDER, audit_summary, spoken};
use crate::figures::{anchor, timed};
use crate::grid::{Cell, Grid, Head};
use crate::phases;
use crate::report::Report;
use crate::seen::{Grave, LISTED_MAX, is_grave};
use crate::text::clean;
use crate::{beside, learned, profile};

use super::flame;
use super::grid::table;

pub(super) fn closely(record: &RunRecord, report: &Report<'_>) -> Markup {
    html! {
        h2 { "One run closely" }
        p {
            @if report.seen.runs > 1 { "At the highest throughput: " }
            a href={"#" (anchor(&record.id))} { (clean(&record.id)) }
            @if record.sessions() > 0 { ", " (number::sessions(record.sessions().into())) } @if record.knows("workload.update_pct") { ", " (record.plan.workload.update_pct) " % updates" } "."
        }
    }
}

/// Classes of operations, bands of latency, every metric.
pub(super) fn tables(record: &RunRecord) -> Markup {
    html! {
        @if let Some(watched) = &record.watched {
            h3 { "How each figure went" }
            @for sentence in crate::watched::spread::sentences(record, watched) { p { (clean(&sentence)) } }
            (table(&crate::watched::spread::grid(record, watched), "spread"))
        }
        @if !record.ops.is_empty() {
            h3 { "Operations" }
            (table(&classes(record), "operations"))
        }
        @if let Some(grid) = beside::beside(record) {
            h3 { "Workloads beside each other" }
            p { (beside::EXPLAINED) }
            (table(&grid, beside::TITLE))
        }
        @if let Some(grid) = phases::phases(record) {
            h3 { "Phases" }
            p { "An operation belongs to the phase in which it was due; percentiles are those of its own operations." @for words in phases::words(record) { " " (clean(&words)) "." } }
            (table(&grid, phases::TITLE))
        }
        @if let Some(grid) = learned::learned(record) {
            h3 { "One transaction" }
            p { "What one does and takes on one session alone, learned before the run, beside its mean time in the run." }
            (table(&grid, learned::TITLE))
        }
        @if let Some((_, latency)) = timed(record) {
            @if let Some((words, grid)) = band_grid(latency) { h3 { "Service time in bands" } p { (words) "." } (table(&grid, "service time in bands")) }
        }
        @if let Some(taken) = record.profile.as_ref() {
            h3 { "Where the processors' time went" }
            @for words in profile::words(record) { p { (clean(&words)) } }
            @if let Some(taken) = taken.taken() {
                (flame::flame(taken))
                div class="beside" {
                    (table(&profile::processes(record, taken, profile::ROWS_OF_PAGE), "processor time by process"))
                    (table(&profile::symbols(record, taken, profile::ROWS_OF_PAGE), "processor time by function"))
                }
            }
        }
        details { summary { "All metrics" } (table(&metrics(record), "metrics")) }
    }
}

fn classes(record: &RunRecord) -> Grid {
    let times = ["mean", "p50", "p90", "p95", "p99", "p99.9", "max"];
    let mut heads = vec![
        Head::text("class"),
        Head::figures("count", ""),
        Head::figures("errors", ""),
        Head::figures("rate", "/s"),
    ];
    heads.extend(times.map(|name| Head::figures(name, "").explained("of service time")));
    let mut grid = Grid::new(heads);
    for (name, ops) in record.by_class() {
        let l: &Latency = &ops.service_us;
        let time = |time: Option<f64>| Cell::text(&time.map_or_else(|| ABSENT.into(), time_us));
        let mut cells = vec![
            Cell::text(name),
            Cell::text(&count(ops.count)),
            Cell::text(&count(ops.errors)),
            Cell::text(&figure(ops.rate_per_s)),
        ];
        cells.extend([l.mean, l.p50, l.p90, l.p95, l.p99, l.p999, l.max].map(time));
        grid.row(cells);
    }
    grid
}

fn band_grid(latency: &Latency) -> Option<(String, Grid)> {
    let bands = bands(&Histogram::decode(latency.histogram.as_deref()?).ok()?);
    let mut grid = Grid::new(vec![
        Head::figures("band", ""),
        Head::figures("operations", ""),
        Head::figures("share", "%"),
        Head::figures("share up to there", "%"),
    ]);
    for band in &bands {
        let cells = [band.name(), count(band.count), percent(band.share_pct), percent(band.under_pct)];
        grid.row(cells.iter().map(|text| Cell::text(text)).collect());
    }
    Some((sentence(&bands), grid))
}

fn metrics(record: &RunRecord) -> Grid {
    let mut grid = Grid::new(vec![
        Head::text("metric"),
        Head::figures("value", ""),
        Head::text("unit, or why there is none"),
    ]);
    for (name, metric) in &record.metrics {
        let (value, unit) = match metric {
            Metric::Value { value, unit: Unit::Microseconds } => (figure(*value), "µs"),
            Metric::Value { value, unit } => (figure(*value), unit.name()),
            Metric::Absent { absent } => (ABSENT.to_owned(), absent.as_str()),
        };
        let unit = match whose(record, name) {
            Some(whose) if whose.marked => format!("{unit}; {}: {}", scope_words(whose.scope), whose.why),
            _ => unit.to_owned(),
        };
        grid.row(vec![
            Cell::text(name),
            Cell::text(&mark(value, is_marked(record, name))),
            Cell::text(&unit),
        ]);
    }
    grid
}

/// The whole audit of the run looked at closely, and what failed or warned in the others.
pub(super) fn audit(report: &Report<'_>) -> Markup {
    let whole = report.shown();
    let (graves, first) = &report.seen.grave;
    let others: Vec<&Grave> =
        first.iter().filter(|grave| whole.is_none_or(|whole| whole.id != grave.id)).collect();
    let own = whole.is_some_and(|whole| whole.audit.iter().any(is_grave));
    let others_more = (graves - usize::from(own)).saturating_sub(LISTED_MAX);
    html! {
        @if let Some(record) = whole {
            p { "Run " a href={"#" (anchor(&record.id))} { (clean(&record.id)) } ": " (audit_summary(&record.audit)) "." }
            (table(&checks(&record.audit.iter().collect::<Vec<_>>()), "audit"))
            @for (at, target) in record.targets.iter().enumerate() {
                @if let Some(own) = &target.own {
                    details {
                        summary { "Target " (at + 1) ", " (clean(&target.url)) ": " (audit_summary(&own.audit)) }
                        (table(&checks(&own.audit.iter().collect::<Vec<_>>()), "audit of one target"))
                    }
                }
            }
        }
        @if !others.is_empty() {
            h3 { "Failed checks and warnings of other runs" }
            @for grave in others.iter().take(LISTED_MAX) {
                details {
                    summary { (clean(&grave.id)) ": " (grave.summary) }
                    (table(&checks(&grave.checks.iter().collect::<Vec<_>>()), "audit of another run"))
                }
            }
            @if others_more > 0 { p { "and " (count(others_more as u64)) " more runs, in the embedded records." } }
        }
    }
}

fn checks(checks: &[&AuditCheck]) -> Grid {
    let mut grid = Grid::new(vec![Head::text("check"), Head::text("outcome"), Head::text("finding")]);
    for status in ORDER {
        for check in checks.iter().filter(|check| check.status == status) {
            let (word, tone) = match status {
                CheckStatus::Pass => ("✓ pass", "good"),
                CheckStatus::Warn => ("! warn", "warn"),
                CheckStatus::Fail => ("✗ fail", "bad"),
                CheckStatus::Skipped => ("– skipped", ""),
            };
            let outcome = Cell { tone, ..Cell::text(word) };
            grid.row(vec![Cell::text(&spoken(&check.check)), outcome, Cell::text(&check.detail)]);
        }
    }
    grid
}
