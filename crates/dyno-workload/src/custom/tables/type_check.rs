//! Checks that the generator of a column matches the column's type.

use dyno_engine::{ColumnType, Type};

use crate::custom::draws::{DrawDefinition, Draws, ValueGenerator};
use crate::custom::value::HeldValue;

/// Why `draw` does not match a column of type `of`, with a hint; `None` if it does.
pub(super) fn misfit(
    column_type: ColumnType,
    draw: &DrawDefinition,
    draws: &Draws,
) -> Option<(String, &'static str)> {
    let no = |what: &str, hint| Some((format!("{what} does not fit the type"), hint));
    match column_type {
        ColumnType::Integer | ColumnType::Bigint | ColumnType::Boolean => {
            let (least, most) = match column_type {
                ColumnType::Integer => (i64::from(i32::MIN), i64::from(i32::MAX)),
                ColumnType::Boolean => (0, 1),
                _ => (i64::MIN, i64::MAX),
            };
            match (draw.of, draw.law.ends()) {
                (Type::Int, Some((low, high))) if low < least || high > most => {
                    let hint =
                        if column_type == ColumnType::Boolean { "draw 0 and 1" } else { "write bigint" };
                    Some((format!("{low} to {high} is more than the type holds"), hint))
                }
                (Type::Int, _) => None,
                _ => no(kind(draw.of), "draw whole numbers"),
            }
        }
        ColumnType::Decimal(digits, scale) => match (&draw.law, draw.of) {
            (_, Type::Int) => None,
            (ValueGenerator::Decimal { low, count, scale: drawn }, _) => {
                let highest = low.unsigned_abs().max(low.saturating_add_unsigned(*count - 1).unsigned_abs());
                let before_point = (highest / 10u64.pow(*drawn)).checked_ilog10().map_or(0, |log| log + 1);
                let fits = *drawn <= scale && before_point <= digits - scale;
                (!fits).then(|| ("it has more digits than the type".to_owned(), "write a longer type"))
            }
            (ValueGenerator::DecimalOf { scale: drawn, .. }, _) => (*drawn > scale).then(|| {
                ("it has more digits behind the point than the type".to_owned(), "write a longer type")
            }),
            _ => no(kind(draw.of), "draw whole numbers, or a decimal"),
        },
        ColumnType::Real => match draw.of {
            Type::Int | Type::Real => None,
            other => no(kind(other), "draw numbers"),
        },
        ColumnType::Char(letters) | ColumnType::Varchar(letters) => match draw.of {
            Type::Text | Type::Literal => {
                let longest = longest(draw, draws);
                let problem = format!("up to {longest} letters are more than the type holds");
                (longest > u64::from(letters))
                    .then_some((problem, "draw shorter ones, or write a longer type"))
            }
            other => no(kind(other), "draw a text"),
        },
        ColumnType::Text => match draw.of {
            Type::Text | Type::Literal => None,
            other => no(kind(other), "draw a text"),
        },
        ColumnType::Bytes(bytes) => match draw.of {
            Type::Bytes if draw.bytes_max as u64 <= u64::from(bytes) => None,
            Type::Bytes => no(&format!("{} bytes are too many: it", draw.bytes_max), "draw fewer"),
            other => no(kind(other), "draw bytes"),
        },
        ColumnType::Date => match draw.law {
            ValueGenerator::Day { .. } => None,
            _ => no("this", "draw a date"),
        },
        ColumnType::Timestamp => match draw.law {
            ValueGenerator::Second { .. } => None,
            _ => no("this", "draw a timestamp"),
        },
        ColumnType::Uuid => match draw.law {
            ValueGenerator::Uuid | ValueGenerator::UuidInTime { .. } => None,
            _ => no("this", "draw a uuid"),
        },
        ColumnType::Json => match draw.law {
            ValueGenerator::Template(_) if draw.of == Type::Literal => None,
            _ => no("this", "draw json"),
        },
    }
}

fn kind(value_type: Type) -> &'static str {
    match value_type {
        Type::Int => "a whole number",
        Type::Real => "a floating-point number",
        Type::Text | Type::Literal => "a text",
        Type::Bytes => "bytes",
    }
}

/// The number of characters in the longest generated text; an upper bound if only bytes are known.
fn longest(draw: &DrawDefinition, draws: &Draws) -> u64 {
    let letters = |at: u32, len: u32| {
        let bytes = &draws.shared[at as usize..][..len as usize];
        String::from_utf8_lossy(bytes).chars().count() as u64
    };
    let of_held = |held: &HeldValue| match *held {
        HeldValue::Shared { at, len } => letters(at, len),
        _ => 0,
    };
    match &draw.law {
        ValueGenerator::Is(held) => of_held(held),
        ValueGenerator::Choice { values, .. } => values.iter().map(of_held).max().unwrap_or(0),
        ValueGenerator::Words { words, count: (_, most) } => {
            let longest = words.iter().map(|&(at, len)| letters(at, len)).max().unwrap_or(0);
            (longest + 1) * u64::from(*most) - 1
        }
        ValueGenerator::WideLetters { length: (_, most), .. } => u64::from(*most),
        _ => draw.bytes_max as u64,
    }
}
