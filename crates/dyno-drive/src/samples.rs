//! What samples of sessions have shown, in bounded memory.

use std::collections::BTreeMap;

use dyno_engine::{OtherSession, WaitSample};
use dyno_record::{Company, OtherSessions, WaitTime, Waits};

/// Different waits, and different others, that samples tell apart at most: programs may have the number of their process in
/// their name, and a run may last for weeks.
const NAMES_MAX: usize = 1_000;
/// What all beyond that are called.
const THE_REST: &str = "(the rest)";

/// What a sampler saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    pub(crate) count: u64,
    pub(crate) active: u64,
    pub(crate) events: BTreeMap<WaitSample, u64>,
    pub(crate) others: BTreeMap<OtherSession, u64>,
    /// Why others cannot be seen, if so.
    pub(crate) blind: Option<String>,
    pub(crate) error: Option<String>,
}

/// Counts so many of a name; as of the rest where there are too many names already.
fn count<K: Ord>(counts: &mut BTreeMap<K, u64>, name: K, times: u64, rest: impl FnOnce(&K) -> K) {
    let name = match counts.len() < NAMES_MAX || counts.contains_key(&name) {
        true => name,
        false => rest(&name),
    };
    *counts.entry(name).or_default() += times;
}

fn rest_of(other: &OtherSession) -> OtherSession {
    OtherSession { database: THE_REST.into(), program: THE_REST.into(), here: other.here }
}

impl Samples {
    /// Takes in one sample, and leaves its two lists empty.
    pub(crate) fn take(&mut self, seen: &mut Vec<WaitSample>, others: &mut Vec<OtherSession>) {
        self.count += 1;
        self.active += seen.len() as u64;
        for wait in seen.drain(..) {
            count(&mut self.events, wait, 1, |_| WaitSample {
                class: "Other".into(),
                event: THE_REST.into(),
            });
        }
        for other in others.drain(..) {
            count(&mut self.others, other, 1, rest_of);
        }
    }

    /// Takes in what another has seen.
    pub(crate) fn add(&mut self, later: Self) {
        self.count += later.count;
        self.active += later.active;
        for (wait, times) in later.events {
            count(&mut self.events, wait, times, |_| WaitSample {
                class: "Other".into(),
                event: THE_REST.into(),
            });
        }
        for (other, times) in later.others {
            count(&mut self.others, other, times, rest_of);
        }
        self.blind = later.blind.or(self.blind.take());
        self.error = later.error.or(self.error.take());
    }

    pub(crate) fn into_waits(self, asked_per_s: f64) -> Waits {
        if self.count == 0 {
            let absent = self.error.unwrap_or_else(|| "the window was too short for a sample".into());
            return Waits::Absent { absent };
        }
        let samples = self.count as f64;
        let company = match self.blind {
            Some(absent) => Company::Absent { absent },
            None => company(self.others, samples),
        };
        let active = self.active.max(1) as f64;
        let mut events: Vec<_> = self
            .events
            .into_iter()
            .map(|(wait, seen)| WaitTime {
                class: wait.class,
                event: wait.event,
                average_sessions: seen as f64 / samples,
                share_pct: 100.0 * seen as f64 / active,
            })
            .collect();
        events.sort_by(|a, b| {
            b.average_sessions.total_cmp(&a.average_sessions).then_with(|| a.event.cmp(&b.event))
        });
        Waits::Sampled {
            samples: self.count,
            asked_per_s,
            average_active_sessions: self.active as f64 / samples,
            events,
            company,
        }
    }
}

/// Other sessions, as often as they were seen in so many samples.
fn company(others: BTreeMap<OtherSession, u64>, samples: f64) -> Company {
    let mut seen: Vec<OtherSessions> = others
        .into_iter()
        .map(|(OtherSession { database, program, here }, times)| OtherSessions {
            database,
            program,
            here,
            average_sessions: times as f64 / samples,
        })
        .collect();
    seen.sort_by(|a, b| b.average_sessions.total_cmp(&a.average_sessions));
    Company::Sampled {
        average_active_sessions: seen.iter().fold(0.0, |sum, one| sum + one.average_sessions),
        seen,
    }
}
