//! Scripts of PostgreSQL's pgbench as a workload.
//!
//! | file | job |
//! | --- | --- |
//! | `script`, `control`, `block` | the commands of a script, and how they are within each other |
//! | `lex`, `typed`, `functions`, `parse` | its expressions, with the types that pgbench gives them |
//! | `scope`, `names`, `print` | its variables, and what the workload calls them |
//! | `columns`, `statements`, `translate` | the steps of a transaction |
//! | `tables`, `builtin`, `write` | pgbench's own tables and scripts, and the files of the workload |

mod block;
mod builtin;
mod columns;
mod control;
mod functions;
mod lex;
mod names;
mod parse;
mod print;
mod scope;
mod script;
mod statements;
mod tables;
mod translate;
mod typed;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dyno_plan::lines::Lines;

use super::fault::{Fault, File, Text};
use super::value::Number;
use super::workload::Own;
use block::{Node, blocks};
use columns::columns as columns_of;
use names::{Known, Meaning};
use scope::{Scope, Variable};
use script::commands;
use translate::{Shared, Translator, client, is_variable};
use typed::Kind;
use write::{Main, Translated, main_file};

pub use builtin::{BUILTINS, Builtin, builtin};

/// A script that is to be translated.
#[derive(Debug, Clone)]
pub struct Script {
    /// Its file as the user has named it, or the name of a built-in one.
    pub name: String,
    /// Its commands.
    pub text: String,
    /// How often it comes, against the others.
    pub weight: u32,
    /// Whether it is built into pgbench.
    pub is_builtin: bool,
}

/// What is asked of a translation.
#[derive(Debug, Clone)]
pub struct Options {
    /// The workload's name.
    pub name: String,
    /// pgbench's scale: the number of branches.
    pub scale: u32,
    /// Variables with their values, as -D gives them.
    pub variables: Vec<(String, String)>,
}

/// A workload that was made of scripts: read by Dyno's own reader, and valid.
#[derive(Debug)]
pub struct Imported {
    /// Names of files with what is in them.
    pub files: Vec<(String, String)>,
    /// What is not as pgbench does it, with its place where it has one.
    pub notes: Vec<String>,
    /// Whether it makes and drops the tables of pgbench.
    pub tables: bool,
    /// The workload.
    pub own: Own,
}

/// The seed of hashes and permutations where -D gives none, and the seed that a script sees.
const SEED: i64 = 5_432;

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
    let tables = tables::TABLES.iter().any(|table| mentions(table));
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
        translated: all,
        tables,
        invariants: &invariants,
    };
    let mut files = vec![("workload.toml".to_owned(), main_file(&main))];
    let with_sql = all.iter().filter(|one| !one.statements.all.is_empty());
    files.extend(with_sql.map(|one| (format!("{}.sql", one.name), one.sql())));
    if tables {
        files.extend(tables::files(options.scale));
    }
    let own = Own::read_files(&options.name, &files)?;
    Ok(Imported { files, notes, tables, own })
}

fn note(notes: &mut Vec<String>, text: &Text, name: &str, differing: Vec<(usize, String)>) {
    for (at, words) in differing {
        let (line, column) = Lines::new(name, &text.letters).line_and_column(at);
        notes.push(format!("{name}:{line}:{column}: {words}"));
    }
}

/// What all scripts share: variables that pgbench sets itself, and those of -D.
fn shared(options: &Options, set: &BTreeSet<&String>) -> Result<Shared, Fault> {
    let mut given = Scope::new();
    let mut numbers: BTreeMap<String, Number> =
        [("default_seed", SEED), ("random_seed", SEED), ("scale", options.scale.into())]
            .map(|(name, number)| (name.to_owned(), Number::Int(number)))
            .into();
    given.insert("client_id".to_owned(), client());
    for (name, value) in &options.variables {
        if !is_variable(name) {
            return Err(Fault::whole(
                "-D",
                format!("{name} is no name of a variable"),
                "it has letters, digits and underscores",
            ));
        }
        numbers.remove(name);
        given.remove(name);
        match value.parse().map(Number::Int).or_else(|_| value.parse().map(Number::Real)) {
            Ok(number) => {
                numbers.insert(name.clone(), number);
            }
            Err(_) => {
                given.insert(name.clone(), Variable::Text(value.clone()));
            }
        }
    }
    let mut known = Known::default();
    let mut lasting = BTreeSet::new();
    for (name, number) in numbers {
        let kind = if matches!(number, Number::Real(_)) { Kind::Real } else { Kind::Int };
        let variable = match set.contains(&name) {
            false => Variable::Constant(number, kind),
            true => {
                let first = match number {
                    Number::Int(number) => number.to_string(),
                    Number::Real(number) => format!("{number:?}"),
                };
                lasting.insert(name.clone());
                let name = known.name(&name, Meaning::Draw(format!("{{ variable = {first} }}")));
                Variable::Kept { name, kind, constant: None }
            }
        };
        given.insert(name, variable);
    }
    let text = given.iter().find(|(name, value)| {
        set.contains(name) && !matches!(value, Variable::Constant(..) | Variable::Kept { .. })
    });
    if let Some((name, _)) = text {
        return Err(Fault::whole(
            "-D",
            format!("{name} is a text, and a script sets it"),
            "give it a number",
        ));
    }
    if set.contains(&"client_id".to_owned()) {
        return Err(Fault::whole(
            "\\set",
            "client_id is the session's number, and a script sets it",
            "use another name",
        ));
    }
    Ok(Shared { known, given, lasting })
}

/// How often each variable is set by `nodes`, and whether that is within a condition.
fn sets(text: &Text, nodes: &[Node]) -> Result<BTreeMap<String, (u32, bool)>, Fault> {
    let mut sets = BTreeMap::new();
    gather(text, nodes, false, &mut sets)?;
    Ok(sets)
}

fn gather(
    text: &Text,
    nodes: &[Node],
    within: bool,
    sets: &mut BTreeMap<String, (u32, bool)>,
) -> Result<(), Fault> {
    let mut note = |name: String| {
        let entry = sets.entry(name).or_insert((0, false));
        *entry = (entry.0 + 1, entry.1 || within);
    };
    for node in nodes {
        match node {
            Node::Set(meta) => note(translate::target(text, meta)?.0),
            Node::Sql(sql, Some(get)) => {
                columns_of(sql)?.into_iter().for_each(|column| note(format!("{}{column}", get.prefix)));
            }
            _ => {}
        }
    }
    for node in nodes {
        match node {
            Node::If(arms) => arms.iter().try_for_each(|(_, nodes)| gather(text, nodes, true, sets))?,
            Node::Transaction { nodes, .. } => gather(text, nodes, within, sets)?,
            _ => {}
        }
    }
    Ok(())
}

/// The transaction that a script is.
fn translated(
    script: &Script,
    text: &Text,
    nodes: &[Node],
    sets: &BTreeMap<String, (u32, bool)>,
    shared: &mut Shared,
) -> Result<(Translated, Vec<(usize, String)>), Fault> {
    let mut translator = Translator::new(text, shared, sets.clone());
    let loud: Vec<&Node> = nodes.iter().filter(|node| !node.is_quiet()).collect();
    let (steps, whole) = match loud[..] {
        // Only values are set before and behind it.
        [Node::Transaction { isolation, rolls_back, .. }] => {
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
    Ok((Translated { name, from, weight: script.weight, steps, statements, whole }, notes))
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
    let taken = ["all", "commit", "slice", "setup", "drop"].contains(&plain.as_str());
    if begins && !taken { plain } else { format!("script_{plain}") }
}
