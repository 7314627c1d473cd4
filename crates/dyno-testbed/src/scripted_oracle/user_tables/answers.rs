//! Converts MariaDB's results and errors to Oracle's.

use std::collections::BTreeSet;

use mysql::consts::{ColumnFlags, ColumnType};
use mysql::{Column, Row, Value};
use parking_lot::Mutex;

use crate::scripted_oracle::{ScriptedAnswer, ScriptedType, ScriptedValue};

/// Why a statement was not executed: Oracle's error number and its text.
#[derive(Debug)]
pub(super) struct RefusedStatement {
    number: u32,
    text: String,
}

impl RefusedStatement {
    pub(super) fn unknown(sql: &str) -> Self {
        let words: String = sql.chars().take(200).collect();
        Self { number: 900, text: format!("the tables of users know no such statement: {words}") }
    }

    pub(super) fn not_bound(name: &str) -> Self {
        Self { number: 1_008, text: format!("not all variables bound: {name}") }
    }

    pub(super) fn wrong_arguments(name: &str, block: &str) -> Self {
        Self {
            number: 6_550,
            text: format!(
                "line 1, column 7:\nPLS-00306: wrong number or types of arguments in call to '{name}': {block}"
            ),
        }
    }
}

/// MariaDB's error numbers with those of Oracle for the same condition.
const NUMBERS: [(u16, u32); 14] = [
    (1_062, 1),
    (1_048, 1_400),
    (1_364, 1_400),
    (1_050, 955),
    (1_054, 904),
    (1_064, 900),
    (1_146, 942),
    (1_051, 942),
    (1_205, 30_006),
    (1_213, 60),
    (1_406, 12_899),
    (1_451, 2_292),
    (1_452, 2_291),
    (4_025, 2_290),
];

/// MariaDB refuses a change in a transaction that only reads.
const READ_ONLY: u16 = 1_792;
/// A row has changed since the snapshot of the transaction.
const CHANGED_SINCE: u16 = 1_020;

impl From<mysql::Error> for RefusedStatement {
    fn from(error: mysql::Error) -> Self {
        let mysql::Error::MySqlError(error) = error else {
            return Self { number: 3_113, text: format!("end-of-file on communication channel: {error}") };
        };
        let number = match error.code {
            READ_ONLY => 1_456,
            CHANGED_SINCE => 8_177,
            code => NUMBERS.iter().find(|(maria, _)| *maria == code).map_or(600, |(_, oracle)| *oracle),
        };
        Self { number, text: format!("{} (MariaDB's error {})", error.message, error.code) }
    }
}

pub(super) fn refusal(refusal: &RefusedStatement) -> ScriptedAnswer {
    ScriptedAnswer::RefusedWith(refusal.number, format!("ORA-{:05}: {}\n", refusal.number, refusal.text))
}

/// Number of the character set of bytes.
const BINARY: u16 = 63;

/// Names and types of a result's columns, in Oracle's spelling.
pub(super) fn columns(columns: &[Column]) -> Vec<(&'static str, ScriptedType)> {
    columns.iter().map(|column| (interned(&column.name_str().to_uppercase()), kind(column))).collect()
}

fn kind(column: &Column) -> ScriptedType {
    let is_bytes = column.character_set() == BINARY && column.flags().contains(ColumnFlags::BINARY_FLAG);
    match column.column_type() {
        ColumnType::MYSQL_TYPE_DOUBLE | ColumnType::MYSQL_TYPE_FLOAT => ScriptedType::Double,
        ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_TIMESTAMP if column.decimals() > 0 => {
            ScriptedType::Timestamp
        }
        ColumnType::MYSQL_TYPE_DATE | ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_TIMESTAMP => {
            ScriptedType::Date
        }
        ColumnType::MYSQL_TYPE_BLOB
        | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
        | ColumnType::MYSQL_TYPE_LONG_BLOB
            if is_bytes =>
        {
            ScriptedType::Blob
        }
        ColumnType::MYSQL_TYPE_BLOB
        | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
        | ColumnType::MYSQL_TYPE_LONG_BLOB => ScriptedType::Clob,
        ColumnType::MYSQL_TYPE_VARCHAR
        | ColumnType::MYSQL_TYPE_VAR_STRING
        | ColumnType::MYSQL_TYPE_STRING => {
            if is_bytes {
                ScriptedType::Raw
            } else {
                ScriptedType::Text
            }
        }
        ColumnType::MYSQL_TYPE_NULL => ScriptedType::Text,
        _ => ScriptedType::Number,
    }
}

/// The name as a text that lives as long as the process. A test double sees few different names.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock();
    if let Some(interned) = names.get(name) {
        return interned;
    }
    let interned: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(interned);
    interned
}

/// The values of a row, which MariaDB sends as texts.
pub(super) fn row(row: Row, columns: &[(&'static str, ScriptedType)]) -> Vec<ScriptedValue> {
    row.unwrap().into_iter().zip(columns).map(|(value, (_, kind))| scripted(value, *kind)).collect()
}

fn scripted(value: Value, kind: ScriptedType) -> ScriptedValue {
    let Value::Bytes(bytes) = value else { return ScriptedValue::Null };
    if bytes.is_empty() {
        return ScriptedValue::Null;
    }
    let text = || String::from_utf8_lossy(&bytes).into_owned();
    match kind {
        ScriptedType::Number => match text().parse() {
            Ok(number) => ScriptedValue::Int(number),
            Err(_) => ScriptedValue::Decimal(text()),
        },
        ScriptedType::Double => ScriptedValue::double(text().parse().unwrap_or(f64::NAN)),
        ScriptedType::Date | ScriptedType::Timestamp => moment(&text()),
        ScriptedType::Text | ScriptedType::Clob => ScriptedValue::Text(text()),
        ScriptedType::Raw | ScriptedType::Blob => ScriptedValue::Raw(bytes),
    }
}

/// `2024-02-29 23:59:58.000000` or a part of it, in Oracle's format without a fraction.
fn moment(text: &str) -> ScriptedValue {
    let mut parts = text.split(['-', ' ', ':', '.']).map(|part| part.parse::<u16>().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    let year = next();
    let [month, day, hour, minute, second] = std::array::from_fn(|_| next() as u8);
    ScriptedValue::moment(year, month, day, hour, minute, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_mariadb_become_values_of_the_column_type() {
        let value = |text: &str, kind| scripted(Value::Bytes(text.as_bytes().to_vec()), kind);
        assert_eq!(value("42", ScriptedType::Number), ScriptedValue::Int(42));
        assert_eq!(value("4.50", ScriptedType::Number), ScriptedValue::Decimal("4.50".to_owned()));
        assert_eq!(value("0.5", ScriptedType::Double), ScriptedValue::double(0.5));
        assert_eq!(
            value("2024-02-29 23:59:58.000000", ScriptedType::Timestamp),
            ScriptedValue::moment(2024, 2, 29, 23, 59, 58)
        );
        assert_eq!(value("", ScriptedType::Text), ScriptedValue::Null, "an empty text is NULL in Oracle");
        assert_eq!(scripted(Value::NULL, ScriptedType::Number), ScriptedValue::Null);
    }
}
