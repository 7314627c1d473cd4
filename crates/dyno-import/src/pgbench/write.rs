//! Writes the files of a workload from translated scripts.

use std::fmt::Write as _;

use dyno_engine::Isolation;

use super::names::PgbenchNames;
use super::statements::PgbenchStatements;
use super::tables::DESCRIBED;
use super::translate::PgbenchStep;
use crate::quoted::quoted;

/// A script translated into a transaction.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) name: String,
    /// Its source: a file, or a built-in script.
    pub(super) from: String,
    pub(super) weight: u32,
    pub(super) steps: Vec<PgbenchStep>,
    pub(super) statements: PgbenchStatements,
    /// Present if the whole script is one database transaction: its isolation level, and whether it rolls
    /// back at the end.
    pub(super) whole: Option<(Option<Isolation>, bool)>,
    /// Whether it is the whole of a pipeline.
    pub(super) pipeline: bool,
}

impl Translated {
    /// Whether its steps only run its statements in order.
    fn is_straight(&self) -> bool {
        let in_order = |(place, step): (usize, &PgbenchStep)| matches!(step, PgbenchStep::Run(of, read) if *of == place && read.is_empty());
        self.steps.len() == self.statements.all.len()
            && self.steps.iter().enumerate().all(in_order)
            && !matches!(self.whole, Some((_, true)))
    }

    /// The text of its SQL file.
    pub(super) fn sql(&self) -> String {
        let mut text = String::new();
        for statement in &self.statements.all {
            if !self.is_straight() {
                let _ = writeln!(text, "-- name: {}", statement.name);
            }
            let _ = writeln!(text, "{};", statement.sql);
        }
        text
    }

    /// Writes its section of `workload.toml`.
    fn section(&self, text: &mut String) {
        let _ = writeln!(text, "\n# {}", self.from);
        let _ = writeln!(text, "[transaction.{}]\nweight = {}", self.name, self.weight);
        if !self.statements.all.is_empty() {
            let _ = writeln!(text, "sql = \"{}.sql\"", self.name);
        }
        match self.whole {
            Some((isolation, _)) => {
                let _ = writeln!(text, "commit = \"end\"");
                if self.pipeline {
                    let _ = writeln!(text, "pipeline = true");
                }
                if let Some(isolation) = isolation {
                    let _ = writeln!(text, "isolation = \"{}\"", words(isolation));
                }
            }
            None => {
                let _ = writeln!(text, "commit = \"each\"");
            }
        }
        if self.is_straight() {
            return;
        }
        let _ = writeln!(text, "steps = [");
        self.lines(&self.steps, 1, text);
        if matches!(self.whole, Some((_, true))) {
            let _ = writeln!(text, "  {{ rollback = true }},");
        }
        let _ = writeln!(text, "]");
    }

    fn lines(&self, steps: &[PgbenchStep], depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        let list = |text: &mut String, key: &str, steps: &[PgbenchStep]| {
            let _ = writeln!(text, "{key} = [");
            self.lines(steps, depth + 2, text);
            let _ = write!(text, "{indent}]");
        };
        for step in steps {
            let _ = write!(text, "{indent}");
            match step {
                PgbenchStep::Run(place, read) => {
                    let name = &self.statements.all[*place].name;
                    let read: Vec<String> = read.iter().map(|name| format!("\"{name}\"")).collect();
                    let read = match read.is_empty() {
                        true => String::new(),
                        false => format!(", read = [{}], rows = 1", read.join(", ")),
                    };
                    let _ = write!(text, "{{ run = \"{name}\"{read} }}");
                }
                PgbenchStep::Line(line) => text.push_str(line),
                PgbenchStep::If(condition, then, otherwise) => {
                    let _ = write!(text, "{{ if = {}, ", quoted(condition));
                    list(text, "steps", then);
                    if !otherwise.is_empty() {
                        text.push_str(", ");
                        list(text, "else", otherwise);
                    }
                    text.push_str(" }");
                }
                PgbenchStep::Transaction(isolation, steps) => {
                    text.push_str("{ ");
                    list(text, "transaction", steps);
                    if let Some(isolation) = isolation {
                        let _ = write!(text, ", isolation = \"{}\"", words(*isolation));
                    }
                    text.push_str(" }");
                }
            }
            text.push_str(",\n");
        }
    }
}

fn words(isolation: Isolation) -> String {
    isolation.words().map_or_else(|| "platform".to_owned(), str::to_lowercase)
}

pub(super) struct Main<'a> {
    pub(super) name: &'a str,
    pub(super) about: &'a str,
    pub(super) notes: &'a [String],
    pub(super) known: &'a PgbenchNames,
    pub(super) translated: &'a [Translated],
    pub(super) scale: u32,
    /// Whether it describes pgbench's tables.
    pub(super) tables: bool,
    pub(super) invariants: &'a [(&'static str, String)],
}

/// The text of the file `workload.toml`.
pub(super) fn main_file(main: &Main<'_>) -> String {
    let mut text =
        String::from("# Made by `dyno import pgbench`; what is written here is read, and can be changed.\n");
    if !main.notes.is_empty() {
        text.push_str("#\n# Not as pgbench does it:\n");
        for note in main.notes {
            let _ = writeln!(text, "# - {note}");
        }
    }
    let writes = main.translated.iter().flat_map(|one| &one.statements.all).any(|statement| statement.writes);
    let _ = writeln!(
        text,
        "\nversion = 1\nname = \"{}\"\nabout = {}\nwrites = {writes}",
        main.name,
        quoted(main.about)
    );
    let _ = writeln!(text, "scale = {}", main.scale);
    if main.tables {
        text.push_str(DESCRIBED);
    }
    let mut draws = main.known.draws().peekable();
    if draws.peek().is_some() {
        text.push_str("\n[draw]\n");
    }
    for (name, words) in draws {
        let _ = writeln!(text, "{name} = {words}");
    }
    for one in main.translated {
        one.section(&mut text);
    }
    for (name, sql) in main.invariants {
        let _ = writeln!(text, "\n[[invariant]]\nname = \"{name}\"\nsql = {}", quoted(sql));
    }
    text
}
