//! Totals over targets: several databases driven at one setting (PDBs, nodes), their sum and each one's own part.
//!
//! A record may stand for all targets of a setting, or for one of them ([`one_target_of`](RunRecord::one_target_of)). What
//! adds up is added (rates, counts, histograms); what does not (shares, means without their counts) is absent, with the
//! reason.

use std::collections::BTreeMap;

use dyno_record::{Histogram, Latency, Metric, OpStats, RunId, RunRecord, Unit};

/// Records of one setting: the whole, and the targets' parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The whole: the record that stands for all targets, or the sum of the parts.
    pub whole: RunRecord,
    /// Each target's own record; empty where the whole is all there is.
    pub parts: Vec<RunRecord>,
    /// Whether the whole was summed here.
    pub summed: bool,
}

/// Puts parts to their wholes, and sums up the parts that have none. The order of the first record of each is kept.
pub fn settings(records: Vec<RunRecord>) -> Vec<Setting> {
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
        let own = parts.remove(&key).unwrap_or_default();
        match (wholes.remove(&key), own.as_slice()) {
            (Some(whole), _) => Some(Setting { whole, parts: own, summed: false }),
            (None, [first, ..]) => {
                let whole = total(&key, first, &own);
                Some(Setting { whole, parts: own, summed: true })
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

/// The sum of one metric over all parts; absent where one of them does not tell, or where it does not add up.
pub fn sum_of_metric(name: &str, parts: &[RunRecord]) -> Metric {
    let absent = |reason: String| Metric::Absent { absent: reason };
    let mut sum: Option<(f64, Unit)> = None;
    for part in parts {
        match part.metrics.get(name) {
            Some(Metric::Value { value, unit }) if adds_up(*unit) => match sum {
                Some((_, before)) if before != *unit => {
                    return absent(format!("the targets tell it in {} and {}", before.name(), unit.name()));
                }
                _ => sum = Some((sum.map_or(0.0, |sum| sum.0) + value, *unit)),
            },
            Some(Metric::Value { unit, .. }) => {
                return absent(format!("{} of several targets do not add up", unit.name()));
            }
            Some(Metric::Absent { absent: reason }) => {
                return absent(format!("one target does not tell: {reason}"));
            }
            None => return absent("one target does not tell".to_owned()),
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
    let each: Vec<&OpStats> = parts.iter().filter_map(|part| part.ops.get(class)).collect();
    OpStats {
        count: each.iter().map(|ops| ops.count).sum(),
        errors: each.iter().map(|ops| ops.errors).sum(),
        rate_per_s: each.iter().map(|ops| ops.rate_per_s).sum(),
        before: each.iter().map(|ops| ops.before).sum(),
        rows: each.iter().map(|ops| ops.rows).sum(),
        rows_before: each.iter().map(|ops| ops.rows_before).sum(),
        rolled_back: each.iter().map(|ops| ops.rolled_back).sum(),
        empty_polls: each.iter().map(|ops| ops.empty_polls).sum(),
        tallied: each.iter().map(|ops| ops.tallied).sum(),
        retries: each.iter().map(|ops| ops.retries).sum(),
        write_statements: each.iter().map(|ops| ops.write_statements).sum(),
        empty_writes: each.iter().map(|ops| ops.empty_writes).sum(),
        in_doubt: each.iter().map(|ops| ops.in_doubt).sum(),
        service_us: merged(each.iter().map(|ops| &ops.service_us)),
        response_us: merged(each.iter().map(|ops| &ops.response_us)),
        untimed: each.iter().find_map(|ops| ops.untimed.clone()),
    }
}

/// Latencies of all targets together: their histograms added. Without them nothing can be said but how many there were.
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

    fn part(id: &str, of: &str) -> RunRecord {
        RunRecord { id: id.into(), one_target_of: Some(of.into()), ..fixture::postgres() }
    }

    #[test]
    fn parts_without_a_whole_are_summed() {
        let settings = settings(vec![part("1", "w"), fixture::sqlite(), part("2", "w")]);
        assert_eq!(settings.len(), 2);
        let (one, sum) = (fixture::postgres(), &settings[0]);
        assert!(sum.summed && sum.parts.len() == 2 && sum.whole.id == "w");
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
    fn a_whole_keeps_its_own_figures() {
        let whole = RunRecord { id: "w".into(), ..fixture::postgres() };
        let settings = settings(vec![part("1", "w"), whole.clone(), part("2", "w")]);
        assert_eq!((settings.len(), settings[0].summed, settings[0].parts.len()), (1, false, 2));
        assert_eq!(settings[0].whole, whole);
    }

    #[test]
    fn a_part_that_is_no_result_spoils_the_sum() {
        let mut bad = part("2", "w");
        bad.status = dyno_record::Status::Invalid;
        let whole = settings(vec![part("1", "w"), bad]).remove(0).whole;
        assert_eq!(whole.status, dyno_record::Status::Invalid);
        assert!(whole.reasons[0].contains("part 2"));
    }
}
