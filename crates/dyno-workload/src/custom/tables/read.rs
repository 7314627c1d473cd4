//! Reads `[table.NAME]`.

use std::sync::Arc;

use dyno_engine::{ColumnDefinition, ColumnType};
use sha2::{Digest as _, Sha256};

use super::column::column_type;
use super::overflow::{self, Overflow};
use super::table::{DescribedTable, Parent};
use super::type_check::misfit;
use crate::custom::draws::{Constants, Draws, Names, null_share, read_columns};
use crate::custom::fault::{SourceText, WorkloadError};
use crate::custom::folder::WorkloadFolder;
use crate::custom::names::{NAME, is_name, meant, shown};
use crate::custom::scale;
use crate::custom::table::{TomlItem, TomlTable};

/// The largest number of tables in a workload, and of columns in a table.
const TABLES_MAX: usize = 100;
const COLUMNS_MAX: usize = 500;
/// The largest number of rows in a table.
const ROWS_MAX: i64 = 1 << 50;

/// Names in expressions: the row's number and, for child rows, the number of the parent row and the index
/// among its children.
const ROWS: [&str; 3] = ["row", "parent", "place"];

/// All described tables, with a digest that identifies the description.
#[derive(Debug, Clone, Default)]
pub(in crate::custom) struct DescribedTables {
    pub(in crate::custom) tables: Vec<DescribedTable>,
    /// SHA-256 of their meaning, including scale and seed; empty without tables.
    pub(in crate::custom) digest: String,
}

impl DescribedTables {
    /// Records that a transaction fills the table with this name.
    ///
    /// # Errors
    /// No table has this name.
    pub(in crate::custom) fn fill_by_runs(&mut self, name: &SourceText) -> Result<(), WorkloadError> {
        if let Some(table) = self.tables.iter_mut().find(|table| table.name == *name.letters) {
            table.by_runs = true;
            return Ok(());
        }
        let table_names = self.tables.iter().map(|table| table.name.as_str());
        let problem = format!("no table {} is described", shown(&name.letters));
        let hint = match meant(&name.letters, table_names) {
            none if none.is_empty() => format!("write [table.{}]", shown(&name.letters)),
            hint => hint,
        };
        Err(name.fault(0, problem, hint))
    }
}

/// Reads the described tables in `table`.
///
/// # Errors
/// A table is invalid.
pub(in crate::custom) fn read(
    folder: &WorkloadFolder,
    table: Option<&TomlTable<'_>>,
    scale: i64,
    seed: u64,
) -> Result<DescribedTables, WorkloadError> {
    let Some(all) = table else { return Ok(DescribedTables::default()) };
    let items = all.items();
    if let Some(item) = items.get(TABLES_MAX) {
        return Err(item.fault(format!("more than {TABLES_MAX} tables"), "make two workloads of it"));
    }
    let mut hash = Sha256::new();
    let mut note = |text: &[u8]| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    note(format!("scale {scale}, seed {seed}").as_bytes());
    let mut tables: Vec<DescribedTable> = Vec::new();
    for item in &items {
        let name = item.own_name();
        if tables.iter().any(|other| other.name.eq_ignore_ascii_case(name)) {
            return Err(item.unknown("there is a table of this name", &[]).hint("give it another name"));
        }
        let described = read_table(folder, item, (&items, &tables), scale, seed)?;
        for text in [name.as_bytes(), item.meaning().as_bytes(), &described.draws.shared] {
            note(text);
        }
        tables.push(described);
    }
    let digest = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(DescribedTables { tables, digest })
}

const KEYS: [&str; 10] = [
    "rows",
    "like",
    "primary_key",
    "indexes",
    "indexed",
    "logging",
    "constraints",
    "emptied",
    "columns",
    "draw",
];

fn read_table(
    folder: &WorkloadFolder,
    item: &TomlItem<'_>,
    before: (&[TomlItem<'_>], &[DescribedTable]),
    scale: i64,
    seed: u64,
) -> Result<DescribedTable, WorkloadError> {
    let name = item.own_name();
    if !is_name(name) {
        return Err(item.unknown("no name for a table", &[]).hint(NAME));
    }
    let table = item.table("[table.NAME]")?;
    table.require_only(&KEYS)?;
    let like = table.get("like").map(|like| resolve_like(&like, before)).transpose()?;
    if let (Some(_), Some(own)) = (&like, table.get("columns").or_else(|| table.get("draw"))) {
        return Err(
            own.fault("its columns are those of the table that it is like", "take out like, or these")
        );
    }
    // The model cannot itself use `like`, so the model's table contains the columns.
    let model_table = like.as_ref().map_or(Ok(table.clone()), |(item, _)| item.table("[table.NAME]"))?;
    let rows_item = table.get("rows");
    let parent = rows_item.as_ref().and_then(TomlItem::as_table);
    let parent = parent.map(|table| self::parent(&table, before.1)).transpose()?;
    let rows = match (rows_item, &like, &parent) {
        (_, _, Some(_)) => 0,
        (None, Some((_, like)), None) => like.rows as i64,
        _ => scale::whole(&table.need("rows", "rows = \"100_000 * scale\"")?, scale, 0, ROWS_MAX)?,
    };
    let columns_item = model_table.need("columns", "[table.NAME.columns]")?;
    let columns_table = columns_item.table("[table.NAME.columns]")?;
    let written = columns_table.items();
    if written.is_empty() || written.len() > COLUMNS_MAX {
        return Err(columns_item.fault(format!("1 to {COLUMNS_MAX} columns"), ""));
    }
    let beside = model_table.get("draw").map(|item| item.table("[table.NAME.draw]")).transpose()?;
    let beside_items = beside.as_ref().map(TomlTable::items).unwrap_or_default();
    let own_rows = &ROWS[..if parent.is_some() { 3 } else { 1 }];
    for item in written.iter().chain(&beside_items) {
        if own_rows.contains(&item.own_name()) {
            let meaning = match parent {
                None => "the number of the row",
                Some(_) => "the number of the row, of the one that it belongs to, or of its place",
            };
            return Err(item.unknown(meaning, &[]).hint("give the column another name"));
        }
    }
    if let Some(item) = beside_items.iter().find(|item| columns_table.get(item.own_name()).is_some()) {
        return Err(item.unknown("there is a column of this name", &[]).hint("give it another name"));
    }
    let drawn = written.iter().chain(&beside_items).map(TomlItem::own_name).chain(Constants::NAMES);
    let mut names: Vec<String> = drawn.map(str::to_owned).collect();
    let draws = names.len();
    names.extend(own_rows.iter().map(|&name| name.to_owned()));
    let names = Names { all: names, draws, ..Names::default() };
    let constants = Constants { scale, data_seed: seed as i64 };
    let draws = read_columns(folder, &columns_table, beside.as_ref(), &names, constants)?;
    let (mut columns, mut nulls): (Vec<ColumnDefinition>, Vec<u32>) = (Vec::new(), Vec::new());
    for (place, item) in written.iter().enumerate() {
        let (of, null) = column(item, place, &draws)?;
        let name = item.own_name();
        if columns.iter().any(|other| other.name.eq_ignore_ascii_case(name)) {
            return Err(item.unknown("there is a column of this name", &[]).hint("give it another name"));
        }
        columns.push(ColumnDefinition { name: name.to_owned(), column_type: of });
        nulls.push(null);
    }
    let key = table.get("primary_key").map_or(Ok(Vec::new()), |item| places(&item, &columns))?;
    if let Some(&column) = key.iter().find(|&&column| nulls[column] > 0) {
        let null = written[column].fault("a column of the primary key is never NULL", "leave null_pct out");
        return Err(null);
    }
    let indexes = match table.get("indexes") {
        None => Vec::new(),
        Some(item) => {
            let list = item.list("a list of lists of columns: [[\"bid\"]]")?;
            list.iter().map(|one| places(one, &columns)).collect::<Result<_, _>>()?
        }
    };
    let indexed_first = table.get("indexed").map_or(Ok(false), |item| indexed_first(&item))?;
    let logged = table.get("logging").map_or(Ok(true), |item| item.flag())?;
    let constraints = table.get("constraints").map_or(Ok(Vec::new()), |item| constraints(&item))?;
    let emptied = table.get("emptied").map_or(Ok(false), |item| emptied(&item, rows))?;
    let (rows, name, here) = (rows.unsigned_abs(), name.to_owned(), item.source_text());
    let made_as = like.map_or_else(|| name.clone(), |(_, like)| like.name.clone());
    let by_runs = false;
    let table = DescribedTable {
        name,
        rows,
        parent,
        columns,
        nulls,
        key,
        indexes,
        indexed_first,
        logged,
        constraints,
        by_runs,
        emptied,
        made_as,
        draws,
        seed,
        here,
    };
    match overflow::find(&table) {
        Some(Overflow { column, problem, hint }) => Err(written[column].fault(problem, hint)),
        None => Ok(table),
    }
}

/// Reads whether the table is recreated before each run. It then contains rows of one run only, and no
/// described rows.
fn emptied(item: &TomlItem<'_>, rows: i64) -> Result<bool, WorkloadError> {
    match item.flag()? {
        true if rows != 0 => {
            Err(item
                .fault("a table that is emptied before each run has no rows of its own", "write rows = 0"))
        }
        flag => Ok(flag),
    }
}

/// The table that `like` names, with its item: an earlier table with its own columns.
fn resolve_like<'a, 'b>(
    like: &TomlItem<'_>,
    (items, tables): (&'a [TomlItem<'b>], &'a [DescribedTable]),
) -> Result<(&'a TomlItem<'b>, &'a DescribedTable), WorkloadError> {
    let name = like.text("the name of a table before this one")?;
    let match_before = items.iter().zip(tables).find(|(_, table)| table.name == *name.letters);
    match match_before {
        Some((_, table)) if table.parent.is_some() => Err(name.fault(
            0,
            "rows of that table belong to rows of another one",
            "name a table with rows of its own",
        )),
        Some((item, table)) if table.made_as == table.name => Ok((item, table)),
        Some((_, table)) => {
            let hint = format!("write like = \"{}\"", table.made_as);
            Err(name.fault(0, "that table is like another one itself", hint))
        }
        None => {
            let problem = format!("there is no table {} before this one", shown(&name.letters));
            Err(name.fault(0, problem, meant(&name.letters, tables.iter().map(|table| table.name.as_str()))))
        }
    }
}

/// Reads whether keys and indexes are created before the rows.
fn indexed_first(item: &TomlItem<'_>) -> Result<bool, WorkloadError> {
    match &*item.text("\"before\" or \"behind\"")?.letters {
        "before" => Ok(true),
        "behind" => Ok(false),
        other => Err(item.fault(format!("{:?} is not known", shown(other)), "before or behind (the rows)")),
    }
}

/// Reads constraints, each in the syntax of SQL after the columns.
fn constraints(item: &TomlItem<'_>) -> Result<Vec<String>, WorkloadError> {
    let text_of =
        |item: &TomlItem<'_>| Ok(item.text("a constraint: \"CHECK (amount >= 0)\"")?.letters.to_string());
    item.list("a list of constraints: [\"CHECK (amount >= 0)\"]")?.iter().map(text_of).collect()
}

/// Reads the parent table, whose rows each have a number of child rows:
/// `{ of = "orders", times = "o_ol_cnt" }`.
fn parent(table: &TomlTable<'_>, before: &[DescribedTable]) -> Result<Arc<Parent>, WorkloadError> {
    table.require_only(&["of", "times"])?;
    let item = table.need("of", "the table of which each row has some: of = \"orders\"")?;
    let name = item.text("the name of a table")?;
    let Some(parent) = before.iter().find(|table| table.name == *name.letters) else {
        let problem = format!("there is no table {} before this one", shown(&name.letters));
        return Err(item.fault(problem, meant(&name.letters, before.iter().map(DescribedTable::name))));
    };
    let times = table.need("times", "a column that says how many: times = \"o_ol_cnt\"")?;
    let column = places(&times, &parent.columns)?[0];
    match parent.columns[column].column_type {
        ColumnType::Integer | ColumnType::Bigint => Ok(Arc::new(Parent::new(parent.clone(), column))),
        _ => Err(times.fault("no column of integers", "name one that says how many rows there are")),
    }
}

/// Reads the type of a column and its share of NULL.
fn column(item: &TomlItem<'_>, place: usize, draws: &Draws) -> Result<(ColumnType, u32), WorkloadError> {
    let table = item.table("a column")?;
    let written = table.need("type", "type = \"integer\"")?;
    let sql_type = column_type(&written)?;
    if let Some((problem, hint)) = misfit(sql_type, &draws.all[place], draws) {
        return Err(item.fault(problem, hint));
    }
    Ok((sql_type, null_share(&table)?))
}

/// Indices of the columns that `item`, a name or a list of names, contains.
fn places(item: &TomlItem<'_>, columns: &[ColumnDefinition]) -> Result<Vec<usize>, WorkloadError> {
    let list = item.as_list().unwrap_or_else(|| vec![item.clone()]);
    if list.is_empty() {
        return Err(item.fault("no column", "write the name of one"));
    }
    let mut places = Vec::new();
    for item in &list {
        let name = item.text("the name of a column")?;
        match columns.iter().position(|column| column.name == *name.letters) {
            Some(place) if places.contains(&place) => {
                return Err(item.fault(format!("{} is there twice", shown(&name.letters)), "write it once"));
            }
            Some(place) => places.push(place),
            None => {
                let hint = meant(&name.letters, columns.iter().map(|column| column.name.as_str()));
                let problem = format!("there is no column {}", shown(&name.letters));
                return Err(name.fault(0, problem, hint));
            }
        }
    }
    Ok(places)
}
