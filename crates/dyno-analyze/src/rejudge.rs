//! Judges records from elsewhere again: values that were edited in between must not count as
//! measured.

use dyno_record::{ALL, Metric, OpStats, RunRecord, Status, Window};

/// Allowed difference between a rate and its count, as a share: rates are written with all their
/// digits.
const SLACK: f64 = 1e-3;

/// The record as it is to be stored. It stays valid only if its rates follow from its counts and
/// this version's audit passes. A record that stays valid is not changed.
pub fn rejudged(record: RunRecord) -> RunRecord {
    if record.status != Status::Valid {
        return record;
    }
    let problem = contradiction(&record);
    let mut judged = record.clone();
    crate::judge(&mut judged);
    if let Some(problem) = problem {
        judged.status = Status::Invalid;
        judged.reasons.push(format!("the record contradicts itself: {problem}"));
    }
    if judged.status == Status::Valid { record } else { judged }
}

/// Where figures of a record contradict each other; absent where they agree.
fn contradiction(record: &RunRecord) -> Option<String> {
    let window = record.window.as_ref()?;
    // A sum over several targets has no time of its own.
    if !record.is_total() {
        let of_class = |(name, ops): (&String, &OpStats)| rate_problem(name, ops, window);
        if let Some(problem) = record.ops.iter().find_map(of_class) {
            return Some(problem);
        }
    }
    let rate = record.leading_ops()?.rate_per_s;
    match record.metrics.get("ops_per_s") {
        Some(Metric::Value { value, .. }) if differs(*value, rate) => {
            Some(format!("ops_per_s is {value}, but its operations ran at {rate} per second"))
        }
        _ => None,
    }
}

fn rate_problem(name: &str, ops: &OpStats, window: &Window) -> Option<String> {
    let expected = (ops.count as f64 - ops.before) / window.work_seconds();
    let is_wrong = differs(ops.rate_per_s, expected);
    let class = if name == ALL { "all operations" } else { name };
    is_wrong.then(|| format!("{class}: {} per second, but its count gives {expected:.3}", ops.rate_per_s))
}

fn differs(a: f64, b: f64) -> bool {
    let distance = (a - b).abs();
    // NaN differs from everything.
    distance.is_nan() || distance > SLACK * a.abs().max(b.abs()) + 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn valid() -> RunRecord {
        let mut record = fixture::postgres();
        let work_s = record.window.as_ref().unwrap().work_seconds();
        for ops in record.ops.values_mut() {
            ops.rate_per_s = (ops.count as f64 - ops.before) / work_s;
        }
        let rate = record.leading_ops().unwrap().rate_per_s;
        let unit = dyno_record::Unit::PerSecond;
        record.metrics.insert("ops_per_s".into(), Metric::Value { value: rate, unit });
        crate::judge(&mut record);
        assert_eq!(record.status, Status::Valid, "{:?}", record.reasons);
        record
    }

    #[test]
    fn consistent_valid_record_is_kept_unchanged() {
        assert_eq!(rejudged(valid()), valid());
        let imported = RunRecord { status: Status::Imported, ..valid() };
        assert_eq!(rejudged(imported.clone()), imported);
    }

    #[test]
    fn tampered_values_make_a_record_invalid() {
        let changed = |change: &dyn Fn(&mut RunRecord)| {
            let mut record = valid();
            change(&mut record);
            let record = rejudged(record);
            assert_eq!(record.status, Status::Invalid, "{:?}", record.reasons);
            record.reasons.join("; ")
        };
        let reasons = changed(&|record| record.ops.values_mut().for_each(|ops| ops.rate_per_s *= 10.0));
        assert!(reasons.contains("contradicts itself"), "{reasons}");
        let reasons = changed(&|record| {
            if let Some(Metric::Value { value, .. }) = record.metrics.get_mut("ops_per_s") {
                *value *= 10.0;
            }
        });
        assert!(reasons.contains("ops_per_s"), "{reasons}");
        // Counts that were raised with their rates no longer agree with the database's.
        changed(&|record| {
            for ops in record.ops.values_mut() {
                (ops.count, ops.rate_per_s) = (ops.count * 10, ops.rate_per_s * 10.0);
            }
        });
        changed(&|record| record.ops.values_mut().for_each(|ops| ops.rate_per_s = f64::NAN));
    }
}
