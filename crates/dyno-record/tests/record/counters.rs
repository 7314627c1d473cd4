//! Tests of the changes between two snapshots.

use dyno_record::{Counter, CounterDelta, Counters, Histogram, MarkKind, Snapshot};
use proptest::prelude::*;

proptest! {
    #[test]
    fn counter_delta_is_end_minus_begin(begin in 0u64..1 << 63, end in 0u64..1 << 63) {
        let (mut first, mut last) = (Snapshot::default(), Snapshot::default());
        first.set(Counter::Commits, begin);
        last.set(Counter::Commits, end);
        let moved = Counters::between(&first, &last);
        prop_assert_eq!(moved.get(Counter::Commits), Ok(end as i64 - begin as i64));
        let back = Counters::between(&last, &first);
        prop_assert_eq!(back.get(Counter::Commits).unwrap(), -moved.get(Counter::Commits).unwrap());
    }

    #[test]
    fn deltas_of_adjacent_intervals_add_up(mut at in proptest::collection::vec(0u64..1 << 62, 3)) {
        at.sort_unstable();
        let snapshot = |value| {
            let mut snapshot = Snapshot::default();
            snapshot.set(Counter::LogicalReads, value);
            snapshot
        };
        let moved = |from, to| Counters::between(&snapshot(at[from]), &snapshot(at[to])).get(Counter::LogicalReads).unwrap();
        prop_assert_eq!(moved(0, 1) + moved(1, 2), moved(0, 2));
    }
}

#[test]
fn counter_decrease_gives_negative_delta() {
    let (mut begin, mut end) = (Snapshot::default(), Snapshot::default());
    begin.set(Counter::RedoBytes, 100);
    end.set(Counter::RedoBytes, 40);
    begin.set(Counter::RowsRead, u64::MAX);
    end.set(Counter::RowsRead, 0);
    let counters = Counters::between(&begin, &end);
    assert_eq!(counters.get(Counter::RedoBytes), Ok(-60));
    assert!(counters.get(Counter::RowsRead).unwrap() < 0, "beyond what fits is still backwards");
}

#[test]
fn counter_absent_in_either_snapshot_is_absent_with_reason() {
    let (mut begin, mut end) = (Snapshot::default(), Snapshot::default());
    begin.set_absent(Counter::CpuTime, "no privilege");
    end.set(Counter::CpuTime, 5);
    begin.set(Counter::DbTime, 5);
    end.set_absent(Counter::DbTime, "connection lost");
    end.set(Counter::Commits, 5);
    let counters = Counters::between(&begin, &end);
    assert_eq!(counters.get(Counter::CpuTime), Err("no privilege"));
    assert_eq!(counters.get(Counter::DbTime), Err("connection lost"));
    assert_eq!(counters.get(Counter::Commits), Err("it was not in the begin snapshot"));
    assert_eq!(counters.get(Counter::RowsRead), Err("the engine does not report it"));
}

#[test]
fn counters_keep_moved_native_values_and_changed_epochs() {
    let (mut begin, mut end) = (Snapshot::default(), Snapshot::default());
    begin.native.extend([("still".to_owned(), 7.0), ("moved".to_owned(), 1.0), ("gone".to_owned(), 9.0)]);
    end.native.extend([("still".to_owned(), 7.0), ("moved".to_owned(), 3.5), ("new".to_owned(), 2.0)]);
    begin.epochs.extend([("start".to_owned(), "a".to_owned()), ("reset".to_owned(), "x".to_owned())]);
    end.epochs.extend([("start".to_owned(), "b".to_owned()), ("reset".to_owned(), "x".to_owned())]);
    let counters = Counters::between(&begin, &end);
    assert_eq!(counters.native.into_iter().collect::<Vec<_>>(), [("moved".into(), 2.5)]);
    let changes: Vec<_> = counters.changes.iter().map(|change| (change.kind, change.name.as_str())).collect();
    assert_eq!(changes, [(MarkKind::Epoch, "start")]);
}

#[test]
fn mark_on_one_side_only_is_a_change_unless_unreadable() {
    let (mut begin, mut end) = (Snapshot::default(), Snapshot::default());
    begin.epochs.insert("view.stats_reset".into(), "never".into());
    begin.settings.insert("fsync".into(), "on".into());
    begin.shape.insert("index a".into(), "1".into());
    end.epochs.insert("server.started".into(), "now".into());
    let names = |begin: &Snapshot, end: &Snapshot| -> Vec<String> {
        let counters = Counters::between(begin, end);
        counters.changes.iter().map(|change| change.name.clone()).collect()
    };
    assert_eq!(names(&begin, &end), ["server.started", "view.stats_reset", "fsync", "index a"]);
    for source in ["view", "settings", "shape"] {
        end.unread.insert(source.into(), "no privilege".into());
    }
    assert_eq!(names(&begin, &end), ["server.started"]);
    assert_eq!(names(&end, &begin), ["server.started"], "on either side");
    assert_eq!(Counters::between(&begin, &end).unread["settings"], "no privilege");
}

#[test]
fn reset_of_a_component_of_a_summed_counter_is_reported() {
    let (mut begin, mut end) = (Snapshot::default(), Snapshot::default());
    begin.set(Counter::RedoSyncs, 100);
    end.set(Counter::RedoSyncs, 140);
    begin.native.extend([("log".to_owned(), 90.0), ("binlog".to_owned(), 10.0), ("gauge".to_owned(), 5.0)]);
    end.native.extend([("log".to_owned(), 20.0), ("binlog".to_owned(), 120.0), ("gauge".to_owned(), 1.0)]);
    end.made_of.insert(Counter::RedoSyncs, ["log".to_owned(), "binlog".to_owned()].into());
    let falls = Counters::between(&begin, &end).falls;
    let falls: Vec<_> = falls.iter().map(|fall| (fall.name.as_str(), fall.from, fall.to)).collect();
    assert_eq!(falls, [("log", 90.0, 20.0)], "the sum grew, and a part of it was reset");
}

#[test]
fn latency_histograms_cover_only_the_interval() {
    let histogram = |latencies_ns: &[u64]| {
        let mut histogram = Histogram::new();
        latencies_ns.iter().for_each(|&latency_ns| histogram.record_ns(latency_ns));
        histogram
    };
    let (mut begin, mut end) = (Snapshot::default(), Snapshot::default());
    begin.latencies.insert("read".into(), histogram(&[5_000_000]));
    end.latencies.insert("read".into(), histogram(&[5_000_000, 1_000, 1_000]));
    end.latencies.insert("new".into(), histogram(&[7_000]));
    let latencies = Counters::between(&begin, &end).latencies;
    assert_eq!((latencies["read"].count, latencies["read"].max), (2, Some(1.0)));
    assert!(!latencies.contains_key("new"), "how much of it is older than the interval is not known");
}

#[test]
fn counter_deltas_serialize_to_documented_json() {
    let moved = CounterDelta::Moved { begin: 1, end: 4, delta: 3, unit: Counter::LogicalReads.unit() };
    let text = serde_json::to_string(&moved).unwrap();
    assert_eq!(text, r#"{"begin":1,"end":4,"delta":3,"unit":"blocks"}"#);
    for counter in Counter::ALL {
        assert_eq!(serde_json::to_value(counter).unwrap(), counter.name());
    }
}

#[test]
fn snapshot_marks_absent_at_both_ends_are_unread() {
    let empty = Snapshot::default();
    let unread = Counters::between(&empty, &empty).unread;
    assert!(unread["shape"].contains("no table"), "{unread:?}");
    assert!(unread["settings"].contains("no setting"), "{unread:?}");
    let mut watched = Snapshot::default();
    watched.shape.insert("table rows".into(), "1".into());
    watched.settings.insert("fsync".into(), "on".into());
    // A mark that only one snapshot has is a change.
    let counters = Counters::between(&empty, &watched);
    assert!(counters.unread.is_empty(), "{counters:?}");
    assert!(counters.changes.len() == 2, "{counters:?}");
}
