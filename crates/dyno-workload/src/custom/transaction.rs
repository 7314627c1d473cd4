//! A transaction as the user wrote it, and the statements of its file that its steps run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dyno_engine::Isolation;
use dyno_plan::Rate;
use dyno_record::Counter;

use super::fault::{SourceText, WorkloadError};
use super::folder::Variants;
use super::names::{meant, shown};
use super::sql::SplitStatement;
use super::steps::{Sql, StatementRef, TransactionStep};

/// A transaction as the user wrote it.
#[derive(Debug, Clone)]
pub(super) struct Transaction {
    pub(super) name: String,
    pub(super) weight: u64,
    /// Its own rate; absent if it has a weight.
    pub(super) rate: Option<Rate>,
    /// Number of sessions for its own rate.
    pub(super) sessions: u32,
    pub(super) isolation: Isolation,
    /// Whether each statement commits separately.
    pub(super) commits_each: bool,
    pub(super) retries: u32,
    /// Whether it creates, changes or drops tables or other objects.
    pub(super) definitions: bool,
    /// Whether requests are sent together if no answer is needed in between.
    pub(super) pipeline: bool,
    /// The think time after it.
    pub(super) think: ThinkDistribution,
    /// Keying time before it starts, in ns.
    pub(super) keying_ns: u64,
    /// The limit for the 90th percentile of its response time.
    pub(super) limit_p90: Option<Duration>,
    /// The declared effect of one transaction on the database.
    pub(super) expected_counts: BTreeMap<Counter, f64>,
    pub(super) sql: Option<Variants<Sql>>,
    /// The table that it loads instead of executing statements.
    pub(super) fills: Option<BulkFill>,
    /// Its steps; absent to execute its statements in order.
    pub(super) steps: Option<Vec<TransactionStep>>,
    /// Names of statements that it would run with other values of the workload's options.
    pub(super) may_run: BTreeSet<String>,
    /// Its place in the file.
    pub(super) source: SourceText,
}

/// The table that a transaction loads.
#[derive(Debug, Clone)]
pub(super) struct BulkFill {
    pub(super) table: SourceText,
    /// Number of rows in one transaction.
    pub(super) part: u64,
}

/// Think time of a session after a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkDistribution {
    /// Uniform between two times, in ns.
    Between(u64, u64),
    /// Exponential with this mean and at most ten times the mean, in ns (TPC-C, clause 5.2.5.4).
    Exponential(u64),
}

/// The largest exponential think time, as a multiple of the mean.
const LONGEST: f64 = 10.0;

impl ThinkDistribution {
    /// Whether there is think time.
    pub(super) fn is_any(self) -> bool {
        !matches!(self, Self::Between(_, 0) | Self::Exponential(0))
    }

    /// The mean think time in s.
    pub(super) fn mean_s(self) -> f64 {
        match self {
            Self::Between(low, high) => (low as f64 + high as f64) / 2e9,
            Self::Exponential(mean) => mean as f64 / 1e9,
        }
    }

    /// The think time for 64 random bits, in ns.
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

/// A statement with the text that contains it.
pub(super) type StatementInText<'a> = (&'a SourceText, &'a SplitStatement);

/// A transaction with its own rate.
#[derive(Debug, Clone, PartialEq)]
pub struct RatedTransaction {
    pub name: String,
    /// Its rate over all its sessions.
    pub rate: Rate,
    /// The number of its sessions.
    pub sessions: u32,
}

impl Transaction {
    /// Its own rate and sessions; `None` if it has a weight.
    pub(super) fn rated(&self) -> Option<RatedTransaction> {
        let Self { name, rate, sessions, .. } = self;
        Some(RatedTransaction { name: name.clone(), rate: (*rate)?, sessions: *sessions })
    }

    /// The error that it has no SQL for `engine`.
    pub(super) fn no_sql(&self, engine: &str) -> WorkloadError {
        let problem = format!("transaction.{}: no SQL for {engine}", self.name);
        let hint = "write a file for all engines, or one for this engine";
        self.source.fault(0, problem, hint)
    }

    /// The statement of the transaction's file that a step runs.
    pub(super) fn statement<'a>(
        &self,
        sql: Option<&'a Sql>,
        which: &'a StatementRef,
    ) -> Result<Option<StatementInText<'a>>, WorkloadError> {
        let (name, sql) = match (which, sql) {
            (StatementRef::Here(Sql { text, pieces }), _) => {
                return Ok(pieces.first().map(|piece| (text, piece)));
            }
            (StatementRef::Nth(place), sql) => {
                return Ok(sql.and_then(|sql| Some((&sql.text, sql.pieces.get(*place)?))));
            }
            (StatementRef::Named(name), None) => {
                let hint = format!("write sql = \"FILE.sql\" in [transaction.{}]", self.name);
                return Err(name.fault(0, "the transaction has no file of SQL", hint));
            }
            (StatementRef::Named(name), Some(sql)) => (name, sql),
        };
        let named_pieces = || sql.pieces.iter().filter_map(|piece| Some((piece, piece.name.as_deref()?)));
        match named_pieces().find(|(_, known)| *known == &*name.letters) {
            Some((piece, _)) => Ok(Some((&sql.text, piece))),
            None => {
                let problem = format!("no statement has the name {}", shown(&name.letters));
                let hint = match meant(&name.letters, named_pieces().map(|(_, name)| name)) {
                    none if none.is_empty() => {
                        format!("write `-- name: {}` before one", shown(&name.letters))
                    }
                    hint => hint,
                };
                Err(name.fault(0, problem, hint))
            }
        }
    }

    /// Refuses a statement of `sql` that no step runs; `used` marks those that are run.
    pub(super) fn require_all_used(&self, sql: &Sql, used: &[bool]) -> Result<(), WorkloadError> {
        let Sql { text, pieces } = sql;
        // A statement that another value of an option runs counts as used.
        let is_named =
            |piece: &SplitStatement| piece.name.as_ref().is_some_and(|name| self.may_run.contains(name));
        let unused = |(piece, used): &(&SplitStatement, &bool)| !**used && !is_named(piece);
        let Some((piece, _)) = pieces.iter().zip(used).find(unused) else { return Ok(()) };
        let (problem, hint) = match &piece.name {
            Some(name) => (
                format!("no step of {} runs {name}", self.name),
                format!("run it in a step, {{ run = \"{name}\" }}, or remove it"),
            ),
            None => (
                "unnamed statement: the steps refer to statements by name".to_owned(),
                "add `-- name: …` before it and a step that runs it".to_owned(),
            ),
        };
        Err(text.fault(piece.at.start, problem, hint))
    }
}
