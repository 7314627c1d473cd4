//! Tables of a run over several targets: a row for each below the total.

use dyno_analyze::attribution::{MetricAttributions, marked_metrics};
use dyno_record::RunRecord;

use crate::content::result::{RunFigures, has_result};
use crate::model::table::{ColumnPlace, Grid, GridCell, GridHead};
use crate::style::Style;

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

/// Figures of a row.
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

/// The table with a row for the total and for each target; `None` if there is only one target.
pub(crate) fn targets_grid(record: &RunRecord) -> Option<Grid> {
    let rows = rows(record);
    if rows.is_empty() {
        return None;
    }
    let time =
        |name: &str| GridHead::figures(name, "").explained("of service time").short("service time", name);
    let reads = |name: &str| GridHead::figures(&format!("{name} reads"), "/s").short("reads", name);
    let mut grid = Grid::new(vec![
        GridHead::text("target"),
        GridHead::text("URL").only_on_pages(),
        GridHead::text("database").only_on_pages(),
        GridHead::figures("sessions", ""),
        GridHead::figures("ops", "/s"),
        GridHead::figures("rows", "/s"),
        time("mean"),
        time("p99"),
        reads("logical"),
        reads("physical"),
        GridHead::figures("redo", "MB/s"),
        GridHead::text("does").only_on_pages(),
    ]);
    for row in &rows {
        let name = GridCell::from(&row.name).toned(if row.url.is_empty() { "total" } else { "" });
        let texts = [name, (&row.url).into(), (&row.database).into()];
        grid.row(texts.into_iter().chain(cells(row)).chain([(&row.work).into()]));
    }
    Some(grid)
}

/// The table for a terminal, where URL, database and work stand below each row; empty if there is only one
/// target.
pub fn targets_table(record: &RunRecord, style: &Style) -> String {
    let Some(grid) = targets_grid(record) else { return String::new() };
    let mut table = Grid::new(grid.heads.clone());
    for (_, cells) in &grid.rows {
        table.row(cells.clone());
        let about = grid
            .heads
            .iter()
            .zip(cells)
            .filter(|(head, cell)| head.place == ColumnPlace::OnPages && !cell.text.is_empty());
        let about: Vec<&str> = about.map(|(_, cell)| cell.text.as_str()).collect();
        if !about.is_empty() {
            table.note(&about.join(", "), "dim");
        }
    }
    table.render(style)
}
