//! The statements that used the server's time, most first.

use dyno_analyze::number::{count, figure, percent, span_s};
use dyno_record::{
    COMMIT, CountedStatements, RecordKind, RunRecord, StatementCounts, StatementUse, TopStatements,
};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, truncate, wrap};

pub(crate) const TITLE: &str = "top statements";

/// Characters of a text in a terminal and on a page; the record has more.
const TERMINAL_COLUMNS: usize = 40;
const PAGE_COLUMNS: usize = 240;

/// Statements that a terminal shows; pages show all that are listed.
const TERMINAL_ROWS: usize = 10;

/// Time of commits, as a share of the time of all statements, from which its absence is worth a note.
const COMMITS_SHARE_MIN: f64 = 0.05;

/// The share of the time from which statements of others are worth a note, in percent.
const OTHERS_PCT: f64 = 1.0;

/// What the server counted for the record's statements.
fn counted(record: &RunRecord) -> Option<&CountedStatements> {
    match record.statements.as_ref()? {
        TopStatements::Counted(counted) => Some(counted),
        TopStatements::Absent { .. } => None,
    }
}

/// A row for each listed statement, then the rest and Dyno's own; `None` if nothing was counted.
pub(crate) fn grid(record: &RunRecord) -> Option<Grid> {
    rows(record, usize::MAX)
}

fn rows(record: &RunRecord, rows_max: usize) -> Option<Grid> {
    let counted = counted(record)?;
    let total = counted.total();
    if total.calls == 0 {
        return None;
    }
    let all: Vec<StatementCounts> = counted.statements.iter().map(|one| one.counts).collect();
    let columns: Vec<&CountColumn> =
        COLUMNS.iter().filter(|column| all.iter().any(|counts| (column.value)(counts).is_some())).collect();
    let is_named = counted.statements.iter().any(|one| one.operation.is_some());
    let mut heads = vec![
        GridHead::tight("operation").explained("name in the run's workload"),
        GridHead::text("statement").only_in_terminal(),
        GridHead::text("statement").explained("as the server stores it, without values").only_on_pages(),
        GridHead::text("where").explained("database and user, as the server reports them").only_on_pages(),
        GridHead::figures("time", "%").explained("of the time of all statements but Dyno's own"),
        GridHead::figures("time", "s").explained("of all executions"),
        GridHead::figures("calls", ""),
        GridHead::figures("calls", "/s").spare(4),
        GridHead::figures("mean", "ms").explained("time of one execution"),
    ];
    heads.extend(columns.iter().map(|column| {
        let head = GridHead::figures(column.head, "").explained(column.explained);
        if column.spare == 0 { head.only_on_pages() } else { head.spare(column.spare) }
    }));
    let mut grid = Grid::new(heads);
    let mut row = |words: [GridCell; 4], counts: &StatementCounts, is_in_total: bool, at_least: bool| {
        let calls = counts.calls as f64;
        let share = (is_in_total && total.time_s > 0.0).then(|| 100.0 * counts.time_s / total.time_s);
        let limit = |cell: GridCell| if at_least { cell.preceded_by("≥ ") } else { cell };
        let mut cells = words.to_vec();
        cells.extend([
            GridCell::percent(share),
            limit(GridCell::figure(counts.time_s)),
            limit(GridCell::count(counts.calls)),
            limit(GridCell::figure((counted.seconds > 0.0).then_some(calls / counted.seconds))),
            GridCell::figure((counts.calls > 0).then_some(1e3 * counts.time_s / calls)),
        ]);
        cells.extend(columns.iter().map(|column| {
            let mean = (column.value)(counts).filter(|_| counts.calls > 0).map(|value| value / calls);
            if column.is_bytes { GridCell::bytes(mean) } else { GridCell::figure(mean) }
        }));
        grid.row(cells);
    };
    for one in counted.statements.iter().take(rows_max) {
        row(words(one), &one.counts, true, one.at_least);
    }
    let folded = counted.statements.iter().skip(rows_max).map(|one| (1, one.counts));
    let rest = folded.chain(counted.rest.iter().map(|rest| (rest.statements, rest.counts)));
    let rest = rest.reduce(|(number, counts), (more, other)| (number + more, counts.plus(other)));
    let group = |text: String| [GridCell::default(), text.clone().into(), text.into(), GridCell::default()];
    if let Some((number, counts)) = rest {
        row(group(format!("{} more statements", count(number))), &counts, true, false);
    }
    if let Some(monitoring) = &counted.monitoring {
        row(group("Dyno's own monitoring".to_owned()), &monitoring.counts, false, false);
    }
    Some(if is_named { grid } else { grid.columns(|head| head.label != "operation") })
}

/// A figure for each execution.
struct CountColumn {
    head: &'static str,
    explained: &'static str,
    /// Rank at which a terminal drops it; 0 where only pages have it.
    spare: u8,
    is_bytes: bool,
    value: fn(&StatementCounts) -> Option<f64>,
}

const fn column(
    head: &'static str,
    explained: &'static str,
    spare: u8,
    value: fn(&StatementCounts) -> Option<f64>,
) -> CountColumn {
    CountColumn { head, explained, spare, is_bytes: false, value }
}

fn number(value: Option<u64>) -> Option<f64> {
    value.map(|value| value as f64)
}

const COLUMNS: [CountColumn; 12] = [
    column("rows", "returned or changed, for each call", 1, |one| number(one.rows)),
    column("examined", "rows read to find them, for each call", 5, |one| number(one.rows_examined)),
    column("gets", "logical reads, in blocks for each call", 2, |one| number(one.logical_reads)),
    column("reads", "blocks from outside the cache, for each call", 3, |one| number(one.physical_reads)),
    CountColumn {
        is_bytes: true,
        ..column("redo", "bytes of redo (WAL) for each call", 3, |one| number(one.redo_bytes))
    },
    column("dirtied", "blocks for each call", 0, |one| number(one.blocks_dirtied)),
    column("temp", "blocks of temporary files for each call", 0, |one| number(one.temp_blocks)),
    column("disk tables", "temporary tables on disk for each call", 0, |one| number(one.temp_tables_on_disk)),
    column("sorted", "rows for each call", 0, |one| number(one.rows_sorted)),
    column("CPU ms", "processor time of one call", 0, |one| one.cpu_s.map(|time_s| time_s * 1e3)),
    column("errors", "returned for each call", 0, |one| number(one.errors)),
    column("lock ms", "wait for locks of one call", 0, |one| one.lock_s.map(|time_s| time_s * 1e3)),
];

/// The operation, the statement for a terminal and for a page, and where it ran.
fn words(one: &StatementUse) -> [GridCell; 4] {
    let text = match (&one.text, one.id.as_str()) {
        (Some(text), _) => clean(&text.split_whitespace().collect::<Vec<_>>().join(" ")),
        (None, _) if one.operation.is_some() => "in the workload's files".to_owned(),
        (None, "") => "statements that are not visible".to_owned(),
        (None, id) => format!("{} (text not visible)", clean(id)),
    };
    let place: Vec<String> = one.database.iter().chain(&one.user).map(|word| clean(word)).collect();
    [
        one.operation.as_deref().map_or_else(GridCell::default, |name| clean(name).into()),
        truncate(&text, TERMINAL_COLUMNS).into(),
        truncate(&text, PAGE_COLUMNS).into(),
        place.join(", ").into(),
    ]
}

/// Whether a statement controls transactions or the session, which sessions of all programs do with the same words.
fn is_session_control(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let transactions = ["begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"];
    let sessions = ["set", "prepare", "deallocate"];
    transactions.iter().chain(&sessions).any(|word| first.eq_ignore_ascii_case(word))
}

/// The largest statement in one sentence; `None` if nothing was counted.
pub(crate) fn conclusion(record: &RunRecord) -> Option<String> {
    let counted = counted(record)?;
    let (first, total) = (counted.statements.first()?, counted.total());
    if total.time_s <= 0.0 {
        return None;
    }
    let [operation, text, ..] = words(first);
    let name = if operation.text.is_empty() { text.text } else { operation.text };
    Some(format!(
        "{} of the statements' time was in {name}: {} calls/s with {} ms on average",
        format_args!("{} %", percent(100.0 * first.counts.time_s / total.time_s)),
        figure(first.counts.calls as f64 / counted.seconds),
        figure(1e3 * first.counts.time_s / first.counts.calls.max(1) as f64),
    ))
}

/// The time of commits, where the server counts it in no statement: it writes the log when the statement has ended.
fn commit_note(record: &RunRecord, counted: &CountedStatements) -> Option<String> {
    let commits = record.ops.get(COMMIT)?;
    let commits_s = commits.service_us.mean? * commits.service_us.count as f64 / 1e6;
    let is_commit = |one: &&StatementUse| {
        let first = one.text.as_deref().and_then(|text| text.split_whitespace().next()).unwrap_or_default();
        ["commit", "end"].iter().any(|word| first.trim_end_matches(';').eq_ignore_ascii_case(word))
    };
    let counted_s: f64 = counted.statements.iter().filter(is_commit).map(|one| one.counts.time_s).sum();
    let total_s = counted.total().time_s;
    (commits_s > 2.0 * counted_s && commits_s >= COMMITS_SHARE_MIN * total_s).then(|| {
        format!(
            "sessions waited {} s for {} commits, by the client's clock; {}",
            figure(commits_s),
            count(commits.service_us.count),
            match counted_s {
                0.0 => format!("that time is in no statement above, whose sum is {} s", figure(total_s)),
                _ => format!("the statements above have only {} s of it", figure(counted_s)),
            }
        )
    })
}

/// What the figures are and lack, or why there are none; empty where no statements were looked at.
pub(crate) fn notes(record: &RunRecord) -> Vec<String> {
    let counted = match &record.statements {
        None => return Vec::new(),
        Some(TopStatements::Absent { absent, hint }) => {
            let hint = if hint.is_empty() { String::new() } else { format!("; {hint}") };
            return vec![format!("not counted: {absent}{hint}")];
        }
        Some(TopStatements::Counted(counted)) => counted,
    };
    let mut notes = vec![format!(
        "from {} over {}; a statement counts when it ends, with all of its time",
        counted.source,
        span_s(counted.seconds)
    )];
    let total = counted.total();
    if total.calls == 0 {
        notes.push("no statement ended in this time".to_owned());
    }
    // Nobody knows whose a statement without a text is.
    let is_other = |one: &&StatementUse| {
        one.operation.is_none() && one.text.as_deref().is_some_and(|text| !is_session_control(text))
    };
    let others_s: f64 = counted.statements.iter().filter(is_other).map(|one| one.counts.time_s).sum();
    let others_pct = 100.0 * others_s / total.time_s.max(f64::MIN_POSITIVE);
    let has_names = counted.statements.iter().any(|one| one.operation.is_some());
    if record.kind == RecordKind::Run && has_names && others_pct >= OTHERS_PCT {
        notes.push(format!(
            "statements without an operation, with {} % of the time, are not the workload's: the server counts the sessions of \
             all programs",
            percent(others_pct)
        ));
    }
    notes.extend(commit_note(record, counted));
    if counted.statements.iter().any(|one| one.at_least) {
        notes.push(
            "≥: the server counted this statement from 0 again; earlier executions are missing".to_owned(),
        );
    }
    notes.extend(counted.notes.iter().cloned());
    notes
}

/// The table and its notes for a terminal; empty where no statements were looked at.
pub(crate) fn text(record: &RunRecord, style: &Style) -> String {
    let table = rows(record, TERMINAL_ROWS).map_or_else(String::new, |grid| grid.render(style));
    let notes = notes(record);
    let lines = notes.iter().flat_map(|words| wrap(&clean(words), style.columns(), 4));
    table + &lines.map(|line| format!("{}\n", style.paint(Paint::Dim, &line))).collect::<String>()
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::StatementGroup;

    use super::*;

    fn statement(operation: Option<&str>, text: &str, calls: u64, time_s: f64) -> StatementUse {
        StatementUse {
            id: "1".into(),
            text: Some(text.into()),
            operation: operation.map(str::to_owned),
            counts: StatementCounts { calls, time_s, rows: Some(calls * 3), ..StatementCounts::default() },
            ..StatementUse::default()
        }
    }

    fn with(statements: Vec<StatementUse>) -> RunRecord {
        let monitoring = StatementCounts { calls: 4, time_s: 50.0, ..StatementCounts::default() };
        let mut record = fixture::postgres();
        record.statements = Some(TopStatements::Counted(Box::new(CountedStatements {
            source: "pg_stat_statements".into(),
            seconds: 10.0,
            statements,
            rest: Some(StatementGroup {
                statements: 7,
                counts: StatementCounts { calls: 1, time_s: 1.0, ..StatementCounts::default() },
            }),
            monitoring: Some(StatementGroup { statements: 1, counts: monitoring }),
            notes: Vec::new(),
        })));
        record
    }

    fn rendered(record: &RunRecord) -> String {
        text(record, &Style { width: 120, ..Style::default() })
    }

    #[test]
    fn statements_have_shares_of_all_time_but_dynos() {
        let record = with(vec![
            statement(Some("select"), "SELECT\n count(c2)  FROM t", 1_000, 6.0),
            StatementUse { at_least: true, ..statement(None, "SELECT \u{1b}[2J", 10, 3.0) },
        ]);
        let table = rendered(&record);
        assert!(table.contains("60"), "{table}");
        assert!(table.contains("select"), "{table}");
        assert!(table.contains("SELECT count(c2) FROM t"), "{table}");
        assert!(table.contains("7 more statements"), "{table}");
        assert!(table.contains("Dyno's own monitoring"), "{table}");
        assert!(table.contains("≥ 10"), "{table}");
        assert!(!table.contains('\u{1b}'), "{table}");
        assert!(table.contains("30.0 % of the time, are not the workload's"), "{table}");
        assert!(
            conclusion(&record)
                .unwrap()
                .starts_with("60.0 % of the statements' time was in select: 100 calls/s with 6")
        );
    }

    #[test]
    fn commits_of_workload_are_no_activity_of_others() {
        let record =
            with(vec![statement(Some("update"), "UPDATE t", 1, 8.0), statement(None, "COMMIT", 1, 1.0)]);
        assert!(!notes(&record).iter().any(|note| note.contains("not the workload's")));
    }

    #[test]
    fn time_of_commits_outside_of_statements_is_named() {
        let mut record = with(vec![statement(Some("update"), "UPDATE t", 404, 1.3)]);
        let mut commits = record.ops["all"].clone();
        (commits.count, commits.service_us.count, commits.service_us.mean) = (404, 404, Some(3_520.0));
        record.ops.insert(COMMIT.to_owned(), commits);
        let text = notes(&record).join("\n");
        assert!(text.contains("sessions waited 1.42 s for 404 commits, by the client's clock"), "{text}");
        assert!(text.contains("in no statement above, whose sum is 2.30 s"), "{text}");
        let Some(TopStatements::Counted(counted)) = &mut record.statements else { unreachable!() };
        counted.statements.push(statement(None, "COMMIT", 404, 1.4));
        assert!(
            !notes(&record).join("\n").contains("sessions waited"),
            "the server counts them as a statement"
        );
    }

    #[test]
    fn missing_statements_have_their_reason() {
        let mut record = fixture::postgres();
        assert!(rendered(&record).is_empty());
        let (absent, hint) = ("the extension is not installed".into(), "CREATE EXTENSION it".into());
        record.statements = Some(TopStatements::Absent { absent, hint });
        assert!(grid(&record).is_none());
        assert!(conclusion(&record).is_none());
        assert_eq!(rendered(&record), "not counted: the extension is not installed; CREATE EXTENSION it\n");
    }
}
