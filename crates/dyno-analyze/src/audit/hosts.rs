//! Checks that remote database hosts were read at the same time as their databases.

use dyno_record::{CheckStatus, Host, HostReading, Observed};

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};
use crate::number::{percent, time_us};

/// Share of the window, %, by which a host's readings may be shifted against the database's: the
/// same limit as for other readings.
const BLURRED_PCT: f64 = 2.0;
/// Share of the readings, %, that may have come too late for their interval.
const LATE_PCT: f64 = 10.0;

/// The finding for one host: its words, whether it is a warning, and the shift of its readings, %
/// of the window.
struct HostFinding {
    words: String,
    is_warning: bool,
    off_pct: f64,
}

/// Checks each host's readings at the window boundaries, late readings, and its clock.
pub(super) fn readings(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let window = facts.window()?;
    let observed = facts.record.hosts.iter().filter_map(|host| Some((host, host.observed.as_ref()?)));
    let all: Vec<HostFinding> = observed.map(|(host, seen)| judge_host(host, seen, window.seconds)).collect();
    if all.is_empty() {
        return skip("no host other than the driver host was observed (observe.hosts)");
    }
    let off_pct = all.iter().map(|said| said.off_pct).fold(0.0, f64::max);
    let status = if all.iter().any(|said| said.is_warning) { CheckStatus::Warn } else { CheckStatus::Pass };
    let detail = all.into_iter().map(|said| said.words).collect::<Vec<_>>().join("; ");
    conclude(status, format!("≤ {BLURRED_PCT} % of the window"), format!("{} %", percent(off_pct)), detail)
}

fn judge_host(host: &Host, observed: &Observed, seconds: f64) -> HostFinding {
    let name = host.words();
    let (Some(begin), Some(end)) = (&observed.begin, &observed.end) else {
        let why = observed.lost.as_deref().unwrap_or("its counters arrived too late");
        let edge = if observed.begin.is_none() { "begin" } else { "end" };
        let words = format!("{name} was not read at the window's {edge}, so it has no figures: {why}");
        return HostFinding { words, is_warning: true, off_pct: 0.0 };
    };
    // The same delay at both boundaries shifts the interval without changing its length. The
    // uncertainty of either reading does change it.
    let off_s = (end.after_s - begin.after_s).abs() + begin.bound_s + end.bound_s;
    let moved_s = begin.after_s.abs().max(end.after_s.abs());
    let off_pct = 100.0 * off_s.max(moved_s) / seconds;
    let mut words = format!(
        "{name} was read {} and {} the database's counters (± {} and {})",
        after(begin),
        after(end),
        time_us(begin.bound_s * 1e6),
        time_us(end.bound_s * 1e6)
    );
    let mut against = off_pct > BLURRED_PCT;
    if against {
        words += ": more than 2 % of the window; a longer run.time is more precise";
    }
    let (asked, late) = observed.readings;
    if late > 0 {
        words += &format!(", and of {asked} readings {late} arrived too late");
        against |= late as f64 > asked as f64 * LATE_PCT / 100.0;
    }
    if let Some(clock) = &observed.clock {
        let way = if clock.ahead_s < 0.0 { "behind" } else { "ahead" };
        let (ahead, bound) = (time_us(clock.ahead_s.abs() * 1e6), time_us(clock.bound_s * 1e6));
        words += &format!("; its clock is {ahead} {way} (± {bound})");
        if clock.steps > 0 {
            words += &format!(
                ", and one of the two clocks was set during the run, by {}: readings go by the moments around them",
                time_us(clock.step_s_max.abs() * 1e6)
            );
            against = true;
        }
    }
    if let Some(lost) = &observed.lost {
        words += &format!("; it was not read to the end: {lost}");
        against = true;
    }
    HostFinding { words, is_warning: against, off_pct }
}

fn after(reading: &HostReading) -> String {
    let way = if reading.after_s < 0.0 { "before" } else { "after" };
    format!("{} {way}", time_us(reading.after_s.abs() * 1e6))
}

#[cfg(test)]
mod tests {
    use dyno_record::{AuditCheck, HostClock, Role, RunRecord};

    use super::*;
    use crate::{audit, fixture};

    fn reading(after_s: f64, bound_s: f64) -> Option<HostReading> {
        Some(HostReading { after_s, bound_s, took_s: 2.0 * bound_s })
    }

    fn seen() -> Observed {
        Observed {
            url: "ssh://db2".into(),
            targets: [1].into(),
            clock: Some(HostClock { ahead_s: -3_600.0, bound_s: 0.001, ..HostClock::default() }),
            begin: reading(0.002, 0.001),
            end: reading(0.003, 0.001),
            readings: (12, 0),
            ..Observed::default()
        }
    }

    fn record(observation: Observed) -> RunRecord {
        let mut record = fixture::postgres();
        record.hosts[0].roles = [Role::Driver].into();
        record.targets[0].identity.same_host = false;
        let counters = [("device.sdb.reads".to_owned(), 600.0), ("device.sdb.read_bytes".to_owned(), 9e9)];
        record.hosts.push(Host {
            name: "db2".into(),
            roles: [Role::Database].into(),
            facts: [("place.data.device".to_owned(), "sdb".to_owned())].into(),
            counters: counters.into(),
            observed: Some(observation),
            ..Host::default()
        });
        record
    }

    fn checked(record: &RunRecord, name: &str) -> AuditCheck {
        audit(record).into_iter().find(|check| check.check == name).unwrap()
    }

    #[test]
    fn host_readings_near_window_pass_despite_clock_difference() {
        let audit_check = checked(&record(seen()), "host_readings");
        assert_eq!(audit_check.status, CheckStatus::Pass, "{}", audit_check.detail);
        assert!(audit_check.detail.contains("2.00 ms after and 3.00 ms after"), "{}", audit_check.detail);
        assert!(audit_check.detail.contains("behind"), "{}", audit_check.detail);
        assert!(
            audit(&fixture::postgres()).iter().all(|check| check.check != "host_readings"),
            "there is none to read"
        );
    }

    #[test]
    fn late_lost_or_clock_shifted_host_readings_are_reported() {
        let clock = HostClock { steps: 1, step_s_max: 7_200.0, ..HostClock::default() };
        for (spoiled, words) in [
            (Observed { end: reading(0.5, 0.2), ..seen() }, "more than 2 % of the window"),
            (Observed { readings: (12, 4), ..seen() }, "of 12 readings 4 arrived too late"),
            (
                Observed { end: None, lost: Some("the connection was lost".into()), ..seen() },
                "the connection was lost",
            ),
            (Observed { clock: Some(clock), ..seen() }, "was set during the run"),
        ] {
            let check = checked(&record(spoiled), "host_readings");
            assert!(check.status == CheckStatus::Warn, "{}", check.detail);
            assert!(check.detail.contains(words), "{}", check.detail);
        }
    }

    #[test]
    fn physical_reads_are_checked_against_database_host_device() {
        let observed_check = checked(&record(seen()), "physical_reads");
        assert!(observed_check.status == CheckStatus::Warn, "{}", observed_check.detail);
        assert!(observed_check.detail.contains("sdb served 600 reads"), "{}", observed_check.detail);
        let mut unseen = record(seen());
        unseen.hosts.truncate(1);
        let skipped_check = checked(&unseen, "physical_reads");
        assert!(skipped_check.status == CheckStatus::Skipped, "{}", skipped_check.detail);
        assert!(skipped_check.detail.contains("observe.hosts"), "{}", skipped_check.detail);
    }
}
