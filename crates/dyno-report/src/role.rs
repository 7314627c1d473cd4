//! Which part the host of a run had in it, in words.

use dyno_record::{Kind, Role, RunRecord};

/// Of what the figures of the [host](RunRecord::host) speak: `client and database`.
pub(crate) fn words(record: &RunRecord) -> String {
    let roles = &record.host().roles;
    let has = |role| roles.contains(&role);
    let here = record.targets.iter().filter(|target| target.identity.same_host).count();
    match (has(Role::Driver), has(Role::Database)) {
        (_, true) if record.kind == Kind::Watch => "the database's".to_owned(),
        (false, false) if record.kind == Kind::Watch => "not this one".to_owned(),
        (false, true) => "the database's, from its report".to_owned(),
        (false, false) => "not told: imported".to_owned(),
        (true, false) => "client only: the database runs on another host, or it cannot be told".to_owned(),
        (true, true) if here == record.targets.len() => "client and database".to_owned(),
        (true, true) => {
            let all = record.targets.len();
            format!("client and {here} of {all} databases: the others run on other hosts")
        }
    }
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;

    use super::*;

    #[test]
    fn words_tell_which_databases_are_on_the_driving_host() {
        let mut record = fixture::postgres();
        record.targets = vec![record.targets[0].clone(); 3];
        assert_eq!(words(&record), "client and database");
        record.targets[1].identity.same_host = false;
        assert_eq!(words(&record), "client and 2 of 3 databases: the others run on other hosts");
        record.hosts[0].roles.remove(&Role::Database);
        assert!(words(&record).starts_with("client only: "));
        record.hosts[0].roles = [Role::Database].into();
        assert_eq!(words(&record), "the database's, from its report");
        record.hosts.clear();
        assert_eq!(words(&record), "not told: imported");
    }
}
