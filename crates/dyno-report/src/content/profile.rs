//! Tables of a processor profile, and of the differences between two profiles.

use dyno_analyze::number::{count, figure, fixed};
use dyno_analyze::profile::{
    ProfileComparison, ProfileFunctionChange, ProfileFunctionShare, busy_s, busy_us_per_op, is_of_run,
    share_of_run_pct,
};
use dyno_record::profile::REST;
use dyno_record::{CpuKind, CpuProfile, DatabaseIn, Profile, RunRecord};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, truncate, wrap};

pub(crate) const TITLE: &str = "CPU profile";

/// Processes and functions shown in a terminal, and on a page.
const PROCESSES_SHOWN: usize = 6;
const SYMBOLS_SHOWN: usize = 12;
pub(crate) const ROWS_OF_PAGE: usize = 30;
/// Columns of a name in a terminal.
const NAME_COLUMNS: usize = 44;
const LINES_MAX: usize = 6;

/// Owner of the processor time, in words.
pub(crate) fn kind_words(profile: &CpuProfile, kind: CpuKind) -> &'static str {
    match kind {
        CpuKind::Kernel => "kernel",
        CpuKind::Database => "database",
        CpuKind::Dyno if profile.database == DatabaseIn::Dyno => "Dyno with the database in it",
        CpuKind::Dyno => "Dyno",
        CpuKind::Perf => "perf, for this profile",
        CpuKind::Other => "others",
    }
}

/// What the profile covers and what it cannot show, or why there is none. Empty if none was requested.
pub(crate) fn words(record: &RunRecord) -> Vec<String> {
    let profile = match &record.profile {
        None => return Vec::new(),
        Some(Profile::Absent { absent }) => return vec![format!("none: {absent}")],
        Some(Profile::Taken(profile)) => profile,
    };
    let event = match profile.event.as_str() {
        "cpu-clock" => "cpu-clock (there are no hardware counters)".to_owned(),
        event => event.to_owned(),
    };
    let mut first = format!(
        "{} samples of busy processors on {}, {} a second on each of {} processors by {event}, over the {} s of the window",
        count(profile.samples),
        profile.host,
        profile.frequency_hz,
        profile.cpus,
        fixed(profile.seconds, 1)
    );
    if profile.lost > 0 {
        first.push_str(&format!(", {} lost", count(profile.lost)));
    }
    if let Some((busy_s, per_op)) = busy_s(record).zip(busy_us_per_op(record)) {
        let run_share = share_of_run_pct(profile) / 100.0;
        first.push_str(&format!(
            "; they were busy for {} s, {} s of it for {}: {} µs for each operation",
            figure(busy_s),
            figure(busy_s * run_share),
            run_words(profile),
            figure(per_op * run_share)
        ));
    }
    let mut words = vec![first];
    match profile.database {
        DatabaseIn::Elsewhere => {
            words.push("No database of the run is on this host: the profile shows only the load".into());
        }
        DatabaseIn::Unknown => {
            words.push(
                "Dyno could not identify the database's processes: the other processes include them".into(),
            );
        }
        DatabaseIn::Processes | DatabaseIn::Dyno => {}
    }
    words.extend(profile.notes.iter().cloned());
    words
}

/// The part that may belong to the run, in words.
fn run_words(profile: &CpuProfile) -> &'static str {
    match profile.database {
        DatabaseIn::Processes => "database, Dyno and the kernel's own threads",
        DatabaseIn::Dyno => "Dyno with the database in it, and the kernel's own threads",
        DatabaseIn::Elsewhere => "Dyno and the kernel's own threads",
        DatabaseIn::Unknown => "Dyno, the kernel's own threads and all other processes except perf",
    }
}

/// Time columns: a share, and the time per operation if it is known.
fn time_heads(per_op: Option<f64>) -> Vec<GridHead> {
    let mut heads = vec![
        GridHead::figures("share", "%").explained("of the time that processors were busy"),
        GridHead::figures("samples", ""),
    ];
    if per_op.is_some() {
        heads
            .push(GridHead::figures("per op", "µs").explained(
                "for each operation of the window: its share of the time that the kernel counted",
            ));
    }
    heads
}

/// `is_own` means that the time may belong to the run: activity of others is no operation's cost.
fn time_cells(share_pct: f64, samples: u64, per_op: Option<f64>, is_own: bool) -> Vec<GridCell> {
    let mut cells = vec![GridCell::percent(share_pct), GridCell::count(samples)];
    cells.extend(per_op.map(|whole| GridCell::figure(is_own.then_some(whole * share_pct / 100.0))));
    cells
}

/// The largest `most`, and the sum of the others: share and samples.
fn split<T>(
    all: &[T],
    most: usize,
    is_rest: fn(&T) -> bool,
    of: fn(&T) -> (f64, u64),
) -> (Vec<&T>, Option<(f64, u64)>) {
    let named: Vec<&T> = all.iter().filter(|one| !is_rest(one)).collect();
    let shown: Vec<&T> = named.iter().take(most).copied().collect();
    let rest = named.into_iter().skip(most).chain(all.iter().filter(|one| is_rest(one)));
    let rest: Vec<(f64, u64)> = rest.map(of).collect();
    let sum = rest.iter().fold((0.0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (shown, (!rest.is_empty()).then_some(sum))
}

/// The largest processes, and the sum of the others.
pub(crate) fn processes(record: &RunRecord, profile: &CpuProfile, most: usize) -> Grid {
    let per_op = busy_us_per_op(record);
    let mut heads = vec![GridHead::text("process"), GridHead::tight("whose")];
    heads.extend(time_heads(per_op));
    let mut grid = Grid::new(heads);
    let (shown, rest) =
        split(&profile.processes, most, |one| one.name == REST, |one| (one.share_pct, one.samples));
    for one in shown {
        let mut cells = vec![GridCell::text(&one.name), GridCell::text(kind_words(profile, one.kind))];
        cells.extend(time_cells(one.share_pct, one.samples, per_op, is_of_run(profile, one.kind)));
        grid.row(cells);
    }
    if let Some((share_pct, samples)) = rest {
        let mut cells = vec![GridCell::text(REST), GridCell::default()];
        cells.extend(time_cells(share_pct, samples, per_op, false));
        grid.row(cells);
    }
    grid
}

/// The largest functions, and the sum of the others.
pub(crate) fn symbols(record: &RunRecord, profile: &CpuProfile, most: usize) -> Grid {
    let per_op = busy_us_per_op(record);
    let mut heads = vec![GridHead::text("function"), GridHead::tight("in"), GridHead::tight("process")];
    heads.extend(time_heads(per_op));
    let mut grid = Grid::new(heads);
    let (shown, rest) =
        split(&profile.symbols, most, |one| one.symbol == REST, |one| (one.share_pct, one.samples));
    for one in shown {
        let mut cells = vec![
            GridCell::text(&truncate(&clean(&one.symbol), NAME_COLUMNS)),
            GridCell::text(&truncate(&clean(file(&one.module)), NAME_COLUMNS / 2)),
            GridCell::text(&one.process),
        ];
        let is_own = is_of_run(profile, one.process_kind);
        cells.extend(time_cells(one.share_pct, one.samples, per_op, is_own));
        grid.row(cells);
    }
    if let Some((share_pct, samples)) = rest {
        let mut cells = vec![GridCell::text(REST), GridCell::default(), GridCell::default()];
        cells.extend(time_cells(share_pct, samples, per_op, false));
        grid.row(cells);
    }
    grid
}

/// A module without its folder; the kernel under its own name.
pub(crate) fn file(module: &str) -> &str {
    match module.rsplit('/').next().unwrap_or_default() {
        "[kernel.kallsyms]" => "kernel",
        name => name,
    }
}

/// The section for a terminal; empty if no profile was requested.
pub(crate) fn profile_text(record: &RunRecord, style: &Style) -> String {
    let mut out = String::new();
    for words in words(record) {
        for line in wrap(&clean(&words), style.columns(), LINES_MAX) {
            out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
        }
    }
    if let Some(profile) = record.profile.as_ref().and_then(Profile::taken) {
        out.push_str(&processes(record, profile, PROCESSES_SHOWN).render(style));
        out.push_str(&symbols(record, profile, SYMBOLS_SHOWN).render(style));
    }
    out
}

/// Functions that took more time, and functions that took less.
pub fn gains_text(gains: &ProfileComparison, style: &Style) -> String {
    let (unit, of) = match gains.per_op {
        true => ("µs", "processor time for each operation, of the run's own processes and the kernel's"),
        false => ("%", "shares of the time that processors were busy"),
    };
    let runs = |count: usize| if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
    let head = format!(
        "functions, {of}: A {} {unit} ({}), B {} {unit} ({})",
        figure(gains.whole.0),
        runs(gains.runs.0),
        figure(gains.whole.1),
        runs(gains.runs.1)
    );
    let mut out = wrap(&head, style.columns(), LINES_MAX).join("\n");
    out.push('\n');
    out.push_str(&gains_grid(gains).render(style));
    let mut notes = Vec::new();
    if gains.left_out > 0 {
        notes.push(format!("{} more functions differ by less", count(gains.left_out as u64)));
    }
    notes.push("clear: the runs of both sides do not overlap, by more than sampling error".to_owned());
    for line in notes.iter().flat_map(|note| wrap(note, style.columns(), LINES_MAX)) {
        out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
    }
    out
}

/// The differences as a table.
pub(crate) fn gains_grid(gains: &ProfileComparison) -> Grid {
    let unit = if gains.per_op { "µs" } else { "%" };
    let mut grid = Grid::new(vec![
        GridHead::text("function"),
        GridHead::tight("in"),
        GridHead::tight("process"),
        GridHead::figures("A", unit),
        GridHead::figures("B", unit),
        GridHead::figures("B − A", unit),
        GridHead::tight("clear"),
    ]);
    let part = |part: &ProfileFunctionShare, runs: usize| match (part.samples, runs) {
        (0, _) => GridCell::absent(),
        (_, 1) => GridCell::figure(part.mean),
        _ => format!("{} ({} … {})", figure(part.mean), figure(part.range.0), figure(part.range.1)).into(),
    };
    for gain in &gains.gains {
        let ProfileFunctionChange { process, symbol, module, a, b, gain: by, is_clear } = gain;
        let sign = if *by > 0.0 { "+" } else { "" };
        grid.row(vec![
            truncate(&clean(symbol), NAME_COLUMNS).into(),
            truncate(&clean(file(module)), NAME_COLUMNS / 2).into(),
            process.into(),
            part(a, gains.runs.0),
            part(b, gains.runs.1),
            GridCell::shown(*by, |by| format!("{sign}{}", figure(by))),
            (if *is_clear { "yes" } else { "" }).into(),
        ]);
    }
    grid
}
