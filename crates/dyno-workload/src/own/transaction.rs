//! A transaction as it was written, and which statements of its file its steps mean.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dyno_engine::Isolation;
use dyno_plan::Rate;
use dyno_record::Counter;

use super::fault::{Fault, Text};
use super::folder::Variants;
use super::names::{meant, shown};
use super::sql::Piece;
use super::steps::{Sql, Step, Which};

/// A transaction as it was written.
#[derive(Debug, Clone)]
pub(super) struct Transaction {
    pub(super) name: String,
    pub(super) weight: u64,
    /// The rate at which it comes, where it has one of its own; it has no weight then.
    pub(super) rate: Option<Rate>,
    /// Sessions that do it at that rate.
    pub(super) sessions: u32,
    pub(super) isolation: Isolation,
    /// Whether each statement commits by itself.
    pub(super) each: bool,
    pub(super) retries: u32,
    /// Whether it makes, changes or drops tables and the like.
    pub(super) definitions: bool,
    /// Whether requests are sent together whose answers nobody waits for.
    pub(super) pipeline: bool,
    /// The rest behind it.
    pub(super) think: Think,
    /// How long it is typed in before it begins, ns.
    pub(super) keying_ns: u64,
    /// What its response time is to stay below nine times in ten.
    pub(super) limit_p90: Option<Duration>,
    /// What one does to the database, as far as that is said.
    pub(super) said: BTreeMap<Counter, f64>,
    pub(super) sql: Option<Variants<Sql>>,
    /// What it loads, in the place of statements.
    pub(super) fills: Option<Fills>,
    /// Its steps; none are the statements one after the other.
    pub(super) steps: Option<Vec<Step>>,
    /// Names of statements that it would run with other values of the workload's options.
    pub(super) may_run: BTreeSet<String>,
    /// Where it is written.
    pub(super) here: Text,
}

/// What a transaction loads.
#[derive(Debug, Clone)]
pub(super) struct Fills {
    /// The table.
    pub(super) table: Text,
    /// Rows of one transaction.
    pub(super) part: u64,
}

/// How long a session rests behind a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Think {
    /// From one time to another, all alike, ns.
    Between(u64, u64),
    /// The longer, the more rarely, with this mean, and at most ten times as long, ns (TPC-C, clause 5.2.5.4).
    Exponential(u64),
}

/// How often the mean an exponential rest is at most.
const LONGEST: f64 = 10.0;

impl Think {
    /// Whether there is any.
    pub(super) fn is_any(self) -> bool {
        !matches!(self, Self::Between(_, 0) | Self::Exponential(0))
    }

    /// Its mean, s.
    pub(super) fn mean_s(self) -> f64 {
        match self {
            Self::Between(low, high) => (low as f64 + high as f64) / 2e9,
            Self::Exponential(mean) => mean as f64 / 1e9,
        }
    }

    /// The rest that belongs to this of all numbers of 64 bits, ns.
    pub(super) fn ns(self, drawn: u64) -> u64 {
        match self {
            Self::Between(low, high) => {
                low + ((u128::from(drawn) * u128::from(high - low + 1)) >> u64::BITS) as u64
            }
            Self::Exponential(mean) => {
                let unit = (((drawn >> 11) + 1) as f64) / (1u64 << 53) as f64;
                (mean as f64 * (-unit.ln()).min(LONGEST)) as u64
            }
        }
    }
}

/// A statement with the text that it stands in.
pub(super) type Found<'a> = (&'a Text, &'a Piece);

/// A transaction with a rate of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Rated {
    /// Its name.
    pub name: String,
    /// Its rate over its sessions.
    pub rate: Rate,
    /// How many they are.
    pub sessions: u32,
}

impl Transaction {
    /// The rate of its own, if it has one.
    pub(super) fn rated(&self) -> Option<Rated> {
        let Self { name, rate, sessions, .. } = self;
        Some(Rated { name: name.clone(), rate: (*rate)?, sessions: *sessions })
    }

    /// What is wrong where it has no SQL for `engine`.
    pub(super) fn no_sql(&self, engine: &str) -> Fault {
        let problem = format!("transaction.{}: there is no SQL for {engine}", self.name);
        let hint = "write the file that is common to all, or one for this engine beside it";
        self.here.fault(0, problem, hint)
    }

    /// The statement that a step means, of those in the transaction's file.
    pub(super) fn statement<'a>(
        &self,
        sql: Option<&'a Sql>,
        which: &'a Which,
    ) -> Result<Option<Found<'a>>, Fault> {
        let (name, sql) = match (which, sql) {
            (Which::Here(Sql { text, pieces }), _) => {
                return Ok(pieces.first().map(|piece| (text, piece)));
            }
            (Which::Nth(place), sql) => {
                return Ok(sql.and_then(|sql| Some((&sql.text, sql.pieces.get(*place)?))));
            }
            (Which::Named(name), None) => {
                let hint = format!("write sql = \"FILE.sql\" in [transaction.{}]", self.name);
                return Err(name.fault(0, "the transaction has no file of SQL", hint));
            }
            (Which::Named(name), Some(sql)) => (name, sql),
        };
        let known = || sql.pieces.iter().filter_map(|piece| Some((piece, piece.name.as_deref()?)));
        match known().find(|(_, known)| *known == &*name.letters) {
            Some((piece, _)) => Ok(Some((&sql.text, piece))),
            None => {
                let problem = format!("no statement has the name {}", shown(&name.letters));
                let hint = match meant(&name.letters, known().map(|(_, name)| name)) {
                    none if none.is_empty() => {
                        format!("write `-- name: {}` before one", shown(&name.letters))
                    }
                    hint => hint,
                };
                Err(name.fault(0, problem, hint))
            }
        }
    }

    /// Refuses a statement of `sql` that no step runs; `used` says which are run.
    pub(super) fn all_used(&self, sql: &Sql, used: &[bool]) -> Result<(), Fault> {
        let Sql { text, pieces } = sql;
        // What another value of an option runs is used then.
        let is_named = |piece: &Piece| piece.name.as_ref().is_some_and(|name| self.may_run.contains(name));
        let unused = |(piece, used): &(&Piece, &bool)| !**used && !is_named(piece);
        let Some((piece, _)) = pieces.iter().zip(used).find(unused) else { return Ok(()) };
        let (problem, hint) = match &piece.name {
            Some(name) => (
                format!("no step of {} runs {name}", self.name),
                format!("run it in a step, {{ run = \"{name}\" }}, or take it out"),
            ),
            None => (
                "a statement without a name, where steps run them by name".to_owned(),
                "write `-- name: …` before it and run that in a step".to_owned(),
            ),
        };
        Err(text.fault(piece.at.start, problem, hint))
    }
}
