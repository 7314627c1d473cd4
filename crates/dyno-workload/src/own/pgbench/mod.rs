//! Scripts of PostgreSQL's pgbench as a workload.
//!
//! | file | job |
//! | --- | --- |
//! | `script`, `control`, `block`, `pipeline` | the commands of a script, and how they are within each other |
//! | `lex`, `typed`, `functions`, `parse`, `parse_case`, `parse_call` | its expressions, with the types that pgbench gives them |
//! | `given`, `scope`, `names`, `print`, `draws` | its variables, and what the workload calls them |
//! | `columns`, `statements`, `sleep`, `translate` | the steps of a transaction |
//! | `options`, `tables`, `builtin`, `write` | pgbench's own tables and scripts, and the files of the workload |

mod block;
mod builtin;
mod columns;
mod control;
mod draws;
mod functions;
mod given;
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
mod write;

use std::collections::BTreeSet;
use std::sync::Arc;

use dyno_plan::lines::Lines;

use super::fault::{Fault, File, Text};
use super::workload::Own;
use block::{Node, Notes, blocks};
use given::{sets, shared};
use scope::Sets;
use script::commands;
use translate::{Shared, Translator};
use write::{Main, Translated, main_file};

pub use builtin::{BUILTINS, Builtin, builtin};
pub use options::{Options, Script};

/// A workload that was made of scripts: read by Dyno's own reader, and valid.
#[derive(Debug)]
pub struct Imported {
    /// Names of files with what is in them.
    pub files: Vec<(String, String)>,
    /// What is not as pgbench does it, with its place where it has one.
    pub notes: Vec<String>,
    /// Whether it describes the tables of pgbench, so that they are loaded and dropped.
    pub tables: bool,
    /// The workload.
    pub own: Own,
}

/// Translates `scripts`.
///
/// # Errors
/// Something has no counterpart or is no script, with its place.
pub fn import(scripts: &[Script], options: &Options) -> Result<Imported, Fault> {
    let mut read = Vec::new();
    let mut notes = Vec::new();
    for script in scripts {
        let text = Text::file(Arc::new(File { name: script.name.clone(), text: script.text.clone() }));
        let found = commands(&text)?;
        if found.is_empty() {
            return Err(text.fault(0, "there is no command", "write a statement"));
        }
        let (nodes, differing) = blocks(&text, found)?;
        note(&mut notes, &text, &script.name, differing);
        let sets = sets(&text, &nodes)?;
        read.push((script, text, nodes, sets));
    }
    let set: BTreeSet<&String> = read.iter().flat_map(|(.., sets)| sets.keys()).collect();
    let mut shared = shared(options, &set)?;
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
    finished(options, scripts, &all, &shared, notes)
}

/// The files of the workload, which Dyno's own reader reads.
fn finished(
    options: &Options,
    scripts: &[Script],
    all: &[Translated],
    shared: &Shared,
    notes: Vec<String>,
) -> Result<Imported, Fault> {
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
        known: &shared.known,
        scale: options.scale,
        translated: all,
        tables,
        invariants: &invariants,
    };
    let mut files = vec![("workload.toml".to_owned(), main_file(&main))];
    let with_sql = all.iter().filter(|one| !one.statements.all.is_empty());
    files.extend(with_sql.map(|one| (format!("{}.sql", one.name), one.sql())));
    let own = Own::read_files(&options.name, &files)?;
    Ok(Imported { files, notes, tables, own })
}

fn note(notes: &mut Vec<String>, text: &Text, name: &str, differing: Notes) {
    for (at, words) in differing {
        let (line, column) = Lines::new(name, &text.letters).line_and_column(at);
        notes.push(format!("{name}:{line}:{column}: {words}"));
    }
}

/// The transaction that a script is.
fn translated(
    script: &Script,
    text: &Text,
    nodes: &[Node],
    sets: &Sets,
    shared: &mut Shared,
) -> Result<(Translated, Notes), Fault> {
    let mut translator = Translator::new(text, shared, sets.clone());
    let loud: Vec<&Node> = nodes.iter().filter(|node| !node.is_quiet()).collect();
    let mut pipeline = false;
    let (steps, whole) = match loud[..] {
        // Only values are set before and behind it.
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
        return Err(text.fault(0, "the script does nothing but draw values", "write a statement"));
    }
    let from = match script.is_builtin {
        true => format!("pgbench's built-in script {}", script.name),
        false => script.name.clone(),
    };
    let Translator { statements, notes, .. } = translator;
    let name = transaction_name(&script.name);
    Ok((Translated { name, from, weight: script.weight, steps, statements, whole, pipeline }, notes))
}

/// A name for a transaction, from that of a file.
fn transaction_name(file: &str) -> String {
    let stem = std::path::Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or("script");
    let plain: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .take(32)
        .collect();
    let begins = plain.starts_with(|c: char| c.is_ascii_alphabetic());
    // Names of classes and of files that every workload may have.
    let taken = ["all", "commit", "slice", "connect", "setup", "drop"].contains(&plain.as_str());
    if begins && !taken { plain } else { format!("script_{plain}") }
}
