//! Describes faults of a table and the expected state. Engines add the table's name and what to do.

use dyno_plan::DataSpec;

use super::table::{RowText, TestTable};
use crate::data::row_fault;
use crate::row::TextRow;

/// The fault, if the keys are not `1..=rows`. Count, smallest, largest and sum decide: a loader writes each
/// position once, so no load could match all four with other keys.
pub fn keys_fault(rows: u64, [count, smallest, largest, sum]: [u128; 4]) -> Option<String> {
    let all = u128::from(rows);
    if [count, smallest, largest, sum] == [all, 1, all, all * (all + 1) / 2] {
        return None;
    }
    Some(format!(
        "has {count} rows with keys {smallest} to {largest}, but the load wrote {rows} rows with keys 1 to \
        {rows}, each once"
    ))
}

/// The fault, if the first and last value of `column` are not as loaded.
pub fn ends_fault(column: &str, bounds: (Option<i64>, Option<i64>), last: u64) -> Option<String> {
    match bounds {
        (Some(1), Some(end)) if u64::try_from(end) == Ok(last) => None,
        (Some(first), Some(end)) => {
            Some(format!("has {column} from {first} to {end}, but the load wrote 1 to {last}"))
        }
        _ => Some("has no rows".to_owned()),
    }
}

/// The fault, if sampled values of the secondary key have another number of rows than the spec; `count`
/// counts them.
///
/// # Errors
/// Those of `count`.
pub fn group_fault<E>(
    spec: &DataSpec,
    mut count: impl FnMut(u64) -> Result<Option<u64>, E>,
) -> Result<Option<String>, E> {
    for value in [1, spec.groups().div_ceil(2), spec.groups()] {
        let (found, wanted) = (count(value)?.unwrap_or(0), spec.group_rows(value));
        if found != wanted {
            return Ok(Some(format!("has {found} rows with secondary key {value}, expected {wanted}")));
        }
    }
    Ok(None)
}

/// The key of a row of key, version and all text in one column. Checks that key and text are as loaded, or as
/// an update of Dyno left them.
///
/// # Errors
/// The fault of the row.
pub fn checked_key(table: &TestTable, row: &TextRow, text: &mut RowText) -> Result<u64, String> {
    let (Some(key), Some(version)) = (row.parse::<u64>(0), row.parse::<i64>(1)) else {
        return Err("has a row with an invalid key or version".to_owned());
    };
    if key == 0 || key > table.rows {
        return Err(format!("has a row with key {key}, but the load wrote keys 1 to {}", table.rows));
    }
    match row_fault(text.of(key), version, row.get(2).map(str::as_bytes)) {
        Some(fault) => Err(format!("has a row with key {key} that {fault}")),
        None => Ok(key),
    }
}

/// The fault, if one of `wanted` does not occur exactly once in `stored_keys`.
pub fn once_fault(wanted: &[u64], stored_keys: &[u64]) -> Option<String> {
    wanted.iter().find_map(|key| {
        let times = stored_keys.iter().filter(|other| *other == key).count();
        (times != 1).then(|| format!("has {times} rows with key {key}, expected one"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::spec;
    use super::*;

    #[test]
    fn a_table_is_judged_by_its_keys() {
        assert_eq!(keys_fault(100, [100, 1, 100, 5050]), None);
        for (found, words) in [
            ([99, 1, 100, 5050], "has 99 rows"),
            ([100, 0, 100, 5050], "keys 0 to 100"),
            ([100, 1, 100, 5051], "each once"),
        ] {
            assert!(keys_fault(100, found).unwrap().contains(words), "{words}");
        }
        assert_eq!(ends_fault("keys", (Some(1), Some(9)), 9), None);
        assert_eq!(ends_fault("keys", (None, None), 9).as_deref(), Some("has no rows"));
        let fault = ends_fault("keys", (Some(-1), Some(9)), 9);
        assert_eq!(fault.as_deref(), Some("has keys from -1 to 9, but the load wrote 1 to 9"));
        assert_eq!(once_fault(&[1, 2], &[2, 1]), None);
        for found in [&[1][..], &[1, 2, 2]] {
            assert!(once_fault(&[1, 2], found).unwrap().contains("rows with key 2, expected one"));
        }
    }

    #[test]
    fn secondary_key_group_with_wrong_row_count_is_reported() {
        let spec = DataSpec { rows: 100, ..spec(0, true) };
        let right = |value| Ok::<_, ()>(Some(spec.group_rows(value)));
        assert_eq!(group_fault(&spec, right), Ok(None));
        let fault = group_fault(&spec, |_| Ok::<_, ()>(None)).unwrap().unwrap();
        assert_eq!(fault, format!("has 0 rows with secondary key 1, expected {}", spec.group_rows(1)));
    }

    #[test]
    fn loaded_row_check_compares_key_version_and_text() {
        let spec = spec(0, false);
        let table = TestTable::all(&spec, "")[0];
        let mut maker = RowText::new(&spec, &table, 128);
        let text = String::from_utf8(maker.of(4).to_vec()).unwrap();
        let mut check = |key: &str, version: &str| {
            let row = TextRow([key, version, &text].map(|cell| Some(cell.to_owned())).to_vec());
            checked_key(&table, &row, &mut maker)
        };
        assert_eq!(check("4", "0"), Ok(4));
        for (key, version) in [("5", "0"), ("6", "0"), ("0", "0"), ("x", "0"), ("4", "1"), ("4", "-1")] {
            assert!(check(key, version).is_err(), "{key} {version}");
        }
    }
}
