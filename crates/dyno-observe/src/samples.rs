//! Aggregates samples of sessions in bounded memory.

use std::collections::BTreeMap;

use dyno_engine::{OtherSession, WaitSample};
use dyno_record::{ForeignActivity, OtherSessions, SAMPLED_ACTIVE, WAITING, WaitTime, Waits};

/// The most waits, and the most other sessions, that samples count separately. Program names may contain
/// process numbers, and a run may last for weeks.
const NAMES_MAX: usize = 1_000;
/// The name for everything beyond that limit.
const THE_REST: &str = "(the rest)";

/// The aggregated samples of a sampler.
#[derive(Debug, Clone, Default)]
pub struct SessionSamples {
    pub count: u64,
    pub active: u64,
    pub events: BTreeMap<WaitSample, u64>,
    pub others: BTreeMap<OtherSession, u64>,
    /// Why other sessions cannot be seen, if so.
    pub blind: Option<String>,
    pub error: Option<String>,
}

/// Counts `times` occurrences of a name; under the rest if there are too many names already.
fn count<K: Ord>(counts: &mut BTreeMap<K, u64>, name: K, times: u64, rest: impl FnOnce(&K) -> K) {
    let name = match counts.len() < NAMES_MAX || counts.contains_key(&name) {
        true => name,
        false => rest(&name),
    };
    *counts.entry(name).or_default() += times;
}

fn rest_of(other: &OtherSession) -> OtherSession {
    OtherSession {
        database: THE_REST.into(),
        program: THE_REST.into(),
        is_target_database: other.is_target_database,
    }
}

/// The most waits of an interval that are listed; rarer ones are added up.
const OF_INTERVAL_MAX: usize = 12;

/// Number of samples, and the sessions found in each wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitCounts {
    samples: u64,
    waits: BTreeMap<WaitSample, u64>,
}

impl WaitCounts {
    /// Adds the counts of another target, whose sessions are added.
    pub fn add(&mut self, other: &Self) {
        self.samples = self.samples.max(other.samples);
        for (wait, seen) in &other.waits {
            *self.waits.entry(wait.clone()).or_default() += seen;
        }
    }

    /// Average sessions active and in each wait since `earlier`, by metric name; empty if there was no
    /// sample.
    pub fn since(&self, earlier: &Self) -> BTreeMap<String, f64> {
        let samples = self.samples.saturating_sub(earlier.samples);
        if samples == 0 {
            return BTreeMap::new();
        }
        let wait_counts = self
            .waits
            .iter()
            .map(|(wait, seen)| (wait, seen.saturating_sub(earlier.waits.get(wait).copied().unwrap_or(0))));
        let mut new_waits: Vec<(&WaitSample, u64)> = wait_counts.filter(|(_, seen)| *seen > 0).collect();
        new_waits.sort_by_key(|(_, seen)| std::cmp::Reverse(*seen));
        let mean = |seen: u64| seen as f64 / samples as f64;
        let all: u64 = new_waits.iter().map(|(_, seen)| seen).sum();
        let rest: u64 = new_waits.iter().skip(OF_INTERVAL_MAX).map(|(_, seen)| seen).sum();
        let name = |wait: &WaitSample| format!("{WAITING}{}:{}", wait.class, wait.event);
        let named_means =
            new_waits.iter().take(OF_INTERVAL_MAX).map(|(wait, seen)| (name(wait), mean(*seen)));
        let rest = (rest > 0).then(|| (format!("{WAITING}Other:{THE_REST}"), mean(rest)));
        named_means.chain(rest).chain([(SAMPLED_ACTIVE.to_owned(), mean(all))]).collect()
    }
}

impl SessionSamples {
    /// The counts so far.
    pub fn counted(&self) -> WaitCounts {
        WaitCounts { samples: self.count, waits: self.events.clone() }
    }

    /// Adds one sample, and leaves its two lists empty.
    pub fn add_sample(&mut self, waits: &mut Vec<WaitSample>, other_sessions: &mut Vec<OtherSession>) {
        self.count += 1;
        self.active += waits.len() as u64;
        for wait in waits.drain(..) {
            count(&mut self.events, wait, 1, |_| WaitSample {
                class: "Other".into(),
                event: THE_REST.into(),
            });
        }
        for other in other_sessions.drain(..) {
            count(&mut self.others, other, 1, rest_of);
        }
    }

    /// Adds the samples of another sampler.
    pub fn add(&mut self, later: Self) {
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

    pub fn into_waits(self, asked_per_s: f64) -> Waits {
        if self.count == 0 {
            let absent = self.error.unwrap_or_else(|| "the window was too short for a sample".into());
            return Waits::Absent { absent };
        }
        let samples = self.count as f64;
        let company = match self.blind {
            Some(absent) => ForeignActivity::Absent { absent },
            None => foreign_activity(self.others, samples),
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

/// Other sessions, by how often they were seen in this many samples.
fn foreign_activity(session_counts: BTreeMap<OtherSession, u64>, samples: f64) -> ForeignActivity {
    let mut sessions: Vec<OtherSessions> = session_counts
        .into_iter()
        .map(|(OtherSession { database, program, is_target_database: here }, times)| OtherSessions {
            database,
            program,
            here,
            average_sessions: times as f64 / samples,
        })
        .collect();
    sessions.sort_by(|a, b| b.average_sessions.total_cmp(&a.average_sessions));
    ForeignActivity::Sampled {
        average_active_sessions: sessions.iter().fold(0.0, |sum, session| sum + session.average_sessions),
        seen: sessions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(samples: u64, waits: &[(&str, &str, u64)]) -> WaitCounts {
        let wait = |(class, event, seen): &(&str, &str, u64)| {
            (WaitSample { class: (*class).into(), event: (*event).into() }, *seen)
        };
        WaitCounts { samples, waits: waits.iter().map(wait).collect() }
    }

    #[test]
    fn an_interval_has_the_waits_of_its_own_samples() {
        let before = counted(10, &[("CPU", "CPU", 20), ("IO", "WalSync", 5)]);
        let now = counted(20, &[("CPU", "CPU", 50), ("IO", "WalSync", 5), ("Lock", "tuple", 10)]);
        let waits = now.since(&before);
        let expected =
            [("sampled_active_sessions", 4.0), ("waiting.CPU:CPU", 3.0), ("waiting.Lock:tuple", 1.0)];
        assert_eq!(waits, expected.map(|(name, mean)| (name.to_owned(), mean)).into());
        assert!(now.since(&now).is_empty(), "no sample tells nothing, which is not 0");
        assert_eq!(
            counted(1, &[]).since(&WaitCounts::default()),
            [("sampled_active_sessions".into(), 0.0)].into()
        );
    }

    #[test]
    fn rare_waits_are_summed_as_the_rest() {
        let many: Vec<(String, u64)> = (1..=20).map(|seen| (format!("e{seen:02}"), seen)).collect();
        let waits: Vec<(&str, &str, u64)> =
            many.iter().map(|(name, seen)| ("IO", name.as_str(), *seen)).collect();
        let rates = counted(1, &waits).since(&WaitCounts::default());
        assert_eq!(rates.len(), OF_INTERVAL_MAX + 2);
        let sum: f64 = rates.iter().filter(|(name, _)| name.starts_with(WAITING)).map(|(_, mean)| mean).sum();
        assert_eq!((sum, rates["waiting.Other:(the rest)"]), (210.0, 36.0));
    }
}
