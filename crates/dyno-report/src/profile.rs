//! Where the processors' time went: tables of a profile, and of what differs between two.

use dyno_analyze::number::{ABSENT, count, figure, fixed, percent};
use dyno_analyze::profile::{Gain, Gains, Part, busy_s, busy_us_per_op, is_of_run, share_of_run_pct};
use dyno_record::profile::REST;
use dyno_record::{CpuKind, CpuProfile, DatabaseIn, Profile, RunRecord};

use crate::grid::{Cell, Grid, Head};
use crate::style::{Paint, Style};
use crate::table::Table;
use crate::text::{clean, truncate, wrap};

/// The title of the section.
pub const TITLE: &str = "where the processors' time went";

/// Processes and functions that a terminal shows, and a page.
const PROCESSES_SHOWN: usize = 6;
const SYMBOLS_SHOWN: usize = 12;
pub(crate) const ROWS_OF_PAGE: usize = 30;
/// Columns of a name in a terminal.
const NAME_COLUMNS: usize = 44;
const LINES_MAX: usize = 6;

/// Whose processor time it is, in words.
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

/// What the profile is of, and what it does not tell; or why there is none. Empty where none was asked for.
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
        "{} samples of processors at work on {}, {} a second on each of {} processors by {event}, over the {} s of the window",
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
        let own = share_of_run_pct(profile) / 100.0;
        first.push_str(&format!(
            "; they were at work for {} s, {} s of it for {}: {} µs for each operation",
            figure(busy_s),
            figure(busy_s * own),
            run_words(profile),
            figure(per_op * own)
        ));
    }
    let mut words = vec![first];
    match profile.database {
        DatabaseIn::Elsewhere => {
            words.push(
                "No database of the run works on this host: what is shown is the load's side only".into(),
            );
        }
        DatabaseIn::Unknown => {
            words.push(
                "Which processes are the database's could not be told: they are among the others".into(),
            );
        }
        DatabaseIn::Processes | DatabaseIn::Dyno => {}
    }
    words.extend(profile.notes.iter().cloned());
    words
}

/// What may be the run's, in words.
fn run_words(profile: &CpuProfile) -> &'static str {
    match profile.database {
        DatabaseIn::Processes => "database, Dyno and the kernel's own threads",
        DatabaseIn::Dyno => "Dyno with the database in it, and the kernel's own threads",
        DatabaseIn::Elsewhere => "Dyno and the kernel's own threads",
        DatabaseIn::Unknown => "Dyno, the kernel's own threads and all others but perf",
    }
}

/// Columns of time: a share, and what it is for one operation, where that is known.
fn time_heads(per_op: Option<f64>) -> Vec<Head> {
    let mut heads = vec![
        Head::figures("share", "%").explained("of the time that processors were at work"),
        Head::figures("samples", ""),
    ];
    if per_op.is_some() {
        heads
            .push(Head::figures("per op", "µs").explained(
                "for each operation of the window: the share of the time that the kernel counted",
            ));
    }
    heads
}

/// `is_own` where it may be the run's: what others did is no operation's cost.
fn time_cells(share_pct: f64, samples: u64, per_op: Option<f64>, is_own: bool) -> Vec<Cell> {
    let mut cells = vec![Cell::text(&percent(share_pct)), Cell::text(&count(samples))];
    let words = |whole: f64| if is_own { figure(whole * share_pct / 100.0) } else { ABSENT.to_owned() };
    cells.extend(per_op.map(|whole| Cell::text(&words(whole))));
    cells
}

/// The largest `most`, and what the others add up to: share and samples.
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

/// The largest processes, and the rest together.
pub(crate) fn processes(record: &RunRecord, profile: &CpuProfile, most: usize) -> Grid {
    let per_op = busy_us_per_op(record);
    let mut heads = vec![Head::text("process"), Head::tight("whose")];
    heads.extend(time_heads(per_op));
    let mut grid = Grid::new(heads);
    let (shown, rest) =
        split(&profile.processes, most, |one| one.name == REST, |one| (one.share_pct, one.samples));
    for one in shown {
        let mut cells = vec![Cell::text(&one.name), Cell::text(kind_words(profile, one.kind))];
        cells.extend(time_cells(one.share_pct, one.samples, per_op, is_of_run(profile, one.kind)));
        grid.row(cells);
    }
    if let Some((share_pct, samples)) = rest {
        let mut cells = vec![Cell::text(REST), Cell::default()];
        cells.extend(time_cells(share_pct, samples, per_op, false));
        grid.row(cells);
    }
    grid
}

/// The largest functions, and the rest together.
pub(crate) fn symbols(record: &RunRecord, profile: &CpuProfile, most: usize) -> Grid {
    let per_op = busy_us_per_op(record);
    let mut heads = vec![Head::text("function"), Head::tight("in"), Head::tight("process")];
    heads.extend(time_heads(per_op));
    let mut grid = Grid::new(heads);
    let (shown, rest) =
        split(&profile.symbols, most, |one| one.symbol == REST, |one| (one.share_pct, one.samples));
    for one in shown {
        let mut cells = vec![
            Cell::text(&truncate(&clean(&one.symbol), NAME_COLUMNS)),
            Cell::text(&truncate(&clean(file(&one.module)), NAME_COLUMNS / 2)),
            Cell::text(&one.process),
        ];
        let is_own = is_of_run(profile, one.process_kind);
        cells.extend(time_cells(one.share_pct, one.samples, per_op, is_own));
        grid.row(cells);
    }
    if let Some((share_pct, samples)) = rest {
        let mut cells = vec![Cell::text(REST), Cell::default(), Cell::default()];
        cells.extend(time_cells(share_pct, samples, per_op, false));
        grid.row(cells);
    }
    grid
}

/// A module without its folder; the kernel as what it is.
pub(crate) fn file(module: &str) -> &str {
    match module.rsplit('/').next().unwrap_or_default() {
        "[kernel.kallsyms]" => "kernel",
        name => name,
    }
}

/// The section of a terminal; empty where no profile was asked for.
pub(crate) fn profile_text(record: &RunRecord, style: &Style) -> String {
    let mut out = String::new();
    for words in words(record) {
        for line in wrap(&clean(&words), style.columns(), LINES_MAX) {
            out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
        }
    }
    if let Some(profile) = record.profile.as_ref().and_then(Profile::taken) {
        out.push_str(&Table::from(&processes(record, profile, PROCESSES_SHOWN)).render(style));
        out.push_str(&Table::from(&symbols(record, profile, SYMBOLS_SHOWN)).render(style));
    }
    out
}

/// Which functions took more and which took less.
pub(crate) fn gains_text(gains: &Gains, style: &Style) -> String {
    let (unit, of) = match gains.per_op {
        true => ("µs", "processor time for each operation, of the run's own processes and the kernel's"),
        false => ("%", "shares of the time that processors were at work"),
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
    out.push_str(&Table::from(&gains_grid(gains)).render(style));
    let mut notes = Vec::new();
    if gains.left_out > 0 {
        notes.push(format!("{} more functions differ by less", count(gains.left_out as u64)));
    }
    notes.push("clear: the runs of both sides lie apart, by more than the chance of samples".to_owned());
    for line in notes.iter().flat_map(|note| wrap(note, style.columns(), LINES_MAX)) {
        out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
    }
    out
}

/// The same as a table.
pub(crate) fn gains_grid(gains: &Gains) -> Grid {
    let unit = if gains.per_op { "µs" } else { "%" };
    let mut grid = Grid::new(vec![
        Head::text("function"),
        Head::tight("in"),
        Head::tight("process"),
        Head::figures("A", unit),
        Head::figures("B", unit),
        Head::figures("B − A", unit),
        Head::tight("clear"),
    ]);
    let part = |part: &Part, runs: usize| match (part.samples, runs) {
        (0, _) => ABSENT.to_owned(),
        (_, 1) => figure(part.mean),
        _ => format!("{} ({} … {})", figure(part.mean), figure(part.range.0), figure(part.range.1)),
    };
    for gain in &gains.gains {
        let Gain { process, symbol, module, a, b, gain: by, is_clear } = gain;
        let sign = if *by > 0.0 { "+" } else { "" };
        let cells = [
            truncate(&clean(symbol), NAME_COLUMNS),
            truncate(&clean(file(module)), NAME_COLUMNS / 2),
            process.clone(),
            part(a, gains.runs.0),
            part(b, gains.runs.1),
            format!("{sign}{}", figure(*by)),
            (if *is_clear { "yes" } else { "" }).to_owned(),
        ];
        grid.row(cells.iter().map(|text| Cell::text(text)).collect());
    }
    grid
}
