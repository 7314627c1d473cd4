//! A comparison as a report on the differences of two periods: headline, plan, load profile, time,
//! classes of operations, counters, settings, versions, hosts.

use dyno_analyze::compare::{GateResult, RunComparison};
use dyno_analyze::conclusion::ab::headline;
use dyno_analyze::differences::Area;
use dyno_analyze::next::{NextStep, next_lines};
use dyno_analyze::number::{count, fixed};
use dyno_analyze::side_by_side::{ComparedRow, SideBySide, TableGroup};

use crate::content::compare::{axis_name, compare_grid, gate_grid, runs};
use crate::content::difference_rows::{RowFilter, folded, rows_grid, settings_grid};
use crate::model::document::PageSection;
use crate::text::capital;

/// Largest number of counters that a table of differences shows.
const COUNTERS_MAX: usize = 20;
/// Largest number of rows of any other table of differences.
const ROWS_MAX: usize = 60;
/// Largest number of settings of one table.
const SETTINGS_MAX: usize = 40;

/// A table of rows: its figures, the title of its first column, and its largest number of rows.
type RowTable<'t> = (TableGroup, &'t str, usize);

/// One comparison with everything that its report shows.
#[derive(Debug, Clone, Copy)]
pub struct DifferenceReport<'c> {
    pub comparison: &'c RunComparison,
    pub beside: &'c SideBySide,
    pub gates: &'c [GateResult],
    pub next: &'c [NextStep],
}

/// Areas of settings and facts, with the titles of their sections and tables.
const AREAS: [(&str, &str, &[Area]); 3] = [
    ("Settings of the server", "setting", &[Area::Setting, Area::DefaultSetting]),
    ("Versions", "version", &[Area::Database, Area::Kernel, Area::Source]),
    ("Hosts", "fact of the host", &[Area::Hardware, Area::Mount, Area::KernelSetting]),
];
const PLAN: (&str, &str, &[Area]) =
    ("Plan and data", "plan key or fact of the data", &[Area::Plan, Area::Data]);

/// The sections of one comparison. Tables without a difference are named in a line.
pub fn difference_sections(report: &DifferenceReport<'_>, filter: RowFilter) -> Vec<PageSection> {
    let DifferenceReport { comparison, beside, .. } = *report;
    let mut sections = vec![result_section(report), settings_section(report, PLAN, filter)];
    if comparison.points.len() > 1 {
        sections.push(PageSection {
            title: "Point by point".into(),
            grids: vec![(String::new(), compare_grid(comparison))],
            ..PageSection::default()
        });
    }
    let work = beside.per.map_or("operation", |per| per.word());
    let (per_work, time) = (format!("per {work}"), format!("time per {work}"));
    let tables: [(&str, &[RowTable<'_>]); 6] = [
        (
            "Load profile",
            &[
                (TableGroup::LoadPerSecond, "per second", ROWS_MAX),
                (TableGroup::LoadPerWork, &per_work, ROWS_MAX),
            ],
        ),
        (
            "Time and waits",
            &[(TableGroup::TimeByClass, &time, ROWS_MAX), (TableGroup::TimeByEvent, "event", ROWS_MAX)],
        ),
        ("Classes of operations", &[(TableGroup::Classes, "class", ROWS_MAX)]),
        ("Top statements", &[(TableGroup::Statements, "statement", ROWS_MAX)]),
        ("Tables and indexes", &[(TableGroup::Relations, &per_work, ROWS_MAX)]),
        ("Counters of the database", &[(TableGroup::Counters, &per_work, COUNTERS_MAX)]),
    ];
    for (title, parts) in tables {
        sections.extend(rows_section(title, parts, beside, filter));
    }
    sections.extend(AREAS.into_iter().map(|area| settings_section(report, area, filter)));
    sections
}

/// Headline, sides, measures, gates, notes, and the next step.
fn result_section(report: &DifferenceReport<'_>) -> PageSection {
    let DifferenceReport { comparison, beside, gates, next } = *report;
    let mut lines = vec![capital(&headline(comparison))];
    lines.push(format!(
        "A: {} ({}); B: {} ({})",
        comparison.a,
        runs(comparison.runs.0),
        comparison.b,
        runs(comparison.runs.1)
    ));
    lines.push(explanation(comparison, beside));
    lines.extend(tests(beside));
    lines.extend(beside.others.iter().chain(&comparison.notes).cloned());
    lines.extend(comparison.varied.iter().map(|varied| varied.words()));
    for alone in &comparison.alone {
        let at = comparison.axes.iter().zip(&alone.at);
        let at: Vec<String> = at.map(|(axis, value)| format!("{} {value}", axis_name(axis))).collect();
        lines.push(format!("only {} has {}", alone.side, at.join(", ")));
    }
    lines.extend(comparison.left_out.iter().map(|(id, reason)| format!("left out: {id}, {reason}")));
    let mut grids = Vec::new();
    grids.extend(
        rows_grid("measure", beside.rows(TableGroup::Measures), RowFilter::All, ROWS_MAX, beside.over_looks)
            .map(|grid| (String::new(), grid)),
    );
    if !gates.is_empty() {
        grids.push(("Gates".to_owned(), gate_grid(gates, comparison.over_looks)));
    }
    lines.extend(next_lines(next));
    PageSection { title: "Result".into(), lines, grids, ..PageSection::default() }
}

fn explanation(comparison: &RunComparison, beside: &SideBySide) -> String {
    let margin = fixed(comparison.margin_pct, 1);
    let figures = match beside.points {
        0 => return "the two sides have no common point: nothing to compare".to_owned(),
        1 => "A and B are medians of the runs".to_owned(),
        points => format!(
            "A and B are geometric means over the {points} common points of the medians of the runs \
             (arithmetic means if one is nearly zero)"
        ),
    };
    format!("{figures}; a change is B − A in % of A, and up to ±{margin} % counts as equal")
}

/// Which test the rows use, and how many differ by chance.
fn tests(beside: &SideBySide) -> Option<String> {
    let (tested, differing) = beside.tested();
    if tested > 0 {
        let how = match beside.over_looks {
            true => {
                "rank test of the runs at the level of the look: the interval over all looks is without 0"
            }
            false => "rank test of the runs, p ≤ 5 %, and the 95 % interval without 0",
        };
        return Some(format!(
            "{differing} of {tested} tested rows differ significantly ({how}). Each row is tested by itself: of {tested} equal rows, up to {} would differ by chance",
            (tested as f64 * 0.05).ceil()
        ));
    }
    beside.has_windows().then(|| {
        "one run of each side gives no verdict. Here p compares the intervals inside the two runs (rank test of \
         batch means, significant up to 1 %): it shows whether the two windows differ, not whether the platforms do"
            .to_owned()
    })
}

/// Tables of rows; `None` if the records hold none of them.
fn rows_section(
    title: &str,
    parts: &[RowTable<'_>],
    beside: &SideBySide,
    filter: RowFilter,
) -> Option<PageSection> {
    let all: Vec<&ComparedRow> = parts.iter().flat_map(|(group, ..)| beside.rows(*group)).collect();
    let mut grids = Vec::new();
    let mut hidden = 0;
    for (group, label, rows_max) in parts {
        let rows = beside.rows(*group);
        hidden += folded(rows, filter);
        if let Some(grid) = rows_grid(label, rows, filter, *rows_max, beside.over_looks) {
            let cut = (rows.len() - folded(rows, filter)).saturating_sub(*rows_max);
            if cut > 0 && !filter.is_all() {
                hidden += cut;
            }
            grids.push((if parts.len() > 1 { capital(label) } else { String::new() }, grid));
        }
    }
    let lines = (hidden > 0).then(|| hidden_words(hidden, all.len(), filter)).into_iter().collect();
    (!all.is_empty()).then(|| PageSection { title: title.to_owned(), lines, grids, ..PageSection::default() })
}

fn hidden_words(hidden: usize, all: usize, filter: RowFilter) -> String {
    let margin = match filter {
        RowFilter::Differing { margin_pct } => format!("{} %", fixed(margin_pct, 1)),
        RowFilter::All => "the margin".to_owned(),
    };
    match hidden == all {
        true => format!("none of {} rows differs by more than {margin}", count(all as u64)),
        false => format!(
            "{} of {} rows are not shown: they differ by at most {margin}, or less than those shown; \
             `dyno compare --full` shows all",
            count(hidden as u64),
            count(all as u64)
        ),
    }
}

/// Settings and facts that differ; the equal ones are counted, or listed by [`RowFilter::All`].
fn settings_section(
    report: &DifferenceReport<'_>,
    (title, label, areas): (&str, &str, &[Area]),
    filter: RowFilter,
) -> PageSection {
    let [differing, equal] = [&report.comparison.differed, &report.beside.equal]
        .map(|all| all.iter().filter(|of| areas.contains(&of.area)).collect::<Vec<_>>());
    let mut lines = Vec::new();
    let mut grids = Vec::new();
    match (differing.len(), equal.len()) {
        (0, 0) => lines.push("the records hold none".to_owned()),
        (0, equal) => lines.push(format!("no difference; {} are equal", count(equal as u64))),
        (_, 0) => {}
        (_, equal) => lines.push(format!("{} others are equal", count(equal as u64))),
    }
    let shown = if filter.is_all() { differing.len() } else { differing.len().min(SETTINGS_MAX) };
    if shown > 0 {
        grids.push((String::new(), settings_grid(label, &differing[..shown])));
    }
    if shown < differing.len() {
        lines.push(format!("{} more differ", count((differing.len() - shown) as u64)));
    }
    if filter.is_all() && !equal.is_empty() {
        grids.push(("Equal".to_owned(), settings_grid(label, &equal)));
    }
    PageSection { title: title.to_owned(), lines, grids, ..PageSection::default() }
}
