//! Reads the steps of a transaction.

use dyno_engine::Isolation;

use super::draws::{Draws, Names, numeric};
use super::expr::{Expr, parse};
use super::fault::{SourceText, WorkloadError};
use super::folder::{Variants, WorkloadFolder};
use super::isolation::isolation;
use super::names::{NAME, is_name, shown};
use super::sql::{SplitStatement, single_statement, split};
use super::table::{TomlItem, TomlTable, WrittenNumber};
use super::value::Number;

/// The deepest nesting of steps.
const DEPTH_MAX: usize = 8;
/// Keys whose values contain nested steps.
pub(super) const NESTING: [&str; 3] = ["steps", "else", "transaction"];
/// The largest number of iterations in one transaction.
pub(super) const TURNS_MAX: i64 = 1_000_000;

/// Statements with the text that contains them.
#[derive(Debug, Clone)]
pub(super) struct Sql {
    pub(super) text: SourceText,
    pub(super) pieces: Vec<SplitStatement>,
}

/// An expression with its place.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) expr: Expr,
    pub(super) text: SourceText,
}

/// Which statement a step runs.
#[derive(Debug, Clone)]
pub(super) enum StatementRef {
    /// The statement with this name in the transaction's file.
    Named(SourceText),
    /// The statement inside the step.
    Here(Sql),
    /// The statement with this index in the transaction's file.
    Nth(usize),
}

/// What a step reads from a result.
#[derive(Debug, Clone)]
pub(super) enum ResultBinding {
    /// The number in the first column of the last row.
    Number(u16),
    /// The first columns of the last row, with any type.
    Columns(Vec<u16>),
}

#[derive(Debug, Clone)]
pub(super) enum TransactionStep {
    /// Runs a statement that must touch a number of rows in this range; stores what it reads, or the number
    /// of rows.
    Run { which: StatementRef, rows: Option<(u64, u64)>, read: Option<ResultBinding>, count: Option<u16> },
    /// Repeats steps; `counter` is the number of the iteration, from 1.
    Repeat { times: Condition, counter: Option<u16>, steps: Vec<TransactionStep> },
    /// Executes one of two lists of steps.
    If { condition: Condition, then: Vec<TransactionStep>, otherwise: Vec<TransactionStep> },
    /// Rolls the transaction back and ends it. With `is_poll` it was a poll that found nothing, which is not
    /// an operation.
    Rollback { condition: Condition, is_poll: bool },
    /// Adds one to the tally with this meaning.
    Tally(String),
    /// Stores the value of an expression under a name.
    Set { slot: u16, to: Condition },
    /// Sleeps for the value of an expression, in units of this many ns.
    Sleep { time: Condition, unit_ns: u64 },
    /// Executes steps in one database transaction, while others commit separately.
    Transaction { isolation: Isolation, steps: Vec<TransactionStep>, text: SourceText },
}

/// The statements in `sql`, which is SQL text or, if it ends in `.sql`, the name of a file.
pub(super) fn sql(folder: &WorkloadFolder, item: &TomlItem<'_>) -> Result<Variants<Sql>, WorkloadError> {
    let sql = sql_or_nothing(folder, item)?;
    if let Some(Sql { text, .. }) = sql.all().find(|sql| sql.pieces.is_empty()) {
        return Err(text.fault(0, "there is no statement", "write one"));
    }
    Ok(sql)
}

/// The same, but without statements is allowed.
pub(super) fn sql_or_nothing(
    folder: &WorkloadFolder,
    item: &TomlItem<'_>,
) -> Result<Variants<Sql>, WorkloadError> {
    let text = item.text("SQL, or the name of a file that ends in .sql")?;
    let variants = match text.letters.ends_with(".sql") {
        true => folder.sql(&text)?,
        false => Variants { common: Some(text), ..Variants::default() },
    };
    let read = |text: SourceText| -> Result<Sql, WorkloadError> {
        let pieces = split(&text)?;
        Ok(Sql { text, pieces })
    };
    Ok(Variants {
        common: variants.common.map(read).transpose()?,
        own: variants
            .own
            .into_iter()
            .map(|(engine, text)| Ok((engine, read(text)?)))
            .collect::<Result<_, WorkloadError>>()?,
    })
}

/// Collects the names that steps of the transaction `table` give to numbers.
pub(super) fn given(table: &TomlTable<'_>, names: &mut Names) -> Result<(), WorkloadError> {
    // Generators may use a name that is read only with another value of an option.
    let steps = NESTING.into_iter().flat_map(|key| table.with_any_option(key));
    let steps = steps.flat_map(|item| item.list_with_any_option());
    for step in steps.filter_map(|item| item.as_table()) {
        for key in ["read", "count", "counter", "set"] {
            let Some(item) = step.get(key) else { continue };
            if key == "set" {
                set_name(&item, names)?;
                continue;
            }
            match item.as_list().filter(|_| key == "read") {
                None => {
                    name(&item, names)?;
                }
                Some(columns) => self::columns(&item, &columns, names)?,
            }
        }
        given(&step, names)?;
    }
    Ok(())
}

/// Collects the names of columns that a step reads.
fn columns(item: &TomlItem<'_>, columns: &[TomlItem<'_>], names: &mut Names) -> Result<(), WorkloadError> {
    if columns.is_empty() {
        return Err(
            item.fault("no column is read", "name the first ones in their order: [\"left\", \"price\"]")
        );
    }
    let mut slots = Vec::new();
    for column in columns {
        let slot = name(column, names)?;
        if slots.contains(&slot) {
            return Err(column.fault("the name is there twice", "give each column a name of its own"));
        }
        slots.push(slot);
        if !names.columns.contains(&slot) {
            names.columns.push(slot);
        }
    }
    Ok(())
}

/// Collects the name that a step sets. Whether a generator of this name is a variable is checked later.
fn set_name(item: &TomlItem<'_>, names: &mut Names) -> Result<(), WorkloadError> {
    let text = item.text("a name")?;
    match names.slot(&text.letters) {
        Some(slot) if usize::from(slot) < names.draws => Ok(()),
        _ => name(item, names).map(|_| ()),
    }
}

/// The slot of the name in `item`.
fn name(item: &TomlItem<'_>, names: &mut Names) -> Result<u16, WorkloadError> {
    let name = item.text("a name")?;
    if !is_name(&name.letters) {
        return Err(item.fault(format!("{:?} is not a valid name", shown(&name.letters)), NAME));
    }
    match names.slot(&name.letters) {
        Some(slot) if usize::from(slot) < names.draws => {
            Err(item.fault(format!("{} is drawn", name.letters), "give the number another name"))
        }
        Some(slot) => Ok(slot),
        None => {
            names.all.push(name.letters.to_string());
            Ok((names.all.len() - 1) as u16)
        }
    }
}

/// The context for reading steps.
pub(super) struct Reader<'a> {
    pub(super) draws: &'a Draws,
    pub(super) names: &'a Names,
}

impl Reader<'_> {
    /// Reads the steps in the list `item`.
    pub(super) fn steps(
        &self,
        item: &TomlItem<'_>,
        depth: usize,
    ) -> Result<Vec<TransactionStep>, WorkloadError> {
        if depth > DEPTH_MAX {
            return Err(item.fault("too many steps within each other", "put fewer of them into each other"));
        }
        // A text instead of steps says why a value of an option has none.
        if let Some(why) = item.as_text() {
            return Err(item.fault(shown(&why.letters), "choose other options, or write a list of steps"));
        }
        let example = "a list of steps: [{ run = \"read_stock\" }]";
        let list = item.as_flat_list().ok_or_else(|| item.wanted("a list", example))?;
        if list.is_empty() {
            return Err(item.fault("there is no step", "write one"));
        }
        list.iter().map(|step| self.step(&step.table("a step: { run = \"read_stock\" }")?, depth)).collect()
    }

    fn step(&self, table: &TomlTable<'_>, depth: usize) -> Result<TransactionStep, WorkloadError> {
        const KINDS: [&str; 9] =
            ["run", "sql", "repeat", "if", "rollback", "tally", "set", "sleep", "transaction"];
        let kind = KINDS.iter().find_map(|kind| table.get(kind));
        let Some(kind) = kind else {
            return Err(match table.items().first() {
                Some(first) => first.unknown("there is no such step", &KINDS),
                None => table.fault("a step that says nothing", format!("write one of {}", KINDS.join(", "))),
            });
        };
        let steps = || table.need("steps", "what is repeated: steps = [{ run = \"add_line\" }]");
        match kind.own_name() {
            "repeat" => {
                table.require_only(&["repeat", "counter", "steps"])?;
                let times = self.condition(&kind)?;
                Ok(TransactionStep::Repeat {
                    times,
                    counter: self.given(table, "counter"),
                    steps: self.steps(&steps()?, depth + 1)?,
                })
            }
            "if" => {
                table.require_only(&["if", "steps", "else"])?;
                Ok(TransactionStep::If {
                    condition: self.condition(&kind)?,
                    then: self.steps(&steps()?, depth + 1)?,
                    otherwise: table
                        .get("else")
                        .map_or(Ok(Vec::new()), |item| self.steps(&item, depth + 1))?,
                })
            }
            "rollback" => {
                table.require_only(&["rollback", "poll"])?;
                let is_poll = table.get("poll").map(|item| item.flag()).transpose()?.unwrap_or(false);
                Ok(TransactionStep::Rollback { condition: self.condition(&kind)?, is_poll })
            }
            "tally" => {
                table.require_only(&["tally"])?;
                Ok(TransactionStep::Tally(kind.name()?))
            }
            "set" => self.set(table, &kind),
            "sleep" => self.sleep(table, &kind),
            "transaction" => {
                table.require_only(&["transaction", "isolation"])?;
                let isolation = table.get("isolation").map(|item| isolation(&item)).transpose()?;
                Ok(TransactionStep::Transaction {
                    isolation: isolation.unwrap_or(Isolation::Platform),
                    steps: self.steps(&kind, depth + 1)?,
                    text: kind.source_text(),
                })
            }
            own => self.run(table, &kind, own),
        }
    }

    fn run(
        &self,
        table: &TomlTable<'_>,
        kind: &TomlItem<'_>,
        key: &str,
    ) -> Result<TransactionStep, WorkloadError> {
        table.require_only(&[key, "rows", "read", "count"])?;
        let statement_ref = match key {
            "run" => StatementRef::Named(kind.text("the name of a statement")?),
            _ => {
                let text = kind.text("a statement")?;
                let piece = single_statement(&text)?;
                StatementRef::Here(Sql { text, pieces: vec![piece] })
            }
        };
        let rows = table.get("rows").map(|item| item.whole_range(0, 1 << 40, "how many: 1, or [0, 10]"));
        let rows = rows.transpose()?.map(|(low, high)| (low.unsigned_abs(), high.unsigned_abs()));
        let read = self.read(table);
        if let (Some(ResultBinding::Number(_)), Some(read), true) =
            (&read, table.get("read"), rows.is_some() || table.get("count").is_some())
        {
            let hint = "read it as a column, read = [\"left\"], or take `rows` and `count` out";
            return Err(read.fault("a statement whose number is read tells no rows", hint));
        }
        Ok(TransactionStep::Run { which: statement_ref, rows, read, count: self.given(table, "count") })
    }

    /// What the step reads; [`given`] has collected the names.
    fn read(&self, table: &TomlTable<'_>) -> Option<ResultBinding> {
        let Some(columns) = table.get("read")?.as_list() else {
            return self.given(table, "read").map(ResultBinding::Number);
        };
        let slot = |item: &TomlItem<'_>| item.as_text().and_then(|name| self.names.slot(&name.letters));
        Some(ResultBinding::Columns(columns.iter().filter_map(slot).collect()))
    }

    /// The slot of the name under `key`, which [`given`] has collected.
    pub(super) fn given(&self, table: &TomlTable<'_>, key: &str) -> Option<u16> {
        table.get(key)?.as_text().and_then(|name| self.names.slot(&name.letters))
    }

    /// Reads an expression, a number, or true.
    pub(super) fn condition(&self, item: &TomlItem<'_>) -> Result<Condition, WorkloadError> {
        let text = item.as_text();
        let is =
            |number: i64| Ok(Condition { expr: Expr::Is(Number::Int(number)), text: item.source_text() });
        match (item.as_number(), text) {
            (_, Some(text)) => {
                let expr = parse(&text, &mut |name, at| {
                    let slot = self.names.find(name, &text, at)?;
                    numeric(self.draws.all.get(usize::from(slot)), &text, at)?;
                    Ok(slot)
                })?;
                Ok(Condition { expr, text })
            }
            (Some(WrittenNumber::Whole(number)), None) if (0..=TURNS_MAX).contains(&number) => is(number),
            _ if item.flag() == Ok(true) => is(1),
            _ => {
                Err(item
                    .fault(format!("{} is no condition", item.written()), "write one: \"left < quantity\""))
            }
        }
    }
}
