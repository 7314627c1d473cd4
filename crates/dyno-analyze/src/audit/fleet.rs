//! Checks a run with several driver hosts: all took part, each got every signal in time, and none
//! was itself the limit.

use dyno_record::{CheckStatus, Fleet, FleetHost};

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};
use crate::number::{fixed, percent, time_us};

/// Error of one host's clock relative to the others, µs, above which window boundaries are
/// meaningless.
const BOUND_US: f64 = 1_000.0;
/// Delay with which a host's sessions may get a signal, µs.
const LATE_US: f64 = 1_000.0;
/// Rate by which a clock may differ from the controller's, %: a quartz is off by 0.01 %, and time
/// servers correct by 0.05 %.
const RATE_PCT: f64 = 0.1;
/// Share of the periods in which a control group may throttle the client, %.
const THROTTLED_PCT: f64 = 5.0;
/// Share of its processors, %, above which a dedicated driver host is itself the limit.
const BUSY_PCT: f64 = 90.0;
/// Share of its processors, %, that Dyno alone may use.
const OWN_PCT: f64 = 70.0;
/// Bytes in send queues above which a host's network is the limit: a database connection has a
/// request of some hundred bytes in transit.
const QUEUE_BYTES: u64 = 4 << 20;

/// Whether all driver hosts took part, and together.
pub(super) fn hosts(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let Some(fleet) = &facts.record.fleet else { return skip("one process ran all sessions") };
    let (of, lost) = (fleet.hosts.len(), fleet.lost().count());
    let expected = format!("{of} hosts");
    if let Some(short) = fleet.short_of() {
        let observed = format!("{} hosts", of - lost);
        let detail = format!(
            "{short}: the database's counters include the work of these hosts, and the run's figures do not"
        );
        return conclude(CheckStatus::Fail, expected, observed, detail);
    }
    if fleet.has_unknown_clocks() {
        let detail = format!(
            "{of} driver hosts, whose clocks are unknown because the controller was lost: it is unknown \
             whether they began and ended together"
        );
        return conclude(CheckStatus::Warn, expected.clone(), expected, detail);
    }
    let bound_us = fleet.bound_us();
    let words = format!("{of} driver hosts, whose clocks are known to {}", time_us(bound_us));
    let latest = fleet.hosts.iter().max_by(|a, b| a.late_us.total_cmp(&b.late_us));
    if let Some(latest) = latest.filter(|host| host.late_us > LATE_US) {
        let detail = format!(
            "{words}; sessions of {} learned of a window boundary {} too late: operations of that time are \
             not counted",
            latest.name,
            time_us(latest.late_us)
        );
        return conclude(CheckStatus::Warn, expected.clone(), expected, detail);
    }
    let seconds = facts.record.window.as_ref().map_or(0.0, |window| window.seconds);
    let rate_pct = |host: &FleetHost| match host.clock.drifted_us {
        Some(drifted_us) if seconds > 0.0 => {
            let sure_us = (drifted_us.abs() - host.clock.bound_us).max(0.0);
            sure_us.copysign(drifted_us) / seconds / 1e4
        }
        _ => 0.0,
    };
    let odd = fleet.hosts.iter().max_by(|a, b| rate_pct(a).abs().total_cmp(&rate_pct(b).abs()));
    if let Some((odd, pct)) = odd.map(|host| (host, rate_pct(host))).filter(|(_, pct)| pct.abs() > RATE_PCT) {
        let detail = format!(
            "{words}; the clock of {} runs {} % {} than the controller's: its own times, such as those of \
             operations, are off by as much",
            odd.name,
            percent(pct.abs()),
            if pct > 0.0 { "faster" } else { "slower" }
        );
        return conclude(CheckStatus::Warn, expected.clone(), expected, detail);
    }
    if bound_us > BOUND_US {
        let detail = format!(
            "{words}: the network between them is slow or uneven, so window boundaries are equally uncertain"
        );
        return conclude(CheckStatus::Warn, expected.clone(), expected, detail);
    }
    conclude(CheckStatus::Pass, expected.clone(), expected, words)
}

/// Whether a driver host was itself the limit.
pub(super) fn cost(fleet: &Fleet) -> AuditCheckResult {
    let hosts_with_cpu =
        || fleet.hosts.iter().filter(|host| host.cpu_busy_pct.is_some() || host.client_cpus.is_some());
    if hosts_with_cpu().next().is_none() {
        return skip("the processor time of the driver hosts is not known");
    }
    let bound: Vec<String> = fleet.hosts.iter().filter_map(bound_by).collect();
    let most = hosts_with_cpu().map(share_pct).fold(0.0, f64::max);
    let words = format!(
        "of {} driver hosts, the client took at most {} % of the processors of one",
        fleet.hosts.len(),
        percent(most)
    );
    let (expected, observed) = (format!("≤ {} %", fixed(OWN_PCT, 0)), format!("{} %", percent(most)));
    match bound.is_empty() {
        true => conclude(CheckStatus::Pass, expected, observed, words),
        false => {
            let detail = format!(
                "{}: the client is the limit there; add driver hosts or change --weights",
                bound.join("; ")
            );
            conclude(CheckStatus::Warn, expected, observed, detail)
        }
    }
}

/// The share of a host's processors that the client used, %.
fn share_pct(host: &FleetHost) -> f64 {
    let cpus = f64::from(host.host.cpus_allowed.max(1));
    host.client_cpus.map_or(0.0, |busy| 100.0 * busy / cpus)
}

/// What limited a driver host, in words: its processors, or data that it could not send.
pub fn bound_by(host: &FleetHost) -> Option<String> {
    let name = &host.name;
    let own_pct = share_pct(host);
    // On a host that also runs the database or another agent, busy processors say nothing about the
    // client.
    if own_pct > OWN_PCT {
        return Some(format!("{name}: the client took {} % of its processors", percent(own_pct)));
    }
    if host.cpu_busy_pct.is_some_and(|busy_pct| busy_pct > BUSY_PCT && own_pct > busy_pct / 2.0) {
        let busy_pct = host.cpu_busy_pct.unwrap_or_default();
        return Some(format!(
            "{name}: its processors were {} % busy, half of that with the client",
            percent(busy_pct)
        ));
    }
    if let Some(throttled_pct) = host.throttled_pct.filter(|pct| *pct > THROTTLED_PCT) {
        return Some(format!(
            "{name}: its CPU quota held the client back in {} % of the periods",
            percent(throttled_pct)
        ));
    }
    let queue = host.send_queue_bytes_max.filter(|bytes| *bytes > QUEUE_BYTES)?;
    Some(format!("{name}: {} MiB waited to be sent", fixed(queue as f64 / 1_048_576.0, 1)))
}

#[cfg(test)]
mod tests {
    use dyno_record::Host;

    use super::*;

    fn host(client_cpus: f64, busy_pct: f64, queue: u64) -> FleetHost {
        FleetHost {
            name: "c1".into(),
            host: Host { cpus_allowed: 4, ..Host::default() },
            client_cpus: Some(client_cpus),
            cpu_busy_pct: Some(busy_pct),
            send_queue_bytes_max: Some(queue),
            ..FleetHost::default()
        }
    }

    #[test]
    fn driver_host_clock_rate_difference_is_reported() {
        let checked = |drifted_us: f64| {
            let mut record = crate::fixture::postgres();
            let clock = dyno_record::ClockFit {
                exchanges: 20,
                bound_us: 100.0,
                drifted_us: Some(drifted_us),
                ..dyno_record::ClockFit::default()
            };
            let hosts = vec![FleetHost { clock, sessions: 4, ..host(0.2, 20.0, 0) }];
            record.fleet = Some(Fleet { hosts, ..Fleet::default() });
            crate::audit(&record).into_iter().find(|check| check.check == "hosts").unwrap()
        };
        let fast = checked(500_000.0);
        assert_eq!(fast.status, CheckStatus::Warn, "{}", fast.detail);
        assert!(
            fast.detail.contains("the clock of c1 runs 5.0 % faster than the controller's"),
            "{}",
            fast.detail
        );
        assert_eq!(checked(900.0).status, CheckStatus::Pass);
    }

    #[test]
    fn driver_host_is_named_only_if_it_was_the_limit() {
        assert_eq!(bound_by(&host(1.0, 30.0, 0)), None);
        assert_eq!(bound_by(&host(1.0, 99.0, 0)), None, "others have it, such as the database");
        assert!(bound_by(&host(3.2, 85.0, 0)).unwrap().contains("80"));
        assert!(bound_by(&host(2.0, 95.0, 0)).unwrap().contains("busy"));
        let throttled = FleetHost { throttled_pct: Some(60.0), ..host(0.2, 20.0, 0) };
        assert!(bound_by(&throttled).unwrap().contains("CPU quota held the client back in 60.0 %"));
        assert!(bound_by(&host(0.5, 20.0, 8 << 20)).unwrap().contains("8.0 MiB"));
    }
}
