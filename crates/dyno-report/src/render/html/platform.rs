//! Sections of a page with the differences between runs and their platform.

use std::collections::BTreeMap;

use dyno_analyze::number::bytes;
use dyno_record::{Host, RecordKind, RunRecord};
use maud::{Markup, html};

use crate::content::facts::{facts, is_beside};
use crate::content::report::Report;
use crate::content::role;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::text::clean;

use super::grid::{pairs, table};

/// Maximum listed values of one fact.
const VALUES_MAX: usize = 6;

pub(super) fn difference_block(report: &Report<'_>) -> Markup {
    let axes = &report.points.axes;
    let differences = report.seen.facts.differences(axes);
    html! {
        @if report.seen.runs < 2 {
            p { "One run: nothing to compare with." }
        } @else {
            p {
                @if axes.is_empty() { "Nothing was varied: all runs are repeats of one setting." }
                @else { "Varied: " (axes.iter().map(|axis| clean(&axis.path)).collect::<Vec<_>>().join(", ")) "." }
                " " @if differences.is_empty() { "Nothing else differed." } @else { "These facts also differed between runs:" }
            }
            @if !differences.is_empty() {
                @let grid = {
                    let mut grid = Grid::new(vec![GridHead::text("fact"), GridHead::text("values (number of runs)")]);
                    for difference in &differences {
                        let mut words: Vec<String> = difference.values.iter().take(VALUES_MAX).map(|(value, runs)| format!("{value} ({runs})")).collect();
                        if difference.values.len() > VALUES_MAX {
                            words.push(format!("and {} more values", difference.values.len() - VALUES_MAX));
                        }
                        grid.row(vec![GridCell::text(&difference.name), GridCell::text(&words.join(" · "))]);
                    }
                    grid
                };
                (table(&grid, "differences"))
            }
        }
    }
}

pub(super) fn platform(report: &Report<'_>) -> Markup {
    match report.shown() {
        Some(record) => pairs(&head(record)),
        None => html! { p { "No run." } },
    }
}

/// Plan, mounts, settings and host facts of the run shown; `None` without a run.
pub(super) fn settings(report: &Report<'_>) -> Option<Markup> {
    let mut rest: BTreeMap<String, String> = facts(report.shown()?);
    let mut group = |prefix: &str| -> Vec<(String, String)> {
        let (taken, left): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut rest).into_iter().partition(|(name, _)| name.starts_with(prefix));
        rest = left;
        taken.into_iter().map(|(name, value)| (name[prefix.len()..].to_owned(), value)).collect()
    };
    let groups = [
        ("Plan", group("plan ")),
        ("Mounts", group("mount ")),
        ("Settings of the database", group("setting ")),
        ("Settings of each database", group("target ")),
        ("Facts of the host", group("host ")),
    ];
    Some(html! {
        @for (title, facts) in groups.iter().filter(|(_, facts)| !facts.is_empty()) {
            details { summary { (title) " (" (facts.len()) ")" } (pairs(facts)) }
        }
    })
}

fn head(record: &RunRecord) -> Vec<(String, String)> {
    let mut list = Vec::new();
    // Unknown values, as of imported results, have no row.
    let mut add = |name: &str, value: String| {
        if !value.trim().is_empty() {
            list.push((name.to_owned(), value));
        }
    };
    for target in &record.targets {
        add("target", target.url.clone());
        add("database", format!("{} {}", target.identity.product, target.identity.version));
        if !target.identity.non_default.is_empty() {
            let setting = |name: &String| match target.identity.settings.get(name) {
                Some(value) => format!("{name} = {value}"),
                None => name.clone(),
            };
            add(
                "settings changed",
                target.identity.non_default.iter().map(setting).collect::<Vec<_>>().join(", "),
            );
        }
    }
    let hosts = std::iter::once(record.host());
    for host in hosts.chain(record.hosts.iter().filter(|host| is_beside(record, host))) {
        of_host(record, host, &mut add);
    }
    let name = if record.kind == RecordKind::Import { "imported by dyno" } else { "dyno" };
    add(name, record.dyno_version.clone());
    list
}

/// Rows for one host of the run.
fn of_host(record: &RunRecord, host: &Host, add: &mut dyn FnMut(&str, String)) {
    add("host", format!("{} ({})", host.name, role::of(record, host)).trim_start().to_owned());
    for (name, words) in host.observed.iter().flat_map(role::observation_facts) {
        add(name, words);
    }
    // Little may be known of an imported host.
    if host.cpus > 0 {
        add(
            "processor",
            format!("{} × {}", host.cpus, host.cpu_model).trim_end_matches([' ', '×']).to_owned(),
        );
    }
    if host.memory_bytes > 0 {
        add("memory", bytes(host.memory_bytes));
    }
    let system = format!("{}, {}", host.os, host.kernel);
    if system.len() > 2 {
        add("system", system.trim_end_matches(", ").to_owned());
    }
}
