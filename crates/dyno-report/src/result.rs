//! The result of runs, as a database administrator expects it: one row for each run, or one run as a card.
//!
//! A run whose audit failed has no result: its row says so and why, and its figures are left out, so that nobody copies
//! them. `dyno show` has them, to find out what went wrong.

use dyno_analyze::number::{ABSENT, fixed, optional, percent, within};
use dyno_analyze::whose::{Marked, legend, mark, marked};
use dyno_plan::Placement;
use dyno_record::{CheckStatus, Placed, RunRecord, Status};

use crate::style::{Paint, Style};
use crate::table::{Cell, Column, Table};
use crate::text::{clean, indent, pad, width, wrap};

/// Reasons shown beneath a run.
const REASONS_MAX: usize = 3;

/// Lines that one reason may take.
const REASON_LINES_MAX: usize = 3;

/// Characters of a figure that a column is made for, so that both blocks fit 100 columns; a longer one is shown as
/// `1.23G`. Megabytes and syncs per second are smaller numbers than operations and blocks.
const FIGURE_MAX: usize = 10;
const SMALL_FIGURE_MAX: usize = 8;

/// What a result table shows of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRow {
    /// The run's name.
    pub id: String,
    /// What it came to.
    pub status: Status,
    /// Why it is not valid.
    pub reasons: Vec<String>,
    /// Sessions; absent where the source of imported figures does not tell.
    pub sessions: Option<u32>,
    /// Updates asked for, %; absent likewise.
    pub update_pct: Option<u32>,
    /// The figures; absent where the run has no result.
    pub figures: Option<Figures>,
    /// The metrics in which others had part.
    pub marked: Marked,
}

/// The figures of one run; what is not known is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Length of the window, s.
    pub seconds: f64,
    /// Operations per second.
    pub ops_per_s: Option<f64>,
    /// Rows read and updated per second.
    pub rows_per_s: Option<f64>,
    /// Mean, p50, p95, p99 and maximum of service time, µs.
    pub service_us: [Option<f64>; 5],
    /// Processor time of the host: busy, user, sys, waiting for I/O, %.
    pub cpu_pct: [Option<f64>; 4],
    /// Logical reads per second, blocks.
    pub logical_reads_per_s: Option<f64>,
    /// Physical reads per second, blocks.
    pub physical_reads_per_s: Option<f64>,
    /// Physical reads, MB/s.
    pub physical_read_mb_per_s: Option<f64>,
    /// Redo, MB/s.
    pub redo_mb_per_s: Option<f64>,
    /// Syncs of redo per second.
    pub redo_syncs_per_s: Option<f64>,
    /// Commits per second.
    pub commits_per_s: Option<f64>,
    /// Share of logical reads served by the database's cache, %.
    pub buffer_hit_pct: Option<f64>,
    /// Full scans per second, their blocks per second, and the same in MB/s; absent where there were none.
    pub scans: Option<[f64; 3]>,
    /// Share of the time that sessions slept because the plan says so, %.
    pub think_pct: Option<f64>,
}

/// Whether a run has a result to show: a valid or imported one has; an interrupted one too, unless its audit failed.
pub fn has_result(record: &RunRecord) -> bool {
    let failed = record.audit.iter().any(|check| check.status == CheckStatus::Fail);
    match record.status {
        Status::Valid | Status::Imported => true,
        Status::Interrupted => record.window.is_some() && !failed,
        Status::Invalid | Status::Failed => false,
    }
}

impl From<&RunRecord> for ResultRow {
    fn from(record: &RunRecord) -> Self {
        Self {
            id: record.id.clone(),
            status: record.status,
            reasons: record.reasons.clone(),
            sessions: Some(record.sessions()).filter(|sessions| *sessions > 0),
            update_pct: record.knows("workload.update_pct").then_some(record.plan.workload.update_pct),
            figures: has_result(record).then(|| Figures::of(record)),
            marked: marked(record),
        }
    }
}

impl Figures {
    /// The figures of a record, whatever its status.
    pub fn of(record: &RunRecord) -> Self {
        let metric = |name: &str| record.metrics.get(name).and_then(|metric| metric.value());
        let seconds = record.window.as_ref().map_or(0.0, |window| window.work_seconds());
        let all = record.ops.get("all");
        let per_s = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
        let service = all.map(|all| &all.service_us);
        // Imported records have their times among the metrics, as there is no class of operations to them.
        let at = |part: fn(&dyno_record::Latency) -> Option<f64>, name: &str| {
            service.and_then(part).or_else(|| metric(name))
        };
        Self {
            seconds,
            ops_per_s: metric("ops_per_s").or_else(|| per_s(all?.count)),
            rows_per_s: metric("rows_per_s").or_else(|| per_s(all?.rows)),
            service_us: [
                at(|l| l.mean, "service_mean_us"),
                at(|l| l.p50, "service_p50_us"),
                at(|l| l.p95, "service_p95_us"),
                at(|l| l.p99, "service_p99_us"),
                at(|l| l.max, "service_max_us"),
            ],
            cpu_pct: ["cpu_busy_pct", "cpu_user_pct", "cpu_sys_pct", "cpu_iowait_pct"].map(metric),
            logical_reads_per_s: metric("logical_reads_per_s"),
            physical_reads_per_s: metric("physical_reads_per_s"),
            physical_read_mb_per_s: metric("physical_read_mb_per_s"),
            scans: match ["scans_per_s", "scan_blocks_per_s", "scan_mb_per_s"].map(metric) {
                [Some(scans), Some(blocks), Some(megabytes)] => Some([scans, blocks, megabytes]),
                _ => None,
            },
            think_pct: metric("think_pct"),
            redo_mb_per_s: metric("redo_mb_per_s"),
            redo_syncs_per_s: metric("redo_syncs_per_s"),
            commits_per_s: metric("commits_per_s"),
            buffer_hit_pct: metric("buffer_hit_pct"),
        }
    }
}

/// The unit that suits all times of a table: its name, and microseconds in it.
#[derive(Debug, Clone, Copy)]
struct TimeUnit {
    name: &'static str,
    us: f64,
}

impl TimeUnit {
    /// Chosen so that the median is readable and the largest stays within seven characters.
    fn of(rows: &[ResultRow]) -> Self {
        let figures = rows.iter().filter_map(|row| row.figures.as_ref());
        let largest = figures.flat_map(|f| &f.service_us[..4]).flatten().copied().fold(0.0, f64::max);
        match largest {
            us if us < 100_000.0 => Self { name: "µs", us: 1.0 },
            us if us < 100_000_000.0 => Self { name: "ms", us: 1e3 },
            _ => Self { name: "s", us: 1e6 },
        }
    }

    fn show(self, time_us: Option<f64>) -> String {
        optional(time_us.map(|us| us / self.us))
    }
}

/// A figure that fits its column, and one that fits a narrower one.
fn fit(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.into(), |value| within(value, FIGURE_MAX))
}

fn fit_small(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.into(), |value| within(value, SMALL_FIGURE_MAX))
}

/// Length of the window; an imported record need not tell it.
fn elapsed(seconds: f64) -> String {
    if seconds > 0.0 { fixed(seconds, 1) } else { ABSENT.into() }
}

fn whole(value: Option<u32>) -> String {
    value.map_or_else(|| ABSENT.into(), |value| value.to_string())
}

fn pct(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.into(), percent)
}

fn status_cell(status: Status) -> Cell {
    Cell::painted(status.name(), crate::status::paint(status))
}

/// Columns of one block of the table, the metrics that they show, and the cells of one run for them.
type Block = (Vec<Column>, &'static [&'static str], fn(&Figures, TimeUnit) -> Vec<String>);

const LOAD_METRICS: &[&str] =
    &["ops_per_s", "rows_per_s", "service_mean_us", "service_p50_us", "service_p95_us", "service_p99_us", ""];
const CPU_METRICS: &[&str] = &["cpu_busy_pct", "cpu_user_pct", "cpu_sys_pct", "cpu_iowait_pct"];
const IO_METRICS: &[&str] = &[
    "logical_reads_per_s",
    "physical_reads_per_s",
    "physical_read_mb_per_s",
    "redo_mb_per_s",
    "redo_syncs_per_s",
];

/// A figure as it stands in a cell: with the mark where others had part in the metric.
fn marked_cell(row: &ResultRow, metric: &str, figure: String) -> String {
    let marked = figure != ABSENT && row.marked.contains_key(metric);
    mark(figure, marked)
}

fn load_block(unit: TimeUnit) -> Block {
    let service = |head: &str| Column::figures(head, unit.name).under("service time");
    let columns = vec![
        Column::figures("ops", "/s"),
        Column::figures("rows", "/s"),
        service("mean"),
        service("p50"),
        service("p95"),
        service("p99"),
        Column::figures("elapsed", "s"),
    ];
    (columns, LOAD_METRICS, |f, unit| {
        let [mean, p50, p95, p99, _] = f.service_us.map(|us| unit.show(us));
        vec![fit(f.ops_per_s), fit(f.rows_per_s), mean, p50, p95, p99, elapsed(f.seconds)]
    })
}

fn cpu_block() -> Block {
    let cpu = |head: &str| Column::figures(head, "%").under("CPU");
    let columns = vec![cpu("busy"), cpu("user"), cpu("sys"), cpu("iowait")];
    (columns, CPU_METRICS, |f, _| f.cpu_pct.map(pct).to_vec())
}

fn io_block() -> Block {
    let columns = vec![
        Column::figures("logical", "/s").under("reads"),
        Column::figures("physical", "/s").under("reads"),
        Column::figures("physical", "MB/s").under("reads"),
        Column::figures("written", "MB/s").under("redo"),
        Column::figures("syncs", "/s").under("redo"),
    ];
    (columns, IO_METRICS, |f, _| {
        let (logical, physical) = (fit(f.logical_reads_per_s), fit(f.physical_reads_per_s));
        let [mb, redo, syncs] =
            [f.physical_read_mb_per_s, f.redo_mb_per_s, f.redo_syncs_per_s].map(fit_small);
        vec![logical, physical, mb, redo, syncs]
    })
}

/// One table of `blocks` side by side, in front the columns that say which run it is, behind them the status.
fn table_of(
    rows: &[(Option<usize>, &ResultRow)],
    blocks: &[Block],
    unit: TimeUnit,
    with_status: bool,
    style: &Style,
) -> Table {
    let numbered = rows.iter().any(|(number, _)| number.is_some());
    let mut columns = if numbered { vec![Column::figures("run", "")] } else { Vec::new() };
    columns.extend([Column::figures("sessions", ""), Column::figures("updates", "%")]);
    columns.extend(blocks.iter().flat_map(|(columns, ..)| columns.iter().cloned()));
    let filled = columns.len();
    if with_status {
        columns.push(Column::text("status"));
    }
    let mut table = Table::new(columns);
    for (number, row) in rows {
        let number = number.map(|number| Cell::from(number.to_string()));
        let mut cells: Vec<Cell> = number.into_iter().collect();
        cells.extend([Cell::from(whole(row.sessions)), Cell::from(whole(row.update_pct))]);
        if let Some(figures) = &row.figures {
            for (_, metrics, figures_of) in blocks {
                let figures = figures_of(figures, unit).into_iter().zip(*metrics);
                cells.extend(figures.map(|(figure, metric)| Cell::from(marked_cell(row, metric, figure))));
            }
        }
        cells.resize(filled, Cell::default());
        if with_status {
            cells.push(status_cell(row.status));
        }
        table.row(cells);
        if with_status {
            for line in reasons(&row.reasons, style) {
                table.note(&line, Paint::Bad);
            }
        }
    }
    table
}

/// The first reasons in lines, and how many more there are.
fn reasons(all: &[String], style: &Style) -> Vec<String> {
    let lines = |reason: &String| wrap(&clean(reason), style.columns() - 2, REASON_LINES_MAX);
    let mut shown: Vec<String> = all.iter().take(REASONS_MAX).flat_map(lines).collect();
    if all.len() > REASONS_MAX {
        shown.push(format!("… and {} more reasons (dyno show)", all.len() - REASONS_MAX));
    }
    shown
}

/// One row for each run: load, processors and I/O side by side as far as the width allows, the rest in a table beneath.
/// Several runs are numbered in their order: the same load may stand there twice.
pub fn result_table(rows: &[ResultRow], style: &Style) -> String {
    let unit = TimeUnit::of(rows);
    let number = |i: usize| (rows.len() > 1).then_some(i + 1);
    let rows: Vec<_> = rows.iter().enumerate().map(|(i, row)| (number(i), row)).collect();
    let with_result: Vec<_> = rows.iter().copied().filter(|(_, row)| row.figures.is_some()).collect();
    let table = |blocks: &[Block], first: bool| {
        let rows = if first { &rows } else { &with_result };
        table_of(rows, blocks, unit, first, style)
    };
    let mut tables = Vec::new();
    let mut packed: Vec<Block> = Vec::new();
    for block in [load_block(unit), cpu_block(), io_block()] {
        packed.push(block);
        if packed.len() > 1 && !table(&packed, tables.is_empty()).fits(style) {
            let last = packed.split_off(packed.len() - 1);
            tables.push(table(&packed, tables.is_empty()).render(style));
            packed = last;
        }
        if with_result.is_empty() {
            break; // Nothing but the status to show.
        }
    }
    tables.push(table(&packed, tables.is_empty()).render(style));
    let mut out = tables.join("\n");
    out.push_str(&legend_lines(with_result.iter().map(|(_, row)| &row.marked), style));
    out
}

/// The legend of the mark in lines; empty where nothing is marked.
fn legend_lines<'m>(marked: impl IntoIterator<Item = &'m Marked>, style: &Style) -> String {
    let shown = |name: &str| [LOAD_METRICS, CPU_METRICS, IO_METRICS, CARD_METRICS].concat().contains(&name);
    let words = legend(marked, shown).unwrap_or_default();
    let lines = wrap(&words, style.columns(), LEGEND_LINES_MAX);
    lines.iter().filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

/// Lines that a legend may take.
pub(crate) const LEGEND_LINES_MAX: usize = 6;

/// Metrics of the card beside those of the table.
const CARD_METRICS: &[&str] =
    &["commits_per_s", "buffer_hit_pct", "scans_per_s", "scan_mb_per_s", "scan_blocks_per_s"];

/// One run as a card: its figures in two columns, each with its unit.
pub fn result_card(row: &ResultRow, style: &Style) -> String {
    let mut out = String::new();
    let Some(figures) = &row.figures else {
        let text = format!("  {}: this run has no result", row.status.name());
        out.push_str(&style.paint(Paint::Bad, &text));
        out.push('\n');
        for line in reasons(&row.reasons, style) {
            out.push_str(&format!("  {line}\n"));
        }
        return out;
    };
    let note = match row.status {
        Status::Valid => None,
        Status::Imported => Some(crate::status::IMPORTED.to_owned()),
        status => Some(format!("{}: the figures are of the part that was measured", status.name())),
    };
    if let Some(text) = note {
        out.push_str(&format!("  {}\n", style.paint(crate::status::paint(row.status), &text)));
    }
    let inner = Style { width: style.columns() - 2, ..*style };
    out.push_str(&indent(&figure_card(row, figures, &inner)));
    out
}

/// Where threads that lead several sessions ran, and the server's processes beside them; nothing where there are none.
pub fn placement_words(record: &RunRecord) -> Option<String> {
    let Placed { kept, told, beside } = record.gate.placement?;
    if kept == 0 {
        let why = match record.plan.run.placement {
            Placement::None => " (run.placement = none)",
            Placement::Auto => "",
        };
        return Some(format!("threads placed by the operating system alone{why}"));
    }
    Some(format!("{kept} threads kept on a processor each, {beside} of {told} sessions beside their server"))
}

/// One entry of a card: what, value, unit, the metric.
type Entry = (&'static str, String, &'static str, &'static str);

/// The card's figures, also for `show`, which shows those of invalid runs.
pub(crate) fn figure_card(row: &ResultRow, f: &Figures, style: &Style) -> String {
    let unit = TimeUnit::of(&[ResultRow { figures: Some(*f), ..row.clone() }]);
    let [mean, p50, p95, p99, _] = f.service_us.map(|us| unit.show(us));
    let [busy, user, sys, iowait] = f.cpu_pct.map(pct);
    let mut left: Vec<Entry> = vec![
        ("sessions", whole(row.sessions), "", ""),
        ("updates", whole(row.update_pct), "%", ""),
        ("elapsed", elapsed(f.seconds), "s", ""),
        ("operations", fit(f.ops_per_s), "/s", "ops_per_s"),
        ("rows", fit(f.rows_per_s), "/s", "rows_per_s"),
        ("commits", fit(f.commits_per_s), "/s", "commits_per_s"),
        ("service time, mean", mean, unit.name, "service_mean_us"),
        ("service time, p50", p50, unit.name, "service_p50_us"),
        ("service time, p95", p95, unit.name, "service_p95_us"),
        ("service time, p99", p99, unit.name, "service_p99_us"),
    ];
    let mut right: Vec<Entry> = vec![
        ("logical reads", fit(f.logical_reads_per_s), "/s", "logical_reads_per_s"),
        ("served by the cache", pct(f.buffer_hit_pct), "%", "buffer_hit_pct"),
        ("physical reads", fit(f.physical_reads_per_s), "/s", "physical_reads_per_s"),
        ("physical reads", fit(f.physical_read_mb_per_s), "MB/s", "physical_read_mb_per_s"),
        ("redo", fit(f.redo_mb_per_s), "MB/s", "redo_mb_per_s"),
        ("redo syncs", fit(f.redo_syncs_per_s), "/s", "redo_syncs_per_s"),
        ("CPU busy", busy, "%", "cpu_busy_pct"),
        ("CPU user", user, "%", "cpu_user_pct"),
        ("CPU sys", sys, "%", "cpu_sys_pct"),
        ("CPU iowait", iowait, "%", "cpu_iowait_pct"),
    ];
    if let Some([scans, blocks, megabytes]) = f.scans {
        left.extend([
            ("scans", fit(Some(scans)), "/s", "scans_per_s"),
            ("scanned", fit(Some(megabytes)), "MB/s", "scan_mb_per_s"),
        ]);
        right.extend([("scanned blocks", fit(Some(blocks)), "/s", "scan_blocks_per_s"), Entry::default()]);
    }
    if f.think_pct.is_some() {
        left.push(("time slept", pct(f.think_pct), "%", "think_pct"));
        right.push(Entry::default());
    }
    // Columns of a value, and where the right side begins: a unit that is cut off makes another figure of its value.
    let (room, right_at): (usize, usize) = if style.columns() >= 84 { (13, 44) } else { (9, 38) };
    let entry = |(what, value, unit, metric): &Entry| {
        let space = pad((20usize.saturating_sub(width(what)) + room).saturating_sub(width(value)).max(1));
        // What is not known has no unit.
        let unit = if value == ABSENT { "" } else { unit };
        let value = marked_cell(row, metric, value.clone());
        format!("{what}{space}{value} {unit}")
    };
    let mut out = String::new();
    for (l, r) in left.iter().zip(&right) {
        let (l, r) = (entry(l), entry(r));
        let line = format!("{l}{}{r}", pad(right_at.saturating_sub(width(&l)).max(2)));
        if width(line.trim_end()) <= style.columns() {
            out.push_str(&format!("{}\n", line.trim_end()));
        } else {
            out.push_str(&format!("{}\n{}\n", l.trim_end(), r.trim_end()));
        }
    }
    out.push_str(&legend_lines([&row.marked], style));
    out
}
