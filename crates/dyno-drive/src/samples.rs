//! What samples of sessions have shown, in bounded memory.

use std::collections::BTreeMap;

use dyno_engine::{OtherSession, WaitSample};
use dyno_record::{Company, OtherSessions, SAMPLED_ACTIVE, WAITING, WaitTime, Waits};

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

/// Waits that an interval tells apart at most; what is rarer is the rest.
const OF_INTERVAL_MAX: usize = 12;

/// Samples, and how many sessions they found in each wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    samples: u64,
    waits: BTreeMap<WaitSample, u64>,
}

impl Counted {
    /// The same of several targets, whose sessions are added.
    pub(crate) fn add(&mut self, other: &Self) {
        self.samples = self.samples.max(other.samples);
        for (wait, seen) in &other.waits {
            *self.waits.entry(wait.clone()).or_default() += seen;
        }
    }

    /// Sessions at work and in each wait on average over the samples since `earlier`, by the metric's name; nothing where there
    /// was no sample.
    pub(crate) fn since(&self, earlier: &Self) -> BTreeMap<String, f64> {
        let samples = self.samples.saturating_sub(earlier.samples);
        if samples == 0 {
            return BTreeMap::new();
        }
        let seen = self
            .waits
            .iter()
            .map(|(wait, seen)| (wait, seen.saturating_sub(earlier.waits.get(wait).copied().unwrap_or(0))));
        let mut seen: Vec<(&WaitSample, u64)> = seen.filter(|(_, seen)| *seen > 0).collect();
        seen.sort_by_key(|(_, seen)| std::cmp::Reverse(*seen));
        let mean = |seen: u64| seen as f64 / samples as f64;
        let all: u64 = seen.iter().map(|(_, seen)| seen).sum();
        let rest: u64 = seen.iter().skip(OF_INTERVAL_MAX).map(|(_, seen)| seen).sum();
        let name = |wait: &WaitSample| format!("{WAITING}{}:{}", wait.class, wait.event);
        let told = seen.iter().take(OF_INTERVAL_MAX).map(|(wait, seen)| (name(wait), mean(*seen)));
        let rest = (rest > 0).then(|| (format!("{WAITING}Other:{THE_REST}"), mean(rest)));
        told.chain(rest).chain([(SAMPLED_ACTIVE.to_owned(), mean(all))]).collect()
    }
}

impl Samples {
    /// What was counted so far.
    pub(crate) fn counted(&self) -> Counted {
        Counted { samples: self.count, waits: self.events.clone() }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(samples: u64, waits: &[(&str, &str, u64)]) -> Counted {
        let wait = |(class, event, seen): &(&str, &str, u64)| {
            (WaitSample { class: (*class).into(), event: (*event).into() }, *seen)
        };
        Counted { samples, waits: waits.iter().map(wait).collect() }
    }

    #[test]
    fn an_interval_has_the_waits_of_its_own_samples() {
        let before = counted(10, &[("CPU", "CPU", 20), ("IO", "WalSync", 5)]);
        let now = counted(20, &[("CPU", "CPU", 50), ("IO", "WalSync", 5), ("Lock", "tuple", 10)]);
        let told = now.since(&before);
        let expected =
            [("sampled_active_sessions", 4.0), ("waiting.CPU:CPU", 3.0), ("waiting.Lock:tuple", 1.0)];
        assert_eq!(told, expected.map(|(name, mean)| (name.to_owned(), mean)).into());
        assert!(now.since(&now).is_empty(), "no sample tells nothing, which is not 0");
        assert_eq!(
            counted(1, &[]).since(&Counted::default()),
            [("sampled_active_sessions".into(), 0.0)].into()
        );
    }

    #[test]
    fn rare_waits_are_the_rest() {
        let many: Vec<(String, u64)> = (1..=20).map(|seen| (format!("e{seen:02}"), seen)).collect();
        let waits: Vec<(&str, &str, u64)> =
            many.iter().map(|(name, seen)| ("IO", name.as_str(), *seen)).collect();
        let told = counted(1, &waits).since(&Counted::default());
        assert_eq!(told.len(), OF_INTERVAL_MAX + 2);
        let sum: f64 = told.iter().filter(|(name, _)| name.starts_with(WAITING)).map(|(_, mean)| mean).sum();
        assert_eq!((sum, told["waiting.Other:(the rest)"]), (210.0, 36.0));
    }
}
