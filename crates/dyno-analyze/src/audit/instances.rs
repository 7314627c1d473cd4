//! Checks that the sessions are evenly distributed over the instances of a database with several.

use dyno_record::{CheckStatus, InstanceLoad};

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};
use crate::number::{count, figure, percent};

/// Share of an even distribution by which the instance with the most sessions may exceed it.
const UNEVEN_SHARE: f64 = 0.25;
/// Sessions by which it may exceed that, too: a remainder is no imbalance.
const UNEVEN_SESSIONS: f64 = 1.0;

/// Whether each instance served about as many sessions as the others.
pub(super) fn balance(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let loads = facts.target().map_or(&[][..], |target| &target.instances);
    let mut named: Vec<&InstanceLoad> = loads.iter().filter(|load| load.instance.is_some()).collect();
    if named.len() < 2 {
        return skip("sessions of several instances are not known");
    }
    named.sort_by_key(|load| std::cmp::Reverse(load.sessions));
    let sessions: u32 = named.iter().map(|load| load.sessions).sum();
    let even = f64::from(sessions) / named.len() as f64;
    let excess = f64::from(named[0].sessions) - even;
    let name = |load: &InstanceLoad| load.instance.clone().unwrap_or_default();
    let names = named.iter().map(|load| format!("{} on {}", count(load.sessions.into()), name(load)));
    let distribution = format!("sessions: {}", names.collect::<Vec<_>>().join(", "));
    let expected =
        format!("≤ {} sessions", figure((even * (1.0 + UNEVEN_SHARE)).max(even + UNEVEN_SESSIONS)));
    let observed = format!("{} sessions", count(named[0].sessions.into()));
    if excess > even * UNEVEN_SHARE && excess > UNEVEN_SESSIONS {
        let detail = format!(
            "{distribution}; {} has {} % more than an even share: the figures are those of an unbalanced cluster. \
             Check the load balancing of the listener and of the service, or name an instance in each \
             target's URL",
            name(named[0]),
            percent(100.0 * excess / even)
        );
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    conclude(CheckStatus::Pass, expected, observed, distribution)
}

#[cfg(test)]
mod tests {
    use dyno_record::AuditCheck;

    use super::*;

    fn balance_of(sessions: &[u32]) -> Option<AuditCheck> {
        let mut record = crate::fixture::postgres();
        let load = |(at, sessions): (usize, &u32)| InstanceLoad {
            instance: Some(format!("orcl{}", at + 1)),
            sessions: *sessions,
            ..InstanceLoad::default()
        };
        record.targets[0].instances = sessions.iter().enumerate().map(load).collect();
        // Sessions that changed their instance belong to none.
        record.targets[0].instances.push(InstanceLoad { sessions: 50, ..InstanceLoad::default() });
        crate::audit(&record).into_iter().find(|check| check.check == "instance_balance")
    }

    #[test]
    fn distribution_is_uneven_beyond_a_quarter_and_one_session() {
        for (sessions, status) in [
            (&[4, 4][..], CheckStatus::Pass),
            (&[2, 1], CheckStatus::Pass),
            (&[3, 1], CheckStatus::Pass),
            (&[1, 4], CheckStatus::Warn),
            (&[5, 3], CheckStatus::Pass),
            (&[10, 6], CheckStatus::Pass),
            (&[11, 5], CheckStatus::Warn),
            (&[8, 8, 2], CheckStatus::Warn),
            (&[8, 7, 6], CheckStatus::Pass),
            (&[8], CheckStatus::Skipped),
        ] {
            assert_eq!(balance_of(sessions).unwrap().status, status, "{sessions:?}");
        }
        let uneven = balance_of(&[2, 6]).unwrap();
        assert!(uneven.detail.starts_with("sessions: 6 on orcl2, 2 on orcl1; "), "{}", uneven.detail);
        assert!(uneven.detail.contains("has 50.0 % more"), "{}", uneven.detail);
        assert_eq!((uneven.expected.as_str(), uneven.observed.as_str()), ("≤ 5.00 sessions", "6 sessions"));
    }

    #[test]
    fn instance_balance_is_not_checked_on_one_instance() {
        let record = crate::fixture::postgres();
        assert!(crate::audit(&record).iter().all(|check| check.check != "instance_balance"));
    }
}
