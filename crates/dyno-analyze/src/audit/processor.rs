//! Who had the processors: whether somebody else's work took what the platform under test would have used.
//!
//! A machine that others keep busy makes every figure one of what was left. That is no error of the run, whose counts are
//! what they are; but it has to be said, with how much it was.

use dyno_record::{CheckStatus, Host, Metric, RunRecord};

use super::facts::Facts;
use super::finding::{Verdict, found, skip};
use crate::number::percent;

/// Share of all processors, %, that others may have on a busy machine: less is what any system does beside.
const OTHERS_PCT: f64 = 5.0;

/// Share of all processors in use, %, from which work waits for a processor now and then, and what others have is missing.
const BUSY_PCT: f64 = 75.0;

/// Share of all processors, %, that is not little on any machine: caches and memory are shared, too.
const OTHERS_MUCH_PCT: f64 = 25.0;

/// Share of all processors, %, that a hypervisor may take.
const STEAL_PCT: f64 = 2.0;

/// Share of all processors, %, from which a small part of the account is listed.
const SAID_PCT: f64 = 0.5;

/// What a record tells about the processors, % of all of them.
struct Shares {
    others_pct: f64,
    busy_pct: f64,
    steal_pct: f64,
    /// The client, the database and the machine itself, in words.
    known: String,
    /// The largest of the others, in words; empty where none is known.
    most: String,
}

impl Shares {
    fn of(facts: &Facts<'_>) -> Result<Self, String> {
        let counters = &facts.record.driver().counters;
        let counter = |name: &str| counters.get(name).copied().filter(|s| s.is_finite());
        let capacity_s = counter("processors.capacity_s").filter(|s| *s > 0.0);
        let others_s = counter("others.cpu_s");
        let (Some(capacity_s), Some(others_s)) = (capacity_s, others_s) else {
            return Err(match facts.record.metrics.get("others_cpu_pct") {
                Some(Metric::Absent { absent }) => absent.clone(),
                _ => "the record does not tell whose the processors were".to_owned(),
            });
        };
        let pct = |seconds: f64| 100.0 * seconds / capacity_s;
        let part = |name: &str, words: &str| counter(name).map(|s| format!("{words} {} %", percent(pct(s))));
        let part_at_work = |name: &str, words: &str| {
            part(name, words).filter(|_| counter(name).is_some_and(|s| pct(s) >= SAID_PCT))
        };
        let parts = [
            part("own.cpu_s", "the client"),
            part("server.cpu_s", "the database"),
            part_at_work("kernel.cpu_s", "kernel threads"),
            part_at_work("interrupts.cpu_s", "interrupts"),
            part_at_work("processors.steal_s", "the hypervisor"),
        ];
        let known = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let named = counters.iter().filter_map(|(name, seconds)| {
            Some((name.strip_prefix("others.")?.strip_suffix(".cpu_s")?, *seconds))
        });
        let most = named.max_by(|a, b| a.1.total_cmp(&b.1));
        // Records of earlier versions may hold a part that exceeds its whole.
        let most = most.filter(|(_, seconds)| *seconds <= others_s * (1.0 + 1e-9));
        let most = most.map(|(name, seconds)| format!(", most of it {name} ({} %)", percent(pct(seconds))));
        let steal_pct = pct(counter("processors.steal_s").unwrap_or(0.0));
        let busy_pct = pct(counter("processors.busy_s").unwrap_or(0.0)) + steal_pct;
        Ok(Self { others_pct: pct(others_s), busy_pct, steal_pct, known, most: most.unwrap_or_default() })
    }

    /// Whether others had so much that figures of time are not the platform's own.
    fn is_taken(&self) -> bool {
        let by_others = self.others_pct > OTHERS_PCT && self.busy_pct >= BUSY_PCT;
        by_others || self.others_pct > OTHERS_MUCH_PCT || self.steal_pct > STEAL_PCT
    }
}

/// Machines of databases that are not the one that drove: what is known of their processors, though nobody tells whose they were.
struct Far {
    words: String,
    steal_pct: f64,
}

impl Far {
    fn of(record: &RunRecord) -> Option<Self> {
        let is_far = |host: &&Host| host.observed.as_ref().is_some_and(|observed| !observed.is_driver);
        let all: Vec<&Host> = record.hosts.iter().filter(is_far).collect();
        let known = |host: &Host, name: &str| host.counters.get(name).copied().filter(|pct| pct.is_finite());
        let one = |host: &&Host| match known(host, "cpu.busy_pct") {
            Some(busy_pct) => format!(
                "those of {} {} % busy, and whose they were (the database's or others') is not told",
                host.words(),
                percent(busy_pct)
            ),
            None => format!("of {} nothing is known of them", host.words()),
        };
        let steal = all.iter().filter_map(|host| Some((known(host, "cpu.steal_pct")?, host)));
        let most = steal.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(steal_pct, _)| *steal_pct > STEAL_PCT);
        let mut words = all.iter().map(one).collect::<Vec<_>>().join("; ");
        if let Some((steal_pct, host)) = most {
            words += &format!("; the hypervisor of {} took {} %", host.words(), percent(steal_pct));
        }
        (!all.is_empty()).then_some(Self { words, steal_pct: most.map_or(0.0, |(steal_pct, _)| steal_pct) })
    }
}

/// How much of the processors others had, in words, where that slows a run.
pub(super) fn taken(facts: &Facts<'_>) -> Option<String> {
    let shares = Shares::of(facts).ok().filter(Shares::is_taken)?;
    Some(format!(
        "other programs had {} % of the processors and the hypervisor {} %",
        percent(shares.others_pct),
        percent(shares.steal_pct)
    ))
}

/// Whose the processors were.
pub(super) fn others(facts: &Facts<'_>) -> Verdict {
    facts.window()?;
    let far = Far::of(facts.record);
    let far_steal_pct = far.as_ref().map_or(0.0, |far| far.steal_pct);
    let expected = format!("≤ {} % by others", percent(OTHERS_PCT));
    let shares = match (Shares::of(facts), &far) {
        (Ok(shares), _) => shares,
        (Err(_), Some(far)) if far.steal_pct > 0.0 => {
            let observed = format!("{} %", percent(far.steal_pct));
            return found(CheckStatus::Warn, expected, observed, format!("processors: {}", far.words));
        }
        (Err(reason), Some(far)) => return skip(format!("{reason}; {}", far.words)),
        (Err(reason), None) => return skip(reason),
    };
    let Shares { others_pct, busy_pct, steal_pct, known, most } = &shares;
    let whose = match &far {
        Some(_) => "the processors of the machine that drove",
        None => "the processors",
    };
    let mut words = format!(
        "{whose} were {} % busy: {known}, others {} %{most}",
        percent(*busy_pct),
        percent(*others_pct)
    );
    if *steal_pct > STEAL_PCT {
        words += &format!("; the hypervisor took {} %", percent(*steal_pct));
    }
    if let Some(far) = &far {
        words += &format!("; {}", far.words);
    }
    let observed = format!("{} %", percent((others_pct + steal_pct).max(far_steal_pct)));
    if shares.is_taken() || far_steal_pct > 0.0 {
        let detail = format!(
            "{words}; rates and latencies are those of what was left: measure when nobody else works here"
        );
        let detail = if shares.is_taken() { detail } else { words };
        return found(CheckStatus::Warn, expected, observed, detail);
    }
    found(CheckStatus::Pass, expected, observed, words)
}

#[cfg(test)]
mod tests {
    use dyno_record::{Host, Observed, Role};

    use super::*;
    use crate::{audit, fixture};

    /// A run whose database is on a machine with these counters.
    fn checked(counters: &[(&str, f64)]) -> dyno_record::AuditCheck {
        let mut record = fixture::postgres();
        record.hosts[0].roles = [Role::Driver].into();
        record.targets[0].identity.same_host = false;
        record.hosts.push(Host {
            name: "db2".into(),
            roles: [Role::Database].into(),
            counters: counters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            observed: Some(Observed { url: "ssh://db2".into(), targets: [1].into(), ..Observed::default() }),
            ..Host::default()
        });
        audit(&record).into_iter().find(|check| check.check == "processor").unwrap()
    }

    #[test]
    fn whose_the_processors_of_a_far_machine_were_is_said_not_to_be_told() {
        let found = checked(&[("cpu.busy_pct", 62.5), ("cpu.steal_pct", 0.1)]);
        assert_eq!(found.status, CheckStatus::Pass, "{}", found.detail);
        assert!(
            found.detail.starts_with("the processors of the machine that drove were "),
            "{}",
            found.detail
        );
        let words =
            "those of db2 (ssh://db2) 62.5 % busy, and whose they were (the database's or others') is not";
        assert!(found.detail.contains(words), "{}", found.detail);
        let unread = checked(&[]);
        assert!(unread.detail.contains("of db2 (ssh://db2) nothing is known of them"), "{}", unread.detail);
    }

    #[test]
    fn what_the_hypervisor_of_a_far_machine_takes_is_a_warning() {
        let found = checked(&[("cpu.busy_pct", 62.5), ("cpu.steal_pct", 12.0)]);
        assert_eq!(
            (found.status, found.observed.as_str()),
            (CheckStatus::Warn, "12.0 %"),
            "{}",
            found.detail
        );
        assert!(found.detail.contains("the hypervisor of db2 (ssh://db2) took 12.0 %"), "{}", found.detail);
    }
}
