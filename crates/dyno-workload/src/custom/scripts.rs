//! SQL outside transactions: setup, drop, and invariants.

use super::fault::WorkloadError;
use super::folder::{Variants, WorkloadFolder};
use super::names::shown;
use super::sql::{StatementEffect, classify_statement};
use super::steps::{Sql, sql, sql_or_nothing};
use super::table::{TomlItem, TomlTable};

/// When an invariant is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvariantTiming {
    Load,
    Run,
}

/// A query whose result must be the same before and after each run, or have a given value.
#[derive(Debug)]
pub(super) struct InvariantQuery {
    pub(super) name: String,
    /// The required result; absent if it must stay the same.
    pub(super) is: Option<String>,
    pub(super) after: Vec<InvariantTiming>,
    pub(super) sql: Variants<Sql>,
}

/// Reads the file of `[setup]` or `[drop]`, which has no parameters.
pub(super) fn script(
    folder: &WorkloadFolder,
    table: Option<TomlTable<'_>>,
) -> Result<Variants<Sql>, WorkloadError> {
    let Some(table) = table else { return Ok(Variants::default()) };
    table.require_only(&["sql"])?;
    let sql = sql_or_nothing(folder, &table.need("sql", "sql = \"setup.sql\"")?)?;
    nothing_drawn(&sql)?;
    Ok(sql)
}

fn nothing_drawn(sql: &Variants<Sql>) -> Result<(), WorkloadError> {
    for Sql { text, pieces } in sql.all() {
        if let Some(param) = pieces.iter().flat_map(|piece| &piece.params).next() {
            let problem = format!(
                "{} is a parameter, but values are not drawn here",
                shown(&text.letters[param.clone()])
            );
            return Err(text.fault(param.start, problem, "write the value"));
        }
    }
    Ok(())
}

/// Reads when an invariant is checked; one without a required result cannot be checked after a load.
fn after(item: &TomlItem<'_>, is_certain: bool) -> Result<Vec<InvariantTiming>, WorkloadError> {
    let list = item.as_list().unwrap_or_else(|| vec![item.clone()]);
    let parse_timing =
        |item: &TomlItem<'_>| match &*item.text("\"load\", \"run\", or both in a list")?.letters {
            "run" => Ok(InvariantTiming::Run),
            "load" if is_certain => Ok(InvariantTiming::Load),
            "load" => {
                Err(item
                    .fault("it has to be the same as before a load", "write what it has to be: is = \"0\""))
            }
            other => Err(item.fault(format!("{:?} is not known", shown(other)), "write load or run")),
        };
    list.iter().map(parse_timing).collect()
}

/// Reads `[[invariant]]`; each is one reading statement.
pub(super) fn invariants(
    folder: &WorkloadFolder,
    top: &TomlTable<'_>,
) -> Result<Vec<InvariantQuery>, WorkloadError> {
    let Some(item) = top.get("invariant") else { return Ok(Vec::new()) };
    let parse_invariant = |item: &TomlItem<'_>| {
        let table = item.table("[[invariant]]")?;
        table.require_only(&["name", "sql", "is", "after"])?;
        let sql = sql(folder, &table.need("sql", "sql = \"SELECT SUM(balance) FROM account\"")?)?;
        nothing_drawn(&sql)?;
        for Sql { text, pieces } in sql.all() {
            if let Some(second) = pieces.get(1) {
                return Err(text.fault(
                    second.at.start,
                    "a second statement",
                    "write a separate [[invariant]]",
                ));
            }
            if classify_statement(text, &pieces[0])? != StatementEffect::Reads {
                return Err(text.fault(pieces[0].at.start, "an invariant only reads", "write a SELECT"));
            }
        }
        let name = table.need("name", "name = \"money\"")?.name()?;
        let is = table.get("is").map(|is| is.text("\"0\"")).transpose()?.map(|is| is.letters.to_string());
        let after = table.get("after").map(|after| self::after(&after, is.is_some())).transpose()?;
        let usual = if is.is_some() {
            vec![InvariantTiming::Load, InvariantTiming::Run]
        } else {
            vec![InvariantTiming::Run]
        };
        Ok(InvariantQuery { name, sql, is, after: after.unwrap_or(usual) })
    };
    item.list("[[invariant]]")?.iter().map(parse_invariant).collect()
}
