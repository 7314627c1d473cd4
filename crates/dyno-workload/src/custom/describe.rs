//! Describes a workload on an engine for users.

use std::time::Duration;

use dyno_engine::{ResultKind, Type};

use super::draws::Constants;
use super::draws::{DrawDefinition, DrawFrequency};
use super::fault::WorkloadError;
use super::program::{ProgramOp, ProgramStatement, TransactionCode};
use super::sql::touched_objects;
use super::steps::{Condition, ResultBinding, StatementRef, TransactionStep};
use super::transaction::{RatedTransaction, ThinkDistribution, Transaction};
use super::workload::CustomWorkload;

/// One generator of the workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedDraw {
    pub name: String,
    /// The type of its parameters: `whole number`.
    pub of: &'static str,
    /// How often it is drawn: `transaction`.
    pub per: &'static str,
    /// Its definition in the workload, on one line.
    pub words: String,
    /// Whether a statement or condition uses it.
    pub used: bool,
}

/// A statement of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedStatement {
    /// Its name in the program: `pay_2`.
    pub name: String,
    /// Its name in the file; absent if it has none.
    pub called: Option<String>,
    /// Its file, line and column: `shop/pay.sql:3:1`.
    pub place: String,
    /// Its SQL as written, on one line.
    pub sql: String,
    /// The kind of its result: `rows`.
    pub returns: &'static str,
    /// Whether it returns a number that the workload reads.
    pub returns_number: bool,
    /// The name bound to each parameter.
    pub params: Vec<String>,
}

/// One transaction of the workload.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedTransaction {
    pub name: String,
    /// Its share in percent, among transactions without a rate of their own.
    pub share_pct: f64,
    /// Its rate and sessions; absent without a rate of its own.
    pub rated: Option<RatedTransaction>,
    /// Its isolation level; absent if it does not set one.
    pub isolation: Option<&'static str>,
    /// Whether each of its statements commits separately.
    pub commits_each: bool,
    pub writes: bool,
    /// The number of retries after a deadlock or a serialization failure.
    pub retries: u32,
    /// The shortest and the longest think time after it.
    pub think: (Duration, Duration),
    /// Whether think time is exponential with this mean.
    pub think_is_mean: bool,
    /// Keying time before it starts.
    pub keying: Duration,
    /// Minimum and maximum number of requests; no maximum if it depends on data.
    pub round_trips: (u64, Option<u64>),
    /// The same if requests are sent together; absent without `pipeline`.
    pub pipelined: Option<(u64, Option<u64>)>,
    /// Its steps, one per line, with inner steps indented; empty if it executes its statements in order.
    pub steps: Vec<String>,
    pub statements: Vec<DescribedStatement>,
}

impl CustomWorkload {
    /// The changes by its transactions on this engine, derived from their statements: each writing
    /// transaction with `UPDATE accounts` and so on.
    ///
    /// # Errors
    /// The workload has no SQL for this engine.
    pub fn changes(&self, engine: &str) -> Result<Vec<(String, Vec<String>)>, WorkloadError> {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for prepared in self.program(engine)?.statements.iter().filter(|prepared| prepared.writes) {
            let transaction = prepared.name.rsplit_once('_').map_or(prepared.name.as_str(), |(name, _)| name);
            let mut touched = touched_objects(&prepared.text, &prepared.piece);
            if touched.is_empty() {
                touched.extend(first_word(prepared));
            }
            match all.iter_mut().find(|(name, _)| name == transaction) {
                Some((_, known)) => known.extend(touched),
                None => all.push((transaction.to_owned(), touched)),
            }
        }
        for (_, touched) in &mut all {
            touched.sort();
            touched.dedup();
        }
        Ok(all)
    }
}

/// The first word of a statement, such as `DO`.
fn first_word(prepared: &ProgramStatement) -> Option<String> {
    prepared.piece.upper_words(&prepared.text).into_iter().find(|word| !word.is_empty())
}

impl CustomWorkload {
    /// Describes the generators.
    ///
    /// # Errors
    /// The workload has no SQL for this engine.
    pub fn described_draws(&self, engine: &str) -> Result<Vec<DescribedDraw>, WorkloadError> {
        let program = self.program(engine)?;
        let of_statements = program.statements.iter().flat_map(|statement| statement.slots.iter().copied());
        let of_codes = program.codes.iter().flat_map(|code| code.drawn.iter().copied());
        let of_ops = program.codes.iter().flat_map(|code| &code.ops).flat_map(ProgramOp::slots);
        let direct: Vec<u16> = of_statements.chain(of_codes).chain(of_ops).collect();
        let used = self.draws.closure(&direct, |_| true);
        let describe = |(slot, draw): (usize, &DrawDefinition)| DescribedDraw {
            name: draw.name.clone(),
            of: type_words(draw.of),
            per: match draw.when {
                DrawFrequency::Run => "run",
                DrawFrequency::Session => "session",
                DrawFrequency::Transaction => "transaction",
                DrawFrequency::Repeat => "repeat",
                DrawFrequency::Statement => "statement",
            },
            words: draw.words.clone(),
            used: used.iter().any(|&used| usize::from(used) == slot),
        };
        let all = self.draws.all.iter().enumerate().map(describe);
        Ok(all.filter(|draw| draw.used || !Constants::NAMES.contains(&draw.name.as_str())).collect())
    }

    /// Describes the transactions.
    ///
    /// # Errors
    /// The workload has no SQL for this engine.
    pub fn described(&self, engine: &str) -> Result<Vec<DescribedTransaction>, WorkloadError> {
        let program = self.program(engine)?;
        let whole: u64 = self.transactions.iter().map(|transaction| transaction.weight).sum();
        let describe = |(transaction, code): (&Transaction, &TransactionCode)| {
            let mut steps = Vec::new();
            let (first, end) = code.statements;
            let statements = &program.statements[usize::from(first)..usize::from(end)];
            if let Some(own) = &transaction.steps {
                self.lines(own, 0, &mut steps);
            }
            let think = |ns| Duration::from_nanos(ns);
            DescribedTransaction {
                name: transaction.name.clone(),
                share_pct: transaction.weight as f64 * 100.0 / whole as f64,
                rated: transaction.rated(),
                isolation: transaction.isolation.words(),
                commits_each: transaction.commits_each,
                writes: code.writes,
                retries: transaction.retries,
                think: match transaction.think {
                    ThinkDistribution::Between(low, high) => (think(low), think(high)),
                    ThinkDistribution::Exponential(mean) => (think(mean), think(mean)),
                },
                think_is_mean: matches!(transaction.think, ThinkDistribution::Exponential(1..)),
                keying: think(transaction.keying_ns),
                round_trips: code.round_trips,
                pipelined: code.piped,
                steps,
                statements: statements.iter().map(|statement| self.statement(statement)).collect(),
            }
        };
        Ok(self.transactions.iter().zip(&program.codes).map(describe).collect())
    }

    fn statement(&self, prepared: &ProgramStatement) -> DescribedStatement {
        let ProgramStatement { name, text, piece, slots, answer, .. } = prepared;
        let WorkloadError { file, place, .. } = prepared.fault("", "");
        let (line, column) = place.unwrap_or((1, 1));
        DescribedStatement {
            name: name.clone(),
            called: piece.name.clone(),
            place: format!("{file}:{line}:{column}"),
            sql: piece.letters(text).split_whitespace().collect::<Vec<_>>().join(" "),
            returns: match answer {
                ResultKind::Number => "a number",
                ResultKind::Columns => "columns",
                ResultKind::Row | ResultKind::Rows => "rows",
                ResultKind::Changed { .. } => "rows changed",
            },
            returns_number: *answer == ResultKind::Number,
            params: slots.iter().map(|&slot| self.names.all[usize::from(slot)].clone()).collect(),
        }
    }

    fn name_of(&self, slot: u16) -> &str {
        &self.names.all[usize::from(slot)]
    }

    fn lines(&self, steps: &[TransactionStep], depth: usize, lines: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        for step in steps {
            match step {
                TransactionStep::Run { which, rows, read, count } => {
                    let statement_text = match which {
                        StatementRef::Named(name) => name.letters.to_string(),
                        StatementRef::Here(sql) => short(&sql.text.letters),
                        StatementRef::Nth(place) => format!("statement {}", place + 1),
                    };
                    let rows = rows.map(|(least, most)| match least == most {
                        true => format!(", {least} {}", if least == 1 { "row" } else { "rows" }),
                        false => format!(", {least} to {most} rows"),
                    });
                    let read = read.as_ref().map(|read| match read {
                        ResultBinding::Number(slot) => format!(" → {}", self.name_of(*slot)),
                        ResultBinding::Columns(slots) => {
                            let names: Vec<&str> = slots.iter().map(|&slot| self.name_of(slot)).collect();
                            format!(" → {}", names.join(", "))
                        }
                    });
                    let count = count.map(|slot| format!(", rows → {}", self.name_of(slot)));
                    let all = [rows, read, count].map(Option::unwrap_or_default).concat();
                    lines.push(format!("{indent}{statement_text}{all}"));
                }
                TransactionStep::Repeat { times, counter, steps } => {
                    let counter = counter.map(|slot| format!(", {} counts", self.name_of(slot)));
                    lines.push(format!("{indent}repeat {}{}", words(times), counter.unwrap_or_default()));
                    self.lines(steps, depth + 1, lines);
                }
                TransactionStep::If { condition, then, otherwise } => {
                    lines.push(format!("{indent}if {}", words(condition)));
                    self.lines(then, depth + 1, lines);
                    if !otherwise.is_empty() {
                        lines.push(format!("{indent}else"));
                        self.lines(otherwise, depth + 1, lines);
                    }
                }
                TransactionStep::Rollback { condition, is_poll } => {
                    let poll = if *is_poll { ", an empty poll" } else { "" };
                    lines.push(format!("{indent}rollback if {}{poll}", words(condition)));
                }
                TransactionStep::Tally(what) => lines.push(format!("{indent}tally {what}")),
                TransactionStep::Set { slot, to } => {
                    let name = &self.names.all[usize::from(*slot)];
                    lines.push(format!("{indent}{name} = {}", words(to)));
                }
                TransactionStep::Sleep { time, unit_ns } => {
                    let unit = match unit_ns {
                        1_000 => " us",
                        1_000_000 => " ms",
                        1_000_000_000 => " s",
                        _ => "",
                    };
                    lines.push(format!("{indent}sleep {}{unit}", words(time)));
                }
                TransactionStep::Transaction { steps, .. } => {
                    lines.push(format!("{indent}one transaction"));
                    self.lines(steps, depth + 1, lines);
                }
            }
        }
    }
}

fn words(condition: &Condition) -> String {
    short(&condition.text.letters)
}

fn short(text: &str) -> String {
    super::names::shown(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn type_words(value_type: Type) -> &'static str {
    match value_type {
        Type::Int => "integer",
        Type::Real => "number",
        Type::Text => "text",
        Type::Bytes => "bytes",
        Type::Literal => "literal",
    }
}
