//! Checks a sample of rows: each must be as loaded, or as an update of Dyno left it.
//!
//! A run on data that somebody changed after the load measures something other than its plan says, and its
//! figures do not show it. Reading all rows before each run would cost more than the run. So engines check
//! what is cheap (sizes, index, first and last key) and these rows.

use super::Permutation;

/// Rows that are checked in each table. A fault in one row of 20 is missed once in 27 checks; in one of 10,
/// once in 850.
pub const SPOT_ROWS: u64 = 64;

/// Keys (or positions, from 1) to check among `1..=rows`: the first, the last, and others chosen by `seed`;
/// each once.
pub fn spot_keys(rows: u64, seed: u64) -> Vec<u64> {
    let order = Permutation::new(rows, seed);
    let mut keys: Vec<u64> = (0..rows.min(SPOT_ROWS)).map(|position| order.key(position)).collect();
    keys.extend([1, rows].map(|key| key.min(rows)));
    keys.sort_unstable();
    keys.dedup();
    keys.retain(|&key| key > 0);
    keys
}

/// The fault in the text `actual` of a row that was loaded as `loaded` and is at version `ver`, if any.
pub fn row_fault(loaded: &[u8], ver: i64, actual: Option<&[u8]>) -> Option<&'static str> {
    let Some(content) = actual else { return Some("has a NULL column") };
    match ver {
        0 if content != loaded => Some("has other text than the load wrote, and no update by Dyno wrote it"),
        0 => None,
        1.. if content.len() != loaded.len() => Some("has text of another length than the loaded text"),
        // Every update of Dyno, light or heavy, sets the first column to a value with this beginning.
        1.. if content.first() != Some(&b'u') => Some("counts updates, but has none of Dyno's values"),
        1.. => None,
        _ => Some("has a version below 0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn spot_check_keys_are_in_range_and_unique(rows in 0u64..1_000_000, seed: u64) {
            let keys = spot_keys(rows, seed);
            prop_assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(keys.iter().all(|key| (1..=rows).contains(key)));
            prop_assert!(keys.len() as u64 >= rows.min(SPOT_ROWS));
            if rows > 0 {
                prop_assert!(keys.contains(&1) && keys.contains(&rows));
            }
        }
    }

    #[test]
    fn spot_check_with_other_seed_reads_other_rows() {
        assert_ne!(spot_keys(100_000, 1), spot_keys(100_000, 2));
    }

    #[test]
    fn row_check_accepts_only_loaded_or_updated_values() {
        assert_eq!(row_fault(b"dabc", 0, Some(b"dabc")), None);
        assert_eq!(row_fault(b"dabc", 3, Some(b"uxyz")), None);
        for (ver, found) in [
            (0, Some(&b"dabd"[..])),
            (0, Some(b"uxyz")),
            (1, Some(b"dabc")),
            (1, Some(b"uxy")),
            (-1, Some(b"dabc")),
            (0, None),
            (0, Some(b"")),
        ] {
            assert!(row_fault(b"dabc", ver, found).is_some(), "{ver} {found:?}");
        }
    }
}
