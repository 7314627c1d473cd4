//! Totals over targets: several databases driven at one setting (PDBs, nodes), their sum and each
//! one's own part.
//!
//! A record may describe all targets of a setting, or one of them
//! ([`one_target_of`](RunRecord::one_target_of)). Additive figures are added (rates, counts,
//! histograms). Others (shares, means without their counts) are absent, with the reason.

use std::collections::BTreeMap;

use dyno_record::{Histogram, Latency, Metric, OpStats, RunId, RunRecord, Unit};

/// Records of one setting: the total, and the targets' parts.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingRecords {
    /// The total: the record of all targets, or the sum of the parts.
    pub whole: RunRecord,
    /// Each target's own record; empty where there is only the total.
    pub parts: Vec<RunRecord>,
    /// Whether the total was computed here.
    pub summed: bool,
}

/// Assigns parts to their totals, and adds up the parts that have none. The order of the first
/// record of each is kept.
pub fn settings(records: Vec<RunRecord>) -> Vec<SettingRecords> {
    let mut order: Vec<RunId> = Vec::new();
    let mut wholes: BTreeMap<RunId, RunRecord> = BTreeMap::new();
    let mut parts: BTreeMap<RunId, Vec<RunRecord>> = BTreeMap::new();
    for record in records {
        let key = record.one_target_of.clone().unwrap_or_else(|| record.id.clone());
        if !wholes.contains_key(&key) && !parts.contains_key(&key) {
            order.push(key.clone());
        }
        if record.one_target_of.is_some() {
            parts.entry(key).or_default().push(record);
        } else {
            wholes.insert(key, record);
        }
    }
    let setting = |key: RunId| {
        let target_parts = parts.remove(&key).unwrap_or_default();
        match (wholes.remove(&key), target_parts.as_slice()) {
            (Some(whole), _) => Some(SettingRecords { whole, parts: target_parts, summed: false }),
            (None, [first, ..]) => {
                let whole = total(&key, first, &target_parts);
                Some(SettingRecords { whole, parts: target_parts, summed: true })
            }
            (None, []) => None,
        }
    };
    order.into_iter().filter_map(setting).collect()
}

/// The sum of `parts`, named `id`, with the plan and host of the first.
fn total(id: &str, first: &RunRecord, parts: &[RunRecord]) -> RunRecord {
    let spoilt = parts.iter().find(|part| !part.status.counts());
    let mut total = first.clone();
    total.id = id.to_owned();
    total.one_target_of = None;
    total.targets = parts.iter().flat_map(|part| part.targets.clone()).collect();
    if let Some(spoilt) = spoilt {
        total.status = spoilt.status;
        total.reasons = vec![format!("its part {} is {}", spoilt.id, spoilt.status.name())];
    }
    let names = parts.iter().flat_map(|part| part.metrics.keys());
    total.metrics = names.map(|name| (name.clone(), sum_of_metric(name, parts))).collect();
    let classes = parts.iter().flat_map(|part| part.ops.keys());
    total.ops = classes.map(|class| (class.clone(), sum_of_class(class, parts))).collect();
    total
}

/// The sum of one metric over all parts; absent where one of them lacks it, or where it is not
/// additive.
pub fn sum_of_metric(name: &str, parts: &[RunRecord]) -> Metric {
    let absent = |reason: String| Metric::Absent { absent: reason };
    let mut sum: Option<(f64, Unit)> = None;
    for part in parts {
        match part.metrics.get(name) {
            Some(Metric::Value { value, unit }) if adds_up(*unit) => match sum {
                Some((_, before)) if before != *unit => {
                    return absent(format!("the targets report it in {} and {}", before.name(), unit.name()));
                }
                _ => sum = Some((sum.map_or(0.0, |sum| sum.0) + value, *unit)),
            },
            Some(Metric::Value { unit, .. }) => {
                return absent(format!("{} of several targets do not add up", unit.name()));
            }
            Some(Metric::Absent { absent: reason }) => {
                return absent(format!("one target does not report it: {reason}"));
            }
            None => return absent("one target does not report it".to_owned()),
        }
    }
    sum.map_or_else(|| absent("there is no target".to_owned()), |(value, unit)| Metric::Value { value, unit })
}

/// Whether figures of this unit may be added over targets.
fn adds_up(unit: Unit) -> bool {
    match unit {
        Unit::Count
        | Unit::Blocks
        | Unit::Bytes
        | Unit::Rows
        | Unit::PerSecond
        | Unit::BlocksPerSecond
        | Unit::BytesPerSecond
        | Unit::MegabytesPerSecond
        | Unit::RowsPerSecond
        | Unit::Sessions => true,
        Unit::Microseconds | Unit::Seconds | Unit::Percent => false,
    }
}

fn sum_of_class(class: &str, parts: &[RunRecord]) -> OpStats {
    let class_stats: Vec<&OpStats> = parts.iter().filter_map(|part| part.ops.get(class)).collect();
    OpStats {
        count: class_stats.iter().map(|ops| ops.count).sum(),
        errors: class_stats.iter().map(|ops| ops.errors).sum(),
        rate_per_s: class_stats.iter().map(|ops| ops.rate_per_s).sum(),
        before: class_stats.iter().map(|ops| ops.before).sum(),
        rows: class_stats.iter().map(|ops| ops.rows).sum(),
        rows_before: class_stats.iter().map(|ops| ops.rows_before).sum(),
        rolled_back: class_stats.iter().map(|ops| ops.rolled_back).sum(),
        empty_polls: class_stats.iter().map(|ops| ops.empty_polls).sum(),
        tallied: class_stats.iter().map(|ops| ops.tallied).sum(),
        retries: class_stats.iter().map(|ops| ops.retries).sum(),
        write_statements: class_stats.iter().map(|ops| ops.write_statements).sum(),
        empty_writes: class_stats.iter().map(|ops| ops.empty_writes).sum(),
        in_doubt: class_stats.iter().map(|ops| ops.in_doubt).sum(),
        service_us: merged(class_stats.iter().map(|ops| &ops.service_us)),
        response_us: merged(class_stats.iter().map(|ops| &ops.response_us)),
        untimed: class_stats.iter().find_map(|ops| ops.untimed.clone()),
    }
}

/// Latencies of all targets together: their histograms are merged. Without histograms, only the
/// number of operations is known.
fn merged<'l>(latencies: impl Iterator<Item = &'l Latency> + Clone) -> Latency {
    let mut sum = Histogram::new();
    let counted = latencies.clone().map(|latency| latency.count).sum();
    for latency in latencies {
        match latency.histogram.as_deref().map(Histogram::decode) {
            Some(Ok(histogram)) => sum.merge(&histogram),
            _ => return Latency { count: counted, ..Latency::default() },
        }
    }
    sum.summary()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn part(id: &str, whole_id: &str) -> RunRecord {
        RunRecord { id: id.into(), one_target_of: Some(whole_id.into()), ..fixture::postgres() }
    }

    #[test]
    fn target_parts_without_whole_run_are_summed() {
        let settings = settings(vec![part("1", "w"), fixture::sqlite(), part("2", "w")]);
        assert_eq!(settings.len(), 2);
        let (one, sum) = (fixture::postgres(), &settings[0]);
        assert!(sum.summed);
        assert!(sum.parts.len() == 2);
        assert!(sum.whole.id == "w");
        let value = |record: &RunRecord, name: &str| record.metrics[name].value();
        assert_eq!(value(&sum.whole, "ops_per_s"), value(&one, "ops_per_s").map(|v| 2.0 * v));
        assert_eq!(value(&sum.whole, "cpu_busy_pct"), None, "shares do not add up");
        let (all, both) = (&one.ops["all"], &sum.whole.ops["all"]);
        assert_eq!((both.count, both.service_us.count), (2 * all.count, 2 * all.service_us.count));
        assert_eq!(
            both.service_us.p99, all.service_us.p99,
            "the histogram of two equal ones has the same percentiles"
        );
    }

    #[test]
    fn recorded_total_keeps_its_own_figures() {
        let whole = RunRecord { id: "w".into(), ..fixture::postgres() };
        let settings = settings(vec![part("1", "w"), whole.clone(), part("2", "w")]);
        assert_eq!((settings.len(), settings[0].summed, settings[0].parts.len()), (1, false, 2));
        assert_eq!(settings[0].whole, whole);
    }

    #[test]
    fn part_without_a_result_invalidates_the_total() {
        let mut bad = part("2", "w");
        bad.status = dyno_record::Status::Invalid;
        let whole = settings(vec![part("1", "w"), bad]).remove(0).whole;
        assert_eq!(whole.status, dyno_record::Status::Invalid);
        assert!(whole.reasons[0].contains("part 2"));
    }
}
