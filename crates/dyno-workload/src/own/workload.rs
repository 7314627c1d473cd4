//! A workload that was read: valid as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use dyno_engine::{Answer, Commits, Dialect, Statement, StatementId, Value};
use dyno_record::{
    Class, Counter, Expected, OwnWorkload, Pipelined, Share, Touch, TransactionFacts, Yardstick,
};

use super::bulk::OwnBulk;
use super::draws::{Draws, Names};
use super::fault::{Fault, File, Text};
use super::folder::Variants;
use super::program::{Code, Op, Prepared, Program};
use super::scripts::{After, Invariant};
use super::sql::{Piece, created_kind};
use super::steps::{Sql, Step};
use super::tables::{Described, DescribedTable};
use super::transaction::{Rated, Transaction};
use crate::classes::Classes;

/// A folder that was read: valid as a whole.
#[derive(Debug)]
pub struct Own {
    pub(super) name: String,
    /// What it is called among workloads that run beside each other; none where its classes bear their own names.
    pub(super) label: Option<String>,
    /// Whether it is one transaction alone, at a rate of its own.
    pub(super) is_alone: bool,
    /// Its transactions with rates of their own, whether they are in this part of it or not.
    pub(super) rated: Vec<Rated>,
    pub(super) about: String,
    pub(super) writes: bool,
    /// What its tables' rows and its draws' bounds are calculated with.
    pub(super) scale: u64,
    /// The tables that it describes.
    pub(super) described: Described,
    /// The one that its transactions load.
    pub(super) bulk: Option<Arc<OwnBulk>>,
    pub(super) draws: Draws,
    pub(super) names: Names,
    pub(super) transactions: Vec<Transaction>,
    /// Sums of the transactions' weights, as small as they can be.
    pub(super) sums: Box<[u64]>,
    /// Whether transactions are dealt like cards, instead of being drawn each by itself.
    pub(super) deck: bool,
    /// Whether any of its transactions is typed in before it begins.
    pub(super) types: bool,
    /// What stands wherever a result of it does; may be empty.
    pub(super) note: String,
    /// What its figures are held against; its class is the transaction's own name.
    pub(super) yardstick: Option<Yardstick>,
    /// What was chosen of each of its options, and whether that is what is taken where nothing is said.
    pub(super) options: Vec<(String, String, bool)>,
    /// What sessions do on engines with files of their own, by name.
    pub(super) programs: BTreeMap<String, Arc<Program>>,
    /// What they do on all others, where every transaction has SQL for these.
    pub(super) common: Option<Arc<Program>>,
    pub(super) setup: Variants<Sql>,
    pub(super) drop: Variants<Sql>,
    pub(super) invariants: Vec<Invariant>,
    pub(super) digest: String,
    /// What was read of its folder, by the names there.
    pub(super) files: BTreeMap<String, Arc<File>>,
}

/// A statement that no transaction runs: one that makes or drops tables, or an invariant.
#[derive(Debug, Clone)]
pub struct Single {
    /// The invariant's name; nothing for others.
    pub name: String,
    /// What an invariant has to be, where it has to be something certain.
    pub is: Option<String>,
    /// Its text.
    pub sql: String,
    text: Text,
    piece: Piece,
}

impl Single {
    /// What is wrong with it, such as the words of a server.
    pub fn fault(&self, problem: impl Into<String>, hint: impl Into<String>) -> Fault {
        self.text.fault(self.piece.at.start, problem, hint)
    }

    /// The kind of object that it creates, such as `SEQUENCE`; absent where it creates none that may need a privilege.
    pub fn created_kind(&self) -> Option<&'static str> {
        created_kind(&self.text, &self.piece)
    }
}

impl Own {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same with this name among workloads that run beside each other, which then stands before the names of its classes.
    #[must_use]
    pub fn labelled(self, label: String) -> Self {
        Self { label: Some(label), ..self }
    }

    /// Its transactions with rates of their own, which run in sessions of their own.
    pub fn rated(&self) -> &[Rated] {
        &self.rated
    }

    /// That name, where it has one.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The files of its folder that it was read from, by their names there, with what is in them.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file.text.as_str()))
    }

    /// What a class of its transactions is called in results.
    fn class_name(&self, transaction: &Transaction) -> String {
        match &self.label {
            Some(label) => format!("{label}.{}", transaction.name),
            None => transaction.name.clone(),
        }
    }

    /// What it is, in a sentence; may be empty.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Whether its transactions are dealt like cards: of so many one after the other each has its share to the unit.
    pub fn deck(&self) -> Option<u64> {
        self.sums.last().copied().filter(|_| self.deck)
    }

    /// Whether its transactions may change what is in the database: where it says so, and the mix does not leave out those that do.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// What its tables' rows and its draws' bounds are calculated with.
    pub fn scale(&self) -> u64 {
        self.scale
    }

    /// The tables that it describes, in the order in which they were written.
    pub fn tables(&self) -> &[DescribedTable] {
        &self.described.tables
    }

    /// Those of them that a load fills.
    pub fn loaded_tables(&self) -> impl Iterator<Item = &DescribedTable> {
        self.tables().iter().filter(|table| !table.is_filled_by_runs())
    }

    /// The table that its transactions load, where they do.
    pub fn bulk(&self) -> Option<&Arc<OwnBulk>> {
        self.bulk.as_ref()
    }

    /// SHA-256 of its files, as far as they were read.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// SHA-256 of what its tables mean, with scale and seed: the same for the same rows.
    pub fn tables_digest(&self) -> &str {
        &self.described.digest
    }

    /// What a record says of it.
    pub fn facts(&self) -> OwnWorkload {
        let Self { name, digest, writes, scale, .. } = self;
        OwnWorkload {
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
            yardstick: self.yardstick.clone().map(|yardstick| Yardstick {
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

    /// Options with what they are: those that are as usual, or all others.
    pub fn options(&self, usual: bool) -> BTreeMap<String, String> {
        let those = self.options.iter().filter(|(.., is_usual)| *is_usual == usual);
        those.map(|(name, value, _)| (name.clone(), value.clone())).collect()
    }

    /// What has to stand wherever a result of it does; may be empty.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// Transactions that send requests together on `engine`, whose sessions can.
    pub fn pipelined(&self, engine: &str) -> Vec<Pipelined> {
        let codes = self.program(engine).map_or(&[][..], |program| &program.codes);
        let one = |(transaction, code): (&Transaction, &Code)| {
            let class = self.class_name(transaction);
            Some(Pipelined { class, round_trips: code.piped?, alone: code.round_trips })
        };
        self.transactions.iter().zip(codes).filter_map(one).collect()
    }

    /// What is known of its transactions on `engine` beforehand.
    pub fn transaction_facts(&self, engine: &str) -> Vec<TransactionFacts> {
        let codes = self.program(engine).map_or(&[][..], |program| &program.codes);
        let one = |(transaction, code): (&Transaction, &Code)| TransactionFacts {
            class: self.class_name(transaction),
            requests: code.round_trips,
            limit_p90_s: transaction.limit_p90.map(|limit| limit.as_secs_f64()),
            tally: transaction.steps.as_deref().and_then(tallied),
            may_roll_back: code.ops.iter().any(|op| matches!(op, Op::Rollback { is_poll: false })),
            polls: code.ops.iter().any(|op| matches!(op, Op::Rollback { is_poll: true })),
            keying_s: transaction.keying_ns as f64 / 1e9,
            think_s: transaction.think.mean_s(),
        };
        self.transactions.iter().zip(codes).map(one).collect()
    }

    /// Names of engines that files are for: `mysql` where there is `pay.mysql.sql`.
    pub fn engines(&self) -> impl Iterator<Item = &str> {
        self.programs.keys().map(String::as_str)
    }

    /// How often each transaction comes, against the others.
    pub fn weights(&self) -> impl Iterator<Item = u64> {
        self.transactions.iter().map(|transaction| transaction.weight)
    }

    /// What each transaction does to the database, as far as the workload says so.
    pub fn expectations(&self) -> impl Iterator<Item = Expected> {
        let program = self.common.as_ref().or_else(|| self.programs.values().next());
        let calls = move |place: usize| {
            program.is_some_and(|program| {
                let (first, end) = program.codes[place].statements;
                program.statements[usize::from(first)..usize::from(end)].iter().any(|one| one.calls)
            })
        };
        let said = move |(place, one): (usize, &Transaction)| Expected {
            class: self.class_name(one),
            said: match &self.bulk {
                None => one.said.clone(),
                Some(bulk) => BTreeMap::from([(Counter::RowsWritten, bulk.mean_rows())]),
            },
            calls: calls(place),
            ..Expected::default()
        };
        self.transactions.iter().enumerate().map(said)
    }

    /// One class for each transaction, in the order in which they were written. Of rows and commits only what every transaction
    /// of a class has in common is said.
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
                    (_, Some(_)) => Touch::Inserted,
                    (true, None) => Touch::Updated,
                    (false, None) => Touch::Read,
                },
                mixed: writes && self.bulk.is_none(),
                // What reads and writes touches rows in two ways, of which a class says one.
                rows_per_op: code.filter(|code| !code.writes).and_then(|code| code.rows),
                scans: false,
                commits: code.and_then(|code| code.commits).unwrap_or(u64::from(writes)),
                share: Share { percent, of_reads: false, turned: 0 },
                workload: 0,
            }
        };
        Classes::new(self.transactions.iter().enumerate().map(class).collect())
    }

    /// All statements of all transactions for this engine; the number of each is its place.
    ///
    /// # Errors
    /// There is no SQL for this engine, or what it would take for a parameter.
    pub fn statements(&self, engine: &str, dialect: Dialect) -> Result<Arc<[Statement]>, Fault> {
        let program = self.program(engine)?;
        program.statements.iter().map(|prepared| statement(prepared, dialect)).collect()
    }

    /// A statement with values in the place of its parameters, written as the engine writes them.
    ///
    /// # Errors
    /// There is no SQL for this engine.
    pub fn written_out(
        &self,
        engine: &str,
        statement: StatementId,
        values: &[Value<'_>],
        literal: impl Fn(Value<'_>) -> String,
    ) -> Result<String, Fault> {
        let program = self.program(engine)?;
        let value = |number: usize| values.get(number - 1).map_or_else(String::new, |&value| literal(value));
        Ok(program
            .statements
            .get(statement.index())
            .map_or_else(String::new, |prepared| prepared.with(value)))
    }

    /// What is wrong with a statement, such as the words of a server.
    pub fn fault(
        &self,
        engine: &str,
        statement: StatementId,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Fault {
        let program = match self.program(engine) {
            Ok(program) => program,
            Err(fault) => return fault,
        };
        match program.statements.get(statement.index()) {
            Some(prepared) => prepared.fault(problem, hint),
            None => Fault::whole(self.name.clone(), problem, hint),
        }
    }

    /// The statements that make and fill its tables.
    ///
    /// # Errors
    /// There are none for this engine.
    pub fn setup(&self, engine: &str) -> Result<Vec<Single>, Fault> {
        singles("setup", &self.setup, engine)
    }

    /// The statements that drop them.
    ///
    /// # Errors
    /// There are none for this engine.
    pub fn teardown(&self, engine: &str) -> Result<Vec<Single>, Fault> {
        singles("drop", &self.drop, engine)
    }

    /// What has to hold behind each run, or behind a load, under the name of each: to be the same as before, or something certain.
    ///
    /// # Errors
    /// One has no SQL for this engine.
    pub fn invariants(&self, engine: &str, when: After) -> Result<Vec<Single>, Fault> {
        let mut all = Vec::new();
        for Invariant { name, sql, is, .. } in self.invariants.iter().filter(|one| one.after.contains(&when))
        {
            let own = singles("invariant", sql, engine)?;
            let with = |single| Single { name: name.clone(), is: is.clone(), ..single };
            all.extend(own.into_iter().map(with));
        }
        Ok(all)
    }

    /// What sessions do on this engine.
    pub(super) fn program(&self, engine: &str) -> Result<&Arc<Program>, Fault> {
        let program = self.programs.get(engine).or(self.common.as_ref());
        program.ok_or_else(|| {
            let lacks = |one: &&Transaction| one.sql.as_ref().is_some_and(|sql| sql.of(engine).is_none());
            let first = self.transactions.iter().find(lacks).unwrap_or(&self.transactions[0]);
            first.no_sql(engine)
        })
    }
}

/// What steps tally.
fn tallied(steps: &[Step]) -> Option<String> {
    steps.iter().find_map(|step| match step {
        Step::Tally(what) => Some(what.clone()),
        Step::Repeat { steps, .. } | Step::Transaction { steps, .. } => tallied(steps),
        Step::If { then, otherwise, .. } => tallied(then).or_else(|| tallied(otherwise)),
        _ => None,
    })
}

fn statement(prepared: &Prepared, dialect: Dialect) -> Result<Statement, Fault> {
    let Prepared { name, text, piece, types, answer, commits, .. } = prepared;
    let mark = |number| (dialect.mark)(number);
    if let Some(at) = piece.mark.filter(|_| mark(1).starts_with('?')) {
        let hint = "write :name for a value that is drawn, and a question mark in quotes where it is one";
        return Err(text.fault(at, "the engine takes ? for a parameter", hint));
    }
    let mut sql = prepared.with(mark);
    if let Some(call) = dialect.call.filter(|_| prepared.calls) {
        let tells = matches!(answer, Answer::Number | Answer::Columns).then(|| mark(piece.params.len() + 1));
        sql = call(&sql, tells.as_deref());
    }
    let commits = if *commits { Commits::Behind } else { Commits::Nothing };
    let (name, params) = (name.clone(), types.to_vec());
    Ok(Statement { name, sql, params, answer: *answer, commits, works: true })
}

/// The statements of `sql` for this engine; none where nothing is written.
fn singles(what: &str, sql: &Variants<Sql>, engine: &str) -> Result<Vec<Single>, Fault> {
    let Some(Sql { text, pieces }) = sql.of(engine) else {
        return match sql.all().next() {
            None => Ok(Vec::new()),
            Some(other) => {
                let problem = format!("[{what}] has no SQL for {engine}");
                let hint = "write the file that is common to all, or one for this engine beside it";
                Err(other.text.fault(0, problem, hint))
            }
        };
    };
    let single = |piece: &Piece| Single {
        name: String::new(),
        is: None,
        sql: piece.letters(text).to_owned(),
        text: text.clone(),
        piece: piece.clone(),
    };
    Ok(pieces.iter().map(single).collect())
}
