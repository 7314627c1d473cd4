//! The statements of a script, as the SQL file of a workload contains them.

use std::ops::Range;

use dyno_plan::error::shown;
use dyno_workload::custom::syntax::{
    SourceText, StatementEffect, WorkloadError, classify_step, single_statement,
};

use super::scope::PgbenchScope;

/// A statement with the workload's names for its variables.
#[derive(Debug)]
pub(super) struct PgbenchStatement {
    /// The name by which steps run it.
    pub(super) name: String,
    pub(super) sql: String,
    pub(super) writes: bool,
}

/// The statements of a script without duplicates.
#[derive(Debug, Default)]
pub(super) struct PgbenchStatements {
    pub(super) all: Vec<PgbenchStatement>,
}

/// Returns the workload's name for a variable at a place of a text.
pub(super) type PgbenchNameResolver<'a> =
    dyn FnMut(&str, &SourceText, usize) -> Result<String, WorkloadError> + 'a;

impl PgbenchStatements {
    /// Adds the statement `text` and returns its index.
    ///
    /// # Errors
    /// The statement is not allowed in a transaction, or uses a variable without a value.
    pub(super) fn add(
        &mut self,
        text: &SourceText,
        scope: &PgbenchScope,
        bound: &mut PgbenchNameResolver<'_>,
    ) -> Result<usize, WorkloadError> {
        let piece = single_statement(text)?;
        // Whether it is inside a transaction is checked later, by the reader of the workload.
        let does = classify_step(text, &piece, false)?;
        if does == StatementEffect::Defines {
            return Err(text.fault(
                piece.at.start,
                "a statement about tables",
                "move it to the file of [setup] or [drop]",
            ));
        }
        let writes = does.writes();
        // Places of parameters with their text: :name, or ':name', where pgbench substitutes within the
        // quotes.
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
                let problem = format!(":{} is in quotes, where pgbench replaces it", shown(&name));
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
        let existing = self.all.iter().position(|known| known.sql == sql);
        Ok(existing.unwrap_or_else(|| {
            let name = self.name(&sql);
            self.all.push(PgbenchStatement { name, sql, writes });
            self.all.len() - 1
        }))
    }

    /// A name for a statement: its verb and its table.
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
        let is_taken = |name: &str| self.all.iter().any(|known| known.name == name);
        let mut name = base.clone();
        for number in 2.. {
            if !is_taken(&name) {
                break;
            }
            name = format!("{base}_{number}");
        }
        name
    }
}
