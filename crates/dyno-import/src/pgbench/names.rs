//! Names in the workload for the variables of scripts. A name has one meaning in the whole workload, while a
//! pgbench variable is local to its script.

use std::collections::BTreeMap;

use dyno_workload::custom::syntax::{SCALE, is_name};

/// The meaning of a name in the workload.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// A generator, with its definition.
    Draw(String),
    /// A number that steps set; `real` if it is a floating-point number.
    Number { real: bool },
    /// A column that a statement returns.
    Column,
}

/// The names that are used so far.
#[derive(Debug, Default)]
pub(super) struct PgbenchNames {
    all: BTreeMap<String, Meaning>,
    /// Generators in the order of their creation.
    order: Vec<String>,
}

/// Words of expressions, and the name that every workload has.
const TAKEN: [&str; 4] = ["and", "or", "not", SCALE];

impl PgbenchNames {
    /// The name for the pgbench variable `variable` with this meaning; equal meanings share a name.
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

    /// All generators with their definitions.
    pub(super) fn draws(&self) -> impl Iterator<Item = (&str, &str)> {
        self.order.iter().filter_map(|name| match self.all.get(name) {
            Some(Meaning::Draw(words)) => Some((name.as_str(), words.as_str())),
            _ => None,
        })
    }
}
