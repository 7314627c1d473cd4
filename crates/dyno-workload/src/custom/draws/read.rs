//! Reads `[draw]`: all kinds of generators.

use dyno_engine::Type;

use super::draw::Draws;
use super::generators::ValueGenerator;
use super::null::null_share;
use super::reading::{Constants, DrawReader, Names, ParsedDraw, numeric, read_all};
use super::{read_number, read_text};
use crate::custom::expr::{Expr, parse};
use crate::custom::fault::WorkloadError;
use crate::custom::folder::WorkloadFolder;
use crate::custom::table::{TomlItem, TomlTable};

/// Reads the generators of `[draw]`; `names` begins with their names.
///
/// # Errors
/// A generator is invalid, or depends on itself.
pub(in crate::custom) fn read(
    folder: &WorkloadFolder,
    table: Option<&TomlTable<'_>>,
    names: &Names,
    constants: Constants,
) -> Result<Draws, WorkloadError> {
    read_all(folder, table.map(TomlTable::items).unwrap_or_default(), names, constants, law)
}

/// Reads the generators for the columns of a described table and for its `[draw]`; `names` begins with their
/// names.
///
/// # Errors
/// A generator is invalid, or depends on itself.
pub(in crate::custom) fn read_columns<'a>(
    folder: &'a WorkloadFolder,
    columns: &TomlTable<'a>,
    beside: Option<&TomlTable<'a>>,
    names: &'a Names,
    constants: Constants,
) -> Result<Draws, WorkloadError> {
    let beside = beside.map(TomlTable::items).unwrap_or_default();
    let items = columns.items().into_iter().chain(beside).collect();
    read_all(folder, items, names, constants, read_column_generator)
}

/// Keys of a column besides those of its generator.
const OF_COLUMN: [&str; 3] = ["type", "null_pct", "null_if"];

/// Reads the generator of a column.
fn read_column_generator<'a>(
    reading: &mut DrawReader<'a>,
    item: &TomlItem<'a>,
) -> Result<ParsedDraw, WorkloadError> {
    let table = item.table("a column: { type = \"integer\", expr = \"row\" }")?;
    if let Some(value) = table.get("value") {
        table.require_only(&[&OF_COLUMN[..], &["value"]].concat())?;
        let (held, of) = reading.value(&value)?;
        return with_null_if(reading, &table, ParsedDraw::number(ValueGenerator::Is(held), of));
    }
    let made = read_generator_with_keys(reading, item, &table, &OF_COLUMN)?;
    with_null_if(reading, &table, made)
}

/// Adds the condition under which the value is NULL.
fn with_null_if(
    reading: &mut DrawReader<'_>,
    table: &TomlTable<'_>,
    mut made: ParsedDraw,
) -> Result<ParsedDraw, WorkloadError> {
    if let Some((when, slots)) = null_if(reading, table)? {
        made.null_if = Some(when);
        made.needs.extend(slots);
    }
    Ok(made)
}

/// Reads the condition `null_if` and the slots that it uses.
///
/// # Errors
/// The condition is invalid.
fn null_if(
    reading: &mut DrawReader<'_>,
    table: &TomlTable<'_>,
) -> Result<Option<(Expr, Vec<u16>)>, WorkloadError> {
    let Some(item) = table.get("null_if") else { return Ok(None) };
    let text = item.text("a condition: \"lines < 9\"")?;
    let parsed = parse(&text, &mut |name, at| {
        let slot = reading.slot(name, &text, at)?;
        numeric(reading.draw_at(slot), &text, at)?;
        Ok(slot)
    })?;
    if parsed.is_random() {
        return Err(item.fault("a random number", "draw it under a separate name"));
    }
    let slots = parsed.slots();
    Ok(Some((parsed, slots)))
}

/// Reads the generator in `item`.
fn law<'a>(reading: &mut DrawReader<'a>, item: &TomlItem<'a>) -> Result<ParsedDraw, WorkloadError> {
    let Some(table) = item.as_table() else {
        let (held, of) = reading.value(item)?;
        return Ok(ParsedDraw::number(ValueGenerator::Is(held), of));
    };
    let made = read_generator_with_keys(reading, item, &table, &["per", "null_pct", "null_if"])?;
    with_null_if(reading, &table, ParsedDraw { null: null_share(&table)?, ..made })
}

/// Reads the generator in a table that may also have the keys `beside`.
fn read_generator_with_keys<'a>(
    reading: &mut DrawReader<'a>,
    item: &TomlItem<'a>,
    table: &TomlTable<'a>,
    beside: &[&str],
) -> Result<ParsedDraw, WorkloadError> {
    let items: Vec<TomlItem<'a>> =
        table.items().into_iter().filter(|item| !OF_COLUMN.contains(&item.own_name())).collect();
    // Steps cannot set a column.
    let is_kind = |kind: &&Kind| beside != OF_COLUMN || kind.name != VARIABLE;
    let kind = |item: &TomlItem<'_>| KINDS.iter().filter(is_kind).find(|kind| kind.name == item.own_name());
    let Some((item, kind)) = items.iter().find_map(|item| Some((item, kind(item)?))) else {
        let kind_names: Vec<&str> = KINDS.iter().filter(is_kind).map(|kind| kind.name).collect();
        return Err(match items.first() {
            Some(first) => first.unknown("unknown generator", &kind_names),
            None => item.fault("no generator", format!("write one of {}", kind_names.join(", "))),
        });
    };
    let allowed_keys: Vec<&str> = [kind.name].iter().chain(beside).chain(kind.options).copied().collect();
    table.require_only(&allowed_keys)?;
    (kind.read)(reading, item, table)
}

/// Reads a generator that is an expression.
fn expr<'a>(reading: &mut DrawReader<'a>, item: &TomlItem<'a>) -> Result<ParsedDraw, WorkloadError> {
    let text = item.text("an expression: \"a + 1\"")?;
    let parsed = parse(&text, &mut |name, at| {
        let slot = reading.slot(name, &text, at)?;
        numeric(reading.draw_at(slot), &text, at)?;
        Ok(slot)
    })?;
    let is_set_real = |slot: u16| reading.names.real.contains(&slot);
    let of_real = |slot: u16| reading.draw_at(slot).map_or(is_set_real(slot), |draw| draw.of == Type::Real);
    let needs = parsed.slots();
    // Whether a column is a whole number is not known in advance.
    let is_column = |&slot: &u16| {
        reading.names.column_at(slot).is_some()
            || reading.draw_at(slot).is_some_and(|draw| draw.of == Type::Literal)
    };
    let value_type = match needs.iter().any(is_column) {
        true => Type::Literal,
        false if parsed.is_real(&of_real) => Type::Real,
        false => Type::Int,
    };
    Ok(ParsedDraw { needs, ..ParsedDraw::number(ValueGenerator::Expr(parsed), value_type) })
}

/// Reads a decimal expression, in units of its last digit.
fn decimal_of<'a>(
    reading: &mut DrawReader<'a>,
    item: &TomlItem<'a>,
    table: &TomlTable<'a>,
) -> Result<ParsedDraw, WorkloadError> {
    let scale = read_number::digits(table)?;
    let made = expr(reading, item)?;
    match (made.law, made.of) {
        (ValueGenerator::Expr(expr), Type::Int | Type::Literal) => {
            let law = ValueGenerator::DecimalOf { expr, scale };
            Ok(ParsedDraw {
                needs: made.needs,
                ..ParsedDraw::bytes(law, Type::Literal, read_number::DECIMAL_LETTERS)
            })
        }
        _ => Err(item.fault("not a whole number", "write int(…) or round(…) around it")),
    }
}

/// Reads a variable with its initial number.
fn variable<'a>(reading: &mut DrawReader<'a>, item: &TomlItem<'a>) -> Result<ParsedDraw, WorkloadError> {
    item.number("the number that it is at first: variable = 0")?;
    let (held, of) = reading.value(item)?;
    Ok(ParsedDraw::number(ValueGenerator::Variable(held), of))
}

struct Kind {
    name: &'static str,
    /// Optional keys besides its own.
    options: &'static [&'static str],
    read: for<'a> fn(&mut DrawReader<'a>, &TomlItem<'a>, &TomlTable<'a>) -> Result<ParsedDraw, WorkloadError>,
}

/// The kind of generator whose value steps set.
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
