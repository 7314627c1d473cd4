//! Converts scripts of PostgreSQL's pgbench into a workload.
//!
//! | file | job |
//! | --- | --- |
//! | `script`, `control`, `block`, `pipeline` | the commands of a script and their nesting |
//! | `lex`, `typed`, `functions`, `parse`, `parse_case`, `parse_call` | expressions with pgbench's types |
//! | `variables`, `scope`, `names`, `print`, `draws` | variables and their names in the workload |
//! | `columns`, `statements`, `sleep`, `translate` | the steps of a transaction |
//! | `options`, `tables`, `builtin`, `write` | pgbench's own tables and scripts, and the files of the workload |

mod block;
mod builtin;
mod columns;
mod control;
mod draws;
mod functions;
mod lex;
mod names;
mod options;
mod parse;
mod parse_call;
mod parse_case;
mod pipeline;
mod print;
mod scope;
mod script;
mod sleep;
mod statements;
mod tables;
mod translate;
mod typed;
mod variables;
mod write;

use std::collections::BTreeSet;

use dyno_plan::lines::SourceLines;

use block::{Node, PgbenchNotes, blocks};
use dyno_workload::custom::CustomWorkload;
use dyno_workload::custom::syntax::{SourceText, WorkloadError};
use scope::Sets;
use script::commands;
use translate::{PgbenchShared, Translator};
use variables::{sets, shared_variables};
use write::{Main, Translated, main_file};

pub use builtin::{BUILTINS, Builtin, builtin};
pub use options::{PgbenchOptions, PgbenchScript};

/// A workload converted from scripts; Dyno's own reader has accepted it.
#[derive(Debug)]
pub struct ImportedWorkload {
    /// Names and contents of its files.
    pub files: Vec<(String, String)>,
    /// Differences from pgbench, with their places if they have one.
    pub notes: Vec<String>,
    /// Whether it describes pgbench's tables, so that Dyno can load and drop them.
    pub tables: bool,
    /// The same files as the reader understands them.
    pub workload: CustomWorkload,
}

/// Converts `scripts` into a workload.
///
/// # Errors
/// A script has an error, or a construct without counterpart; the error has its place.
pub fn import(
    scripts: &[PgbenchScript],
    options: &PgbenchOptions,
) -> Result<ImportedWorkload, WorkloadError> {
    let mut read = Vec::new();
    let mut notes = Vec::new();
    for script in scripts {
        let text = SourceText::new(&script.name, &script.text);
        let script_commands = commands(&text)?;
        if script_commands.is_empty() {
            return Err(text.fault(0, "the script has no commands", "write a statement"));
        }
        let (nodes, differing) = blocks(&text, script_commands)?;
        note(&mut notes, &text, &script.name, differing);
        let sets = sets(&text, &nodes)?;
        read.push((script, text, nodes, sets));
    }
    let set: BTreeSet<&String> = read.iter().flat_map(|(.., sets)| sets.keys()).collect();
    let mut shared = shared_variables(options, &set)?;
    let mut all: Vec<Translated> = Vec::new();
    for (script, text, nodes, sets) in &read {
        let (mut one, differing) = translated(script, text, nodes, sets, &mut shared)?;
        note(&mut notes, text, &script.name, differing);
        let base = one.name.clone();
        for number in 2.. {
            if !all.iter().any(|other| other.name == one.name) {
                break;
            }
            one.name = format!("{base}_{number}");
        }
        all.push(one);
    }
    if let (Some((script, text, ..)), 0) =
        (read.first(), scripts.iter().map(|one| u64::from(one.weight)).sum())
    {
        let hint = format!("give one of them a weight: {}@1", script.name);
        return Err(text.fault(0, "all weights are 0", hint));
    }
    build_workload_files(options, scripts, &all, &shared, notes)
}

/// Writes the files of the workload and reads them with Dyno's own reader.
fn build_workload_files(
    options: &PgbenchOptions,
    scripts: &[PgbenchScript],
    all: &[Translated],
    shared: &PgbenchShared,
    notes: Vec<String>,
) -> Result<ImportedWorkload, WorkloadError> {
    let mentions =
        |table: &str| all.iter().flat_map(|one| &one.statements.all).any(|one| one.sql.contains(table));
    let tables = options.tables && tables::TABLES.iter().any(|table| mentions(table));
    let only_builtin = scripts.iter().all(|script| script.is_builtin);
    let is_there = |name: &str| scripts.iter().any(|script| script.name == name);
    let invariants = match only_builtin {
        true => tables::invariants(is_there("tpcb-like"), is_there("simple-update")),
        false => Vec::new(),
    };
    let from: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
    let about = format!("pgbench: {}", from.join(", "));
    let main = Main {
        name: &options.name,
        about: &about,
        notes: &notes,
        known: &shared.names,
        scale: options.scale,
        translated: all,
        tables,
        invariants: &invariants,
    };
    let mut files = vec![("workload.toml".to_owned(), main_file(&main))];
    let with_sql = all.iter().filter(|one| !one.statements.all.is_empty());
    files.extend(with_sql.map(|one| (format!("{}.sql", one.name), one.sql())));
    let custom_workload = CustomWorkload::read_files(&options.name, &files)?;
    Ok(ImportedWorkload { files, notes, tables, workload: custom_workload })
}

fn note(notes: &mut Vec<String>, text: &SourceText, name: &str, differing: PgbenchNotes) {
    for (at, words) in differing {
        let (line, column) = SourceLines::new(name, &text.letters).line_and_column(at);
        notes.push(format!("{name}:{line}:{column}: {words}"));
    }
}

/// Translates one script into a transaction.
fn translated(
    script: &PgbenchScript,
    text: &SourceText,
    nodes: &[Node],
    sets: &Sets,
    shared: &mut PgbenchShared,
) -> Result<(Translated, PgbenchNotes), WorkloadError> {
    let mut translator = Translator::new(text, shared, sets.clone());
    let loud: Vec<&Node> = nodes.iter().filter(|node| !node.is_quiet()).collect();
    let mut pipeline = false;
    let (steps, whole) = match loud[..] {
        // Outside the transaction, the script only sets values.
        [Node::Transaction { isolation, rolls_back, pipeline: all_of, .. }] => {
            pipeline = all_of.is_some();
            let mut steps = Vec::new();
            for node in nodes {
                let inner = match node {
                    Node::Transaction { nodes, .. } => nodes,
                    other => std::slice::from_ref(other),
                };
                steps.extend(translator.steps(inner)?);
            }
            (steps, Some((*isolation, *rolls_back)))
        }
        _ => (translator.steps(nodes)?, None),
    };
    if steps.is_empty() {
        return Err(text.fault(0, "the script only draws values", "write a statement"));
    }
    let from = match script.is_builtin {
        true => format!("pgbench's built-in script {}", script.name),
        false => script.name.clone(),
    };
    let Translator { statements, notes, .. } = translator;
    let name = transaction_name(&script.name);
    Ok((Translated { name, from, weight: script.weight, steps, statements, whole, pipeline }, notes))
}

/// A name for a transaction, derived from a file name.
fn transaction_name(file: &str) -> String {
    let stem = std::path::Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or("script");
    let plain: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .take(32)
        .collect();
    let begins = plain.starts_with(|c: char| c.is_ascii_alphabetic());
    // Names of classes and files that every workload may have.
    let is_reserved = ["all", "commit", "slice", "connect", "setup", "drop"].contains(&plain.as_str());
    if begins && !is_reserved { plain } else { format!("script_{plain}") }
}

#[cfg(test)]
mod tests;
