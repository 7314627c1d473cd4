//! Writes the files of a draft.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dyno_engine::column_statistics::{ColumnName, ColumnStatistics};
use dyno_engine::executed_statements::ParameterTypes;
use dyno_plan::terminal::{acts, spelled};
use dyno_workload::custom::syntax::{SCALE, TODO, WEIGHT_MAX};

use super::draws::{WORDS_MAX, draws};
use super::naming::NameRegistry;
use super::selection::{Picked, PickedStatement};
use crate::quoted::quoted;

/// A draft of a workload: valid for Dyno's own reader except for what the user must complete.
#[derive(Debug, Clone)]
pub struct WorkloadDraft {
    /// Names and contents of its files.
    pub files: Vec<(String, String)>,
    /// Number of generators that the user must define.
    pub undrawn: usize,
    /// Number of generators that may not draw what the application does; each has a `check` with the reason.
    pub doubtful: usize,
    /// Whether weights are rounded, because the numbers of executions are too large.
    pub rounded: bool,
}

/// What the database knows about the statements of a draft, and what the user decides.
#[derive(Debug, Clone, Default)]
pub struct DraftFacts {
    /// The types of each statement's parameters; empty where the database was not asked.
    pub types: Vec<ParameterTypes>,
    /// The columns that their parameters may mean, as far as the database knows them.
    pub columns: BTreeMap<ColumnName, ColumnStatistics>,
    /// Whether the workload may write.
    pub writes: bool,
}

/// Drafts a workload called `name` from selected statements.
pub fn draft(name: &str, picked: &Picked, facts: &DraftFacts) -> WorkloadDraft {
    let most = picked.chosen.iter().map(|one| one.calls).max().unwrap_or(0);
    let weight_max = WEIGHT_MAX.unsigned_abs();
    let weight = |calls: u64| match most > weight_max {
        false => calls,
        true => {
            let scaled = u128::from(calls) * u128::from(weight_max) / u128::from(most);
            u64::try_from(scaled).unwrap_or(weight_max).max(1)
        }
    };
    let mut registry = NameRegistry::with_reserved(&[SCALE]);
    let (mut drawn, mut transactions) = (String::new(), String::new());
    let mut files = Vec::new();
    let (mut undrawn, mut doubtful) = (0, 0);
    for (place, one) in picked.chosen.iter().enumerate() {
        let types = facts.types.get(place).and_then(Option::as_ref);
        let draws = draws(one, types, &facts.columns, &mut registry);
        undrawn += draws.undrawn;
        doubtful += draws.doubtful;
        if !draws.names.is_empty() {
            let _ = write!(drawn, "\n# {}\n{}", one.name, draws.lines);
        }
        let sql = format!("{};\n", one.read.named(|at| draws.names[at].clone()));
        let file = format!("{}.sql", one.name);
        let sql_value = match sql.chars().any(|c| acts(c) && !matches!(c, '\n' | '\t')) {
            // Escaped, because users view the file in a terminal.
            true => quoted(sql.trim_end()),
            false => {
                files.push((file.clone(), sql));
                quoted(&file)
            }
        };
        section(one, picked, weight(one.calls), &sql_value, &mut transactions);
    }
    let rounded = most > weight_max;
    let mut text = head(name, picked, (undrawn, doubtful), rounded, facts.writes);
    if !drawn.is_empty() {
        let _ = write!(text, "\n[draw]{drawn}");
    }
    text.push_str(&transactions);
    files.insert(0, ("workload.toml".to_owned(), text));
    WorkloadDraft { files, undrawn, doubtful, rounded }
}

/// Adds a comment line; the text may be foreign.
fn comment(out: &mut String, words: &str) {
    let line = format!("# {}", spelled(words, 4 * WORDS_MAX));
    let _ = writeln!(out, "{}", line.trim_end());
}

fn head(
    name: &str,
    picked: &Picked,
    (undrawn, doubtful): (usize, usize),
    rounded: bool,
    may_write: bool,
) -> String {
    let mut text = String::new();
    comment(
        &mut text,
        &format!("Made by `dyno import statements` of {}: a draft, to be changed.", picked.source),
    );
    comment(&mut text, "Literals and names in the SQL are those of the statements, and may be secrets.");
    if undrawn > 0 {
        comment(&mut text, "");
        comment(
            &mut text,
            &format!(
                "To do: {undrawn} values have no generator yet. Each has a `{TODO}` below, with what is known of it."
            ),
        );
        comment(&mut text, "Replace it with a generator. `dyno workload check` lists those that are left.");
    }
    if doubtful > 0 {
        comment(&mut text, "");
        comment(
            &mut text,
            &format!(
                "Check: {doubtful} generators may not draw what the application does. Each has a `check` with the reason."
            ),
        );
    }
    let writers: Vec<&str> =
        picked.chosen.iter().filter(|one| one.writes).map(|one| one.name.as_str()).collect();
    if !writers.is_empty() {
        comment(&mut text, "");
        comment(&mut text, "These statements write, or may write. They run only with `writes = true`:");
        writers.iter().for_each(|writer| comment(&mut text, &format!("- {writer}")));
    }
    if rounded {
        comment(&mut text, "");
        comment(
            &mut text,
            "Weights are executions in proportion: the most frequent statement has 1,000,000.",
        );
    }
    if !picked.notes.is_empty() {
        comment(&mut text, "");
        picked.notes.iter().for_each(|note| comment(&mut text, &format!("Of the source: {note}")));
    }
    let about = quoted(&format!("The top statements of {}", spelled(&picked.source, WORDS_MAX)));
    let _ = writeln!(text, "\nversion = 1\nname = {}\nabout = {about}", quoted(name));
    if !writers.is_empty() {
        text.push_str(if may_write { "writes = true\n" } else { "# writes = true\n" });
    }
    text
}

fn section(
    picked_statement: &PickedStatement,
    picked: &Picked,
    weight: u64,
    sql_value: &str,
    out: &mut String,
) {
    let mut facts = vec![format!("{} executions", picked_statement.calls)];
    if let Some(time_s) = picked_statement.seen.time_s {
        let share = if picked.all.1 > 0.0 {
            format!(", {:.1} % of the time", time_s / picked.all.1 * 100.0)
        } else {
            String::new()
        };
        facts.push(format!("{:.3} ms each{share}", time_s * 1e3 / picked_statement.calls as f64));
    }
    let per_call = |total: Option<u64>| total.map(|total| total as f64 / picked_statement.calls as f64);
    facts.extend(per_call(picked_statement.seen.rows).map(|rows| format!("{rows:.1} rows each")));
    facts.extend(
        per_call(picked_statement.seen.reads).map(|reads| format!("{reads:.1} {} each", picked.reads)),
    );
    out.push('\n');
    comment(out, &format!("{}: {}", picked_statement.seen.id, facts.join(", ")));
    picked_statement.read.notes.iter().for_each(|note| comment(out, note));
    if picked_statement.seen.whole.is_none() {
        comment(out, "The source does not tell whether this is the whole text.");
    }
    if picked_statement.read.hinted {
        comment(out, "A hint stood before the statement; it is left out, as comments there are.");
    }
    let _ = writeln!(out, "[transaction.{}]\nweight = {weight}\nsql = {sql_value}", picked_statement.name);
}
