//! Looks at every snapshot as it is taken: what changed since the one before, and what fell.
//!
//! The two ends of a window say nothing of a setting that was changed and changed back, or of a counter that was reset and
//! grew past its begin again. What a snapshot cannot tell is compared when it can be read again.

use std::collections::{BTreeMap, BTreeSet};

use dyno_record::{Change, Counter, Counters, Fall, MarkKind, Reading, Snapshot};

use crate::observe::Taken;

/// The most changes, and the most falls, that a record names: a setting that somebody toggles for a day is told by the first.
const NAMED_MAX: usize = 200;

/// What was seen of one target.
#[derive(Debug, Default)]
pub(crate) struct Vigil {
    /// The last that is known of each mark and counter.
    last: Option<Snapshot>,
    /// The first snapshot of all, and the window's.
    began_ns: Option<u64>,
    /// Snapshots that were held against the one before.
    looks: u64,
    window_ns: Option<u64>,
    seen: Vec<(u64, Change)>,
    fallen: Vec<(u64, Fall)>,
    /// Those found up to the window's begin.
    before: (usize, usize),
    /// The same up to its end.
    ended: Option<(usize, usize)>,
}

impl Vigil {
    /// The next snapshot.
    pub(crate) fn see(&mut self, taken: &Taken) {
        let at_ns = taken.at_ns();
        self.began_ns.get_or_insert(at_ns);
        let Some(last) = &mut self.last else {
            self.last = Some(what_counts(&taken.database));
            return;
        };
        self.looks += 1;
        let room = |len: usize| NAMED_MAX.saturating_sub(len);
        let changes = taken.database.changes_since(last).into_iter().take(room(self.seen.len()));
        self.seen.extend(changes.map(|change| (at_ns, change)));
        let falls = taken.database.falls_since(last).into_iter().take(room(self.fallen.len()));
        self.fallen.extend(falls.map(|fall| (at_ns, fall)));
        remember(last, &taken.database);
    }

    /// The window's first snapshot.
    pub(crate) fn begin(&mut self, taken: &Taken) {
        self.see(taken);
        self.window_ns = Some(taken.at_ns());
        self.before = (self.seen.len(), self.fallen.len());
    }

    /// The window's last snapshot.
    pub(crate) fn end(&mut self, taken: &Taken) {
        self.see(taken);
        self.ended = Some((self.seen.len(), self.fallen.len()));
    }

    /// How many snapshots were held against the one before, and what was seen so far since the window began.
    pub(crate) fn so_far(&self) -> (u64, Vec<Change>, Vec<Fall>) {
        let from_ns = self.window_ns.unwrap_or_default();
        let changes = dated(&self.seen[self.before.0..], from_ns, |change, s| change.seen_s = s);
        let falls = dated(&self.fallen[self.before.1..], from_ns, |fall, s| fall.seen_s = s);
        (self.looks, changes, falls)
    }

    /// Puts what was seen inside the window in the place of what its two ends alone tell.
    pub(crate) fn tell_window(&self, counters: &mut Counters) {
        let (changes, falls) = self.ended.unwrap_or((self.seen.len(), self.fallen.len()));
        let from_ns = self.window_ns.unwrap_or_default();
        counters.changes = dated(&self.seen[self.before.0..changes], from_ns, |change, s| change.seen_s = s);
        counters.falls = dated(&self.fallen[self.before.1..falls], from_ns, |fall, s| fall.seen_s = s);
    }

    /// The same of the sessions' whole life.
    pub(crate) fn tell_whole(&self, counters: &mut Counters) {
        let from_ns = self.began_ns.unwrap_or_default();
        counters.changes = dated(&self.seen, from_ns, |change, s| change.seen_s = s);
        counters.falls = dated(&self.fallen, from_ns, |fall, s| fall.seen_s = s);
    }
}

/// What was found, with the seconds since `from_ns`.
fn dated<T: Clone>(found: &[(u64, T)], from_ns: u64, date: impl Fn(&mut T, Option<f64>)) -> Vec<T> {
    let one = |(at_ns, found): &(u64, T)| {
        let mut found = found.clone();
        date(&mut found, Some(at_ns.saturating_sub(from_ns) as f64 / 1e9));
        found
    };
    found.iter().map(one).collect()
}

/// The part of a snapshot that is compared with the next.
fn what_counts(snapshot: &Snapshot) -> Snapshot {
    let parts: BTreeSet<&String> = snapshot.made_of.values().flatten().collect();
    let native = parts.into_iter().filter_map(|name| Some((name.clone(), *snapshot.native.get(name)?)));
    Snapshot {
        portable: known(&snapshot.portable).collect(),
        native: native.collect(),
        epochs: snapshot.epochs.clone(),
        settings: snapshot.settings.clone(),
        shape: snapshot.shape.clone(),
        unread: snapshot.unread.clone(),
        ..Snapshot::default()
    }
}

fn known(portable: &BTreeMap<Counter, Reading>) -> impl Iterator<Item = (Counter, Reading)> + '_ {
    let value = |(_, reading): &(&Counter, &Reading)| matches!(reading, Reading::Value(_));
    portable.iter().filter(value).map(|(counter, reading)| (*counter, reading.clone()))
}

/// Takes over what `next` tells; what it does not tell stays as it was last known.
fn remember(last: &mut Snapshot, next: &Snapshot) {
    let next = what_counts(next);
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
    // What could never be read is no change when it can be read at last.
    last.unread.retain(|source, _| unread(source));
}

/// Takes the counters that started anew between two snapshots out of their difference: the rate of such an interval is of
/// nothing, and may be below 0.
pub(crate) fn leave_out_fallen(counters: &mut Counters, end: &Snapshot) {
    let restarted = counters.changed(MarkKind::Epoch).next().is_some();
    if counters.falls.is_empty() && !restarted {
        return;
    }
    let fell = |name: &str| counters.falls.iter().any(|fall| fall.name == name);
    let anew = |counter: &Counter| {
        let parts = end.made_of.get(counter);
        restarted || fell(counter.name()) || parts.is_some_and(|parts| parts.iter().any(|part| fell(part)))
    };
    let gone: Vec<Counter> = counters.portable.keys().copied().filter(anew).collect();
    for counter in gone {
        let absent = "it was reset inside the interval".to_owned();
        counters.portable.insert(counter, dyno_record::CounterDelta::Absent { absent });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_host::HostSnapshot;

    fn taken(at_s: u64, fill: impl FnOnce(&mut Snapshot)) -> Taken {
        let mut database = Snapshot::default();
        fill(&mut database);
        let at_ns = at_s * 1_000_000_000;
        let (host, at) = (HostSnapshot::default(), String::new());
        Taken { database, host, far: None, began_ns: at_ns, ended_ns: at_ns, at, overhead: 0 }
    }

    fn setting(value: &str) -> impl FnOnce(&mut Snapshot) {
        let value = value.to_owned();
        move |snapshot| {
            snapshot.settings.insert("sync_binlog".into(), value);
        }
    }

    #[test]
    fn a_setting_that_goes_there_and_back_gives_two_changes() {
        let mut vigil = Vigil::default();
        vigil.see(&taken(0, setting("2")));
        vigil.begin(&taken(1, setting("1")));
        for (at_s, value) in [(2, "1"), (3, "0"), (4, "0"), (5, "1")] {
            vigil.see(&taken(at_s, setting(value)));
        }
        vigil.end(&taken(6, setting("1")));
        vigil.see(&taken(7, setting("5")));
        let (mut window, mut whole) = (Counters::default(), Counters::default());
        vigil.tell_window(&mut window);
        vigil.tell_whole(&mut whole);
        let told = |counters: &Counters| -> Vec<(String, f64)> {
            let to = |change: &Change| (change.to.clone().unwrap(), change.seen_s.unwrap());
            counters.changes.iter().map(to).collect()
        };
        assert_eq!(told(&window), [("0".into(), 2.0), ("1".into(), 4.0)]);
        assert_eq!(
            told(&whole),
            [("1".into(), 1.0), ("0".into(), 3.0), ("1".into(), 5.0), ("5".into(), 7.0)]
        );
    }

    #[test]
    fn a_counter_that_was_reset_and_grew_past_its_begin_is_seen() {
        let reads = |value: u64| {
            move |snapshot: &mut Snapshot| {
                snapshot.set(Counter::RedoSyncs, 1_000 + value);
                snapshot.native.insert("log".into(), value as f64);
                snapshot.made_of.insert(Counter::RedoSyncs, ["log".to_owned()].into());
            }
        };
        let mut vigil = Vigil::default();
        vigil.begin(&taken(0, reads(100)));
        vigil.see(&taken(1, reads(200)));
        // A snapshot that tells nothing must not hide the fall.
        vigil.see(&taken(2, |snapshot| snapshot.set_absent(Counter::RedoSyncs, "no privilege")));
        vigil.see(&taken(3, reads(5)));
        vigil.end(&taken(4, reads(900)));
        let mut window = Counters::default();
        vigil.tell_window(&mut window);
        let falls: Vec<_> =
            window.falls.iter().map(|fall| (fall.name.as_str(), fall.from, fall.to)).collect();
        assert_eq!(falls, [("redo_syncs", 1_200.0, 1_005.0), ("log", 200.0, 5.0)]);
        assert_eq!(window.falls[0].seen_s, Some(3.0));
    }

    #[test]
    fn what_could_not_be_read_for_a_while_is_compared_with_what_it_was_before() {
        let mut vigil = Vigil::default();
        vigil.begin(&taken(0, setting("1")));
        vigil.see(&taken(1, |snapshot| {
            snapshot.unread.insert("settings".into(), "no privilege".into());
        }));
        vigil.end(&taken(2, setting("0")));
        let mut window = Counters::default();
        vigil.tell_window(&mut window);
        assert_eq!(window.changes.len(), 1, "{:?}", window.changes);
        assert_eq!(window.changes[0].seen_s, Some(2.0));
    }

    #[test]
    fn an_interval_with_a_reset_has_no_value_of_what_was_reset() {
        let reads = |value: u64| {
            move |snapshot: &mut Snapshot| {
                snapshot.set(Counter::RedoSyncs, value);
                snapshot.set(Counter::Commits, 7);
            }
        };
        let (begin, end) = (taken(0, reads(100)).database, taken(1, reads(19)).database);
        let mut counters = Counters::between(&begin, &end);
        leave_out_fallen(&mut counters, &end);
        assert!(counters.get(Counter::RedoSyncs).is_err() && counters.get(Counter::Commits) == Ok(0));
        let (mut anew, mut later) = (begin, end);
        later.set(Counter::RedoSyncs, 200);
        anew.epochs.insert("server.started".into(), "a".into());
        later.epochs.insert("server.started".into(), "b".into());
        let mut counters = Counters::between(&anew, &later);
        leave_out_fallen(&mut counters, &later);
        assert!(counters.get(Counter::RedoSyncs).is_err() && counters.get(Counter::Commits).is_err());
    }
}
