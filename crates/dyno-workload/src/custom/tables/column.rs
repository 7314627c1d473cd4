//! Reads the types of columns.

use dyno_engine::ColumnType;

use crate::custom::fault::WorkloadError;
use crate::custom::names::{meant, shown};
use crate::custom::table::TomlItem;

/// The largest number of digits in a decimal number that every engine supports.
const DIGITS_MAX: u32 = 38;
/// The longest `char`, in characters.
const CHAR_MAX: u32 = 2_000;
/// The longest `varchar` in characters, and the longest bytes.
const LENGTH_MAX: u32 = 1_000_000;

/// Names of types with an example of each.
const TYPES: [(&str, &str); 13] = [
    ("integer", "integer"),
    ("bigint", "bigint"),
    ("decimal", "decimal(12, 2)"),
    ("real", "real"),
    ("char", "char(84)"),
    ("varchar", "varchar(40)"),
    ("text", "text"),
    ("date", "date"),
    ("timestamp", "timestamp"),
    ("uuid", "uuid"),
    ("bytes", "bytes(16)"),
    ("json", "json"),
    ("boolean", "boolean"),
];

/// The column type in `item`.
pub(super) fn column_type(item: &TomlItem<'_>) -> Result<ColumnType, WorkloadError> {
    let text = item.text("a type: \"integer\"")?;
    let lower = text.letters.to_ascii_lowercase();
    let (name, sizes) = match lower.split_once('(') {
        None => (lower.trim(), Some(Vec::new())),
        Some((name, rest)) => (name.trim(), rest.trim_end().strip_suffix(')').and_then(numbers)),
    };
    let Some(&(_, example)) = TYPES.iter().find(|(known, _)| *known == name) else {
        let hint = meant(name, TYPES.map(|(known, _)| known));
        return Err(item.fault(format!("{:?} is no type", shown(&text.letters)), hint));
    };
    let sized = |most: u32, constructor: fn(u32) -> ColumnType| match sizes.as_deref() {
        Some(&[size]) if (1..=most).contains(&size) => Ok(constructor(size)),
        _ => {
            let problem = format!("{:?} is no {name} of 1 to {most}", shown(&text.letters));
            Err(item.fault(problem, format!("write {example}")))
        }
    };
    let plain_type = match name {
        "decimal" => {
            return match sizes.as_deref() {
                Some(&[digits, scale]) if (1..=DIGITS_MAX).contains(&digits) && scale <= digits => {
                    Ok(ColumnType::Decimal(digits, scale))
                }
                _ => {
                    let problem = format!("{:?} is no decimal of 1 to 38 digits", shown(&text.letters));
                    Err(item.fault(problem, format!("write {example}")))
                }
            };
        }
        "char" => return sized(CHAR_MAX, ColumnType::Char),
        "varchar" => return sized(LENGTH_MAX, ColumnType::Varchar),
        "bytes" => return sized(LENGTH_MAX, ColumnType::Bytes),
        "integer" => ColumnType::Integer,
        "bigint" => ColumnType::Bigint,
        "real" => ColumnType::Real,
        "text" => ColumnType::Text,
        "date" => ColumnType::Date,
        "timestamp" => ColumnType::Timestamp,
        "uuid" => ColumnType::Uuid,
        "json" => ColumnType::Json,
        _ => ColumnType::Boolean,
    };
    match lower.contains('(') {
        true => Err(item.fault(format!("{name} has no length"), format!("write {name}"))),
        false => Ok(plain_type),
    }
}

/// The whole numbers of a list.
fn numbers(list: &str) -> Option<Vec<u32>> {
    list.split(',').map(|number| number.trim().replace('_', "").parse().ok()).collect()
}
