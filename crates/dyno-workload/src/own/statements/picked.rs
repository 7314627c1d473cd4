//! The heaviest statements, and what was left out.

use dyno_engine::seen::{Marks, Seen, SeenStatement};

use super::called::{Called, of_statement};
use super::sorted::{Why, is_block, sorted};
use super::text::{Read, read};

/// Transactions of a workload at most.
pub(super) const TOP_MAX: usize = 100;

/// What is taken.
#[derive(Debug, Clone)]
pub struct Options {
    /// Statements at most; 1 to 100.
    pub top: usize,
    /// Executions of each at least.
    pub min_calls: u64,
    /// Whether statements on catalogs and statistics are taken.
    pub system: bool,
}

/// A value that was taken out of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What it is held against, as far as the text tells: a column, a limit.
    pub column: Option<String>,
    /// Whether it stands for several values, of which nobody knows how many.
    pub several: bool,
}

/// A statement that is taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// What the source tells.
    pub seen: SeenStatement,
    /// The transaction's name.
    pub name: String,
    /// Whether it changes something.
    pub writes: bool,
    /// Its executions.
    pub calls: u64,
    pub(super) read: Read,
}

impl Chosen {
    /// Its parameters.
    pub fn parameters(&self) -> Vec<Parameter> {
        let of =
            |param: &super::text::Param| Parameter { column: param.column.clone(), several: param.several };
        self.read.params.iter().map(of).collect()
    }

    /// Its text as the source has it.
    pub fn text(&self) -> &str {
        self.seen.text.as_deref().unwrap_or_default()
    }

    /// Its text as the workload has it, with these marks for its parameters, by their numbers from 1.
    pub fn marked(&self, mark: impl Fn(usize) -> String) -> String {
        self.read.with(|place| mark(place + 1))
    }
}

/// A statement that is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Left {
    /// What the source tells.
    pub seen: SeenStatement,
    /// Why.
    pub why: Why,
}

/// What was made of what a source tells.
#[derive(Debug, Clone)]
pub struct Picked {
    /// Where it is from.
    pub source: String,
    /// What is counted as reads.
    pub reads: &'static str,
    /// What is to be known of the source.
    pub notes: Vec<String>,
    /// Statements that are taken, in the order that was asked for.
    pub chosen: Vec<Chosen>,
    /// All others, in the same order.
    pub left: Vec<Left>,
    /// Executions of all, and their time in s.
    pub all: (u64, f64),
}

/// Picks the statements of a workload out of what a source tells.
pub fn pick(seen: Seen, options: &Options) -> Picked {
    let Seen { source, marks, schemas, reads, statements, notes } = seen;
    let calls = statements.iter().filter_map(|one| one.calls).fold(0u64, u64::saturating_add);
    let time_s = statements.iter().filter_map(|one| one.time_s).sum();
    let mut picked =
        Picked { source, reads, notes, chosen: Vec::new(), left: Vec::new(), all: (calls, time_s) };
    // Names of classes and of files that every workload may have.
    let mut called = Called::without(&["all", "commit", "slice", "connect", "setup", "drop"]);
    let top = options.top.min(TOP_MAX);
    for seen in statements {
        let taken =
            taken(&seen, (marks, schemas), options).and_then(|taken| match picked.chosen.len() < top {
                true => Ok(taken),
                false => Err(Why::Below),
            });
        match taken {
            Ok((read, writes, calls)) => {
                let name = called.new_like(&of_statement(&read));
                picked.chosen.push(Chosen { seen, name, writes, calls, read });
            }
            Err(why) => picked.left.push(Left { seen, why }),
        }
    }
    picked
}

fn taken(
    seen: &SeenStatement,
    (marks, schemas): (Marks, &[&str]),
    options: &Options,
) -> Result<(Read, bool, u64), Why> {
    let text = seen.text.as_deref().ok_or(Why::NoText)?;
    if is_block(text, marks) {
        return Err(Why::Block);
    }
    if seen.whole == Some(false) {
        return Err(Why::Cut);
    }
    let read = read(text, marks).map_err(|_| Why::Unread)?;
    let does = sorted(&read, marks, schemas, options.system)?;
    // Without its end an UPDATE would change every row.
    if does.writes() && seen.whole.is_none() {
        return Err(Why::Cut);
    }
    let calls = seen.calls.filter(|calls| *calls >= options.min_calls.max(1)).ok_or(Why::Rare)?;
    Ok((read, does.writes(), calls))
}
