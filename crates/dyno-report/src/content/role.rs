//! The role of each host of a run, in words.

use dyno_analyze::number::time_us;
use dyno_record::{Host, Observed, RecordKind, Role, RunRecord};

/// The role of the [host](RunRecord::host) whose figures are shown: `client and database`.
pub(crate) fn words(record: &RunRecord) -> String {
    if let Some(observed) = &record.host().observed {
        return of_observed(record, observed);
    }
    let roles = &record.host().roles;
    let has = |role| roles.contains(&role);
    let same_host_count = record.targets.iter().filter(|target| target.identity.same_host).count();
    match (has(Role::Driver), has(Role::Database)) {
        (_, true) if record.kind == RecordKind::Watch => "the database's".to_owned(),
        (false, false) if record.kind == RecordKind::Watch => "not this one".to_owned(),
        (false, true) => "the database's, from its report".to_owned(),
        (false, false) => "not stated: imported".to_owned(),
        (true, false) if record.hosts.iter().any(|host| host.observed.is_some()) => "client only".to_owned(),
        (true, false) => "client only: the database runs on another host, or its host is unknown".to_owned(),
        (true, true) if same_host_count == record.targets.len() => "client and database".to_owned(),
        (true, true) => {
            let all = record.targets.len();
            format!("client and {same_host_count} of {all} databases: the others run on other hosts")
        }
    }
}

/// The role of any host of the run.
pub(crate) fn of(record: &RunRecord, host: &Host) -> String {
    match &host.observed {
        Some(observed) => of_observed(record, observed),
        None => words(record),
    }
}

/// `the database's, through ssh://db1`, for a host observed from elsewhere.
fn of_observed(record: &RunRecord, observed: &Observed) -> String {
    let numbers: Vec<String> = observed.targets.iter().map(usize::to_string).collect();
    let owner = match (record.targets.len(), numbers.as_slice()) {
        (0 | 1, _) => "the database's".to_owned(),
        (all, numbers) if numbers.len() == all => "all databases'".to_owned(),
        (_, [one]) => format!("the database's of target {one}"),
        (_, several) => format!("the databases' of targets {}", several.join(", ")),
    };
    let same = if observed.is_driver { "; it is also the driver host" } else { "" };
    format!("{owner}, through {}{same}", observed.url)
}

/// How a host was observed: names and texts in display order.
pub(crate) fn observation_facts(observed: &Observed) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if let Some(clock) = &observed.clock {
        let way = if clock.ahead_s < 0.0 { "behind" } else { "ahead" };
        let (ahead, bound) = (time_us(clock.ahead_s.abs() * 1e6), time_us(clock.bound_s * 1e6));
        all.push(("clock", format!("{ahead} {way} of the driver's, ± {bound}")));
    }
    let (asked, late) = observed.readings;
    let late = if late > 0 { format!(", {late} of them late") } else { String::new() };
    all.push(("readings", format!("{asked}{late}")));
    if let Some(lost) = &observed.lost {
        all.push(("lost", lost.clone()));
    }
    all.extend(observed.missing.iter().map(|(name, why)| ("not read", format!("{name}: {why}"))));
    all
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;

    use super::*;

    #[test]
    fn role_text_counts_databases_on_the_driver_host() {
        let mut record = fixture::postgres();
        record.targets = vec![record.targets[0].clone(); 3];
        assert_eq!(words(&record), "client and database");
        record.targets[1].identity.same_host = false;
        assert_eq!(words(&record), "client and 2 of 3 databases: the others run on other hosts");
        record.hosts[0].roles.remove(&Role::Database);
        assert!(words(&record).starts_with("client only: "));
        record.hosts[0].roles = [Role::Database].into();
        assert_eq!(words(&record), "the database's, from its report");
        record.hosts[0].roles = [Role::Driver].into();
        record.hosts.push(record.hosts[0].clone());
        record.hosts[1].roles = [Role::Database].into();
        let url = "ssh://db2".to_owned();
        record.hosts[1].observed = Some(Observed { url, targets: [2].into(), ..Observed::default() });
        assert_eq!(words(&record), "client only");
        assert_eq!(of(&record, &record.hosts[1]), "the database's of target 2, through ssh://db2");
        record.targets.truncate(1);
        assert_eq!(of(&record, &record.hosts[1]), "the database's, through ssh://db2");
        record.hosts.clear();
        assert_eq!(words(&record), "not stated: imported");
    }
}
