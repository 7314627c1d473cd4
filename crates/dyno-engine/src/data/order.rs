//! Whether keys lie in a table as they were loaded: at random.
//!
//! A range of keys is hard on a platform because each of its rows is in a block far from the others. After a rewrite in the
//! order of an index it is a few neighbouring blocks, every count still agrees, and a platform looks many times faster. What
//! statistics of the planner say of that is as old as they are, so a sample of keys and their places is looked at.

use super::{mix, spot_keys};

/// The fewest rows of a sample that say anything of an order.
const SAMPLE_MIN: usize = 12;

/// Correlation of key and place above which rows are in order, of a large sample; and standard deviations of a random order
/// that it must lie above in a small one, which makes a false alarm a matter of once in 10⁸ looks.
const CORRELATION_MAX: f64 = 0.7;
const DEVIATIONS: f64 = 6.0;

/// Places between a key and the next that make them neighbours, and the share of neighbours that no random order has.
const NEAR: u64 = 2;
const NEIGHBOURS_MAX: f64 = 0.5;

/// Rows of a table below which neighbours are no surprise, and pairs below which a share says nothing.
const ROWS_MIN: u64 = 64;
const PAIRS_MIN: usize = 12;

/// Keys among `1..=rows` whose places to look at, as `seed` has it: some, and the key that follows each.
pub fn order_keys(rows: u64, seed: u64) -> Vec<u64> {
    let some = spot_keys(rows, mix(seed));
    let mut keys: Vec<u64> = some.iter().flat_map(|&key| [key, (key + 1).min(rows)]).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// What is wrong with the places at which keys were found, in a table of `rows` rows, if anything. Places are blocks or row
/// numbers: what matters is which is before which, and which are neighbours.
pub fn order_fault(rows: u64, found: &[(u64, u64)]) -> Option<String> {
    sorted_fault(found).or_else(|| neighbours_fault(rows, found))
}

/// Each key once, in their order.
fn by_key(found: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut found = found.to_vec();
    found.sort_unstable();
    found.dedup_by_key(|(key, _)| *key);
    found
}

/// Whether rows lie in the order of their keys.
pub fn sorted_fault(found: &[(u64, u64)]) -> Option<String> {
    let found = &by_key(found);
    let correlation = correlation(found);
    let chance = DEVIATIONS / (found.len().saturating_sub(1).max(1) as f64).sqrt();
    if found.len() >= SAMPLE_MIN && correlation.abs() > chance.clamp(CORRELATION_MAX, 0.99) {
        let order = if correlation > 0.0 { "the order" } else { "the reverse order" };
        return Some(format!(
            "has its rows in {order} of their keys (correlation {correlation:.2} in a sample of {}), and they were loaded in \
             a random order: a range of keys is now a few neighbouring blocks",
            found.len()
        ));
    }
    None
}

/// Whether a key and the next are neighbours more often than in any random order.
pub fn neighbours_fault(rows: u64, found: &[(u64, u64)]) -> Option<String> {
    let found = &by_key(found);
    let pairs: Vec<_> = found.windows(2).filter(|pair| pair[1].0 == pair[0].0 + 1).collect();
    let near = pairs.iter().filter(|pair| pair[0].1.abs_diff(pair[1].1) <= NEAR).count();
    if rows >= ROWS_MIN && pairs.len() >= PAIRS_MIN && near as f64 > NEIGHBOURS_MAX * pairs.len() as f64 {
        return Some(format!(
            "has {near} of {} neighbouring keys in neighbouring blocks, and they were loaded in a random order",
            pairs.len()
        ));
    }
    None
}

/// Spearman's rank correlation of keys, which are sorted and each there once, with their places.
fn correlation(found: &[(u64, u64)]) -> f64 {
    let count = found.len() as f64;
    let mut by_place: Vec<usize> = (0..found.len()).collect();
    by_place.sort_by_key(|&at| found[at].1);
    let apart = |(rank, &at): (usize, &usize)| (rank as f64 - at as f64).powi(2);
    let sum: f64 = by_place.iter().enumerate().map(apart).sum();
    if found.len() < 2 { 0.0 } else { 1.0 - 6.0 * sum / (count * (count * count - 1.0)) }
}

#[cfg(test)]
mod tests {
    use super::super::Permutation;
    use super::*;
    use proptest::prelude::*;

    fn places(rows: u64, seed: u64, place: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
        order_keys(rows, seed).into_iter().map(|key| (key, place(key))).collect()
    }

    proptest! {
        #[test]
        fn loaded_data_is_at_random(rows in 1u64..100_000, seed: u64, look: u64) {
            let order = Permutation::new(rows, seed);
            let mut place_of = vec![0; rows as usize + 1];
            for place in 0..rows {
                place_of[order.key(place) as usize] = place;
            }
            let found = places(rows, look, |key| place_of[key as usize]);
            prop_assert_eq!(order_fault(rows, &found), None);
        }

        #[test]
        fn rows_in_order_are_found_in_either_direction(rows in 12u64..1_000_000, seed: u64) {
            let fault = |place: &dyn Fn(u64) -> u64| order_fault(rows, &places(rows, seed, place)).unwrap_or_default();
            prop_assert!(fault(&|key| key / 3).contains("the order of their keys (correlation 1.00"));
            prop_assert!(fault(&|key| rows - key).contains("reverse order"));
        }
    }

    #[test]
    fn rows_in_shuffled_pieces_of_an_order_are_found() {
        let pieces = Permutation::new(100, 7);
        let fault =
            order_fault(10_000, &places(10_000, 3, |key| pieces.key((key - 1) / 100) * 100 + key % 100));
        assert!(fault.unwrap().contains("neighbouring keys in neighbouring blocks"));
    }
}
