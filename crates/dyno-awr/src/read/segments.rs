//! Reads the lists of top segments.

use super::context::{Context, Sources};
use super::load::name_of;
use crate::number::Suffix;
use crate::report::{Segment, SegmentList};
use crate::table::{AwrTable, AwrTableRow};

/// Reads one list; the column before the share is the one by which it is sorted.
pub(crate) fn read(context: &mut Context, table: &AwrTable<'_>) {
    let Some(order) = table.title.trim().strip_prefix("Segments by ").map(name_of) else { return };
    read_rows(context, table, |_| Some(order.clone()));
}

/// Reads the only list of a cluster's report: each row names what it counts. Text names it only in
/// the first of its rows.
pub(crate) fn of_cluster(context: &mut Context, table: &AwrTable<'_>) {
    let Some(statistic) = table.column("statistic") else { return };
    let mut order = None;
    read_rows(context, table, |row| {
        let name = row.cell(statistic).trim();
        if !name.is_empty() {
            order = Some(name_of(name));
        }
        order.clone()
    });
}

/// Reads rows into the lists that `order_of` selects.
fn read_rows(
    context: &mut Context,
    table: &AwrTable<'_>,
    mut order_of: impl FnMut(&AwrTableRow<'_>) -> Option<String>,
) {
    let share = table.find(|caption| {
        caption.starts_with("%total") || caption.starts_with("%ofcapture") || caption == "pcttotal"
    });
    let Some(share) = share.filter(|column| *column > 0) else { return };
    let Some(name) = table.column("objectname") else { return };
    let sources = Sources::new(table);
    let pdb = table.find(|caption| matches!(caption, "pdbname" | "pdb" | "containername"));
    let columns = [
        table.column("owner"),
        table.find(|caption| caption.starts_with("tablespace")),
        table.column("subobjectname"),
        table.column("objtype"),
    ];
    let mut lists: Vec<SegmentList> = Vec::new();
    for row in table.rows.iter() {
        let Some(order) = order_of(row).filter(|_| !row.cell(name).is_empty()) else { continue };
        let cell = |column: Option<usize>| column.map_or_else(String::new, |at| row.cell(at).to_owned());
        let [owner, tablespace, subobject, kind] = columns.map(cell);
        let segment = Segment {
            pdb: Some(cell(pdb)).filter(|name| !name.is_empty()),
            owner,
            tablespace,
            name: row.cell(name).to_owned(),
            subobject,
            kind,
            value: context.number(&sources, row, Some(share - 1), Suffix::Decimal),
            share_pct: context.number(&sources, row, Some(share), Suffix::Decimal),
            line: row.line,
        };
        match lists.iter_mut().find(|list| list.order == order) {
            Some(list) => list.segments.push(segment),
            None => {
                let source = sources.source(row, share - 1);
                lists.push(SegmentList { order, segments: vec![segment], source });
            }
        }
    }
    for list in lists {
        match context.report.segments.iter_mut().find(|known| known.order == list.order) {
            Some(known) => known.segments.extend(list.segments),
            None => context.report.segments.push(list),
        }
    }
}
