//! The book: which workloads' tables were made in a database, from which description, and how far each came.

use dyno_engine::{ObjectKind, Row, Target, TargetError, TargetErrorKind};
use dyno_workload::own::Own;

/// One line for each workload.
const LOADS: &str = "dyno_own_loads";
/// One line for each table that was made.
const TABLES: &str = "dyno_own_tables";
/// One line for each part of a table that is there.
const PARTS: &str = "dyno_own_parts";

/// All tables of the book, in the order in which they are made.
pub(super) const BOOK: [&str; 3] = [PARTS, TABLES, LOADS];

/// How far a load came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Tables are made and filled.
    Rows,
    /// The statements of `[setup]` are done.
    Setup,
    /// All of it is done.
    Loaded,
    /// The statements of `[drop]` are done, and the tables are being dropped.
    Drop,
}

dyno_plan::names! {
    /// The word in the book.
    State { Rows = "rows", Setup = "setup", Loaded = "loaded", Drop = "drop" }
}

/// What the book says of a workload.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) digest: String,
    pub(super) scale: u64,
    pub(super) seed_and_tables: String,
    pub(super) state: State,
    pub(super) since: String,
    /// Tables that were made, in their order.
    pub(super) tables: Vec<String>,
    /// Other workloads that the book tells of.
    pub(super) others: usize,
}

impl Entry {
    /// Whether it is of these tables, with this scale.
    pub(super) fn is_of(&self, own: &Own) -> bool {
        self.digest == own.tables_digest()
    }
}

/// Rows that a statement gives.
pub(super) fn ask(target: &dyn Target, sql: &str) -> Result<Vec<Row>, TargetError> {
    let mut all = Vec::new();
    target.script(&[sql], &mut |rows| {
        all.extend(rows);
        Ok(())
    })?;
    Ok(all)
}

/// Does statements, each committed by itself.
pub(super) fn does(target: &dyn Target, statements: &[String]) -> Result<(), TargetError> {
    let texts: Vec<&str> = statements.iter().map(String::as_str).collect();
    target.script(&texts, &mut |_| Ok(()))
}

/// A text of letters that end no literal: names of workloads and tables, digests, moments.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace(['\'', '\\'], ""))
}

/// What the book says of the workload of this name, if there is a book and it says something.
///
/// # Errors
/// It cannot be read; or it tells of another workload that only has the same name.
pub(super) fn read(target: &dyn Target, own: &Own) -> Result<Option<Entry>, TargetError> {
    let entry = read_of(target, own.name())?;
    let is_described = |name: &String| own.tables().iter().any(|table| table.name() == name);
    match &entry {
        Some(there)
            if !there.tables.is_empty() && !there.is_of(own) && !there.tables.iter().any(is_described) =>
        {
            let message = format!(
                "another workload called {} has made {} there, and none of these is described here",
                own.name(),
                there.tables.join(", ")
            );
            let hint = "write another name = \"…\" into the workload.toml of one; what is there is dropped with the folder that made it";
            Err(TargetError::new(TargetErrorKind::Data, message).hint(hint))
        }
        _ => Ok(entry),
    }
}

fn read_of(target: &dyn Target, name: &str) -> Result<Option<Entry>, TargetError> {
    if target.find(ObjectKind::Table, &[LOADS])?.is_empty() {
        return Ok(None);
    }
    let sql = format!("SELECT workload, description, load_scale, words, state, since FROM {LOADS}");
    let rows = ask(target, &sql)?;
    let Some(row) = rows.iter().find(|row| row.text(0) == name) else { return Ok(None) };
    let sql = format!("SELECT table_name FROM {TABLES} WHERE workload = {} ORDER BY place", literal(name));
    let tables = ask(target, &sql)?.iter().map(|row| row.text(0).to_owned()).collect();
    Ok(Some(Entry {
        digest: row.text(1).to_owned(),
        scale: row.parse(2).ok_or_else(|| broken("a scale"))?,
        seed_and_tables: row.text(3).to_owned(),
        state: State::from_name(row.text(4)).ok_or_else(|| broken("a state"))?,
        since: row.text(5).to_owned(),
        tables,
        others: rows.len() - 1,
    }))
}

fn broken(what: &str) -> TargetError {
    let message = format!("{what} in {LOADS} cannot be read");
    TargetError::new(TargetErrorKind::Data, message)
        .hint("another version of Dyno, or somebody else, has written to it")
}

/// Makes the book where it is not there, and begins to tell of `own` in it.
pub(super) fn begin(target: &dyn Target, own: &Own) -> Result<(), TargetError> {
    let there = target.find(ObjectKind::Table, &BOOK)?;
    let is_there = |name: &str| there.iter().any(|item| item.name == name);
    let end = target.table_words().end;
    let columns = |name: &str| match name {
        LOADS => {
            "workload VARCHAR(60) NOT NULL, description VARCHAR(64), load_scale NUMERIC(19), words VARCHAR(200), \
             state VARCHAR(10), since VARCHAR(40), PRIMARY KEY (workload)"
        }
        TABLES => {
            "workload VARCHAR(60) NOT NULL, table_name VARCHAR(60) NOT NULL, place NUMERIC(9), \
             PRIMARY KEY (workload, table_name)"
        }
        _ => {
            "workload VARCHAR(60) NOT NULL, table_name VARCHAR(60) NOT NULL, first_row NUMERIC(19) NOT NULL, \
             row_count NUMERIC(19), PRIMARY KEY (workload, table_name, first_row)"
        }
    };
    let missing = BOOK.into_iter().filter(|name| !is_there(name));
    let mut statements: Vec<String> =
        missing.map(|name| format!("CREATE TABLE {name} ({}){end}", columns(name))).collect();
    let (name, words) = (literal(own.name()), literal(&words(own)));
    let now = literal(&jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    statements.push(format!(
        "INSERT INTO {LOADS} VALUES ({name}, {}, {}, {words}, '{}', {now})",
        literal(own.tables_digest()),
        own.scale(),
        State::Rows.name()
    ));
    does(target, &statements)
}

/// What is described, in words for people.
pub(super) fn words(own: &Own) -> String {
    let rows: u64 = own.tables().iter().map(|table| table.rows()).sum();
    let count = own.tables().len();
    format!("{count} {} of {rows} rows together", if count == 1 { "table" } else { "tables" })
}

/// Notes that the load of `own` has come to `state`.
pub(super) fn turn_to(target: &dyn Target, own: &Own, state: State) -> Result<(), TargetError> {
    let (state, name) = (state.name(), literal(own.name()));
    does(target, &[format!("UPDATE {LOADS} SET state = '{state}' WHERE workload = {name}")])
}

/// Notes that a table is made for `own`.
pub(super) fn add_table(
    target: &dyn Target,
    own: &Own,
    table: &str,
    place: usize,
) -> Result<(), TargetError> {
    let (name, table) = (literal(own.name()), literal(table));
    does(target, &[format!("INSERT INTO {TABLES} VALUES ({name}, {table}, {place})")])
}

/// Parts of a table that are there: the first row, and how many.
pub(super) fn parts(target: &dyn Target, own: &Own, table: &str) -> Result<Vec<(u64, u64)>, TargetError> {
    let (name, table) = (literal(own.name()), literal(table));
    let sql = format!(
        "SELECT first_row, row_count FROM {PARTS} WHERE workload = {name} AND table_name = {table} ORDER BY first_row"
    );
    let part = |row: &Row| row.parse(0).zip(row.parse(1)).ok_or_else(|| broken("a part"));
    ask(target, &sql)?.iter().map(part).collect()
}

/// The statement that notes a part.
pub(super) fn note(own: &Own, table: &str, first: u64, rows: u64) -> String {
    format!("INSERT INTO {PARTS} VALUES ({}, {}, {first}, {rows})", literal(own.name()), literal(table))
}

/// The statement that forgets the parts of a table.
pub(super) fn forget_parts(own: &Own, table: &str) -> String {
    format!(
        "DELETE FROM {PARTS} WHERE workload = {} AND table_name = {}",
        literal(own.name()),
        literal(table)
    )
}

/// Statements that forget a table.
pub(super) fn forget_table(own: &Own, table: &str) -> Vec<String> {
    let (name, quoted) = (literal(own.name()), literal(table));
    vec![
        forget_parts(own, table),
        format!("DELETE FROM {TABLES} WHERE workload = {name} AND table_name = {quoted}"),
    ]
}

/// Statements that forget the workload.
pub(super) fn forget(own: &Own) -> String {
    format!("DELETE FROM {LOADS} WHERE workload = {}", literal(own.name()))
}
