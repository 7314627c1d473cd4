//! Chooses names for transactions and generators.

use std::collections::BTreeSet;

use super::tables::tables;
use super::text::ParsedStatement;

/// The longest name, in characters.
const LETTERS_MAX: usize = 40;
/// The longest name of a transaction, in characters, which leaves room for the names of its generators.
const BASE_MAX: usize = 24;

/// Names that are already used.
#[derive(Debug, Default)]
pub(super) struct NameRegistry(BTreeSet<String>);

impl NameRegistry {
    /// A set in which these names are already used.
    pub(super) fn with_reserved(reserved: &[&str]) -> Self {
        Self(reserved.iter().map(|name| (*name).to_owned()).collect())
    }

    /// Returns an unused name similar to `wish` and adds it to the set.
    pub(super) fn unique_name(&mut self, wish: &str) -> String {
        let base: String = wish.chars().take(LETTERS_MAX).collect();
        if self.0.insert(base.clone()) {
            return base;
        }
        for number in 2u32.. {
            let end = format!("_{number}");
            let short: String = wish.chars().take(LETTERS_MAX - end.len()).collect();
            let name = format!("{short}{end}");
            if self.0.insert(name.clone()) {
                return name;
            }
        }
        unreachable!("there are more numbers than names")
    }
}

/// The characters of a text that names may contain; empty if there are none.
pub(super) fn plain_name(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let letters: String = text.chars().map(letter).collect();
    letters.split('_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

/// A name from verb and table of a statement: `select_accounts`.
pub(super) fn of_statement(read: &ParsedStatement) -> String {
    let words = &read.words;
    let verb = words.first().map_or("statement", |word| word.letters.as_str());
    let called = || {
        let call = words.iter().position(|word| !word.quoted && word.letters == "call")?;
        let name = words[call + 1..].iter().find(|word| word.behind != b'.')?;
        Some(name.letters.clone())
    };
    let table = tables(words).into_iter().next().map(|first| first.table).or_else(called).unwrap_or_default();
    let table = plain_name(&table);
    let name = if table.is_empty() { verb.to_owned() } else { format!("{verb}_{table}") };
    let name: String = name.chars().take(BASE_MAX).collect();
    name.trim_end_matches('_').to_owned()
}
