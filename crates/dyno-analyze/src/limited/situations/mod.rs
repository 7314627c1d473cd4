//! Situations with the limit that is due: each row is a record made for it.
//!
//! The host has 8 processors for 10 s, that is 80 s; the run has 4 sessions, that is 40 s. Waits are
//! average sessions of these 4. Each file has the wait classes of one kind of server.

mod activity;
mod in_process;
mod schema_events;
mod timed_events;

use dyno_record::{RunRecord, Waits};

use super::Component::{
    self, Client, Commits, Connections, Cpu, CpuQuota, Device, Latches, Locks, Rate as AskedRate, RoundTrips,
    Sessions, ThinkTime, Waits as OtherWaits,
};
use super::Confidence::{self, Likely, Sure, Unknown};
use super::limited;
use super::scripted::{processors, server, waits};

/// A situation and the limit that is due.
struct Situation {
    name: &'static str,
    /// Processor time of Dyno, the database and other programs, s of 80.
    cpu_s: [f64; 3],
    /// Average sessions by class and event.
    waits: &'static [(&'static str, &'static str, f64)],
    /// Applied last: figures beyond processors and waits.
    change: fn(&mut RunRecord),
    due: (Component, Confidence),
    /// Words that the full sentence must have.
    words: &'static str,
}

type SituationRow = (
    &'static str,
    [f64; 3],
    &'static [(&'static str, &'static str, f64)],
    fn(&mut RunRecord),
    (Component, Confidence),
    &'static str,
);

impl From<&SituationRow> for Situation {
    fn from(&(name, cpu_s, waits, change, due, words): &SituationRow) -> Self {
        Self { name, cpu_s, waits, change, due, words }
    }
}

/// Asserts the limit of every situation that starts from the record of `base`.
fn assert_limits(base: fn() -> RunRecord, rows: &[SituationRow]) {
    let mut faults = Vec::new();
    for situation in rows.iter().map(Situation::from) {
        let mut record = base();
        let [dyno_s, database_s, others_s] = situation.cpu_s;
        processors(&mut record, dyno_s, database_s, others_s);
        if matches!(record.waits, Waits::Sampled { .. }) {
            let active = situation.waits.iter().map(|(.., sessions)| sessions).sum::<f64>().max(0.1);
            waits(&mut record, active, situation.waits);
        }
        (situation.change)(&mut record);
        let bottleneck = limited(&record);
        let full = bottleneck.full();
        if (bottleneck.by, bottleneck.confidence) != situation.due || !full.contains(situation.words) {
            faults.push(format!(
                "{}: due {:?} {:?}, but {full}",
                situation.name, situation.due, situation.words
            ));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The figures do not show what limits.
const UNKNOWN: (Component, Confidence) = (Component::Unknown, Unknown);
/// No processor time of interest: the platform uses an eighth of the host.
const IDLE: [f64; 3] = [2.0, 8.0, 0.5];
/// The same beside neighbours that fill the processors.
const BUSY: [f64; 3] = [3.0, 8.0, 65.0];

/// Leaves so few samples that shares mean nothing.
fn few_samples(record: &mut RunRecord) {
    if let Waits::Sampled { samples, .. } = &mut record.waits {
        *samples = 5;
    }
}

/// Removes the samples, as `observe.waits = off` does.
fn unsampled(record: &mut RunRecord) {
    record.waits = Waits::Absent { absent: "waits were not sampled".into() };
}

#[test]
fn at_least_48_situations_are_scripted() {
    let rows =
        [activity::ROWS.len(), in_process::ROWS.len(), schema_events::ROWS.len(), timed_events::ROWS.len()];
    assert!(rows.iter().sum::<usize>() >= 48, "{rows:?}");
}
