//! SQL beside the transactions: what makes and drops tables, and what has to stay the same.

use super::fault::Fault;
use super::folder::{Folder, Variants};
use super::names::shown;
use super::sql::{Does, does};
use super::steps::{Sql, sql, sql_or_nothing};
use super::table::{Item, Table};

/// When an invariant has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Behind a load.
    Load,
    /// Behind a run.
    Run,
}

/// SQL that has to return the same before and after each run, or something certain.
#[derive(Debug)]
pub(super) struct Invariant {
    pub(super) name: String,
    /// What it has to return.
    pub(super) is: Option<String>,
    pub(super) after: Vec<After>,
    pub(super) sql: Variants<Sql>,
}

/// The file of `[setup]` or `[drop]`, in which nothing is drawn.
pub(super) fn script(folder: &Folder, table: Option<Table<'_>>) -> Result<Variants<Sql>, Fault> {
    let Some(table) = table else { return Ok(Variants::default()) };
    table.only(&["sql"])?;
    let sql = sql_or_nothing(folder, &table.need("sql", "sql = \"setup.sql\"")?)?;
    nothing_drawn(&sql)?;
    Ok(sql)
}

fn nothing_drawn(sql: &Variants<Sql>) -> Result<(), Fault> {
    for Sql { text, pieces } in sql.all() {
        if let Some(param) = pieces.iter().flat_map(|piece| &piece.params).next() {
            let problem =
                format!("{} is a parameter, and nothing is drawn here", shown(&text.letters[param.clone()]));
            return Err(text.fault(param.start, problem, "write the value"));
        }
    }
    Ok(())
}

/// Behind what an invariant has to hold; what has to be the same as before has nothing before a load.
fn after(item: &Item<'_>, is_certain: bool) -> Result<Vec<After>, Fault> {
    let list = item.as_list().unwrap_or_else(|| vec![item.clone()]);
    let one = |item: &Item<'_>| match &*item.text("\"load\", \"run\", or both in a list")?.letters {
        "run" => Ok(After::Run),
        "load" if is_certain => Ok(After::Load),
        "load" => {
            Err(item.fault("it has to be the same as before a load", "write what it has to be: is = \"0\""))
        }
        other => Err(item.fault(format!("{:?} is not known", shown(other)), "write load or run")),
    };
    list.iter().map(one).collect()
}

/// `[[invariant]]`, each of which is one statement that reads.
pub(super) fn invariants(folder: &Folder, top: &Table<'_>) -> Result<Vec<Invariant>, Fault> {
    let Some(item) = top.get("invariant") else { return Ok(Vec::new()) };
    let one = |item: &Item<'_>| {
        let table = item.table("[[invariant]]")?;
        table.only(&["name", "sql", "is", "after"])?;
        let sql = sql(folder, &table.need("sql", "sql = \"SELECT SUM(balance) FROM account\"")?)?;
        nothing_drawn(&sql)?;
        for Sql { text, pieces } in sql.all() {
            if let Some(second) = pieces.get(1) {
                return Err(text.fault(
                    second.at.start,
                    "a second statement",
                    "write an [[invariant]] of its own",
                ));
            }
            if does(text, &pieces[0])? != Does::Reads {
                return Err(text.fault(pieces[0].at.start, "an invariant only reads", "write a SELECT"));
            }
        }
        let name = table.need("name", "name = \"money\"")?.name()?;
        let is = table.get("is").map(|is| is.text("\"0\"")).transpose()?.map(|is| is.letters.to_string());
        let after = table.get("after").map(|after| self::after(&after, is.is_some())).transpose()?;
        let usual = if is.is_some() { vec![After::Load, After::Run] } else { vec![After::Run] };
        Ok(Invariant { name, sql, is, after: after.unwrap_or(usual) })
    };
    item.list("[[invariant]]")?.iter().map(one).collect()
}
