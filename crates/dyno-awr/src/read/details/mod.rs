//! Reads sections of rows with figures, from latches to the cluster interconnect.
//!
//! A section is read only where all its captions are known: then each value has the meaning of its
//! column.

mod activity;
mod advisories;
mod contention;
mod exadata;
mod instances;
mod interconnect;
mod layout;
mod limits;
mod memory;
mod rac;
mod services;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

pub(crate) use layout::AwrComparisonKind;
use layout::{AwrCellFormat, AwrColumn, AwrSectionLayout};

use super::context::{Context, Sources};
use crate::issue::AwrIssueSeverity;
use crate::number::{PrintedNumber, Suffix, TimeUnit, is_absent};
use crate::report::DetailRow;
use crate::table::{AwrTable, AwrTableRow, squash};

/// All layouts, grouped by subject.
const LAYOUTS: [&[AwrSectionLayout]; 10] = [
    contention::LAYOUTS,
    advisories::LAYOUTS,
    memory::LAYOUTS,
    services::LAYOUTS,
    limits::LAYOUTS,
    activity::LAYOUTS,
    rac::LAYOUTS,
    interconnect::LAYOUTS,
    instances::LAYOUTS,
    exadata::LAYOUTS,
];

fn layouts() -> impl Iterator<Item = &'static AwrSectionLayout> {
    LAYOUTS.into_iter().flatten()
}

/// The layouts that a section of this title may have.
fn by_title(title: &str) -> Option<&'static Vec<&'static AwrSectionLayout>> {
    static BY_TITLE: LazyLock<BTreeMap<&str, Vec<&AwrSectionLayout>>> = LazyLock::new(|| {
        let mut by_title: BTreeMap<&str, Vec<&AwrSectionLayout>> = BTreeMap::new();
        for layout in layouts() {
            layout.titles.iter().for_each(|title| by_title.entry(title).or_default().push(layout));
        }
        by_title
    });
    BY_TITLE.get(title)
}

/// The lists into which sections are read.
pub(crate) fn detail_lists() -> &'static BTreeSet<&'static str> {
    static LISTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| layouts().map(|layout| layout.list).collect());
    &LISTS
}

/// How a figure of a list is compared between reports; absent where it is not.
pub(crate) fn compared(list: &str, figure: &str) -> Option<AwrComparisonKind> {
    static BY_NAME: LazyLock<BTreeMap<(&str, &str), AwrComparisonKind>> = LazyLock::new(|| {
        let columns = layouts().flat_map(|layout| layout.columns.iter().map(|column| (layout.list, column)));
        columns.filter_map(|(list, column)| Some(((list, column.figure), column.compared?))).collect()
    });
    BY_NAME.get(&(list, figure)).copied()
}

/// The reader for a section of this title.
pub(super) fn reader(title: &str) -> Option<fn(&mut Context, &AwrTable<'_>)> {
    by_title(title).map(|_| read as fn(&mut Context, &AwrTable<'_>))
}

/// The layout of a table, and the layout column of each table column.
struct Fitting {
    layout: &'static AwrSectionLayout,
    columns: Vec<&'static AwrColumn>,
    /// The column of the container, which a report of several containers has at the end.
    pdb: Option<usize>,
}

/// A layout that knows all captions of a table.
fn fitting(table: &AwrTable<'_>, title: &str) -> Option<Fitting> {
    let captions = table.squashed();
    by_title(title)?.iter().find_map(|layout| {
        let is_named_last = |caption: &String| caption == "pdbname";
        let own_pdb = layout.columns.iter().any(|column| column.captions.contains(&"pdbname"));
        let pdb = captions.len().checked_sub(1).filter(|&last| !own_pdb && is_named_last(&captions[last]));
        let mut unused: Vec<&'static AwrColumn> = layout.columns.iter().collect();
        let mut columns = Vec::with_capacity(captions.len());
        for (at, caption) in captions[..pdb.unwrap_or(captions.len())].iter().enumerate() {
            // A cell that spans two columns: one for the mark of an outlier, and one for the
            // figure.
            if at > 0 && *caption == captions[at - 1] {
                columns.push(columns[at - 1]);
                continue;
            }
            // One release breaks the tag after its last caption.
            let caption = caption.trim_end_matches("</tr>");
            let at = unused.iter().position(|column| column.captions.contains(&caption))?;
            columns.push(unused.remove(at));
        }
        let has = |is_kind: fn(&AwrCellFormat) -> bool| columns.iter().any(|column| is_kind(&column.reads));
        let is_named = layout.columns.iter().any(|column| matches!(column.reads, AwrCellFormat::Name));
        let is_whole = (!is_named || has(|reads| matches!(reads, AwrCellFormat::Name)))
            && has(|reads| {
                !matches!(reads, AwrCellFormat::Name | AwrCellFormat::Object | AwrCellFormat::Skipped)
            });
        is_whole.then_some(Fitting { layout, columns, pdb })
    })
}

pub(super) fn read(context: &mut Context, table: &AwrTable<'_>) {
    let title = squash(&table.title);
    // A title above labels and values, or above nothing.
    if table.columns.is_empty() {
        return;
    }
    let Some(Fitting { layout, columns, pdb }) = fitting(table, &title) else {
        let message = format!("its columns are unknown: {}", table.columns.join(" | "));
        context.issue(AwrIssueSeverity::Warning, &table.title, table.line, message);
        return;
    };
    let sources = Sources::new(table);
    let mut last: Vec<String> = Vec::new();
    for (at, row) in table.rows.iter().enumerate() {
        if row.cells.is_empty() {
            misfit(context, table, row);
            continue;
        }
        let Some(names) = names(layout, &columns, row, &last) else { continue };
        let mut figures = BTreeMap::new();
        for (cell, column) in columns.iter().enumerate() {
            read_cell(context, &sources, (at, cell), column, &mut figures);
        }
        let name_parts: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        let container = pdb.map(|column| row.cell(column)).filter(|name| !name.is_empty());
        let suffix = container.map_or_else(String::new, |name| format!(" ({name})"));
        let is_object = |(_, column): &(usize, &&AwrColumn)| matches!(column.reads, AwrCellFormat::Object);
        let objects = columns.iter().enumerate().filter(is_object).map(|(cell, _)| row.cell(cell).trim());
        let objects: Vec<&str> = objects.filter(|object| !object.is_empty()).collect();
        let detail = DetailRow {
            name: name_parts.join(" ") + &suffix,
            object: (!objects.is_empty()).then(|| objects.join(", ")),
            figures,
            line: row.line,
        };
        last = names;
        context.report.details.entry(layout.list).or_default().push(detail);
    }
}

/// The names of a row; blank ones come from the row above where the section omits repeats. `None`
/// where the row has no name of its own.
fn names(
    layout: &AwrSectionLayout,
    columns: &[&AwrColumn],
    row: &AwrTableRow<'_>,
    last: &[String],
) -> Option<Vec<String>> {
    let is_name = |(_, column): &(usize, &&AwrColumn)| matches!(column.reads, AwrCellFormat::Name);
    let cells = columns.iter().enumerate().filter(is_name).map(|(cell, _)| row.cell(cell).trim());
    let mut names: Vec<String> = cells.map(str::to_owned).collect();
    // A section of one row without a name describes the instance.
    if names.is_empty() {
        return (!row.cell(0).is_empty()).then(|| vec!["instance".to_owned()]);
    }
    let is_rule = |name: &str| name.bytes().all(|b| matches!(b, b'-' | b'~'));
    // Rules between groups and above sums have no name.
    if names.iter().all(|name| is_rule(name)) {
        return None;
    }
    // Dashes beside a name mark the sum of what follows.
    for name in names.iter_mut().filter(|name| !name.is_empty() && is_rule(name)) {
        "Total".clone_into(name);
    }
    // A row of a group has the last name. A row for the whole group, such as a mean, has the first.
    let is_named = |name: Option<&String>| name.is_some_and(|name| !name.is_empty());
    let has_own_name = is_named(names.first()) || (layout.repeats_names && is_named(names.last()));
    if !has_own_name {
        return None;
    }
    if layout.repeats_names {
        let blank = names.iter().take_while(|name| name.is_empty()).count();
        names.iter_mut().zip(last).take(blank).for_each(|(name, above)| name.clone_from(above));
    }
    Some(names)
}

/// Reads the figures of one cell.
fn read_cell(
    context: &mut Context,
    sources: &Sources<'_, '_>,
    (at, cell): (usize, usize),
    column: &AwrColumn,
    figures: &mut BTreeMap<&'static str, PrintedNumber>,
) {
    let rows = &sources.table.rows;
    let row = &rows[at];
    let reading = match column.reads {
        AwrCellFormat::Name | AwrCellFormat::Object | AwrCellFormat::Skipped => None,
        // Marks of outliers, and a limit without a value.
        AwrCellFormat::Number(_) if matches!(row.cell(cell).trim(), "^" | "v" | "UNLIMITED") => None,
        AwrCellFormat::Number(factor) => {
            let reading = context.number(sources, row, Some(cell), Suffix::Decimal);
            reading.map(|reading| reading.times(factor))
        }
        AwrCellFormat::Milliseconds(unit) => time_ms(context, sources, row, cell, unit),
        AwrCellFormat::Parts(names) => {
            // Text continues on the next line where the column is too narrow.
            let goes_on = |row: &&AwrTableRow<'_>| row.cells.first().is_some_and(|name| name.is_empty());
            let below = rows[at + 1..].iter().take_while(goes_on).map(|row| row.cell(cell).trim());
            let text: String = std::iter::once(row.cell(cell).trim()).chain(below).collect();
            for (name, part) in names.iter().zip(text.split('/')) {
                let reading = context.number_of(sources, row, cell, part, Suffix::Decimal);
                figures.extend(reading.map(|reading| (*name, reading)));
            }
            None
        }
    };
    figures.extend(reading.map(|reading| (column.figure, reading)));
}

fn time_ms(
    context: &mut Context,
    sources: &Sources<'_, '_>,
    row: &AwrTableRow<'_>,
    cell: usize,
    unit: TimeUnit,
) -> Option<PrintedNumber> {
    if is_absent(row.cell(cell)) {
        return None;
    }
    let time = context.time(sources, row, Some(cell), Some(unit))?.seconds();
    Some(time.times(1e3))
}

/// A line of text that does not match its captions.
fn misfit(context: &mut Context, table: &AwrTable<'_>, row: &AwrTableRow<'_>) {
    if let Some(raw) = row.raw.filter(|raw| raw.bytes().any(|b| b.is_ascii_digit())) {
        let message = format!("a line does not match the column captions and was skipped: {:?}", raw.trim());
        context.issue(AwrIssueSeverity::Warning, &table.title, row.line, message);
    }
}
