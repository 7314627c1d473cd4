//! Tests that draws have the shares, ranges and distributions of the plan.

use super::*;
use dyno_plan::{BlockCount, BlocksOrBytes, KeyDistribution};
use proptest::prelude::*;

fn workload() -> WorkloadSettings {
    WorkloadSettings { work_unit: 8, seed: Some(1), ..WorkloadSettings::default() }
}

/// Data of one schema with `rows` rows.
fn spec(rows: u64) -> DataSpec {
    DataSpec {
        schemas: 1,
        rows,
        scan_rows: 0,
        block_size: 8192,
        compressible: 0,
        seed: 42,
        secondary: false,
        copied: false,
    }
}

/// The index under which an operation is counted.
fn class(op: BlockOp) -> usize {
    match op {
        BlockOp::Select { .. } => 0,
        BlockOp::Lookup { .. } => 1,
        BlockOp::Scan => 2,
        BlockOp::Update { .. } => 3,
        BlockOp::Secondary { .. } => 4,
        BlockOp::Insert { .. } => 5,
        BlockOp::Delete { .. } => 6,
    }
}

proptest! {
    #[test]
    fn drawn_operations_keep_shares_and_key_ranges(
        update in 0u32..=60, churn in 0u32..=20, scan in 0u32..=40, lookup in 0u32..=30, secondary in 0u32..=30,
        work_unit in 1u32..64, seed: u64, law in 0usize..3,
    ) {
        let mut work = workload();
        (work.update_pct, work.insert_pct, work.scan_pct) = (update, Some(churn), scan);
        (work.lookup_pct, work.secondary_pct, work.work_unit, work.seed) = (lookup, secondary, work_unit, Some(seed));
        work.keys = [KeyDistribution::Uniform, KeyDistribution::Zipf, KeyDistribution::Latest][law];
        let spec = spec(100);
        let mut draw = OperationGenerator::new(&work, &spec, 3, 3);
        let mut counts = [0u32; 7];
        for _ in 0..4_000 {
            let op = draw.next_op();
            counts[class(op)] += 1;
            match op {
                BlockOp::Select { first } | BlockOp::Update { first, .. } => {
                    prop_assert!(first >= 1 && first + u64::from(work_unit) <= 101);
                }
                BlockOp::Lookup { key } => prop_assert!((1..=100).contains(&key)),
                BlockOp::Secondary { value } => prop_assert!((1..=4).contains(&value)),
                BlockOp::Insert { key, .. } | BlockOp::Delete { key } => prop_assert!((3_101..=4_100).contains(&key)),
                BlockOp::Scan => {}
            }
        }
        // Deletes that became inserts for lack of rows equal the rows left at the end.
        let left = counts[5] - counts[6];
        prop_assert!(left <= 1_000);
        let reads = f64::from(100 - update - 2 * churn) / 100.0;
        let expected = [
            reads * f64::from(100 - scan - lookup - secondary) / 100.0,
            reads * f64::from(lookup) / 100.0,
            reads * f64::from(scan) / 100.0,
            f64::from(update) / 100.0,
            reads * f64::from(secondary) / 100.0,
            f64::from(churn) / 100.0,
            f64::from(churn) / 100.0,
        ];
        for (class, (count, share)) in counts.iter().zip(expected).enumerate() {
            // Five standard deviations of a binomial of 4,000; a share of 0 or 100 % is exact.
            let turned = if class > 4 { f64::from(left) } else { 0.0 };
            let tolerance = 5.0 * (4_000.0 * share * (1.0 - share)).sqrt() + turned;
            prop_assert!((f64::from(*count) - 4_000.0 * share).abs() <= tolerance + 1e-6, "{counts:?} {expected:?}");
        }
    }

    #[test]
    fn every_nth_operation_starts_in_the_hot_spot_or_goes_to_schema_1(
        spot in 1u32..20, schema in 0u32..20, before in 0u64..50, size in 1u64..40, number in 0u32..9, seed: u64,
    ) {
        let mut work = workload();
        (work.hot_spot_every, work.hot_schema_every, work.seed) = (spot, schema, Some(seed));
        (work.hot_spot_offset, work.hot_spot_size) = (BlocksOrBytes::Blocks(BlockCount(before)), BlocksOrBytes::Blocks(BlockCount(size)));
        let mut draw = OperationGenerator::new(&work, &spec(100), number, number);
        let (mut hot, mut moved) = (0, 0);
        for i in 1..=1_000u32 {
            let task = draw.next_task();
            let BlockOp::Select { first } = task.op else { panic!("selects only") };
            if task.hot {
                prop_assert!((before + 1..=before + size).contains(&first));
                hot += 1;
            }
            moved += u32::from(task.place == BlockOpSchema::First);
            prop_assert!(u32::abs_diff(hot, i / spot) <= 1);
            prop_assert!(schema == 0 && moved == 0 || schema > 0 && u32::abs_diff(moved, i / schema) <= 1);
        }
    }
}

#[test]
fn same_seed_repeats_operations_and_sessions_differ() {
    let (workload, spec) = (workload(), spec(1_000_000));
    let ops = |session| {
        let mut draw = OperationGenerator::new(&workload, &spec, session, session);
        (0..100).map(|_| draw.next_op()).collect::<Vec<_>>()
    };
    assert_eq!(ops(0), ops(0));
    assert_ne!(ops(0), ops(1));
}

#[test]
fn concentration_changes_keys_but_not_operation_classes() {
    let classes = |change: fn(&mut WorkloadSettings)| {
        let mut work = workload();
        (work.update_pct, work.lookup_pct) = (30, 40);
        change(&mut work);
        let mut draw = OperationGenerator::new(&work, &spec(1_000), 0, 0);
        (0..50).map(|_| class(draw.next_op())).collect::<Vec<_>>()
    };
    let plain = classes(|_| ());
    assert_eq!(plain, classes(|work| work.hot_schema_every = 3));
    assert_eq!(plain, classes(|work| work.think_every = 2));
}

#[test]
fn popular_keys_have_expected_share_and_match_across_sessions() {
    let popular = |keys, session| {
        let mut work = workload();
        (work.lookup_pct, work.keys, work.zipf_exponent) = (100, keys, 1.0);
        let mut draw = OperationGenerator::new(&work, &spec(1_000), session, 0);
        let mut counts = vec![0u32; 1_001];
        for _ in 0..200_000 {
            let BlockOp::Lookup { key } = draw.next_op() else { panic!("lookups only") };
            counts[key as usize] += 1;
        }
        let mut keys: Vec<usize> = (1..=1_000).collect();
        keys.sort_by_key(|&key| std::cmp::Reverse(counts[key]));
        (keys[..8].to_vec(), f64::from(counts[keys[0]]) / 200_000.0)
    };
    let (first, share) = popular(KeyDistribution::Zipf, 0);
    // The harmonic number of 1,000 is 7.4855.
    assert!((share - 1.0 / 7.4855).abs() < 0.005, "{share}");
    assert_eq!(first, popular(KeyDistribution::Zipf, 5).0);
    assert!(first.windows(2).any(|pair| pair[0].abs_diff(pair[1]) > 100), "{first:?}");
    let (latest, _) = popular(KeyDistribution::Latest, 0);
    assert_eq!(latest, (993..=1_000).rev().collect::<Vec<_>>());
}
