//! What happened to tables and indexes in the window.

use dyno_analyze::number::{count, span_s};
use dyno_record::{CountedTables, RelationActivity, RunRecord, TableActivity};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, truncate, wrap};

pub(crate) const TITLE: &str = "tables and indexes";

/// Characters of a name; the record has more.
const NAME_COLUMNS: usize = 60;

/// The label, the count, and the rank at which a terminal drops the column; 0 where only pages have it.
const COLUMNS: [(&str, &str, u8); 13] = [
    ("rows read", "rows_read", 9),
    ("inserted", "rows_inserted", 9),
    ("updated", "rows_updated", 9),
    ("HOT", "rows_updated_hot", 4),
    ("deleted", "rows_deleted", 8),
    ("scans", "table_scans", 5),
    ("index scans", "index_scans", 6),
    ("reads", "blocks_read", 7),
    ("hits", "blocks_hit", 3),
    ("vacuums", "vacuums", 0),
    ("autovacuums", "autovacuums", 0),
    ("analyzes", "analyzes", 0),
    ("autoanalyzes", "autoanalyzes", 0),
];

fn counted(record: &RunRecord) -> Option<&CountedTables> {
    match record.tables.as_ref()? {
        TableActivity::Counted(counted) => Some(counted),
        TableActivity::Absent { .. } => None,
    }
}

/// A table of tables and one of indexes, each with its title; empty if nothing was counted.
pub(crate) fn grids(record: &RunRecord) -> Vec<(&'static str, Grid)> {
    let Some(counted) = counted(record) else { return Vec::new() };
    [("Tables", "table", &counted.tables), ("Indexes", "index", &counted.indexes)]
        .into_iter()
        .filter(|(.., list)| !list.is_empty())
        .map(|(title, label, list)| (title, grid(label, list)))
        .collect()
}

fn grid(label: &str, list: &[RelationActivity]) -> Grid {
    let has = |name: &str| list.iter().any(|one| one.counts.contains_key(name));
    let columns: Vec<_> = COLUMNS.iter().filter(|(_, name, _)| has(name)).collect();
    let has_dead = list.iter().any(|one| one.dead_rows.is_some());
    let mut heads = vec![GridHead::text(label)];
    heads.extend(columns.iter().map(|(label, _, spare)| {
        let head = GridHead::figures(label, "");
        if *spare == 0 { head.only_on_pages() } else { head.spare(10 - spare) }
    }));
    if has_dead {
        heads.push(GridHead::figures("dead rows", "").explained("estimate at the end").only_on_pages());
    }
    heads.push(GridHead::figures("size", "").explained("at the end"));
    heads.push(GridHead::figures("growth", "").explained("bytes at the end less those at the begin"));
    let mut grid = Grid::new(heads);
    for one in list {
        let mut cells = vec![GridCell::from(truncate(&clean(&one.name), NAME_COLUMNS))];
        cells.extend(columns.iter().map(|(_, name, _)| {
            let cell = GridCell::count(one.counts.get(*name).copied());
            if one.at_least { cell.preceded_by("≥ ") } else { cell }
        }));
        if has_dead {
            cells.push(GridCell::count(one.dead_rows));
        }
        cells.push(GridCell::bytes(one.end_bytes.map(|bytes| bytes as f64)));
        let growth = one.end_bytes.zip(one.begin_bytes).map(|(end, begin)| end as f64 - begin as f64);
        cells.push(GridCell::bytes(growth));
        grid.row(cells);
    }
    grid
}

/// What the figures are and lack, or why there are none; empty where no tables were looked at.
pub(crate) fn notes(record: &RunRecord) -> Vec<String> {
    let counted = match &record.tables {
        None => return Vec::new(),
        Some(TableActivity::Absent { absent, hint }) => {
            let hint = if hint.is_empty() { String::new() } else { format!("; {hint}") };
            return vec![format!("not counted: {absent}{hint}")];
        }
        Some(TableActivity::Counted(counted)) => counted,
    };
    let mut notes =
        vec![format!("from {} over {}, the work of all sessions", counted.source, span_s(counted.seconds))];
    if counted.tables.is_empty() && counted.indexes.is_empty() {
        notes.push("no table or index was used in this time".to_owned());
    }
    if counted.more_tables + counted.more_indexes > 0 {
        notes.push(format!(
            "{} more tables and {} more indexes with less activity are not listed",
            count(counted.more_tables),
            count(counted.more_indexes)
        ));
    }
    if counted.tables.iter().chain(&counted.indexes).any(|one| one.at_least) {
        notes.push("≥: the server counted from 0 again; earlier activity is missing".to_owned());
    }
    notes.extend(counted.notes.iter().cloned());
    notes
}

/// The tables and their notes for a terminal.
pub(crate) fn text(record: &RunRecord, style: &Style) -> String {
    let tables: String = grids(record).iter().map(|(_, grid)| grid.render(style)).collect();
    let notes = notes(record);
    let lines = notes.iter().flat_map(|words| wrap(&clean(words), style.columns(), 4));
    tables + &lines.map(|line| format!("{}\n", style.paint(Paint::Dim, &line))).collect::<String>()
}
