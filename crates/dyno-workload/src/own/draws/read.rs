//! `[draw]`: the kinds of draws, and from what a user wrote to draws.

use dyno_engine::Type;

use super::draw::Draws;
use super::law::Law;
use super::null::null_share;
use super::reading::{Constants, Made, Names, Reading, all, numeric};
use super::{read_number, read_text};
use crate::own::expr::{Expr, parse};
use crate::own::fault::Fault;
use crate::own::folder::Folder;
use crate::own::table::{Item, Table};

/// The draws of `[draw]`, where it is written; `names` has theirs first.
///
/// # Errors
/// One is wrong, or made of itself.
pub(in crate::own) fn read(
    folder: &Folder,
    table: Option<&Table<'_>>,
    names: &Names,
    constants: Constants,
) -> Result<Draws, Fault> {
    all(folder, table.map(Table::items).unwrap_or_default(), names, constants, law)
}

/// What the columns of a described table are filled with, and what is drawn beside them; `names` has theirs first.
///
/// # Errors
/// One is wrong, or made of itself.
pub(in crate::own) fn read_columns<'a>(
    folder: &'a Folder,
    columns: &Table<'a>,
    beside: Option<&Table<'a>>,
    names: &'a Names,
    constants: Constants,
) -> Result<Draws, Fault> {
    let beside = beside.map(Table::items).unwrap_or_default();
    let items = columns.items().into_iter().chain(beside).collect();
    all(folder, items, names, constants, law_of_column)
}

/// Keys of a column beside those of what it is filled with.
const OF_COLUMN: [&str; 3] = ["type", "null_pct", "null_if"];

/// The law that a column says.
fn law_of_column<'a>(reading: &mut Reading<'a>, item: &Item<'a>) -> Result<Made, Fault> {
    let table = item.table("a column: { type = \"integer\", expr = \"row\" }")?;
    if let Some(value) = table.get("value") {
        table.only(&[&OF_COLUMN[..], &["value"]].concat())?;
        let (held, of) = reading.value(&value)?;
        return with_null_if(reading, &table, Made::number(Law::Is(held), of));
    }
    let made = law_of(reading, item, &table, &OF_COLUMN)?;
    with_null_if(reading, &table, made)
}

/// The same with the condition under which it is NULL.
fn with_null_if(reading: &mut Reading<'_>, table: &Table<'_>, mut made: Made) -> Result<Made, Fault> {
    if let Some((when, slots)) = null_if(reading, table)? {
        made.null_if = Some(when);
        made.needs.extend(slots);
    }
    Ok(made)
}

/// The condition of `null_if`, with the slots that it reads.
///
/// # Errors
/// It is none.
fn null_if(reading: &mut Reading<'_>, table: &Table<'_>) -> Result<Option<(Expr, Vec<u16>)>, Fault> {
    let Some(item) = table.get("null_if") else { return Ok(None) };
    let text = item.text("a condition: \"lines < 9\"")?;
    let parsed = parse(&text, &mut |name, at| {
        let slot = reading.slot(name, &text, at)?;
        numeric(reading.of(slot), &text, at)?;
        Ok(slot)
    })?;
    if parsed.is_random() {
        return Err(item.fault("a random number", "draw it by a name of its own"));
    }
    let slots = parsed.slots();
    Ok(Some((parsed, slots)))
}

/// The law that `item` says.
fn law<'a>(reading: &mut Reading<'a>, item: &Item<'a>) -> Result<Made, Fault> {
    let Some(table) = item.as_table() else {
        let (held, of) = reading.value(item)?;
        return Ok(Made::number(Law::Is(held), of));
    };
    let made = law_of(reading, item, &table, &["per", "null_pct", "null_if"])?;
    with_null_if(reading, &table, Made { null: null_share(&table)?, ..made })
}

/// The law that a table says, with `beside` as keys beside its own.
fn law_of<'a>(
    reading: &mut Reading<'a>,
    item: &Item<'a>,
    table: &Table<'a>,
    beside: &[&str],
) -> Result<Made, Fault> {
    let items: Vec<Item<'a>> =
        table.items().into_iter().filter(|item| !OF_COLUMN.contains(&item.own_name())).collect();
    // No step sets a column.
    let is_kind = |kind: &&Kind| beside != OF_COLUMN || kind.name != VARIABLE;
    let kind = |item: &Item<'_>| KINDS.iter().filter(is_kind).find(|kind| kind.name == item.own_name());
    let Some((item, kind)) = items.iter().find_map(|item| Some((item, kind(item)?))) else {
        let known: Vec<&str> = KINDS.iter().filter(is_kind).map(|kind| kind.name).collect();
        return Err(match items.first() {
            Some(first) => first.unknown("there is no such kind of draw", &known),
            None => item.fault("says nothing", format!("write one of {}", known.join(", "))),
        });
    };
    let known: Vec<&str> = [kind.name].iter().chain(beside).chain(kind.options).copied().collect();
    table.only(&known)?;
    (kind.read)(reading, item, table)
}

/// The expression that `item` is.
fn expr<'a>(reading: &mut Reading<'a>, item: &Item<'a>) -> Result<Made, Fault> {
    let text = item.text("an expression: \"a + 1\"")?;
    let parsed = parse(&text, &mut |name, at| {
        let slot = reading.slot(name, &text, at)?;
        numeric(reading.of(slot), &text, at)?;
        Ok(slot)
    })?;
    let is_set_real = |slot: u16| reading.names.real.contains(&slot);
    let of_real = |slot: u16| reading.of(slot).map_or(is_set_real(slot), |draw| draw.of == Type::Real);
    let needs = parsed.slots();
    // Of a column nobody knows beforehand whether it is a whole number.
    let is_column = |&slot: &u16| {
        reading.names.column_at(slot).is_some()
            || reading.of(slot).is_some_and(|draw| draw.of == Type::Literal)
    };
    let of = match needs.iter().any(is_column) {
        true => Type::Literal,
        false if parsed.is_real(&of_real) => Type::Real,
        false => Type::Int,
    };
    Ok(Made { needs, ..Made::number(Law::Expr(parsed), of) })
}

/// The decimal number that an expression is in units of its last digit.
fn decimal_of<'a>(reading: &mut Reading<'a>, item: &Item<'a>, table: &Table<'a>) -> Result<Made, Fault> {
    let scale = read_number::digits(table)?;
    let made = expr(reading, item)?;
    match (made.law, made.of) {
        (Law::Expr(expr), Type::Int | Type::Literal) => {
            let law = Law::DecimalOf { expr, scale };
            Ok(Made { needs: made.needs, ..Made::bytes(law, Type::Literal, read_number::DECIMAL_LETTERS) })
        }
        _ => Err(item.fault("no whole number", "write int(…) or round(…) around it")),
    }
}

/// The number that a variable has at first.
fn variable<'a>(reading: &mut Reading<'a>, item: &Item<'a>) -> Result<Made, Fault> {
    item.number("the number that it is at first: variable = 0")?;
    let (held, of) = reading.value(item)?;
    Ok(Made::number(Law::Variable(held), of))
}

/// A kind of draws.
struct Kind {
    name: &'static str,
    /// Keys that it has beside its own.
    options: &'static [&'static str],
    read: for<'a> fn(&mut Reading<'a>, &Item<'a>, &Table<'a>) -> Result<Made, Fault>,
}

/// The kind that steps set.
const VARIABLE: &str = "variable";

const KINDS: [Kind; 21] = [
    Kind { name: "uniform", options: &[], read: |reading, item, _| read_number::uniform(reading, item) },
    Kind {
        name: "zipf",
        options: &["theta", "scrambled"],
        read: |reading, item, table| read_number::zipf(reading, item, table),
    },
    Kind {
        name: "normal",
        options: &["mean", "sd"],
        read: |reading, item, table| read_number::normal(reading, item, table),
    },
    Kind {
        name: "exponential",
        options: &["mean"],
        read: |reading, item, table| read_number::exponential(reading, item, table),
    },
    Kind { name: "nurand", options: &["a", "c"], read: read_number::nurand },
    Kind { name: "decimal_of", options: &["scale"], read: decimal_of },
    Kind { name: "spelled", options: &["words", "digits", "literal"], read: read_text::spelled },
    Kind { name: VARIABLE, options: &[], read: |reading, item, _| variable(reading, item) },
    Kind {
        name: "permutation",
        options: &[],
        read: |reading, item, _| read_number::permutation(reading, item),
    },
    Kind { name: "sequence", options: &["apart"], read: read_number::sequence },
    Kind {
        name: "decimal",
        options: &["scale"],
        read: |reading, item, table| read_number::decimal(reading, item, table),
    },
    Kind { name: "choice", options: &["weights", "literal"], read: read_number::choice },
    Kind { name: "expr", options: &[], read: |reading, item, _| expr(reading, item) },
    Kind { name: "text", options: &["letters", "holds", "holds_pct", "literal"], read: read_text::letters },
    Kind { name: "words", options: &["count", "literal"], read: read_text::words },
    Kind { name: "bytes", options: &[], read: |_, item, _| read_text::bytes(item) },
    Kind { name: "date", options: &[], read: |_, item, _| read_text::day(item) },
    Kind { name: "timestamp", options: &[], read: |_, item, _| read_text::second(item) },
    Kind { name: "uuid", options: &["from"], read: read_text::uuid },
    Kind { name: "template", options: &["literal"], read: read_text::template },
    Kind { name: "json", options: &[], read: read_text::json },
];
