//! Top segments.

use super::context::{Context, Sources};
use super::load::name_of;
use crate::number::Suffix;
use crate::report::{Segment, SegmentList};
use crate::table::Table;

/// Reads one list: what it is ordered by stands in the column before the share.
pub(crate) fn read(context: &mut Context, table: &Table<'_>) {
    let Some(order) = table.title.trim().strip_prefix("Segments by ").map(name_of) else { return };
    let share = table.find(|caption| {
        caption.starts_with("%total") || caption.starts_with("%ofcapture") || caption == "pcttotal"
    });
    let Some(share) = share.filter(|column| *column > 0) else { return };
    let Some(name) = table.column("objectname") else { return };
    let sources = Sources::new(table);
    let columns = [
        table.column("owner"),
        table.find(|caption| caption.starts_with("tablespace")),
        table.column("subobjectname"),
        table.column("objtype"),
    ];
    let mut segments = Vec::new();
    for row in table.rows.iter().filter(|row| !row.cell(name).is_empty()) {
        let cell = |column: Option<usize>| column.map_or_else(String::new, |at| row.cell(at).to_owned());
        let [owner, tablespace, subobject, kind] = columns.map(cell);
        segments.push(Segment {
            owner,
            tablespace,
            name: row.cell(name).to_owned(),
            subobject,
            kind,
            value: context.number(&sources, row, Some(share - 1), Suffix::Decimal),
            share_pct: context.number(&sources, row, Some(share), Suffix::Decimal),
            line: row.line,
        });
    }
    let first = table.rows.first().cloned().unwrap_or_default();
    let source = sources.source(&first, share - 1);
    match context.report.segments.iter_mut().find(|list| list.order == order) {
        Some(list) => list.segments.extend(segments),
        None => context.report.segments.push(SegmentList { order, segments, source }),
    }
}
