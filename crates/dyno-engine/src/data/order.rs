//! Checks that keys lie in a table in random order, as they were loaded.
//!
//! A range of keys is hard on a platform because each of its rows is in a block far from the others. After a
//! rewrite in index order, the range is a few neighboring blocks. Every count still agrees, but the platform
//! looks many times faster. Planner statistics may be outdated, so Dyno reads a sample of keys and their
//! places.

use super::{mix, spot_keys};

/// The smallest sample that allows a conclusion about the order.
const SAMPLE_MIN: usize = 12;

/// Correlation of key and place above which the rows of a large sample are in order.
/// In a small sample the correlation must also exceed this many standard deviations of a random order. A
/// false alarm then occurs once in 10⁸ checks.
const CORRELATION_MAX: f64 = 0.7;
const DEVIATIONS: f64 = 6.0;

/// Largest distance between the places of two consecutive keys that makes them neighbors, and the share of
/// neighbors that no random order reaches.
const NEAR: u64 = 2;
const NEIGHBOURS_MAX: f64 = 0.5;

/// Rows of a table below which neighbors are expected, and pairs below which a share is not significant.
const ROWS_MIN: u64 = 64;
const PAIRS_MIN: usize = 12;

/// Keys among `1..=rows` whose places to read, chosen by `seed`: some keys, and the key after each.
pub fn order_keys(rows: u64, seed: u64) -> Vec<u64> {
    let some = spot_keys(rows, mix(seed));
    let mut keys: Vec<u64> = some.iter().flat_map(|&key| [key, (key + 1).min(rows)]).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The fault in the places of sampled keys in a table of `rows` rows, if any. Places are block or row
/// numbers; only their order and distance count.
pub fn order_fault(rows: u64, key_places: &[(u64, u64)]) -> Option<String> {
    sorted_fault(key_places).or_else(|| neighbours_fault(rows, key_places))
}

/// Each key once, in ascending order.
fn by_key(key_places: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut sorted_places = key_places.to_vec();
    sorted_places.sort_unstable();
    sorted_places.dedup_by_key(|(key, _)| *key);
    sorted_places
}

/// The fault, if rows lie in the order of their keys.
pub fn sorted_fault(key_places: &[(u64, u64)]) -> Option<String> {
    let sorted_places = &by_key(key_places);
    let correlation = correlation(sorted_places);
    let chance = DEVIATIONS / (sorted_places.len().saturating_sub(1).max(1) as f64).sqrt();
    if sorted_places.len() >= SAMPLE_MIN && correlation.abs() > chance.clamp(CORRELATION_MAX, 0.99) {
        let order = if correlation > 0.0 { "the order" } else { "the reverse order" };
        return Some(format!(
            "stores its rows in {order} of their keys (correlation {correlation:.2} in a sample of {}), \
            but the load wrote them in random order: a range of keys now lies in a few neighboring blocks",
            sorted_places.len()
        ));
    }
    None
}

/// The fault, if consecutive keys are neighbors more often than in any random order.
pub fn neighbours_fault(rows: u64, key_places: &[(u64, u64)]) -> Option<String> {
    let sorted_places = &by_key(key_places);
    let pairs: Vec<_> = sorted_places.windows(2).filter(|pair| pair[1].0 == pair[0].0 + 1).collect();
    let near = pairs.iter().filter(|pair| pair[0].1.abs_diff(pair[1].1) <= NEAR).count();
    if rows >= ROWS_MIN && pairs.len() >= PAIRS_MIN && near as f64 > NEIGHBOURS_MAX * pairs.len() as f64 {
        return Some(format!(
            "has {near} of {} neighboring keys in neighboring blocks, but the load wrote them in random \
            order",
            pairs.len()
        ));
    }
    None
}

/// Spearman's rank correlation of keys with their places; the keys are sorted and unique.
fn correlation(key_places: &[(u64, u64)]) -> f64 {
    let count = key_places.len() as f64;
    let mut by_place: Vec<usize> = (0..key_places.len()).collect();
    by_place.sort_by_key(|&at| key_places[at].1);
    let apart = |(rank, &at): (usize, &usize)| (rank as f64 - at as f64).powi(2);
    let sum: f64 = by_place.iter().enumerate().map(apart).sum();
    if key_places.len() < 2 { 0.0 } else { 1.0 - 6.0 * sum / (count * (count * count - 1.0)) }
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
        fn randomly_ordered_data_passes_order_check(rows in 1u64..100_000, seed: u64, look: u64) {
            let order = Permutation::new(rows, seed);
            let mut place_of = vec![0; rows as usize + 1];
            for place in 0..rows {
                place_of[order.key(place) as usize] = place;
            }
            let key_places = places(rows, look, |key| place_of[key as usize]);
            prop_assert_eq!(order_fault(rows, &key_places), None);
        }

        #[test]
        fn key_ordered_rows_are_detected_in_both_directions(rows in 12u64..1_000_000, seed: u64) {
            let fault = |place: &dyn Fn(u64) -> u64| order_fault(rows, &places(rows, seed, place)).unwrap_or_default();
            prop_assert!(fault(&|key| key / 3).contains("the order of their keys (correlation 1.00"));
            prop_assert!(fault(&|key| rows - key).contains("reverse order"));
        }
    }

    #[test]
    fn rows_in_shuffled_ordered_pieces_are_detected() {
        let pieces = Permutation::new(100, 7);
        let fault =
            order_fault(10_000, &places(10_000, 3, |key| pieces.key((key - 1) / 100) * 100 + key % 100));
        assert!(fault.unwrap().contains("neighboring keys in neighboring blocks"));
    }
}
