//! Whether the machines of databases that are not this one were read when the databases were.

use dyno_record::{CheckStatus, Host, HostReading, Observed};

use super::facts::Facts;
use super::finding::{Verdict, found, skip};
use crate::number::{percent, time_us};

/// Share of the window, %, by which a machine's figures may be of another time than the database's: as for the other readings.
const BLURRED_PCT: f64 = 2.0;
/// Share of the readings, %, that may have come too late for their interval.
const LATE_PCT: f64 = 10.0;

/// What is said of one machine: whether it is against it, and how far its readings were off, % of the window.
struct Said {
    words: String,
    against: bool,
    off_pct: f64,
}

/// Each machine's readings at the window's edges, those that came late, and its clock.
pub(super) fn readings(facts: &Facts<'_>) -> Verdict {
    let window = facts.window()?;
    let observed = facts.record.hosts.iter().filter_map(|host| Some((host, host.observed.as_ref()?)));
    let all: Vec<Said> = observed.map(|(host, seen)| said(host, seen, window.seconds)).collect();
    if all.is_empty() {
        return skip("no machine was looked at beside the one that drove the run (observe.hosts)");
    }
    let off_pct = all.iter().map(|said| said.off_pct).fold(0.0, f64::max);
    let status = if all.iter().any(|said| said.against) { CheckStatus::Warn } else { CheckStatus::Pass };
    let detail = all.into_iter().map(|said| said.words).collect::<Vec<_>>().join("; ");
    found(status, format!("≤ {BLURRED_PCT} % of the window"), format!("{} %", percent(off_pct)), detail)
}

fn said(host: &Host, seen: &Observed, seconds: f64) -> Said {
    let name = host.words();
    let (Some(begin), Some(end)) = (&seen.begin, &seen.end) else {
        let why = seen.lost.as_deref().unwrap_or("its counters were not there in time");
        let which = if seen.begin.is_none() { "begin" } else { "end" };
        let words = format!("{name} was not read at the window's {which}, so it has no figures: {why}");
        return Said { words, against: true, off_pct: 0.0 };
    };
    // Late at both edges alike moves what was counted, and makes it no longer or shorter; by how much either may be wrong does.
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
        words += ": more than 2 % of the window, a longer run.time is sharper";
    }
    let (asked, late) = seen.readings;
    if late > 0 {
        words += &format!(", and of {asked} readings {late} were not there in time");
        against |= late as f64 > asked as f64 * LATE_PCT / 100.0;
    }
    if let Some(clock) = &seen.clock {
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
    if let Some(lost) = &seen.lost {
        words += &format!("; it was not read to the end: {lost}");
        against = true;
    }
    Said { words, against, off_pct }
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

    fn record(seen: Observed) -> RunRecord {
        let mut record = fixture::postgres();
        record.hosts[0].roles = [Role::Driver].into();
        record.targets[0].identity.same_host = false;
        let counters = [("device.sdb.reads".to_owned(), 600.0), ("device.sdb.read_bytes".to_owned(), 9e9)];
        record.hosts.push(Host {
            name: "db2".into(),
            roles: [Role::Database].into(),
            facts: [("place.data.device".to_owned(), "sdb".to_owned())].into(),
            counters: counters.into(),
            observed: Some(seen),
            ..Host::default()
        });
        record
    }

    fn checked(record: &RunRecord, name: &str) -> AuditCheck {
        audit(record).into_iter().find(|check| check.check == name).unwrap()
    }

    #[test]
    fn readings_of_the_databases_moment_pass_whatever_the_clock() {
        let found = checked(&record(seen()), "host_readings");
        assert_eq!(found.status, CheckStatus::Pass, "{}", found.detail);
        assert!(found.detail.contains("2.00 ms after and 3.00 ms after"), "{}", found.detail);
        assert!(found.detail.contains("behind"), "{}", found.detail);
        assert!(
            audit(&fixture::postgres()).iter().all(|check| check.check != "host_readings"),
            "there is none to read"
        );
    }

    #[test]
    fn readings_that_are_late_lost_or_of_a_clock_that_was_set_are_said() {
        let clock = HostClock { steps: 1, step_s_max: 7_200.0, ..HostClock::default() };
        for (spoiled, words) in [
            (Observed { end: reading(0.5, 0.2), ..seen() }, "more than 2 % of the window"),
            (Observed { readings: (12, 4), ..seen() }, "of 12 readings 4 were not there in time"),
            (
                Observed { end: None, lost: Some("the connection was lost".into()), ..seen() },
                "the connection was lost",
            ),
            (Observed { clock: Some(clock), ..seen() }, "was set during the run"),
        ] {
            let found = checked(&record(spoiled), "host_readings");
            assert!(found.status == CheckStatus::Warn && found.detail.contains(words), "{}", found.detail);
        }
    }

    #[test]
    fn physical_reads_are_held_against_the_device_of_the_databases_machine() {
        let found = checked(&record(seen()), "physical_reads");
        assert!(
            found.status == CheckStatus::Warn && found.detail.contains("sdb read 600 times"),
            "{}",
            found.detail
        );
        let mut unseen = record(seen());
        unseen.hosts.truncate(1);
        let found = checked(&unseen, "physical_reads");
        assert!(
            found.status == CheckStatus::Skipped && found.detail.contains("observe.hosts"),
            "{}",
            found.detail
        );
    }
}
