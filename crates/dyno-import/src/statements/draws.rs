//! Writes the generators of a statement's parameters.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dyno_engine::column_statistics::{ColumnName, ColumnStatistics};
use dyno_plan::terminal::spelled;
use dyno_workload::custom::syntax::TODO;

use super::generator::{Generator, GeneratorContext, of_column, of_limit};
use super::naming::{NameRegistry, plain_name};
use super::parameter_context::ParameterUsage;
use super::selection::PickedStatement;
use super::suggest;
use super::tables::candidates;
use crate::quoted::quoted;

/// The largest number of foreign characters in a comment.
pub(super) const WORDS_MAX: usize = 100;

/// The names of a statement's generators, and the lines that define them.
pub(super) struct StatementDraws {
    pub(super) names: Vec<String>,
    pub(super) lines: String,
    /// Number of generators that the user must define.
    pub(super) undrawn: usize,
    /// Number of generators that the user should check.
    pub(super) doubtful: usize,
}

/// The generators of `statement`; `types` are those of its parameters.
pub(super) fn draws(
    statement: &PickedStatement,
    types: Option<&Vec<String>>,
    columns: &BTreeMap<ColumnName, ColumnStatistics>,
    registry: &mut NameRegistry,
) -> StatementDraws {
    let names = names(statement, registry);
    let mut all = StatementDraws { names, lines: String::new(), undrawn: 0, doubtful: 0 };
    for at in 0..all.names.len() {
        let type_name = types.and_then(|types| types.get(at)).map(String::as_str);
        let column = column_of(statement, at, columns);
        match known_generator(statement, at, column, &all.names, registry) {
            Some(known) => {
                all.doubtful += usize::from(known.generator.doubt.is_some());
                known.write(&all.names[at], column, &mut all.lines);
            }
            None => {
                all.undrawn += 1;
                todo_line(statement, at, &all.names[at], type_name, &mut all.lines);
            }
        }
    }
    all
}

fn names(statement: &PickedStatement, registry: &mut NameRegistry) -> Vec<String> {
    let name = |param: &super::text::Param| {
        let column = param.context.column.as_deref().map(plain_name).filter(|column| !column.is_empty());
        registry.unique_name(&format!("{}_{}", statement.name, column.as_deref().unwrap_or("value")))
    };
    statement.read.params.iter().map(name).collect()
}

/// The column that a parameter means, if the database knows exactly one of its candidates.
fn column_of<'a>(
    statement: &PickedStatement,
    at: usize,
    columns: &'a BTreeMap<ColumnName, ColumnStatistics>,
) -> Option<(&'a ColumnName, &'a ColumnStatistics)> {
    let candidates = candidates(&statement.read, at);
    let mut known = candidates.iter().filter_map(|name| columns.get_key_value(name));
    let first = known.next()?;
    known.all(|(name, _)| name == first.0).then_some(first)
}

/// A generator, and the one that it takes elements from.
struct KnownGenerator {
    generator: Generator,
    elements: Option<(String, String)>,
}

fn known_generator(
    statement: &PickedStatement,
    at: usize,
    column: Option<(&ColumnName, &ColumnStatistics)>,
    names: &[String],
    registry: &mut NameRegistry,
) -> Option<KnownGenerator> {
    let params = &statement.read.params;
    let usage = params[at].context.usage;
    let rows_per_call = statement.seen.rows.map(|rows| rows as f64 / statement.calls as f64);
    let before = at.checked_sub(1).map(|before| &params[before].context);
    let low = before
        .filter(|low| low.usage == ParameterUsage::Low && low.column == params[at].context.column)
        .map(|_| names[at - 1].as_str());
    let context = GeneratorContext { usage, rows_per_call, low };
    if let Some(generator) = of_limit(context) {
        return Some(KnownGenerator { generator, elements: None });
    }
    let generator = of_column(column?.1, context)?;
    if usage != ParameterUsage::Elements {
        return Some(KnownGenerator { generator, elements: None });
    }
    let element = registry.unique_name(&format!("{}_element", names[at]));
    let template = Generator {
        toml: format!("{{ template = \"{{:{element}}}\", literal = true }}"),
        doubt: Some("an array with one element, whatever the application sends"),
    };
    Some(KnownGenerator { generator: template, elements: Some((element, generator.toml)) })
}

impl KnownGenerator {
    fn write(&self, name: &str, column: Option<(&ColumnName, &ColumnStatistics)>, out: &mut String) {
        if let Some((element, toml)) = &self.elements {
            let _ = writeln!(out, "{element} = {toml}");
        }
        let mut facts: Vec<String> = Vec::new();
        if let Some((column, statistics)) = column {
            let sample = if statistics.is_sample { ", from a sample of its rows" } else { "" };
            let name = format!("{}.{}, {}", column.table, column.column, statistics.type_name);
            facts.push(format!("{}{sample}", spelled(&name, WORDS_MAX)));
        }
        facts.extend(self.generator.doubt.map(|doubt| format!("check: {doubt}")));
        let comment = if facts.is_empty() { String::new() } else { format!("  # {}", facts.join("; ")) };
        let _ = writeln!(out, "{name} = {}{comment}", self.generator.toml);
    }
}

fn todo_line(statement: &PickedStatement, at: usize, name: &str, type_name: Option<&str>, out: &mut String) {
    let param = &statement.read.params[at];
    let column = param.context.column.as_deref().map(|column| spelled(column, WORDS_MAX));
    let several = param.several.then(|| "one of several values, whose number is not known".to_owned());
    let hints: Vec<String> =
        column.into_iter().chain(type_name.map(|of| spelled(of, WORDS_MAX))).chain(several).collect();
    let todo_text = quoted(&hints.join(", "));
    let _ = writeln!(out, "{name} = {{ {TODO} = {todo_text} }}  # such as {}", suggest::draw(type_name));
}
