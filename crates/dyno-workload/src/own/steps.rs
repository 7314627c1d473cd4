//! The steps of a transaction, as users write them.

use dyno_engine::Isolation;

use super::draws::{Draws, Names, numeric};
use super::expr::{Expr, parse};
use super::fault::{Fault, Text};
use super::folder::{Folder, Variants};
use super::isolation::isolation;
use super::names::{NAME, is_name, shown};
use super::sql::{Piece, one, split};
use super::table::{Item, Table, Written};
use super::value::Number;

/// Steps within each other, at most.
const DEPTH_MAX: usize = 8;
/// Keys of steps with steps within.
pub(super) const NESTING: [&str; 3] = ["steps", "else", "transaction"];
/// Turns of a transaction, at most.
pub(super) const TURNS_MAX: i64 = 1_000_000;

/// Statements with the text that they stand in.
#[derive(Debug, Clone)]
pub(super) struct Sql {
    pub(super) text: Text,
    pub(super) pieces: Vec<Piece>,
}

/// An expression, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) expr: Expr,
    pub(super) text: Text,
}

/// Which statement a step runs.
#[derive(Debug, Clone)]
pub(super) enum Which {
    /// The one of this name in the transaction's file.
    Named(Text),
    /// The one that stands in the step.
    Here(Sql),
    /// The one at this place of the transaction's file.
    Nth(usize),
}

/// What is read of an answer.
#[derive(Debug, Clone)]
pub(super) enum Read {
    /// The number in the first column of the last row.
    Number(u16),
    /// The first columns of the last row, whatever they are.
    Columns(Vec<u16>),
}

/// A step.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Runs a statement, which has to touch so many rows, and keeps what is read of it, or how many rows there were.
    Run { which: Which, rows: Option<(u64, u64)>, read: Option<Read>, count: Option<u16> },
    /// Does steps again and again; `counter` says the how manieth turn it is.
    Repeat { times: Condition, counter: Option<u16>, steps: Vec<Step> },
    /// Does steps, or others.
    If { condition: Condition, then: Vec<Step>, otherwise: Vec<Step> },
    /// Takes the transaction back, and ends it. With `is_poll` it was a poll that has found nothing, and no operation.
    Rollback { condition: Condition, is_poll: bool },
    /// Counts one of what this says.
    Tally(String),
    /// Gives a name what an expression comes to.
    Set { slot: u16, to: Condition },
    /// Rests for so many units of so many ns.
    Sleep { time: Condition, unit_ns: u64 },
    /// Does steps in one transaction of the database, where others commit each by itself.
    Transaction { isolation: Isolation, steps: Vec<Step>, text: Text },
}

/// The statements of `sql`, which is a text or, where that ends in `.sql`, a file's name.
pub(super) fn sql(folder: &Folder, item: &Item<'_>) -> Result<Variants<Sql>, Fault> {
    let sql = sql_or_nothing(folder, item)?;
    if let Some(Sql { text, .. }) = sql.all().find(|sql| sql.pieces.is_empty()) {
        return Err(text.fault(0, "there is no statement", "write one"));
    }
    Ok(sql)
}

/// The same, where there need be no statement.
pub(super) fn sql_or_nothing(folder: &Folder, item: &Item<'_>) -> Result<Variants<Sql>, Fault> {
    let text = item.text("SQL, or the name of a file that ends in .sql")?;
    let variants = match text.letters.ends_with(".sql") {
        true => folder.sql(&text)?,
        false => Variants { common: Some(text), ..Variants::default() },
    };
    let read = |text: Text| -> Result<Sql, Fault> {
        let pieces = split(&text)?;
        Ok(Sql { text, pieces })
    };
    Ok(Variants {
        common: variants.common.map(read).transpose()?,
        own: variants
            .own
            .into_iter()
            .map(|(engine, text)| Ok((engine, read(text)?)))
            .collect::<Result<_, Fault>>()?,
    })
}

/// The names that steps of `table`, a transaction, give to numbers.
pub(super) fn given(table: &Table<'_>, names: &mut Names) -> Result<(), Fault> {
    // Draws may be made of what only another value of an option reads.
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

/// The names of columns that a step reads.
fn columns(item: &Item<'_>, columns: &[Item<'_>], names: &mut Names) -> Result<(), Fault> {
    if columns.is_empty() {
        return Err(
            item.fault("no column is read", "name the first ones in their order: [\"left\", \"price\"]")
        );
    }
    let mut own = Vec::new();
    for column in columns {
        let slot = name(column, names)?;
        if own.contains(&slot) {
            return Err(column.fault("the name is there twice", "give each column a name of its own"));
        }
        own.push(slot);
        if !names.columns.contains(&slot) {
            names.columns.push(slot);
        }
    }
    Ok(())
}

/// The name that a step sets; whether it is a variable where it is drawn is known only when draws are read.
fn set_name(item: &Item<'_>, names: &mut Names) -> Result<(), Fault> {
    let text = item.text("a name")?;
    match names.slot(&text.letters) {
        Some(slot) if usize::from(slot) < names.draws => Ok(()),
        _ => name(item, names).map(|_| ()),
    }
}

/// The slot of the name that `item` gives.
fn name(item: &Item<'_>, names: &mut Names) -> Result<u16, Fault> {
    let name = item.text("a name")?;
    if !is_name(&name.letters) {
        return Err(item.fault(format!("{:?} is no name", shown(&name.letters)), NAME));
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

/// What steps are read with.
pub(super) struct Reader<'a> {
    pub(super) draws: &'a Draws,
    pub(super) names: &'a Names,
}

impl Reader<'_> {
    /// The steps that `item` lists.
    pub(super) fn steps(&self, item: &Item<'_>, depth: usize) -> Result<Vec<Step>, Fault> {
        if depth > DEPTH_MAX {
            return Err(item.fault("too many steps within each other", "put fewer of them into each other"));
        }
        // In the place of steps a text says why some value of an option has none.
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

    fn step(&self, table: &Table<'_>, depth: usize) -> Result<Step, Fault> {
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
                table.only(&["repeat", "counter", "steps"])?;
                let times = self.condition(&kind)?;
                Ok(Step::Repeat {
                    times,
                    counter: self.given(table, "counter"),
                    steps: self.steps(&steps()?, depth + 1)?,
                })
            }
            "if" => {
                table.only(&["if", "steps", "else"])?;
                Ok(Step::If {
                    condition: self.condition(&kind)?,
                    then: self.steps(&steps()?, depth + 1)?,
                    otherwise: table
                        .get("else")
                        .map_or(Ok(Vec::new()), |item| self.steps(&item, depth + 1))?,
                })
            }
            "rollback" => {
                table.only(&["rollback", "poll"])?;
                let is_poll = table.get("poll").map(|item| item.flag()).transpose()?.unwrap_or(false);
                Ok(Step::Rollback { condition: self.condition(&kind)?, is_poll })
            }
            "tally" => {
                table.only(&["tally"])?;
                Ok(Step::Tally(kind.name()?))
            }
            "set" => self.set(table, &kind),
            "sleep" => self.sleep(table, &kind),
            "transaction" => {
                table.only(&["transaction", "isolation"])?;
                let isolation = table.get("isolation").map(|item| isolation(&item)).transpose()?;
                Ok(Step::Transaction {
                    isolation: isolation.unwrap_or(Isolation::Platform),
                    steps: self.steps(&kind, depth + 1)?,
                    text: kind.here(),
                })
            }
            own => self.run(table, &kind, own),
        }
    }

    fn run(&self, table: &Table<'_>, kind: &Item<'_>, own: &str) -> Result<Step, Fault> {
        table.only(&[own, "rows", "read", "count"])?;
        let which = match own {
            "run" => Which::Named(kind.text("the name of a statement")?),
            _ => {
                let text = kind.text("a statement")?;
                let piece = one(&text)?;
                Which::Here(Sql { text, pieces: vec![piece] })
            }
        };
        let rows = table.get("rows").map(|item| item.whole_range(0, 1 << 40, "how many: 1, or [0, 10]"));
        let rows = rows.transpose()?.map(|(low, high)| (low.unsigned_abs(), high.unsigned_abs()));
        let read = self.read(table);
        if let (Some(Read::Number(_)), Some(read), true) =
            (&read, table.get("read"), rows.is_some() || table.get("count").is_some())
        {
            let hint = "read it as a column, read = [\"left\"], or take `rows` and `count` out";
            return Err(read.fault("a statement whose number is read tells no rows", hint));
        }
        Ok(Step::Run { which, rows, read, count: self.given(table, "count") })
    }

    /// What is read, of which [`given`] has seen the names.
    fn read(&self, table: &Table<'_>) -> Option<Read> {
        let Some(columns) = table.get("read")?.as_list() else {
            return self.given(table, "read").map(Read::Number);
        };
        let slot = |item: &Item<'_>| item.as_text().and_then(|name| self.names.slot(&name.letters));
        Some(Read::Columns(columns.iter().filter_map(slot).collect()))
    }

    /// The slot of the name under `key`, which [`given`] has seen.
    pub(super) fn given(&self, table: &Table<'_>, key: &str) -> Option<u16> {
        table.get(key)?.as_text().and_then(|name| self.names.slot(&name.letters))
    }

    /// An expression, a number, or true.
    pub(super) fn condition(&self, item: &Item<'_>) -> Result<Condition, Fault> {
        let text = item.as_text();
        let is = |number: i64| Ok(Condition { expr: Expr::Is(Number::Int(number)), text: item.here() });
        match (item.as_number(), text) {
            (_, Some(text)) => {
                let expr = parse(&text, &mut |name, at| {
                    let slot = self.names.find(name, &text, at)?;
                    numeric(self.draws.all.get(usize::from(slot)), &text, at)?;
                    Ok(slot)
                })?;
                Ok(Condition { expr, text })
            }
            (Some(Written::Whole(number)), None) if (0..=TURNS_MAX).contains(&number) => is(number),
            _ if item.flag() == Ok(true) => is(1),
            _ => {
                Err(item
                    .fault(format!("{} is no condition", item.written()), "write one: \"left < quantity\""))
            }
        }
    }
}
