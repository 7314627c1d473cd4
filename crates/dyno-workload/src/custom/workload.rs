//! A workload that was read and validated.

use std::collections::BTreeMap;
use std::sync::Arc;

use dyno_engine::{Commits, Dialect, ResultKind, Statement, StatementId, Value};
use dyno_record::{
    Class, ClassShare, Counter, Expected, Pipelined, ReferenceFigure, RowEffect, TransactionFacts,
    WorkloadFacts,
};

use super::bulk::CustomBulkLoad;
use super::draws::{Draws, Names};
use super::fault::{File, SourceText, WorkloadError};
use super::folder::Variants;
use super::program::{Program, ProgramOp, ProgramStatement, TransactionCode};
use super::scripts::{InvariantQuery, InvariantTiming};
use super::sql::{SplitStatement, created_kind};
use super::steps::{Sql, TransactionStep};
use super::tables::{DescribedTable, DescribedTables};
use super::transaction::{RatedTransaction, Transaction};
use crate::classes::Classes;

/// A custom workload that was read and validated.
#[derive(Debug)]
pub struct CustomWorkload {
    pub(super) name: String,
    /// Its name among several workloads of a run; absent if its classes have their plain names.
    pub(super) label: Option<String>,
    /// Whether it is a single transaction with its own rate.
    pub(super) is_alone: bool,
    /// Its transactions with their own rates, whether or not they are in this part of it.
    pub(super) rated: Vec<RatedTransaction>,
    pub(super) about: String,
    pub(super) writes: bool,
    /// The scale, which sets its table rows and bounds of generators.
    pub(super) scale: u64,
    /// The tables that it describes.
    pub(super) described: DescribedTables,
    /// The table that its transactions load.
    pub(super) bulk: Option<Arc<CustomBulkLoad>>,
    pub(super) draws: Draws,
    pub(super) names: Names,
    pub(super) transactions: Vec<Transaction>,
    /// Cumulative sums of the transactions' weights, reduced as far as possible.
    pub(super) sums: Box<[u64]>,
    /// Whether transactions are shuffled like a deck of cards instead of drawn independently.
    pub(super) deck: bool,
    /// Whether any of its transactions has keying time.
    pub(super) types: bool,
    /// A note that must accompany every result; may be empty.
    pub(super) note: String,
    /// The reference figures; their class is the transaction's own name.
    pub(super) yardstick: Option<ReferenceFigure>,
    /// The chosen value of each option, and whether it is the default.
    pub(super) options: Vec<(String, String, bool)>,
    /// Programs for engines with their own files, by name.
    pub(super) programs: BTreeMap<String, Arc<Program>>,
    /// The program for all other engines, if every transaction has SQL for them.
    pub(super) common: Option<Arc<Program>>,
    pub(super) setup: Variants<Sql>,
    pub(super) drop: Variants<Sql>,
    pub(super) invariants: Vec<InvariantQuery>,
    pub(super) digest: String,
    /// The files that were read from its folder, by name.
    pub(super) files: BTreeMap<String, Arc<File>>,
}

/// A statement outside transactions: setup, drop, or an invariant.
#[derive(Debug, Clone)]
pub struct Single {
    /// Name of the invariant; empty for others.
    pub name: String,
    /// The required result of an invariant; absent if it must stay the same.
    pub is: Option<String>,
    /// Its SQL, as the user wrote it.
    pub sql: String,
    text: SourceText,
    piece: SplitStatement,
}

impl Single {
    /// An error about the statement, such as a message of the server.
    pub fn fault(&self, problem: impl Into<String>, hint: impl Into<String>) -> WorkloadError {
        self.text.fault(self.piece.at.start, problem, hint)
    }

    /// The kind of object that it creates, such as `SEQUENCE`; `None` if it creates none that may need a
    /// privilege.
    pub fn created_kind(&self) -> Option<&'static str> {
        created_kind(&self.text, &self.piece)
    }
}

impl CustomWorkload {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets its name among several workloads; the name then precedes the names of its classes.
    #[must_use]
    pub fn labelled(self, label: String) -> Self {
        Self { label: Some(label), ..self }
    }

    /// Its transactions with their own rates, which run in their own sessions.
    pub fn rated(&self) -> &[RatedTransaction] {
        &self.rated
    }

    /// Its name among several workloads; `None` if it has none.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Names and contents of the files that were read.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file.text.as_str()))
    }

    /// The class name of a transaction in results.
    fn class_name(&self, transaction: &Transaction) -> String {
        match &self.label {
            Some(label) => format!("{label}.{}", transaction.name),
            None => transaction.name.clone(),
        }
    }

    /// A description in one sentence; may be empty.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The size of the deck if transactions are shuffled: within it, each transaction has exactly its share.
    /// `None` otherwise.
    pub fn deck(&self) -> Option<u64> {
        self.sums.last().copied().filter(|_| self.deck)
    }

    /// Whether its transactions may change data: it declares writes, and the mix contains writing
    /// transactions.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// The scale, which sets its table rows and bounds of generators.
    pub fn scale(&self) -> u64 {
        self.scale
    }

    /// The tables that it describes, in the order of the file.
    pub fn tables(&self) -> &[DescribedTable] {
        &self.described.tables
    }

    /// The tables that a load of data fills.
    pub fn loaded_tables(&self) -> impl Iterator<Item = &DescribedTable> {
        self.tables().iter().filter(|table| !table.is_filled_by_runs())
    }

    /// The table that its transactions load; `None` if they load none.
    pub fn bulk(&self) -> Option<&Arc<CustomBulkLoad>> {
        self.bulk.as_ref()
    }

    /// SHA-256 of its files, as far as they were read.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// SHA-256 of the meaning of its tables, including scale and seed; equal for equal rows.
    pub fn tables_digest(&self) -> &str {
        &self.described.digest
    }

    /// The facts that a record stores about it.
    pub fn facts(&self) -> WorkloadFacts {
        let Self { name, digest, writes, scale, .. } = self;
        WorkloadFacts {
            name: match self.transactions.first().filter(|_| self.is_alone) {
                Some(alone) => format!("{}.{}", self.label.as_ref().unwrap_or(name), alone.name),
                None => self.label.as_ref().unwrap_or(name).clone(),
            },
            digest: digest.clone(),
            options: self.options(false),
            usual_options: self.options(true),
            note: self.note.clone(),
            scale: *scale,
            writes: *writes,
            defines: self.transactions.iter().any(|transaction| transaction.definitions),
            pipelined: Vec::new(),
            transactions: Vec::new(),
            yardstick: self.yardstick.clone().map(|yardstick| ReferenceFigure {
                class: match &self.label {
                    Some(label) => format!("{label}.{}", yardstick.class),
                    None => yardstick.class,
                },
                ..yardstick
            }),
            invariants: Vec::new(),
            invariants_s: None,
            expected: Vec::new(),
            loaded: None,
            share: None,
        }
    }

    /// Options with their values: those with default values if `usual`, otherwise the others.
    pub fn options(&self, usual: bool) -> BTreeMap<String, String> {
        let those = self.options.iter().filter(|(.., is_usual)| *is_usual == usual);
        those.map(|(name, value, _)| (name.clone(), value.clone())).collect()
    }

    /// A note that must accompany every result; may be empty.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// Transactions that send requests together on `engine`, whose sessions support it.
    pub fn pipelined(&self, engine: &str) -> Vec<Pipelined> {
        let codes = self.program(engine).map_or(&[][..], |program| &program.codes);
        let to_pipelined = |(transaction, code): (&Transaction, &TransactionCode)| {
            let class = self.class_name(transaction);
            Some(Pipelined { class, round_trips: code.piped?, alone: code.round_trips })
        };
        self.transactions.iter().zip(codes).filter_map(to_pipelined).collect()
    }

    /// Facts about its transactions on `engine` that are known in advance.
    pub fn transaction_facts(&self, engine: &str) -> Vec<TransactionFacts> {
        let codes = self.program(engine).map_or(&[][..], |program| &program.codes);
        let to_facts = |(transaction, code): (&Transaction, &TransactionCode)| TransactionFacts {
            class: self.class_name(transaction),
            requests: code.round_trips,
            limit_p90_s: transaction.limit_p90.map(|limit| limit.as_secs_f64()),
            tally: transaction.steps.as_deref().and_then(tallied),
            may_roll_back: code.ops.iter().any(|op| matches!(op, ProgramOp::Rollback { is_poll: false })),
            polls: code.ops.iter().any(|op| matches!(op, ProgramOp::Rollback { is_poll: true })),
            keying_s: transaction.keying_ns as f64 / 1e9,
            think_s: transaction.think.mean_s(),
        };
        self.transactions.iter().zip(codes).map(to_facts).collect()
    }

    /// Engines that have their own files: `mysql` if there is a file `pay.mysql.sql`.
    pub fn engines(&self) -> impl Iterator<Item = &str> {
        self.programs.keys().map(String::as_str)
    }

    /// The weight of each transaction.
    pub fn weights(&self) -> impl Iterator<Item = u64> {
        self.transactions.iter().map(|transaction| transaction.weight)
    }

    /// The declared effect of each transaction on the database.
    pub fn expectations(&self) -> impl Iterator<Item = Expected> {
        let program = self.common.as_ref().or_else(|| self.programs.values().next());
        let calls = move |place: usize| {
            program.is_some_and(|program| {
                let (first, end) = program.codes[place].statements;
                program.statements[usize::from(first)..usize::from(end)].iter().any(|one| one.calls)
            })
        };
        let expectation = move |(place, one): (usize, &Transaction)| Expected {
            class: self.class_name(one),
            said: match &self.bulk {
                None => one.expected_counts.clone(),
                Some(bulk) => BTreeMap::from([(Counter::RowsWritten, bulk.mean_rows())]),
            },
            calls: calls(place),
            ..Expected::default()
        };
        self.transactions.iter().enumerate().map(expectation)
    }

    /// One class per transaction, in the order of the file. Rows and commits are given only as far as they
    /// are the same for every transaction of a class.
    pub fn classes(&self) -> Classes {
        let whole: u64 = self.transactions.iter().map(|transaction| transaction.weight).sum();
        let program = self.common.as_ref().or_else(|| self.programs.values().next());
        let class = |(place, transaction): (usize, &Transaction)| {
            let code = program.map(|program| &program.codes[place]);
            let writes = code.is_some_and(|code| code.writes);
            let hundredfold = u128::from(transaction.weight) * 100;
            let is_whole = whole > 0 && hundredfold % u128::from(whole) == 0;
            let percent = is_whole.then(|| (hundredfold / u128::from(whole)) as u32);
            Class {
                name: self.class_name(transaction),
                plural: self.class_name(transaction),
                rows: match (writes, &self.bulk) {
                    (_, Some(_)) => RowEffect::Inserted,
                    (true, None) => RowEffect::Updated,
                    (false, None) => RowEffect::Read,
                },
                mixed: writes && self.bulk.is_none(),
                // A transaction that reads and writes touches rows in two ways, but a class can only name
                // one.
                rows_per_op: code.filter(|code| !code.writes).and_then(|code| code.rows),
                scans: false,
                commits: code.and_then(|code| code.commits).unwrap_or(u64::from(writes)),
                share: ClassShare { percent, of_reads: false, turned: 0 },
                workload: 0,
            }
        };
        Classes::new(self.transactions.iter().enumerate().map(class).collect())
    }

    /// All statements of all transactions for this engine; the index of each is its number.
    ///
    /// # Errors
    /// There is no SQL for this engine, or the engine would take part of a text for a parameter.
    pub fn statements(&self, engine: &str, dialect: Dialect) -> Result<Arc<[Statement]>, WorkloadError> {
        let program = self.program(engine)?;
        program.statements.iter().map(|prepared| statement(prepared, dialect)).collect()
    }

    /// A statement with values in place of its parameters, in the engine's syntax.
    ///
    /// # Errors
    /// The workload has no SQL for this engine.
    pub fn written_out(
        &self,
        engine: &str,
        statement: StatementId,
        values: &[Value<'_>],
        literal: impl Fn(Value<'_>) -> String,
    ) -> Result<String, WorkloadError> {
        let program = self.program(engine)?;
        let value = |number: usize| values.get(number - 1).map_or_else(String::new, |&value| literal(value));
        Ok(program
            .statements
            .get(statement.index())
            .map_or_else(String::new, |prepared| prepared.with(value)))
    }

    /// An error about a statement, such as a message of the server.
    pub fn fault(
        &self,
        engine: &str,
        statement: StatementId,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> WorkloadError {
        let program = match self.program(engine) {
            Ok(program) => program,
            Err(fault) => return fault,
        };
        match program.statements.get(statement.index()) {
            Some(prepared) => prepared.fault(problem, hint),
            None => WorkloadError::whole(self.name.clone(), problem, hint),
        }
    }

    /// The statements that create and fill its tables.
    ///
    /// # Errors
    /// The section exists but has no SQL for this engine.
    pub fn setup(&self, engine: &str) -> Result<Vec<Single>, WorkloadError> {
        singles("setup", &self.setup, engine)
    }

    /// The statements that drop its tables.
    ///
    /// # Errors
    /// The section exists but has no SQL for this engine.
    pub fn teardown(&self, engine: &str) -> Result<Vec<Single>, WorkloadError> {
        singles("drop", &self.drop, engine)
    }

    /// The invariants to check after a run or after a load: each must stay the same, or have a given result.
    ///
    /// # Errors
    /// An invariant has no SQL for this engine.
    pub fn invariants(&self, engine: &str, when: InvariantTiming) -> Result<Vec<Single>, WorkloadError> {
        let mut all = Vec::new();
        for InvariantQuery { name, sql, is, .. } in
            self.invariants.iter().filter(|one| one.after.contains(&when))
        {
            let invariant_statements = singles("invariant", sql, engine)?;
            let with = |single| Single { name: name.clone(), is: is.clone(), ..single };
            all.extend(invariant_statements.into_iter().map(with));
        }
        Ok(all)
    }

    /// The program for this engine.
    pub(super) fn program(&self, engine: &str) -> Result<&Arc<Program>, WorkloadError> {
        let program = self.programs.get(engine).or(self.common.as_ref());
        program.ok_or_else(|| {
            let lacks =
                |one: &&Transaction| one.sql.as_ref().is_some_and(|sql| sql.for_engine(engine).is_none());
            let first = self.transactions.iter().find(lacks).unwrap_or(&self.transactions[0]);
            first.no_sql(engine)
        })
    }
}

/// What the first tally step counts.
fn tallied(steps: &[TransactionStep]) -> Option<String> {
    steps.iter().find_map(|step| match step {
        TransactionStep::Tally(what) => Some(what.clone()),
        TransactionStep::Repeat { steps, .. } | TransactionStep::Transaction { steps, .. } => tallied(steps),
        TransactionStep::If { then, otherwise, .. } => tallied(then).or_else(|| tallied(otherwise)),
        _ => None,
    })
}

fn statement(prepared: &ProgramStatement, dialect: Dialect) -> Result<Statement, WorkloadError> {
    let ProgramStatement { name, text, piece, types, answer, commits, .. } = prepared;
    let mark = |number| (dialect.mark)(number);
    if let Some(at) = piece.mark.filter(|_| mark(1).starts_with('?')) {
        let hint = "write :name for a drawn value, and put a literal question mark in quotes";
        return Err(text.fault(at, "the engine treats ? as a parameter", hint));
    }
    let mut sql = prepared.with(mark);
    if let Some(call) = dialect.call.filter(|_| prepared.calls) {
        let tells =
            matches!(answer, ResultKind::Number | ResultKind::Columns).then(|| mark(piece.params.len() + 1));
        sql = call(&sql, tells.as_deref());
    }
    let commits = if *commits { Commits::Behind } else { Commits::Nothing };
    let (name, params) = (name.clone(), types.to_vec());
    Ok(Statement { name, sql, params, answer: *answer, commits, works: true })
}

/// The statements of `sql` for this engine; empty if there is no such section.
fn singles(section: &str, sql: &Variants<Sql>, engine: &str) -> Result<Vec<Single>, WorkloadError> {
    let Some(Sql { text, pieces }) = sql.for_engine(engine) else {
        return match sql.all().next() {
            None => Ok(Vec::new()),
            Some(other) => {
                let problem = format!("[{section}] has no SQL for {engine}");
                let hint = "write a file for all engines, or one for this engine";
                Err(other.text.fault(0, problem, hint))
            }
        };
    };
    let single = |piece: &SplitStatement| Single {
        name: String::new(),
        is: None,
        sql: piece.letters(text).to_owned(),
        text: text.clone(),
        piece: piece.clone(),
    };
    Ok(pieces.iter().map(single).collect())
}
