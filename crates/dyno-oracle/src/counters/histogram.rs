//! Reads the database's distributions of waits: `V$EVENT_HISTOGRAM_MICRO`.

use std::collections::BTreeMap;

use dyno_record::Histogram;

use super::super::connection::TextRow;

const NS_PER_US: u64 = 1_000;

/// Builds one distribution per event from rows of event, upper limit of a bucket in microseconds, and number
/// of waits.
///
/// The waits of a bucket are shorter than its upper limit and at least half of it. They are recorded at three
/// quarters, so a quantile is wrong by at most half.
pub(super) fn read(rows: &[TextRow]) -> BTreeMap<String, Histogram> {
    let mut all: BTreeMap<String, Histogram> = BTreeMap::new();
    for row in rows {
        let (Some(event), Some(high_us), Some(waits)) = (row.get(0), row.parse::<u64>(1), row.parse(2))
        else {
            continue;
        };
        let middle_ns = high_us.saturating_mul(NS_PER_US) / 4 * 3;
        all.entry(event.to_owned()).or_default().record_n_ns(middle_ns, waits);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_buckets_become_histograms_by_event() {
        let row = |event: &str, us: &str, waits: &str| {
            TextRow([event, us, waits].map(|t| Some(t.to_owned())).to_vec())
        };
        let all = read(&[
            row("log file sync", "512", "10"),
            row("log file sync", "1024", "30"),
            row("db file sequential read", "256", "5"),
        ]);
        assert_eq!(all.len(), 2);
        assert_eq!(all["log file sync"].count(), 40);
        let median_us = all["log file sync"].inner().value_at_quantile(0.5) / NS_PER_US;
        assert!((512..1024).contains(&median_us), "{median_us}");
    }
}
