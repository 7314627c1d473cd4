//! A run over several targets: a row for each under the total.

use dyno_analyze::number::{ABSENT, count, figure, time_us};
use dyno_analyze::whose::{Marked, mark, marked};
use dyno_record::RunRecord;

use crate::grid::{Cell, Grid, Head};
use crate::result::{Figures, has_result};
use crate::style::{Paint, Style};
use crate::table::{self, Column, Table};
use crate::text::clean;

/// One row: all targets together, or one of them.
struct Row {
    /// `total`, or the target's number.
    name: String,
    url: String,
    database: String,
    sessions: u32,
    /// What its sessions do.
    work: String,
    figures: Option<Figures>,
    /// Metrics in which others had part.
    marked: Marked,
}

/// The total and each target; nothing where there is one target only.
fn rows(record: &RunRecord) -> Vec<Row> {
    if !record.is_total() {
        return Vec::new();
    }
    let figures = |of: &RunRecord| has_result(record).then(|| Figures::of(of));
    let total = Row {
        name: "total".into(),
        url: String::new(),
        database: String::new(),
        sessions: record.sessions(),
        work: String::new(),
        figures: figures(record),
        marked: marked(record),
    };
    let own = record.parts().into_iter().enumerate().map(|(at, part)| {
        let target = &part.targets[0];
        let reads_only = record.targets[at].own.as_deref().and_then(|own| own.reads_only.clone());
        Row {
            name: (at + 1).to_string(),
            url: target.url.clone(),
            database: format!("{} {}", target.identity.product, target.identity.version),
            sessions: part.gate.sessions,
            work: reads_only.map_or_else(String::new, |why| format!("only reads: {why}")),
            figures: figures(&part),
            marked: marked(&part),
        }
    });
    std::iter::once(total).chain(own).collect()
}

fn time(us: Option<f64>) -> String {
    us.map_or_else(|| ABSENT.into(), time_us)
}

fn rate(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.into(), figure)
}

/// Figures of a row, in the order of [`HEADS`].
fn cells(row: &Row) -> Vec<String> {
    let known = |metric: &str| row.figures.as_ref()?.get(metric);
    let own = |metric: &str| {
        let value = known(metric);
        mark(rate(value), value.is_some() && row.marked.contains_key(metric))
    };
    vec![
        count(row.sessions.into()),
        rate(known("ops_per_s")),
        rate(known("rows_per_s")),
        time(known("service_mean_us")),
        time(known("service_p99_us")),
        own("logical_reads_per_s"),
        own("physical_reads_per_s"),
        own("redo_mb_per_s"),
    ]
}

/// Heads of the figures: label, unit, and what it is under.
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

/// The total and a row for each target, for a terminal; empty where there is one target only.
pub fn targets_table(record: &RunRecord, style: &Style) -> String {
    let rows = rows(record);
    if rows.is_empty() {
        return String::new();
    }
    let figures = HEADS.iter().map(|(label, unit, group)| Column::figures(label, unit).under(group));
    let mut table = Table::new(std::iter::once(Column::text("target")).chain(figures).collect());
    for row in &rows {
        let name = if row.url.is_empty() {
            table::Cell::painted(&row.name, Paint::Head)
        } else {
            table::Cell::from(row.name.as_str())
        };
        table.row(std::iter::once(name).chain(cells(row).into_iter().map(table::Cell::from)));
        if !row.url.is_empty() {
            let work = if row.work.is_empty() { String::new() } else { format!(", {}", row.work) };
            table.note(&clean(&format!("{}, {}{work}", row.url, row.database)), Paint::Dim);
        }
    }
    table.render(style)
}

/// The same for a page or Markdown; nothing where there is one target only.
pub(crate) fn targets_grid(record: &RunRecord) -> Option<Grid> {
    let rows = rows(record);
    if rows.is_empty() {
        return None;
    }
    let mut heads = vec![Head::text("target"), Head::text("URL"), Head::text("database")];
    heads.extend(HEADS.iter().map(|(label, unit, group)| match *group {
        "" => Head::figures(label, unit),
        "reads" => Head::figures(&format!("{label} reads"), unit),
        _ => Head::figures(label, unit).explained("of service time"),
    }));
    heads.push(Head::text("does"));
    let mut grid = Grid::new(heads);
    for row in &rows {
        let texts = [row.name.clone(), row.url.clone(), row.database.clone()];
        let all = texts.into_iter().chain(cells(row)).chain([row.work.clone()]);
        grid.row(all.map(|text| Cell::text(&clean(&text))).collect());
    }
    Some(grid)
}
