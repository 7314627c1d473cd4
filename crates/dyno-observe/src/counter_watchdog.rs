//! Compares every snapshot with the one before: finds changes and counters that went backwards.
//!
//! The two boundary snapshots of a window cannot show a setting that was changed and changed back. Nor can
//! they show a counter that was reset and has grown past its begin again. A value missing from a snapshot is
//! compared when it can be read again.

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{Counter, CounterReading, CounterReset, Counters, MarkChange, MarkKind, Snapshot};

use crate::snapshot::TargetSnapshot;

/// The most changes, and the most counter resets, in a record: the first ones suffice for a setting that
/// keeps changing.
const NAMED_MAX: usize = 200;

/// The changes found on one target.
#[derive(Debug, Default)]
pub struct CounterWatchdog {
    /// The last known value of each mark and counter.
    last: Option<Snapshot>,
    /// When the first snapshot of all, and that of the window, was taken.
    began_ns: Option<u64>,
    /// Number of snapshots that were compared with the one before.
    snapshot_count: u64,
    window_ns: Option<u64>,
    changes: Vec<(u64, MarkChange)>,
    resets: Vec<(u64, CounterReset)>,
    /// Number of findings up to the window's begin.
    before: (usize, usize),
    /// Number of findings up to the window's end.
    end_counts: Option<(usize, usize)>,
}

impl CounterWatchdog {
    /// Compares the next snapshot with the one before.
    pub fn check(&mut self, snapshot: &TargetSnapshot) {
        let at_ns = snapshot.at_ns();
        self.began_ns.get_or_insert(at_ns);
        let Some(last) = &mut self.last else {
            self.last = Some(watched_part(&snapshot.database));
            return;
        };
        self.snapshot_count += 1;
        let room = |len: usize| NAMED_MAX.saturating_sub(len);
        let changes = snapshot.database.changes_since(last).into_iter().take(room(self.changes.len()));
        self.changes.extend(changes.map(|change| (at_ns, change)));
        let resets = snapshot.database.falls_since(last).into_iter().take(room(self.resets.len()));
        self.resets.extend(resets.map(|fall| (at_ns, fall)));
        update_last(last, &snapshot.database);
    }

    /// Compares the window's first snapshot.
    pub fn begin(&mut self, snapshot: &TargetSnapshot) {
        self.check(snapshot);
        self.window_ns = Some(snapshot.at_ns());
        self.before = (self.changes.len(), self.resets.len());
    }

    /// Compares the window's last snapshot.
    pub fn end(&mut self, snapshot: &TargetSnapshot) {
        self.check(snapshot);
        self.end_counts = Some((self.changes.len(), self.resets.len()));
    }

    /// Number of snapshots compared with the one before, and the findings since the window began.
    pub fn findings(&self) -> (u64, Vec<MarkChange>, Vec<CounterReset>) {
        let from_ns = self.window_ns.unwrap_or_default();
        let changes = dated(&self.changes[self.before.0..], from_ns, |change, s| change.seen_s = s);
        let resets = dated(&self.resets[self.before.1..], from_ns, |fall, s| fall.seen_s = s);
        (self.snapshot_count, changes, resets)
    }

    /// Replaces the differences of the two boundary snapshots by the findings inside the window.
    pub fn write_window(&self, counters: &mut Counters) {
        let (changes, falls) = self.end_counts.unwrap_or((self.changes.len(), self.resets.len()));
        let from_ns = self.window_ns.unwrap_or_default();
        counters.changes =
            dated(&self.changes[self.before.0..changes], from_ns, |change, s| change.seen_s = s);
        counters.falls = dated(&self.resets[self.before.1..falls], from_ns, |fall, s| fall.seen_s = s);
    }

    /// The same for the whole life of the sessions.
    pub fn write_whole(&self, counters: &mut Counters) {
        let from_ns = self.began_ns.unwrap_or_default();
        counters.changes = dated(&self.changes, from_ns, |change, s| change.seen_s = s);
        counters.falls = dated(&self.resets, from_ns, |fall, s| fall.seen_s = s);
    }
}

/// The findings, with the seconds since `from_ns`.
fn dated<T: Clone>(entries: &[(u64, T)], from_ns: u64, date: impl Fn(&mut T, Option<f64>)) -> Vec<T> {
    let dated_entry = |(at_ns, entry): &(u64, T)| {
        let mut dated_finding = entry.clone();
        date(&mut dated_finding, Some(at_ns.saturating_sub(from_ns) as f64 / 1e9));
        dated_finding
    };
    entries.iter().map(dated_entry).collect()
}

/// The part of a snapshot that is compared with the next one.
fn watched_part(snapshot: &Snapshot) -> Snapshot {
    let parts: BTreeSet<&String> = snapshot.made_of.values().flatten().collect();
    let native = parts.into_iter().filter_map(|name| Some((name.clone(), *snapshot.native.get(name)?)));
    Snapshot {
        portable: readable(&snapshot.portable).collect(),
        native: native.collect(),
        epochs: snapshot.epochs.clone(),
        settings: snapshot.settings.clone(),
        shape: snapshot.shape.clone(),
        unread: snapshot.unread.clone(),
        ..Snapshot::default()
    }
}

fn readable(
    portable: &BTreeMap<Counter, CounterReading>,
) -> impl Iterator<Item = (Counter, CounterReading)> + '_ {
    let value = |(_, reading): &(&Counter, &CounterReading)| matches!(reading, CounterReading::Value(_));
    portable.iter().filter(value).map(|(counter, reading)| (*counter, reading.clone()))
}

/// Updates the known values from `next`; values that it lacks stay as last known.
fn update_last(last: &mut Snapshot, next: &Snapshot) {
    let next = watched_part(next);
    last.portable.extend(next.portable);
    last.native.extend(next.native);
    let unread = |source: &str| next.unread.contains_key(source);
    if !unread(dyno_record::SETTINGS) {
        last.settings = next.settings;
    }
    if !unread(dyno_record::SHAPE) {
        last.shape = next.shape;
    }
    last.epochs.retain(|name, _| unread(name.split('.').next().unwrap_or(name)));
    last.epochs.extend(next.epochs);
    // A value that could never be read before is no change when it appears.
    last.unread.retain(|source, _| unread(source));
}

/// Removes counters that were reset between two snapshots from their difference: the rate would be
/// meaningless, and could be negative.
pub(crate) fn withhold_reset_counters(counters: &mut Counters, end: &Snapshot) {
    let restarted = counters.changed(MarkKind::Epoch).next().is_some();
    if counters.falls.is_empty() && !restarted {
        return;
    }
    let fell = |name: &str| counters.falls.iter().any(|fall| fall.name == name);
    let anew = |counter: &Counter| {
        let parts = end.made_of.get(counter);
        restarted || fell(counter.name()) || parts.is_some_and(|parts| parts.iter().any(|part| fell(part)))
    };
    let reset_counters: Vec<Counter> = counters.portable.keys().copied().filter(anew).collect();
    for counter in reset_counters {
        let absent = "it was reset during the interval".to_owned();
        counters.portable.insert(counter, dyno_record::CounterDelta::Absent { absent });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_host::HostSnapshot;

    fn taken(at_s: u64, fill: impl FnOnce(&mut Snapshot)) -> TargetSnapshot {
        let mut database = Snapshot::default();
        fill(&mut database);
        let at_ns = at_s * 1_000_000_000;
        let (host, at) = (HostSnapshot::default(), String::new());
        let (began_ns, ended_ns) = (at_ns, at_ns);
        TargetSnapshot {
            database,
            host,
            remote: None,
            began_ns,
            ended_ns,
            at,
            overhead: 0,
            statements: None,
            tables: None,
        }
    }

    fn setting(value: &str) -> impl FnOnce(&mut Snapshot) {
        let value = value.to_owned();
        move |snapshot| {
            snapshot.settings.insert("sync_binlog".into(), value);
        }
    }

    #[test]
    fn setting_changed_and_restored_counts_as_two_changes() {
        let mut watchdog = CounterWatchdog::default();
        watchdog.check(&taken(0, setting("2")));
        watchdog.begin(&taken(1, setting("1")));
        for (at_s, value) in [(2, "1"), (3, "0"), (4, "0"), (5, "1")] {
            watchdog.check(&taken(at_s, setting(value)));
        }
        watchdog.end(&taken(6, setting("1")));
        watchdog.check(&taken(7, setting("5")));
        let (mut window, mut whole) = (Counters::default(), Counters::default());
        watchdog.write_window(&mut window);
        watchdog.write_whole(&mut whole);
        let change_times = |counters: &Counters| -> Vec<(String, f64)> {
            let to = |change: &MarkChange| (change.to.clone().unwrap(), change.seen_s.unwrap());
            counters.changes.iter().map(to).collect()
        };
        assert_eq!(change_times(&window), [("0".into(), 2.0), ("1".into(), 4.0)]);
        assert_eq!(
            change_times(&whole),
            [("1".into(), 1.0), ("0".into(), 3.0), ("1".into(), 5.0), ("5".into(), 7.0)]
        );
    }

    #[test]
    fn counter_reset_is_detected_after_value_passes_its_begin() {
        let reads = |value: u64| {
            move |snapshot: &mut Snapshot| {
                snapshot.set(Counter::RedoSyncs, 1_000 + value);
                snapshot.native.insert("log".into(), value as f64);
                snapshot.made_of.insert(Counter::RedoSyncs, ["log".to_owned()].into());
            }
        };
        let mut watchdog = CounterWatchdog::default();
        watchdog.begin(&taken(0, reads(100)));
        watchdog.check(&taken(1, reads(200)));
        // A snapshot without the value must not hide the reset.
        watchdog.check(&taken(2, |snapshot| snapshot.set_absent(Counter::RedoSyncs, "no privilege")));
        watchdog.check(&taken(3, reads(5)));
        watchdog.end(&taken(4, reads(900)));
        let mut window = Counters::default();
        watchdog.write_window(&mut window);
        let resets: Vec<_> =
            window.falls.iter().map(|fall| (fall.name.as_str(), fall.from, fall.to)).collect();
        assert_eq!(resets, [("redo_syncs", 1_200.0, 1_005.0), ("log", 200.0, 5.0)]);
        assert_eq!(window.falls[0].seen_s, Some(3.0));
    }

    #[test]
    fn change_after_an_unreadable_period_is_detected() {
        let mut watchdog = CounterWatchdog::default();
        watchdog.begin(&taken(0, setting("1")));
        watchdog.check(&taken(1, |snapshot| {
            snapshot.unread.insert("settings".into(), "no privilege".into());
        }));
        watchdog.end(&taken(2, setting("0")));
        let mut window = Counters::default();
        watchdog.write_window(&mut window);
        assert_eq!(window.changes.len(), 1, "{:?}", window.changes);
        assert_eq!(window.changes[0].seen_s, Some(2.0));
    }

    #[test]
    fn counter_reset_within_interval_is_withheld() {
        let reads = |value: u64| {
            move |snapshot: &mut Snapshot| {
                snapshot.set(Counter::RedoSyncs, value);
                snapshot.set(Counter::Commits, 7);
            }
        };
        let (begin, end) = (taken(0, reads(100)).database, taken(1, reads(19)).database);
        let mut counters = Counters::between(&begin, &end);
        withhold_reset_counters(&mut counters, &end);
        assert!(counters.get(Counter::RedoSyncs).is_err());
        assert!(counters.get(Counter::Commits) == Ok(0));
        let (mut anew, mut later) = (begin, end);
        later.set(Counter::RedoSyncs, 200);
        anew.epochs.insert("server.started".into(), "a".into());
        later.epochs.insert("server.started".into(), "b".into());
        let mut counters = Counters::between(&anew, &later);
        withhold_reset_counters(&mut counters, &later);
        assert!(counters.get(Counter::RedoSyncs).is_err());
        assert!(counters.get(Counter::Commits).is_err());
    }
}
