//! Selects the statements with the most load, and lists those left out.

use std::collections::BTreeSet;

use dyno_engine::column_statistics::ColumnName;
use dyno_engine::executed_statements::{ObservedStatement, ObservedStatements, PlaceholderStyle};

use super::naming::{NameRegistry, of_statement};
use super::sorted::{SkipReason, classify_observed, is_block};
use super::tables::candidates;
use super::text::{ParsedStatement, read};

/// The largest number of transactions in a workload.
pub(super) const TOP_MAX: usize = 100;

/// Options for selecting the statements.
#[derive(Debug, Clone)]
pub struct StatementPickOptions {
    /// The largest number of statements; 1 to 100.
    pub top: usize,
    /// The smallest number of executions of each statement.
    pub min_calls: u64,
    /// Whether to include statements on catalogs and statistics.
    pub system: bool,
}

/// A value that the server removed from a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementParameter {
    /// What the value is compared with, as far as the text shows: a column, a limit.
    pub column: Option<String>,
    /// Whether it stands for a list of values of unknown length.
    pub several: bool,
}

/// A statement selected for the workload.
#[derive(Debug, Clone, PartialEq)]
pub struct PickedStatement {
    /// The statement as the source reports it.
    pub seen: ObservedStatement,
    /// The name of its transaction and its file.
    pub name: String,
    /// Whether it may change data.
    pub writes: bool,
    /// Number of its executions in the source.
    pub calls: u64,
    pub(super) read: ParsedStatement,
}

impl PickedStatement {
    /// The parameters of the statement, in order.
    pub fn parameters(&self) -> Vec<StatementParameter> {
        let to_parameter = |param: &super::text::Param| StatementParameter {
            column: param.context.column.clone(),
            several: param.several,
        };
        self.read.params.iter().map(to_parameter).collect()
    }

    /// The columns that its parameters may mean; without duplicates.
    pub fn columns(&self) -> BTreeSet<ColumnName> {
        (0..self.read.params.len()).flat_map(|place| candidates(&self.read, place)).collect()
    }

    /// Its text as the source has it.
    pub fn text(&self) -> &str {
        self.seen.text.as_deref().unwrap_or_default()
    }

    /// Its text as in the workload, with marks for its parameters, by number from 1.
    pub fn marked(&self, mark: impl Fn(usize) -> String) -> String {
        self.read.with(|place| mark(place + 1))
    }
}

/// A statement that is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct SkippedStatement {
    /// The statement as the source reports it.
    pub seen: ObservedStatement,
    /// Why it is left out.
    pub why: SkipReason,
}

/// The selected and omitted statements of a source.
#[derive(Debug, Clone)]
pub struct Picked {
    /// Name of the source: `pg_stat_statements of database bench`.
    pub source: String,
    /// What the source counts as reads.
    pub reads: &'static str,
    /// Notes on the source that users need.
    pub notes: Vec<String>,
    /// The selected statements, in the requested order.
    pub chosen: Vec<PickedStatement>,
    /// All other statements, in the same order.
    pub skipped: Vec<SkippedStatement>,
    /// Executions of all statements, and their total time in s.
    pub all: (u64, f64),
}

/// Selects the statements of a workload from those of a source.
pub fn pick(snapshot: ObservedStatements, options: &StatementPickOptions) -> Picked {
    let ObservedStatements { source, marks, schemas, reads, statements, notes } = snapshot;
    let calls = statements.iter().filter_map(|one| one.calls).fold(0u64, u64::saturating_add);
    let time_s = statements.iter().filter_map(|one| one.time_s).sum();
    let mut picked =
        Picked { source, reads, notes, chosen: Vec::new(), skipped: Vec::new(), all: (calls, time_s) };
    // Names of classes and files that every workload may have.
    let mut called = NameRegistry::with_reserved(&["all", "commit", "slice", "connect", "setup", "drop"]);
    let top = options.top.min(TOP_MAX);
    for seen in statements {
        let selection = select_statement(&seen, (marks, schemas), options).and_then(|taken| {
            match picked.chosen.len() < top {
                true => Ok(taken),
                false => Err(SkipReason::Below),
            }
        });
        match selection {
            Ok((read, writes, calls)) => {
                let name = called.unique_name(&of_statement(&read));
                picked.chosen.push(PickedStatement { seen, name, writes, calls, read });
            }
            Err(why) => picked.skipped.push(SkippedStatement { seen, why }),
        }
    }
    picked
}

fn select_statement(
    seen: &ObservedStatement,
    (marks, schemas): (PlaceholderStyle, &[&str]),
    options: &StatementPickOptions,
) -> Result<(ParsedStatement, bool, u64), SkipReason> {
    let text = seen.text.as_deref().ok_or(SkipReason::NoText)?;
    if is_block(text, marks) {
        return Err(SkipReason::Block);
    }
    if seen.whole == Some(false) {
        return Err(SkipReason::Cut);
    }
    let read = read(text, marks).map_err(|_| SkipReason::Unread)?;
    let does = classify_observed(&read, marks, schemas, options.system)?;
    // If its end is missing, an UPDATE would change every row.
    if does.writes() && seen.whole.is_none() {
        return Err(SkipReason::Cut);
    }
    let calls = seen.calls.filter(|calls| *calls >= options.min_calls.max(1)).ok_or(SkipReason::Rare)?;
    Ok((read, does.writes(), calls))
}
