//! What a workload does on an engine, for people to read.

use std::time::Duration;

use dyno_engine::{Answer, Type};

use super::draws::Constants;
use super::draws::{Draw, When};
use super::fault::Fault;
use super::program::{Code, Op, Prepared};
use super::sql::touches;
use super::steps::{Condition, Read, Step, Which};
use super::transaction::{Rated, Think, Transaction};
use super::workload::Own;

/// A draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedDraw {
    /// Its name.
    pub name: String,
    /// The type of parameters: `whole number`.
    pub of: &'static str,
    /// When it is drawn: `transaction`.
    pub per: &'static str,
    /// How it was written.
    pub words: String,
    /// Whether a statement or a condition uses it.
    pub used: bool,
}

/// A statement of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedStatement {
    /// Its name: `pay_2`.
    pub name: String,
    /// The name that it has in its file, if it has one.
    pub called: Option<String>,
    /// Where it stands: `shop/pay.sql:3:1`.
    pub place: String,
    /// Its text on one line, as it was written.
    pub sql: String,
    /// What it returns: `rows`.
    pub returns: &'static str,
    /// Whether it returns a number that is read.
    pub returns_number: bool,
    /// What is bound to its parameters.
    pub params: Vec<String>,
}

/// A transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedTransaction {
    /// Its name.
    pub name: String,
    /// How many of a hundred it is, of those without a rate of their own.
    pub share_pct: f64,
    /// Its rate and the sessions that do it, where it has a rate of its own.
    pub rated: Option<Rated>,
    /// How much it sees of others, where it says so.
    pub isolation: Option<&'static str>,
    /// Whether each of its statements commits by itself.
    pub commits_each: bool,
    /// Whether it changes something.
    pub writes: bool,
    /// How often it is tried again after a deadlock or a serialisation failure.
    pub retries: u32,
    /// The shortest and the longest rest behind it.
    pub think: (Duration, Duration),
    /// Whether that is the mean of rests of any length.
    pub think_is_mean: bool,
    /// How long it is typed in before it begins.
    pub keying: Duration,
    /// Requests to the server, at least and at most; absent where that depends on what is read.
    pub round_trips: (u64, Option<u64>),
    /// The same where those are sent together whose answers nobody waits for, if the transaction says so.
    pub pipelined: Option<(u64, Option<u64>)>,
    /// Its steps, one a line, those within others further to the right; none where it runs its statements one after the other.
    pub steps: Vec<String>,
    /// Its statements.
    pub statements: Vec<DescribedStatement>,
}

impl Own {
    /// What its transactions change on this engine, by the words of their statements: each transaction that writes, with
    /// `UPDATE accounts` and the like.
    ///
    /// # Errors
    /// There is no SQL for this engine.
    pub fn changes(&self, engine: &str) -> Result<Vec<(String, Vec<String>)>, Fault> {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for prepared in self.program(engine)?.statements.iter().filter(|prepared| prepared.writes) {
            let transaction = prepared.name.rsplit_once('_').map_or(prepared.name.as_str(), |(name, _)| name);
            let mut touched = touches(&prepared.text, &prepared.piece);
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

/// The word that a statement begins with, such as `DO`.
fn first_word(prepared: &Prepared) -> Option<String> {
    prepared.piece.upper_words(&prepared.text).into_iter().find(|word| !word.is_empty())
}

impl Own {
    /// What is drawn.
    ///
    /// # Errors
    /// There is no SQL for this engine.
    pub fn described_draws(&self, engine: &str) -> Result<Vec<DescribedDraw>, Fault> {
        let program = self.program(engine)?;
        let of_statements = program.statements.iter().flat_map(|statement| statement.slots.iter().copied());
        let of_codes = program.codes.iter().flat_map(|code| code.drawn.iter().copied());
        let of_ops = program.codes.iter().flat_map(|code| &code.ops).flat_map(Op::slots);
        let direct: Vec<u16> = of_statements.chain(of_codes).chain(of_ops).collect();
        let used = self.draws.closure(&direct, |_| true);
        let one = |(slot, draw): (usize, &Draw)| DescribedDraw {
            name: draw.name.clone(),
            of: type_words(draw.of),
            per: match draw.when {
                When::Run => "run",
                When::Session => "session",
                When::Transaction => "transaction",
                When::Repeat => "repeat",
                When::Statement => "statement",
            },
            words: draw.words.clone(),
            used: used.iter().any(|&used| usize::from(used) == slot),
        };
        let all = self.draws.all.iter().enumerate().map(one);
        Ok(all.filter(|draw| draw.used || !Constants::NAMES.contains(&draw.name.as_str())).collect())
    }

    /// What transactions do.
    ///
    /// # Errors
    /// There is no SQL for this engine.
    pub fn described(&self, engine: &str) -> Result<Vec<DescribedTransaction>, Fault> {
        let program = self.program(engine)?;
        let whole: u64 = self.transactions.iter().map(|transaction| transaction.weight).sum();
        let one = |(transaction, code): (&Transaction, &Code)| {
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
                commits_each: transaction.each,
                writes: code.writes,
                retries: transaction.retries,
                think: match transaction.think {
                    Think::Between(low, high) => (think(low), think(high)),
                    Think::Exponential(mean) => (think(mean), think(mean)),
                },
                think_is_mean: matches!(transaction.think, Think::Exponential(1..)),
                keying: think(transaction.keying_ns),
                round_trips: code.round_trips,
                pipelined: code.piped,
                steps,
                statements: statements.iter().map(|statement| self.statement(statement)).collect(),
            }
        };
        Ok(self.transactions.iter().zip(&program.codes).map(one).collect())
    }

    fn statement(&self, prepared: &Prepared) -> DescribedStatement {
        let Prepared { name, text, piece, slots, answer, .. } = prepared;
        let Fault { file, place, .. } = prepared.fault("", "");
        let (line, column) = place.unwrap_or((1, 1));
        DescribedStatement {
            name: name.clone(),
            called: piece.name.clone(),
            place: format!("{file}:{line}:{column}"),
            sql: piece.letters(text).split_whitespace().collect::<Vec<_>>().join(" "),
            returns: match answer {
                Answer::Number => "a number",
                Answer::Columns => "columns",
                Answer::Row | Answer::Rows => "rows",
                Answer::Changed { .. } => "rows changed",
            },
            returns_number: *answer == Answer::Number,
            params: slots.iter().map(|&slot| self.names.all[usize::from(slot)].clone()).collect(),
        }
    }

    fn name_of(&self, slot: u16) -> &str {
        &self.names.all[usize::from(slot)]
    }

    fn lines(&self, steps: &[Step], depth: usize, lines: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        for step in steps {
            match step {
                Step::Run { which, rows, read, count } => {
                    let what = match which {
                        Which::Named(name) => name.letters.to_string(),
                        Which::Here(sql) => short(&sql.text.letters),
                        Which::Nth(place) => format!("statement {}", place + 1),
                    };
                    let rows = rows.map(|(least, most)| match least == most {
                        true => format!(", {least} {}", if least == 1 { "row" } else { "rows" }),
                        false => format!(", {least} to {most} rows"),
                    });
                    let read = read.as_ref().map(|read| match read {
                        Read::Number(slot) => format!(" → {}", self.name_of(*slot)),
                        Read::Columns(slots) => {
                            let names: Vec<&str> = slots.iter().map(|&slot| self.name_of(slot)).collect();
                            format!(" → {}", names.join(", "))
                        }
                    });
                    let count = count.map(|slot| format!(", rows → {}", self.name_of(slot)));
                    let all = [rows, read, count].map(Option::unwrap_or_default).concat();
                    lines.push(format!("{indent}{what}{all}"));
                }
                Step::Repeat { times, counter, steps } => {
                    let counter = counter.map(|slot| format!(", {} counts", self.name_of(slot)));
                    lines.push(format!("{indent}repeat {}{}", words(times), counter.unwrap_or_default()));
                    self.lines(steps, depth + 1, lines);
                }
                Step::If { condition, then, otherwise } => {
                    lines.push(format!("{indent}if {}", words(condition)));
                    self.lines(then, depth + 1, lines);
                    if !otherwise.is_empty() {
                        lines.push(format!("{indent}else"));
                        self.lines(otherwise, depth + 1, lines);
                    }
                }
                Step::Rollback { condition, is_poll } => {
                    let poll = if *is_poll { ", an empty poll" } else { "" };
                    lines.push(format!("{indent}rollback if {}{poll}", words(condition)));
                }
                Step::Tally(what) => lines.push(format!("{indent}tally {what}")),
                Step::Set { slot, to } => {
                    let name = &self.names.all[usize::from(*slot)];
                    lines.push(format!("{indent}{name} = {}", words(to)));
                }
                Step::Sleep { time, unit_ns } => {
                    let unit = match unit_ns {
                        1_000 => " us",
                        1_000_000 => " ms",
                        1_000_000_000 => " s",
                        _ => "",
                    };
                    lines.push(format!("{indent}sleep {}{unit}", words(time)));
                }
                Step::Transaction { steps, .. } => {
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

fn type_words(of: Type) -> &'static str {
    match of {
        Type::Int => "whole number",
        Type::Real => "number",
        Type::Text => "text",
        Type::Bytes => "bytes",
        Type::Literal => "literal",
    }
}
