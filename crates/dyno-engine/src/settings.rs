//! A server's settings: those that shape a run, and those that somebody set.

use std::collections::{BTreeMap, BTreeSet};

/// Text that replaces a secret value.
pub const REDACTED: &str = "***";

/// A server's settings by name.
#[derive(Debug, Clone, Default)]
pub struct ServerSettings {
    /// Values by name, without secrets.
    pub values: BTreeMap<String, String>,
    /// Names of those that somebody set.
    pub set: BTreeSet<String>,
}

impl ServerSettings {
    /// Settings with these `values`, all at their defaults.
    pub fn of(values: &[(&str, &str)]) -> Self {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self { values: values.collect(), set: BTreeSet::new() }
    }

    /// The value; `None` if it is empty or there is no such setting.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Whether a boolean setting is on.
    pub fn is_on(&self, name: &str) -> bool {
        matches!(self.value(name), Some("on" | "ON" | "1"))
    }

    /// The value as a count, or a size in bytes.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.value(name)?.parse().ok()
    }

    /// The settings that somebody set, and those that shape a run: names that begin with one of `starts` or
    /// are among `names`.
    pub fn shaping(&self, starts: &[&str], names: &[&str]) -> BTreeMap<String, String> {
        let shapes = |name: &str| starts.iter().any(|start| name.starts_with(start)) || names.contains(&name);
        let selected = self.values.iter().filter(|(name, _)| self.set.contains(*name) || shapes(name));
        selected.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Names of the settings that somebody set.
    pub fn non_default(&self) -> Vec<String> {
        self.set.iter().filter(|name| self.values.contains_key(*name)).cloned().collect()
    }
}
