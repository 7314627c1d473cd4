//! Tables of a run over several targets: a row for each below the total.

use dyno_analyze::attribution::{MetricAttributions, marked_metrics};
use dyno_record::RunRecord;

use crate::grid::{Grid, GridCell, GridHead};
use crate::result::{RunFigures, has_result};
use crate::style::{Paint, Style};
use crate::table::{self, TextColumn, TextTable};
use crate::text::clean;

/// One row: all targets together, or one of them.
struct Row {
    /// `total`, or the target's number.
    name: String,
    url: String,
    database: String,
    sessions: u32,
    work: String,
    figures: Option<RunFigures>,
    /// Metrics that include activity of others.
    marked: MetricAttributions,
}

/// The total and each target; empty if there is only one target.
fn rows(record: &RunRecord) -> Vec<Row> {
    if !record.is_total() {
        return Vec::new();
    }
    let figures = |of: &RunRecord| has_result(record).then(|| RunFigures::of(of));
    let total = Row {
        name: "total".into(),
        url: String::new(),
        database: String::new(),
        sessions: record.sessions(),
        work: String::new(),
        figures: figures(record),
        marked: marked_metrics(record),
    };
    let target_rows = record.parts().into_iter().enumerate().map(|(at, part)| {
        let target = &part.targets[0];
        let reads_only = record.targets[at].own.as_deref().and_then(|own| own.reads_only.clone());
        Row {
            name: (at + 1).to_string(),
            url: target.url.clone(),
            database: format!("{} {}", target.identity.product, target.identity.version),
            sessions: part.gate.sessions,
            work: reads_only.map_or_else(String::new, |why| format!("read-only: {why}")),
            figures: figures(&part),
            marked: marked_metrics(&part),
        }
    });
    std::iter::once(total).chain(target_rows).collect()
}

/// Figures of a row, in the order of [`HEADS`].
fn cells(row: &Row) -> [GridCell; 8] {
    let value_of = |metric: &str| row.figures.as_ref()?.get(metric);
    let marked_rate =
        |metric: &str| GridCell::figure(value_of(metric)).marked(row.marked.contains_key(metric));
    [
        GridCell::count(u64::from(row.sessions)),
        GridCell::figure(value_of("ops_per_s")),
        GridCell::figure(value_of("rows_per_s")),
        GridCell::time_us(value_of("service_mean_us")),
        GridCell::time_us(value_of("service_p99_us")),
        marked_rate("logical_reads_per_s"),
        marked_rate("physical_reads_per_s"),
        marked_rate("redo_mb_per_s"),
    ]
}

/// Heads of the figures: label, unit, and shared head.
const HEADS: [(&str, &str, &str); 8] = [
    ("sessions", "", ""),
    ("ops", "/s", ""),
    ("rows", "/s", ""),
    ("mean", "", "service time"),
    ("p99", "", "service time"),
    ("logical", "/s", "reads"),
    ("physical", "/s", "reads"),
    ("redo", "MB/s", ""),
];

/// The total and a row for each target, for a terminal; empty if there is only one target.
pub fn targets_table(record: &RunRecord, style: &Style) -> String {
    let rows = rows(record);
    if rows.is_empty() {
        return String::new();
    }
    let figures =
        HEADS.iter().map(|(label, unit, group)| TextColumn::figures(label, unit).grouped_under(group));
    let mut table = TextTable::new(std::iter::once(TextColumn::text("target")).chain(figures).collect());
    for row in &rows {
        let name = if row.url.is_empty() {
            table::TextCell::painted(&row.name, Paint::Head)
        } else {
            table::TextCell::from(row.name.as_str())
        };
        table.row(std::iter::once(name).chain(cells(row).iter().map(table::TextCell::from)));
        if !row.url.is_empty() {
            let work = if row.work.is_empty() { String::new() } else { format!(", {}", row.work) };
            table.note(&clean(&format!("{}, {}{work}", row.url, row.database)), Paint::Dim);
        }
    }
    table.render(style)
}

/// The table for a page or Markdown; `None` if there is only one target.
pub(crate) fn targets_grid(record: &RunRecord) -> Option<Grid> {
    let rows = rows(record);
    if rows.is_empty() {
        return None;
    }
    let mut heads = vec![GridHead::text("target"), GridHead::text("URL"), GridHead::text("database")];
    heads.extend(HEADS.iter().map(|(label, unit, group)| match *group {
        "" => GridHead::figures(label, unit),
        "reads" => GridHead::figures(&format!("{label} reads"), unit),
        _ => GridHead::figures(label, unit).explained("of service time"),
    }));
    heads.push(GridHead::text("does"));
    let mut grid = Grid::new(heads);
    for row in &rows {
        let texts = [&row.name, &row.url, &row.database].map(GridCell::from);
        grid.row(texts.into_iter().chain(cells(row)).chain([(&row.work).into()]).collect());
    }
    Some(grid)
}
