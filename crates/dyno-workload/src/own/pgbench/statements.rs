//! The statements of a script, as a file of a workload has them.

use std::ops::Range;

use super::super::fault::{Fault, Text};
use super::super::names::shown;
use super::super::sql::{Does, does_as_step, one};
use super::scope::Scope;

/// A statement with the names that the workload has for its variables.
#[derive(Debug)]
pub(super) struct Statement {
    /// The name that steps run it by.
    pub(super) name: String,
    pub(super) sql: String,
    pub(super) writes: bool,
}

/// The statements of a script, each once.
#[derive(Debug, Default)]
pub(super) struct Statements {
    pub(super) all: Vec<Statement>,
}

/// What the workload calls a variable that stands at a place of a text.
pub(super) type Bound<'a> = dyn FnMut(&str, &Text, usize) -> Result<String, Fault> + 'a;

impl Statements {
    /// Adds the statement `text`; its place.
    ///
    /// # Errors
    /// It is none for a transaction, or has a variable that has no value.
    pub(super) fn add(&mut self, text: &Text, scope: &Scope, bound: &mut Bound<'_>) -> Result<usize, Fault> {
        let piece = one(text)?;
        // The reader of the workload knows whether it stands in a transaction.
        let does = does_as_step(text, &piece, false)?;
        if does == Does::Defines {
            return Err(text.fault(
                piece.at.start,
                "a statement about tables",
                "move it to the file of [setup] or [drop]",
            ));
        }
        let writes = does.writes();
        // Places of parameters with what stands there: :name, or ':name' as pgbench replaces it in quotes.
        let mut places: Vec<(Range<usize>, Range<usize>)> =
            piece.params.iter().map(|at| (at.clone(), at.start + 1..at.end)).collect();
        for quoted in piece.quoted() {
            let letters = &text.letters[quoted.clone()];
            if let Some(name) = letters.strip_prefix("':").and_then(|rest| rest.strip_suffix('\''))
                && scope.contains_key(name)
            {
                places.push((quoted.clone(), quoted.start + 2..quoted.end - 1));
                continue;
            }
            let within = letters.match_indices(':').find_map(|(at, _)| {
                let rest = &letters[at + 1..];
                let length = rest.bytes().take_while(|byte| super::lex::is_plain(*byte)).count();
                scope.contains_key(&rest[..length]).then(|| (quoted.start + at, rest[..length].to_owned()))
            });
            if let Some((at, name)) = within {
                let problem = format!(":{} in quotes, which pgbench replaces within them", shown(&name));
                return Err(text.fault(at, problem, "write it outside of the quotes, with || or CONCAT"));
            }
        }
        let (mut sql, mut from) = (String::new(), piece.at.start);
        places.sort_by_key(|(at, _)| at.start);
        for (at, name) in places {
            let name = bound(&text.letters[name], text, at.start)?;
            sql.push_str(&text.letters[from..at.start]);
            sql.push(':');
            sql.push_str(&name);
            from = at.end;
        }
        sql.push_str(&text.letters[from..piece.at.end]);
        let known = self.all.iter().position(|known| known.sql == sql);
        Ok(known.unwrap_or_else(|| {
            let name = self.name(&sql);
            self.all.push(Statement { name, sql, writes });
            self.all.len() - 1
        }))
    }

    /// A name for a statement: what it does, and to what.
    fn name(&self, sql: &str) -> String {
        let words: Vec<String> = sql
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let verb = words.first().map_or("statement", String::as_str);
        let behind = ["from", "into", "update", "join"];
        let table =
            words.windows(2).find(|pair| behind.contains(&pair[0].as_str())).map(|pair| pair[1].as_str());
        let plain: String =
            [verb].into_iter().chain(table).collect::<Vec<_>>().join("_").chars().take(32).collect();
        let base =
            if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { "statement".to_owned() };
        let taken = |name: &str| self.all.iter().any(|known| known.name == name);
        let mut name = base.clone();
        for number in 2.. {
            if !taken(&name) {
                break;
            }
            name = format!("{base}_{number}");
        }
        name
    }
}
