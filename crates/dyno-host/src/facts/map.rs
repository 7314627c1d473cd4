//! Collects facts under dotted names.

use std::collections::BTreeMap;

/// Facts under dotted names; absent values are not entered.
#[derive(Debug, Default)]
pub(crate) struct FactMap(pub(super) BTreeMap<String, String>);

impl FactMap {
    pub(crate) fn put(&mut self, name: impl Into<String>, value: Option<impl ToString>) {
        if let Some(value) = value {
            // One line per value, with single blanks: the kernel separates lists by tabs.
            let text = value.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            self.0.insert(name.into(), text);
        }
    }
}
