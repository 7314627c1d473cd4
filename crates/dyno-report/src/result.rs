//! The result of runs, as a database administrator expects it: one row for each run, or one run as a card.
//!
//! A run whose audit failed has no result: its row says so and why, and its figures are left out, so that nobody copies
//! them. `dyno show` has them, to find out what went wrong.

use std::collections::BTreeMap;

use dyno_analyze::number::{ABSENT, fixed, optional, percent, within};
use dyno_analyze::whose::{Marked, legend, mark, marked};
use dyno_plan::Placement;
use dyno_record::{CheckStatus, Kind, Placed, RunRecord, Status};

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

/// The figures of one run that results show, by the names of their metrics; what is not known is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Length of the window, s.
    pub seconds: f64,
    known: BTreeMap<&'static str, f64>,
}

/// Whether a run has a result to show, which limits of a component are not: a valid or imported one has; an interrupted one too, unless its audit failed.
pub fn has_result(record: &RunRecord) -> bool {
    let failed = record.audit.iter().any(|check| check.status == CheckStatus::Fail);
    match record.status {
        _ if record.kind == Kind::Component => false,
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
        let seconds = record.window.as_ref().map_or(0.0, |window| window.work_seconds());
        let all = record.leading_ops();
        let per_s = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
        // Imported records have their times among the metrics, as there is no class of operations to them.
        let timed = |name| match name {
            "service_mean_us" => all?.service_us.mean,
            "service_p50_us" => all?.service_us.p50,
            "service_p95_us" => all?.service_us.p95,
            "service_p99_us" => all?.service_us.p99,
            ELAPSED => Some(seconds).filter(|seconds| *seconds > 0.0),
            _ => None,
        };
        let counted = |name| match name {
            "ops_per_s" => per_s(all?.count),
            "rows_per_s" => per_s(all?.rows),
            _ => None,
        };
        let metric = |name| record.metrics.get(name)?.value();
        let known = on_the_card().filter_map(|&(name, ..)| {
            let value = timed(name).or_else(|| metric(name)).or_else(|| counted(name));
            Some((name, value?))
        });
        Self { seconds, known: known.collect() }
    }

    /// What `metric` came to.
    pub fn get(&self, metric: &str) -> Option<f64> {
        self.known.get(metric).copied()
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
    fn of<'f>(figures: impl IntoIterator<Item = &'f Figures>) -> Self {
        let largest =
            figures.into_iter().flat_map(|f| TIMES.map(|time| f.get(time))).flatten().fold(0.0, f64::max);
        match largest {
            us if us < 100_000.0 => Self { name: "µs", us: 1.0 },
            us if us < 100_000_000.0 => Self { name: "ms", us: 1e3 },
            _ => Self { name: "s", us: 1e6 },
        }
    }
}

/// How a figure is shown, and its unit.
#[derive(Debug, Clone, Copy)]
enum Show {
    /// In a column of the usual width.
    Wide(&'static str),
    /// In a narrower one.
    Narrow(&'static str),
    /// As a percentage.
    Percent,
    /// As a time in the unit that suits all.
    Time,
    /// As a length in seconds.
    Elapsed,
}

impl Show {
    fn unit(self, time: TimeUnit) -> &'static str {
        match self {
            Self::Wide(unit) | Self::Narrow(unit) => unit,
            Self::Percent => "%",
            Self::Time => time.name,
            Self::Elapsed => "s",
        }
    }

    fn text(self, value: Option<f64>, time: TimeUnit) -> String {
        let Some(value) = value else { return ABSENT.into() };
        match self {
            Self::Wide(_) => within(value, FIGURE_MAX),
            Self::Narrow(_) => within(value, SMALL_FIGURE_MAX),
            Self::Percent => percent(value),
            Self::Time => optional(Some(value / time.us)),
            Self::Elapsed => fixed(value, 1),
        }
    }
}

fn whole(value: Option<u32>) -> String {
    value.map_or_else(|| ABSENT.into(), |value| value.to_string())
}

fn status_cell(status: Status) -> Cell {
    Cell::painted(status.name(), crate::status::paint(status))
}

/// The metric, what it is called under which common head, and how it is shown.
type Shown = (&'static str, &'static str, &'static str, Show);

/// Columns of one block of the table.
type Block = &'static [Shown];

/// The length of the window among the metrics; an imported record need not tell it.
const ELAPSED: &str = "elapsed";

/// The service times of the table.
const TIMES: [&str; 4] = ["service_mean_us", "service_p50_us", "service_p95_us", "service_p99_us"];

const LOAD: Block = &[
    ("ops_per_s", "", "ops", Show::Wide("/s")),
    ("rows_per_s", "", "rows", Show::Wide("/s")),
    ("service_mean_us", "service time", "mean", Show::Time),
    ("service_p50_us", "service time", "p50", Show::Time),
    ("service_p95_us", "service time", "p95", Show::Time),
    ("service_p99_us", "service time", "p99", Show::Time),
    (ELAPSED, "", "elapsed", Show::Elapsed),
];
const CPU: Block = &[
    ("cpu_busy_pct", "CPU", "busy", Show::Percent),
    ("cpu_user_pct", "CPU", "user", Show::Percent),
    ("cpu_sys_pct", "CPU", "sys", Show::Percent),
    ("cpu_iowait_pct", "CPU", "iowait", Show::Percent),
];
const IO: Block = &[
    ("logical_reads_per_s", "reads", "logical", Show::Wide("/s")),
    ("physical_reads_per_s", "reads", "physical", Show::Wide("/s")),
    ("physical_read_mb_per_s", "reads", "physical", Show::Narrow("MB/s")),
    ("redo_mb_per_s", "redo", "written", Show::Narrow("MB/s")),
    ("redo_syncs_per_s", "redo", "syncs", Show::Narrow("/s")),
];

/// Both sides of the card, beneath sessions and updates; it has all that the table has.
const CARD_LEFT: Block = &[
    (ELAPSED, "", "elapsed", Show::Elapsed),
    ("ops_per_s", "", "operations", Show::Wide("/s")),
    ("rows_per_s", "", "rows", Show::Wide("/s")),
    ("commits_per_s", "", "commits", Show::Wide("/s")),
    ("service_mean_us", "", "service time, mean", Show::Time),
    ("service_p50_us", "", "service time, p50", Show::Time),
    ("service_p95_us", "", "service time, p95", Show::Time),
    ("service_p99_us", "", "service time, p99", Show::Time),
];
const CARD_RIGHT: Block = &[
    ("logical_reads_per_s", "", "logical reads", Show::Wide("/s")),
    ("buffer_hit_pct", "", "served by the cache", Show::Percent),
    ("physical_reads_per_s", "", "physical reads", Show::Wide("/s")),
    ("physical_read_mb_per_s", "", "physical reads", Show::Wide("MB/s")),
    ("redo_mb_per_s", "", "redo", Show::Wide("MB/s")),
    ("redo_syncs_per_s", "", "redo syncs", Show::Wide("/s")),
    ("cpu_busy_pct", "", "CPU busy", Show::Percent),
    ("cpu_user_pct", "", "CPU user", Show::Percent),
    ("cpu_sys_pct", "", "CPU sys", Show::Percent),
    ("cpu_iowait_pct", "", "CPU iowait", Show::Percent),
];
/// Where there were scans, and where sessions slept because the plan says so.
const CARD_SCANS: [Shown; 3] = [
    ("scans_per_s", "", "scans", Show::Wide("/s")),
    ("scan_mb_per_s", "", "scanned", Show::Wide("MB/s")),
    ("scan_blocks_per_s", "", "scanned blocks", Show::Wide("/s")),
];
const CARD_SLEPT: Shown = ("think_pct", "", "time slept", Show::Percent);

fn on_the_card() -> impl Iterator<Item = &'static Shown> {
    [CARD_LEFT, CARD_RIGHT, &CARD_SCANS, &[CARD_SLEPT]].into_iter().flatten()
}

/// A figure as it stands in a cell: with the mark where others had part in the metric.
fn marked_cell(row: &ResultRow, metric: &str, figure: String) -> String {
    let marked = figure != ABSENT && row.marked.contains_key(metric);
    mark(figure, marked)
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
    let shown = || blocks.iter().copied().flatten();
    columns
        .extend(shown().map(|&(_, above, head, show)| Column::figures(head, show.unit(unit)).under(above)));
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
            cells.extend(shown().map(|&(metric, .., show)| {
                Cell::from(marked_cell(row, metric, show.text(figures.get(metric), unit)))
            }));
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
    let unit = TimeUnit::of(rows.iter().filter_map(|row| row.figures.as_ref()));
    let number = |i: usize| (rows.len() > 1).then_some(i + 1);
    let rows: Vec<_> = rows.iter().enumerate().map(|(i, row)| (number(i), row)).collect();
    let with_result: Vec<_> = rows.iter().copied().filter(|(_, row)| row.figures.is_some()).collect();
    let table = |blocks: &[Block], first: bool| {
        let rows = if first { &rows } else { &with_result };
        table_of(rows, blocks, unit, first, style)
    };
    let mut tables = Vec::new();
    let mut packed: Vec<Block> = Vec::new();
    for block in [LOAD, CPU, IO] {
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
    let shown = |name: &str| on_the_card().any(|&(metric, ..)| metric == name);
    let words = legend(marked, shown).unwrap_or_default();
    let lines = wrap(&words, style.columns(), LEGEND_LINES_MAX);
    lines.iter().filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

/// Lines that a legend may take.
pub(crate) const LEGEND_LINES_MAX: usize = 6;

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
    Some(format!("{kept} threads pinned; {beside} of {told} sessions run on their backend's CPU"))
}

/// Whose the figures of processors and devices are, where that is not the machine that drove; nothing where it is.
pub fn host_words(record: &RunRecord) -> Option<String> {
    let words = machine_words(record)?;
    let host = record.database_host().filter(|host| host.observed.is_some());
    let driver = host.and_then(|_| record.driver().counters.get("cpu.busy_pct"));
    let driver = driver.map(|busy| format!("; the driver's was {} %", percent(*busy)));
    Some(words + &driver.unwrap_or_default())
}

/// The same without the driver's own, which is another in each run.
pub(crate) fn machine_words(record: &RunRecord) -> Option<String> {
    if record.is_total() && record.database_host().is_none() {
        let seen = record.hosts.iter().any(|host| host.observed.is_some());
        return seen
            .then(|| "CPU and device are told of each target, as they are on several machines".to_owned());
    }
    let host = record.database_host()?;
    let observed = host.observed.as_ref()?;
    // Of the machine that drove it is known whose the processors were, and the audit tells it.
    let whose = match observed.is_driver {
        true => "",
        false => " (whose they were is not told)",
    };
    let is_whole = observed.begin.is_some() && observed.end.is_some();
    let lost = if is_whole { "" } else { ", and it was not read to the end" };
    Some(format!("CPU and device are those of {}{whose}{lost}", clean(&host.words())))
}

/// One entry of a card: what, value, unit, the metric.
type Entry = (&'static str, String, &'static str, &'static str);

/// The card's figures, also for `show`, which shows those of invalid runs.
pub(crate) fn figure_card(row: &ResultRow, f: &Figures, style: &Style) -> String {
    let unit = TimeUnit::of([f]);
    let entry =
        |&(metric, _, what, show): &Shown| (what, show.text(f.get(metric), unit), show.unit(unit), metric);
    let mut left: Vec<Entry> =
        vec![("sessions", whole(row.sessions), "", ""), ("updates", whole(row.update_pct), "%", "")];
    left.extend(CARD_LEFT.iter().map(entry));
    let mut right: Vec<Entry> = CARD_RIGHT.iter().map(entry).collect();
    if CARD_SCANS.iter().all(|(metric, ..)| f.get(metric).is_some()) {
        let [scans, megabytes, blocks] = CARD_SCANS.each_ref().map(entry);
        left.extend([scans, megabytes]);
        right.extend([blocks, Entry::default()]);
    }
    if f.get(CARD_SLEPT.0).is_some() {
        left.push(entry(&CARD_SLEPT));
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
