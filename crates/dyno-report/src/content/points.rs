//! The results of runs by point: medians over repeats, and percentiles of merged histograms.

use dyno_analyze::Points;
use dyno_analyze::attribution::legend;
use dyno_analyze::points::{Measure, SESSIONS};

use crate::content::ramps;
use crate::content::result_table::LEGEND_LINES_MAX;
use crate::figures::{OPS, anchor, typical};
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::Style;
use crate::text::wrap;

/// A measure: its name, its head on pages, its unit, and its heads in a terminal, which shows only some.
type PointColumn = (&'static str, &'static str, &'static str, Option<(&'static str, &'static str)>);

const COLUMNS: [PointColumn; 18] = [
    (OPS, "operations", "/s", Some(("throughput", "ops"))),
    ("rows_per_s", "rows", "/s", None),
    ("scan_blocks_per_s", "scanned blocks", "/s", None),
    ("scan_mb_per_s", "scanned", "MB/s", None),
    ("service_mean_us", "service mean", "", Some(("service time", "mean"))),
    ("service_p50_us", "service p50", "", Some(("service time", "p50"))),
    ("service_p95_us", "service p95", "", Some(("service time", "p95"))),
    ("service_p99_us", "service p99", "", Some(("service time", "p99"))),
    ("database_active_sessions", "active sessions", "sessions", None),
    ("cpu_busy_pct", "CPU busy", "%", Some(("", "CPU busy"))),
    ("cpu_iowait_pct", "CPU iowait", "%", None),
    ("logical_reads_per_s", "logical reads", "/s", None),
    ("physical_reads_per_s", "physical reads", "/s", None),
    ("physical_read_requests_per_s", "read requests", "/s", None),
    ("physical_read_mb_per_s", "read", "MB/s", None),
    ("physical_read_latency_us", "read latency", "", None),
    ("redo_mb_per_s", "redo", "MB/s", None),
    ("redo_syncs_per_s", "redo syncs", "/s", None),
];

fn head(&(name, label, unit, short): &PointColumn) -> GridHead {
    let explained = Measure::find(name).map_or(name, |measure| measure.label);
    let head = GridHead::figures(label, unit).explained(explained);
    match short {
        Some((shared, own)) => head.short(shared, own).spare(u8::from(name == "cpu_busy_pct")),
        None => head.only_on_pages(),
    }
}

/// Whether the table has this measure on pages.
pub(crate) fn is_column(measure: &str) -> bool {
    COLUMNS.iter().any(|(name, ..)| *name == measure)
}

/// One row for each point.
pub(crate) fn points_grid(points: &Points) -> Grid {
    let axes = points.axes.iter().map(|axis| {
        GridHead::figures(if axis.path == SESSIONS { "sessions" } else { axis.name() }, axis.unit)
    });
    let mut heads: Vec<GridHead> = axes.collect();
    let one_row = heads.is_empty();
    if one_row {
        heads.push(GridHead::figures("sessions", ""));
    }
    heads.push(GridHead::figures("runs", ""));
    let has = |name: &str| points.points.iter().any(|point| point.estimates.contains_key(name));
    let columns: Vec<_> = COLUMNS.iter().filter(|(name, ..)| has(name)).collect();
    let repeated = points.points.iter().any(|point| point.runs.len() > 1);
    for column in &columns {
        heads.push(head(column));
        if column.0 == OPS && repeated {
            let spread = GridHead::figures("spread", "%").grouped_under("throughput");
            heads.push(spread.explained("largest minus smallest repeat, as a share of their median"));
        }
    }
    let mut grid = Grid::new(heads);
    for point in &points.points {
        let mut cells: Vec<GridCell> =
            point.values.iter().map(|value| GridCell::setting(&value.text)).collect();
        if one_row {
            cells.push(GridCell::count(u64::from(point.sessions)));
        }
        cells.push(GridCell::count(point.runs.len() as u64).linked_to(&anchor(&typical(point).id)));
        for (name, _, unit, _) in &columns {
            cells.push(figure(point.get(name), unit).marked(point.is_marked(name)));
            if *name == OPS && repeated {
                let spread = point.estimates.get(*name).and_then(|estimate| estimate.spread_pct());
                cells.push(GridCell::percent(spread).or_empty());
            }
        }
        grid.row(cells);
    }
    grid
}

/// A figure of a table; times include their unit.
fn figure(value: Option<f64>, unit: &str) -> GridCell {
    match unit {
        "" => GridCell::time_us(value),
        "%" => GridCell::percent(value),
        _ => GridCell::figure(value),
    }
}

/// The points for a terminal, with runs that have no result, and the legend of the mark for them and for the tables
/// of `ramps`.
pub fn point_table(points: &Points, style: &Style) -> String {
    let mut grid = points_grid(points);
    for left in &points.left_out {
        grid.note(&format!("left out: {} ({})", left.id, left.reason), "dim");
    }
    let runs = points.points.iter().flat_map(|point| &point.runs);
    let shown = |measure: &str| {
        let in_terminal = COLUMNS.iter().any(|(name, .., short)| *name == measure && short.is_some());
        in_terminal || ramps::has_tables(points) && ramps::is_column(measure)
    };
    let legend = legend(runs.map(|run| &run.marked), shown)
        .map(|words| wrap(&words, style.columns(), LEGEND_LINES_MAX));
    let lines = legend.into_iter().flatten().map(|line| line + "\n");
    grid.render(style) + &lines.collect::<String>()
}
