//! The names that a workload has for the variables of scripts. A name of a workload means the same in all its transactions, a
//! variable of pgbench something else in each script.

use std::collections::BTreeMap;

use super::super::names::is_name;
use super::super::scale::SCALE;

/// What a name of the workload is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// A draw, as it is written.
    Draw(String),
    /// A number that steps set; whether it is a floating-point one.
    Number { real: bool },
    /// A column that a statement gives.
    Column,
}

/// The names of a workload.
#[derive(Debug, Default)]
pub(super) struct Known {
    all: BTreeMap<String, Meaning>,
    /// Draws in the order in which they came.
    order: Vec<String>,
}

/// Words of expressions, and the name that the workload has itself.
const TAKEN: [&str; 4] = ["and", "or", "not", SCALE];

impl Known {
    /// The name of what pgbench calls `variable`, with this meaning: the same name where the meaning is the same.
    pub(super) fn name(&mut self, variable: &str, meaning: Meaning) -> String {
        let plain: String =
            variable.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(32).collect();
        let begins = plain.starts_with(|c: char| c.is_ascii_alphabetic());
        let base = if begins && !TAKEN.contains(&plain.as_str()) { plain } else { format!("v_{plain}") };
        let mut name = base.clone();
        for number in 2.. {
            match self.all.get(&name) {
                Some(known) if *known == meaning => return name,
                Some(_) => name = format!("{base}_{number}"),
                None => break,
            }
        }
        debug_assert!(is_name(&name));
        if matches!(meaning, Meaning::Draw(_)) {
            self.order.push(name.clone());
        }
        self.all.insert(name.clone(), meaning);
        name
    }

    /// All draws with what is written of each.
    pub(super) fn draws(&self) -> impl Iterator<Item = (&str, &str)> {
        self.order.iter().filter_map(|name| match self.all.get(name) {
            Some(Meaning::Draw(words)) => Some((name.as_str(), words.as_str())),
            _ => None,
        })
    }
}
