//! What an earlier leg of a study has left in force: settings of the database and facts of the host that are still those of
//! another variant.
//!
//! Commands that end well prove nothing: `revert` may have done nothing. So before each measurement of a variant the settings and
//! facts are compared with those of its first leg. A value that has changed since, and is the one of another variant's leg, was
//! left behind by that.

use std::collections::BTreeMap;

use dyno_record::{Host, Identity, RunRecord};

/// Beginnings of the names of facts of a host that commands of a study change. Others, such as free memory, change by themselves.
const FACTS: [&str; 7] =
    ["cgroup.", "clocksource", "cpu.", "huge_pages.total", "kernel.", "sysctl.", "transparent_huge_pages."];

/// Settings and facts by name.
pub(super) type Platform = BTreeMap<String, String>;

/// Settings of a database and facts of the host that drives.
pub(super) fn platform(identity: &Identity, host: &Host) -> Platform {
    let facts = host.facts.iter().filter(|(name, _)| FACTS.iter().any(|begin| name.starts_with(begin)));
    let facts = facts.map(|(name, value)| (name.clone(), value.clone()));
    identity.settings.iter().map(|(name, value)| (name.clone(), value.clone())).chain(facts).collect()
}

/// Settings and facts of a record.
pub(super) fn of_record(record: &RunRecord) -> Option<Platform> {
    Some(platform(&record.targets.first()?.identity, record.driver()))
}

/// Settings of other `variants`, each with its name, that are still in force in a platform that was `first` and is `now`.
pub(super) fn left_over(first: &Platform, now: &Platform, variants: &[(&str, Platform)]) -> Vec<String> {
    let differs = now.iter().filter(|(name, value)| first.get(*name).is_some_and(|first| first != *value));
    differs
        .filter_map(|(name, value)| {
            let (variant, _) = variants.iter().find(|(_, platform)| platform.get(name) == Some(value))?;
            let before = &first[name];
            Some(format!("{name} is {value:?}, as under {variant}, and was {before:?} in the first leg"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform_of(values: &[(&str, &str)]) -> Platform {
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_setting_that_a_variant_left_in_force_is_named() {
        let first = platform_of(&[("fsync", "on"), ("data_directory", "/a"), ("sysctl.vm.swappiness", "60")]);
        let two = platform_of(&[("fsync", "off"), ("data_directory", "/b"), ("sysctl.vm.swappiness", "60")]);
        let now = platform_of(&[("fsync", "off"), ("data_directory", "/c"), ("sysctl.vm.swappiness", "60")]);
        let found_left = left_over(&first, &now, &[("two", two.clone())]);
        assert_eq!(found_left, ["fsync is \"off\", as under two, and was \"on\" in the first leg"]);
        // What no variant has set changes with each server of its own.
        let back = platform_of(&[("fsync", "on"), ("data_directory", "/c"), ("sysctl.vm.swappiness", "60")]);
        assert!(left_over(&first, &back, &[("two", two)]).is_empty());
    }

    #[test]
    fn facts_that_change_by_themselves_are_not_compared() {
        let facts = [("sysctl.vm.swappiness", "10"), ("huge_pages.free", "3"), ("boot_id", "x")];
        let host = Host {
            facts: facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..Host::default()
        };
        let platform = platform(&Identity::default(), &host);
        assert_eq!(platform.keys().collect::<Vec<_>>(), ["sysctl.vm.swappiness"]);
    }
}
