//! Checks processor use: whether other programs took processor time that the platform under test
//! would have used.
//!
//! On a host that others keep busy, every figure describes what was left. The run's counts remain
//! correct, but the report must name the amount.

use dyno_record::{CheckStatus, Host, Metric, RunRecord};

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};
use crate::host_cpu::HostCpu;
use crate::number::percent;

/// Share of all processors, %, that others may use on a busy host; any system uses less than that
/// in the background.
const OTHERS_PCT: f64 = 5.0;

/// Utilization of all processors, %, above which work waits for a processor now and then, so the
/// time of others is missing.
const BUSY_PCT: f64 = 75.0;

/// Share of all processors, %, that is a load on any host: caches and memory are shared too.
const OTHERS_MUCH_PCT: f64 = 25.0;

/// Share of all processors, %, that a hypervisor may take.
const STEAL_PCT: f64 = 2.0;

/// Share of all processors, %, above which a minor consumer is listed.
const LISTED_MIN_PCT: f64 = 0.5;

/// Who used the processors according to a record, % of all processors.
struct Shares {
    others_pct: f64,
    busy_pct: f64,
    steal_pct: f64,
    /// The client, the database and the host itself, in words.
    known: String,
    /// The largest of the others, in words; empty where none is known.
    most: String,
}

impl Shares {
    fn of(facts: &AuditFacts<'_>) -> Result<Self, String> {
        let counters = &facts.record.driver().counters;
        let counter = |name: &str| counters.get(name).copied().filter(|s| s.is_finite());
        let capacity_s = counter("processors.capacity_s").filter(|s| *s > 0.0);
        let others_s = counter("others.cpu_s");
        let (Some(capacity_s), Some(others_s)) = (capacity_s, others_s) else {
            return Err(match facts.record.metrics.get("others_cpu_pct") {
                Some(Metric::Absent { absent }) => absent.clone(),
                _ => "the record does not state who used the processors".to_owned(),
            });
        };
        let pct = |seconds: f64| 100.0 * seconds / capacity_s;
        let part = |name: &str, words: &str| counter(name).map(|s| format!("{words} {} %", percent(pct(s))));
        let part_at_work = |name: &str, words: &str| {
            part(name, words).filter(|_| counter(name).is_some_and(|s| pct(s) >= LISTED_MIN_PCT))
        };
        let parts = [
            part("own.cpu_s", "the client"),
            part("server.cpu_s", "the database"),
            part_at_work("kernel.cpu_s", "kernel threads"),
            part_at_work("interrupts.cpu_s", "interrupts"),
        ];
        let breakdown = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let named = counters.iter().filter_map(|(name, seconds)| {
            Some((name.strip_prefix("others.")?.strip_suffix(".cpu_s")?, *seconds))
        });
        let most = named.max_by(|a, b| a.1.total_cmp(&b.1));
        // Records of earlier versions may hold a part that exceeds its whole. A program that used nothing is not named.
        let most = most.filter(|(_, seconds)| *seconds <= others_s * (1.0 + 1e-9) && pct(*seconds) >= 0.05);
        let most = most.map(|(name, seconds)| format!(", largest: {name} ({} %)", percent(pct(seconds))));
        let HostCpu { busy_pct, steal_pct, .. } = HostCpu::of(facts.record.driver()).unwrap_or_default();
        Ok(Self {
            others_pct: pct(others_s),
            busy_pct,
            steal_pct,
            known: breakdown,
            most: most.unwrap_or_default(),
        })
    }

    /// Whether others used so much that times no longer describe the platform.
    fn is_taken(&self) -> bool {
        let by_others = self.others_pct > OTHERS_PCT && self.busy_pct + self.steal_pct >= BUSY_PCT;
        by_others || self.others_pct > OTHERS_MUCH_PCT || self.steal_pct > STEAL_PCT
    }
}

/// Database hosts other than the driver host: what is known of their processors. Who used them is
/// unknown.
struct RemoteHosts {
    words: String,
    steal_pct: f64,
}

impl RemoteHosts {
    fn of(record: &RunRecord) -> Option<Self> {
        let is_far = |host: &&Host| host.observed.as_ref().is_some_and(|observed| !observed.is_driver);
        let all: Vec<&Host> = record.hosts.iter().filter(is_far).collect();
        let finite_counter =
            |host: &Host, name: &str| host.counters.get(name).copied().filter(|pct| pct.is_finite());
        let describe_host = |host: &&Host| match finite_counter(host, "cpu.busy_pct") {
            Some(busy_pct) => format!(
                "those of {} {} % busy, by the database or by others (unknown)",
                host.words(),
                percent(busy_pct)
            ),
            None => format!("those of {} unknown", host.words()),
        };
        let steal = all.iter().filter_map(|host| Some((finite_counter(host, "cpu.steal_pct")?, host)));
        let most = steal.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(steal_pct, _)| *steal_pct > STEAL_PCT);
        let mut words = all.iter().map(describe_host).collect::<Vec<_>>().join("; ");
        if let Some((steal_pct, host)) = most {
            words += &format!("; the hypervisor of {} took {} %", host.words(), percent(steal_pct));
        }
        (!all.is_empty()).then_some(Self { words, steal_pct: most.map_or(0.0, |(steal_pct, _)| steal_pct) })
    }
}

/// How much of the processors others used, in words, where that slows a run.
pub(super) fn taken(facts: &AuditFacts<'_>) -> Option<String> {
    let shares = Shares::of(facts).ok().filter(Shares::is_taken)?;
    Some(format!(
        "other programs used {} % of the processors and the hypervisor {} %",
        percent(shares.others_pct),
        percent(shares.steal_pct)
    ))
}

/// Whether other programs or the hypervisor took processor time.
pub(super) fn others(facts: &AuditFacts<'_>) -> AuditCheckResult {
    facts.window()?;
    let far = RemoteHosts::of(facts.record);
    let far_steal_pct = far.as_ref().map_or(0.0, |far| far.steal_pct);
    let expected = format!("≤ {} % by others", percent(OTHERS_PCT));
    let shares = match (Shares::of(facts), &far) {
        (Ok(shares), _) => shares,
        (Err(_), Some(far)) if far.steal_pct > 0.0 => {
            let observed = format!("{} %", percent(far.steal_pct));
            return conclude(CheckStatus::Warn, expected, observed, format!("processors: {}", far.words));
        }
        (Err(reason), Some(far)) => return skip(format!("{reason}; {}", far.words)),
        (Err(reason), None) => return skip(reason),
    };
    let Shares { others_pct, busy_pct, steal_pct, known, most } = &shares;
    let subject = match &far {
        Some(_) => "the processors of the driver host",
        None => "the processors",
    };
    let mut words = format!(
        "{subject} were {} % busy: {known}, others {} %{most}",
        percent(*busy_pct),
        percent(*others_pct)
    );
    if *steal_pct >= LISTED_MIN_PCT {
        words += &format!("; the hypervisor took {} %", percent(*steal_pct));
    }
    if let Some(far) = &far {
        words += &format!("; {}", far.words);
    }
    let observed = format!("{} %", percent((others_pct + steal_pct).max(far_steal_pct)));
    if shares.is_taken() || far_steal_pct > 0.0 {
        let detail = format!(
            "{words}; rates and latencies were measured with the remaining CPU; repeat the run on an idle host"
        );
        let detail = if shares.is_taken() { detail } else { words };
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    conclude(CheckStatus::Pass, expected, observed, words)
}

#[cfg(test)]
mod tests {
    use dyno_record::{Host, Observed, Role};

    use super::*;
    use crate::{audit, fixture};

    /// A run whose database is on a host with these counters.
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
    fn remote_processor_use_has_unknown_origin() {
        let check = checked(&[("cpu.busy_pct", 62.5), ("cpu.steal_pct", 0.1)]);
        assert_eq!(check.status, CheckStatus::Pass, "{}", check.detail);
        assert!(check.detail.starts_with("the processors of the driver host were "), "{}", check.detail);
        let words = "those of db2 (ssh://db2) 62.5 % busy, by the database or by others (unknown)";
        assert!(check.detail.contains(words), "{}", check.detail);
        let unread = checked(&[]);
        assert!(unread.detail.contains("those of db2 (ssh://db2) unknown"), "{}", unread.detail);
    }

    #[test]
    fn steal_time_of_a_remote_host_is_a_warning() {
        let check = checked(&[("cpu.busy_pct", 62.5), ("cpu.steal_pct", 12.0)]);
        assert_eq!(
            (check.status, check.observed.as_str()),
            (CheckStatus::Warn, "12.0 %"),
            "{}",
            check.detail
        );
        assert!(check.detail.contains("the hypervisor of db2 (ssh://db2) took 12.0 %"), "{}", check.detail);
    }
}
