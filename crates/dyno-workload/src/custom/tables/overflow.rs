//! Checks that generated values fit the types of their columns, before a database refuses one.
//!
//! The value of an expression is known only after the row is generated. This check generates the first and
//! last rows and some in between: values that depend on the row number are largest or smallest there. It
//! misses a value that is too large only at another row; the database then refuses it.

use dyno_engine::{ColumnType, Rows as _, Value};

use super::rows::{ParentFinder, TableRowMaker};
use super::table::DescribedTable;

/// Number of rows generated at each end, and of rows in between.
const AT_ENDS: u64 = 8;
const BETWEEN: u64 = 256;

/// A value that does not fit its column.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Overflow {
    /// Index of the column, from 0.
    pub(super) column: usize,
    /// What is wrong: the row and its value.
    pub(super) problem: String,
    /// A type or value that would fit.
    pub(super) hint: &'static str,
}

/// The first generated value that does not fit its column; `None` if all fit.
pub(super) fn find(table: &DescribedTable) -> Option<Overflow> {
    let is_number =
        |of: ColumnType| matches!(of, ColumnType::Integer | ColumnType::Boolean | ColumnType::Decimal(..));
    let columns: Vec<usize> =
        (0..table.columns.len()).filter(|&at| is_number(table.columns[at].column_type)).collect();
    if columns.is_empty() {
        return None;
    }
    let mut maker = TableRowMaker::for_columns(table, &columns);
    let misfit = |maker: &TableRowMaker<'_>, row: &str| {
        let value = |&column: &usize| {
            Some((column, shown_misfit(table.columns[column].column_type, maker.value(column))?))
        };
        let (column, (value, hint)) = columns.iter().find_map(value)?;
        Some(Overflow { column, problem: format!("{row} has {value}, more than the type holds"), hint })
    };
    let Some(parent) = &table.parent else {
        return sampled(table.rows).find_map(|number| {
            maker.make(number);
            misfit(&maker, &format!("row {number}"))
        });
    };
    // Rows before this parent are not counted, because the parent table may have millions of rows. The first
    // and last row of a parent row are generated with the parent's number as their own.
    let mut finder = ParentFinder::new(parent);
    sampled(parent.table.rows()).find_map(|number| {
        let places = finder.count(number);
        let of_place = |place| {
            maker.make_child(number, number, place);
            misfit(&maker, &format!("row {place} of row {number} of {}", parent.table.name))
        };
        (places > 0).then(|| [1, places].into_iter().find_map(of_place))?
    })
}

/// Numbers of the rows to generate, out of `rows`.
fn sampled(rows: u64) -> impl Iterator<Item = u64> {
    let between = move |step: u64| {
        let offset = u128::from(rows.saturating_sub(1)) * u128::from(step) / u128::from(BETWEEN);
        1 + u64::try_from(offset).unwrap_or(u64::MAX - 1)
    };
    let ends = (1..=rows.min(AT_ENDS)).chain(rows.saturating_sub(AT_ENDS).max(AT_ENDS) + 1..=rows);
    ends.chain((1..BETWEEN).map(between).take_while(move |_| rows > 2 * AT_ENDS))
}

/// The value as text with a hint, if a column of type `column_type` cannot hold it.
fn shown_misfit(column_type: ColumnType, value: Value<'_>) -> Option<(String, &'static str)> {
    match (column_type, value) {
        (ColumnType::Integer, Value::Int(number)) => {
            i32::try_from(number).is_err().then(|| (number.to_string(), "write bigint"))
        }
        (ColumnType::Boolean, Value::Int(number)) => {
            (!matches!(number, 0 | 1)).then(|| (number.to_string(), "make 0 and 1"))
        }
        (ColumnType::Decimal(digits, scale), value) => {
            let text = match value {
                Value::Int(number) => number.to_string(),
                Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
                _ => return None,
            };
            let whole = text.trim_start_matches('-').split('.').next().unwrap_or_default();
            let is_too_long = whole.trim_start_matches('0').len() > (digits - scale) as usize;
            is_too_long.then_some((text, "write a longer type"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sampled_rows_exist_and_include_both_ends(rows in prop_oneof![0u64..600, 0..(1u64 << 50)]) {
            let numbers: Vec<u64> = sampled(rows).collect();
            prop_assert!(numbers.iter().all(|number| (1..=rows).contains(number)));
            prop_assert_eq!(numbers.contains(&1) && numbers.contains(&rows), rows > 0);
            prop_assert!(numbers.len() as u64 <= 2 * AT_ENDS + BETWEEN);
        }

        #[test]
        fn decimal_overflow_depends_on_integer_digits(number: i64, digits in 1u32..20, scale in 0u32..10) {
            let scale = scale.min(digits);
            let is_misfit = shown_misfit(ColumnType::Decimal(digits, scale), Value::Int(number)).is_some();
            let limit = 10u128.pow(digits - scale);
            prop_assert_eq!(is_misfit, u128::from(number.unsigned_abs()) >= limit);
        }
    }
}
