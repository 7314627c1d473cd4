//! Shows a whole record: what ran where, the result, and how far it can be trusted.
//!
//! Long lists are bounded; `--json` shows everything. Figures of a run without a result are shown here under
//! a heading that says so, because diagnosis needs them.

mod head;
mod lists;
mod metrics;
mod platform;
mod series;
mod waits;

use dyno_record::{Outage, RunRecord};

pub(crate) use self::metrics::metric_grid;

use crate::calibration_text;
use crate::content::audit::audit_full;
use crate::content::by_instance;
use crate::content::concurrent;
use crate::content::custom_workload;
use crate::content::database_report;
use crate::content::imported_metrics;
use crate::content::learned_costs;
use crate::content::load_profile;
use crate::content::loaded;
use crate::content::phases;
use crate::content::profile;
use crate::content::server_activity;
use crate::content::service_bands::service_bands_text;
use crate::content::table_activity;
use crate::content::timed_events;
use crate::content::top_statements;
use crate::model::table::Grid;
use crate::style::{Paint, Style};
use crate::text::{clean, indent, wrap};

/// Maximum events whose distributions of waits are shown; the record contains the others.
const DISTRIBUTIONS_MAX: usize = 3;

/// Maximum outages shown; the record contains the others.
pub(crate) const OUTAGES_MAX: usize = 20;

/// A table of the phases of a schedule and its notes; empty without phases.
pub fn phases_text(record: &RunRecord, style: &Style) -> String {
    let Some(grid) = phases::phases(record) else { return String::new() };
    let mut out = grid.render(style);
    for words in phases::words(record) {
        out.push_str(&wrap(&words, style.columns(), usize::MAX).join("\n"));
        out.push('\n');
    }
    out
}

/// A table after an empty line; empty without a table.
fn text_of(grid: Option<Grid>, style: &Style) -> String {
    grid.map_or_else(String::new, |grid| format!("\n{}", indent(&grid.render(style))))
}

/// The load profile with its notes, and the events that the database counts and times.
fn load(record: &RunRecord, style: &Style) -> String {
    let Some(grid) = load_profile::load(record) else { return String::new() };
    let lines =
        load_profile::notes(record).into_iter().flat_map(|words| wrap(&clean(&words), style.columns(), 4));
    let notes: String = lines.map(|line| format!("{}\n", style.paint(Paint::Dim, &line))).collect();
    let events = timed_events::counted_events(record).map(|(grid, _)| grid);
    format!("{}{}{}", text_of(Some(grid), style), indent(&notes), text_of(events, style))
}

fn outages(record: &RunRecord, style: &Style) -> String {
    let lines = |outage: &Outage| {
        let details = outage.details().into_iter().map(|line| format!("  {line}"));
        std::iter::once(outage.sentence()).chain(details).collect::<Vec<_>>()
    };
    let lines = record.outages.iter().take(OUTAGES_MAX).flat_map(lines);
    lines
        .flat_map(|line| wrap(&clean(&line), style.columns(), usize::MAX))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The whole record as text.
pub fn show(record: &RunRecord, style: &Style) -> String {
    if let Some(text) = calibration_text(record, style) {
        return text;
    }
    // Sections are indented by two columns below their titles.
    let inner = &Style { width: style.columns() - 2, ..*style };
    let sections = [
        ("", head::head(record, style)),
        ("plan", head::plan(record, inner)),
        ("result", head::result(record, inner)),
        ("", load(record, inner)),
        ("targets", crate::content::by_target::targets_table(record, inner)),
        (
            by_instance::TITLE,
            by_instance::instances_grid(record).map_or_else(String::new, |grid| grid.render(inner)),
        ),
        ("operations", crate::content::classes::classes_text(record, inner)),
        (concurrent::TITLE, concurrent::beside(record).map_or_else(String::new, |grid| grid.render(inner))),
        (loaded::TITLE, loaded::loaded(record).map_or_else(String::new, |grid| grid.render(inner))),
        (
            custom_workload::TITLE,
            custom_workload::transactions(record).map_or_else(String::new, |grid| {
                format!("{}{}", grid.render(inner), custom_workload::lines(record, inner))
            }),
        ),
        (
            learned_costs::TITLE,
            learned_costs::learned(record).map_or_else(String::new, |grid| grid.render(inner)),
        ),
        (
            database_report::TITLE,
            database_report::compared(record).map_or_else(String::new, |grid| {
                let words = database_report::words(record).unwrap_or_default();
                format!("  {words}\n{}", grid.render(inner))
            }),
        ),
        (phases::TITLE, phases_text(record, inner)),
        ("service time", service_bands_text(record, inner)),
        ("time series", series::series(record, inner)),
        ("metrics", metrics::metrics(record, inner)),
        (dyno_analyze::attribution::MARK_MEANS, metrics::attribution_lines(record, inner)),
        ("waits", waits::waits(record, inner)),
        ("", text_of(timed_events::wait_distributions(record, DISTRIBUTIONS_MAX), inner)),
        (
            top_statements::TITLE,
            // The text of a watch has statements and tables already.
            if record.watched.is_some() { String::new() } else { top_statements::text(record, inner) },
        ),
        (
            table_activity::TITLE,
            if record.watched.is_some() { String::new() } else { table_activity::text(record, inner) },
        ),
        (
            server_activity::TITLE,
            server_activity::grid(record).map_or_else(String::new, |grid| {
                let note =
                    wrap(&format!("{}.", server_activity::note(record)), inner.columns(), 4).join("\n");
                format!("{}{note}\n", grid.render(inner))
            }),
        ),
        (profile::TITLE, profile::profile_text(record, inner)),
        ("outages", outages(record, inner)),
        ("errors", platform::errors(record, inner)),
        ("settings", platform::settings(record, inner)),
        ("host", platform::host(record, inner)),
        ("hosts of databases", platform::hosts_beside(record, inner)),
        (imported_metrics::TITLE, imported_metrics::imported_metrics_text(record, inner)),
    ];
    let mut out = String::new();
    for (title, body) in sections {
        if body.is_empty() {
            continue;
        }
        if !title.is_empty() {
            out.push_str(&format!("\n{}\n", style.paint(Paint::Head, title)));
            out.push_str(&indent(&body));
        } else {
            out.push_str(&body);
        }
    }
    out.push('\n');
    out.push_str(&audit_full(&record.audit, style));
    for (at, part) in record.parts().iter().enumerate() {
        let title = format!("target {}: {}", at + 1, clean(&part.targets[0].url));
        out.push_str(&format!("\n{}\n", style.paint(Paint::Head, &title)));
        let sections = [
            crate::content::classes::classes_text(part, inner),
            waits::waits(part, inner),
            top_statements::text(part, inner),
            table_activity::text(part, inner),
            platform::errors(part, inner),
        ];
        sections.iter().for_each(|section| out.push_str(&indent(section)));
        out.push_str(&audit_full(&part.audit, style));
    }
    out
}
