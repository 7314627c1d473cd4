//! Compares what a custom workload's transactions should do to the database with its counters.

use dyno_record::window::WorkCounts;
use dyno_record::{CheckStatus, Class, Counter, Expected, Transactions};

use super::commits;
use super::facts::{AuditFacts, AuditInterval};
use super::finding::{AuditCheckResult, Finding, Skip, conclude, skip};
use crate::number::{count, fixed};

/// Counters that are compared with the learned effects although the workload declares nothing about
/// them. Other counters depend on the number of sessions and on the state of the data.
const LEARNED: [Counter; 1] = [Counter::RowsWritten];

/// Most transactions in which a server looks up procedures and tables that a session uses for the
/// first time.
const FIRST_USE_LOOKUPS_MAX: u64 = 8;

/// Standard errors of a learned mean above which chance is no explanation.
const ERRORS: f64 = 5.0;

/// Share by which a count may differ from the expected one, whatever its error.
const SLACK: f64 = 0.01;

/// Counters whose excess counts as background activity. The other effects of a transaction depend
/// on concurrent sessions.
const TOLD: [Counter; 2] = [Counter::RowsRead, Counter::RowsWritten];

/// What is known of a run's transactions.
struct TransactionModel<'a> {
    expected: Vec<&'a Expected>,
    /// Attempts that failed, retried ones included.
    failed: u64,
    /// Transactions that first uses in all sessions may add.
    first_use_allowance: u64,
}

impl<'a> TransactionModel<'a> {
    fn of(facts: &AuditFacts<'a>) -> Result<Self, Skip> {
        if facts.record.workload.is_none() {
            return Err(Skip("this check applies only to custom workloads".into()));
        }
        let expected: Vec<&Expected> = facts.record.workloads().flat_map(|own| &own.expected).collect();
        if expected.is_empty() {
            let why = match facts.record.plan.run.warmup.0.is_zero() {
                true => "none was learned; a run with a warm-up (run.warmup) learns them",
                false => "the warm-up could not learn any",
            };
            return Err(Skip(format!("the workload states no expectation, and {why}")));
        }
        let failed = facts.record.errors.iter().map(|error| error.count + error.retried).sum::<u64>();
        Ok(Self {
            expected,
            failed,
            first_use_allowance: u64::from(facts.sessions()) * FIRST_USE_LOOKUPS_MAX,
        })
    }
}

/// The transactions done in an interval.
struct IntervalOps<'a> {
    interval: AuditInterval<'a>,
    /// Class and number of transactions done.
    ops_by_class: Vec<(&'a str, u64)>,
    /// Work that may lie outside the interval: at its begin and at its end.
    unsure: Vec<&'a WorkCounts>,
}

impl<'a> IntervalOps<'a> {
    fn of(facts: &AuditFacts<'a>, interval: AuditInterval<'a>) -> Result<Self, Skip> {
        let window = facts.window()?;
        let is_window = interval.name == "window";
        let count_ops = |class: &Class| match (&window.counted, &facts.record.whole) {
            (_, Some(whole)) if !is_window => whole.ops.get(&class.name).copied().unwrap_or(0),
            (Some(counted), _) => counted.of(&class.name),
            (None, _) => facts.ops(&class.name).map_or(0, |ops| ops.count),
        };
        let class_counts = facts.record.classes.iter().map(|class| (class.name.as_str(), count_ops(class)));
        let unsure = window.unsure.as_ref().filter(|_| is_window);
        Ok(Self {
            ops_by_class: class_counts.filter(|(_, ops)| *ops > 0).collect(),
            unsure: unsure.map(|(begin, end)| [begin, end]).into_iter().flatten().collect(),
            interval,
        })
    }
}

/// Whether the window's counters changed as its transactions should have changed them.
pub(super) fn check(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let model = TransactionModel::of(facts)?;
    let compared = IntervalOps::of(facts, facts.compared()?)?;
    let declared = model.expected.iter().flat_map(|one| one.said.keys().copied());
    // Where each statement counts as a transaction, only the database knows those inside a
    // procedure.
    let is_each = facts.counting.transactions == Transactions::Statements;
    let called = (is_each && model.expected.iter().any(|one| one.calls)).then_some(Counter::Commits);
    let mut counters: Vec<Counter> = LEARNED.into_iter().chain(called).chain(declared).collect();
    counters.sort_unstable();
    counters.dedup();
    // Over the whole run, no transaction is in progress at the ends.
    let whole = facts.whole_interval().and_then(|whole| IntervalOps::of(facts, whole)).ok();
    let compare = |counter| {
        let by_whole = || AuditCounterComparison::of(facts, &model, whole.as_ref()?, counter);
        if Some(counter) == called && whole.is_some() {
            return by_whole();
        }
        let by_window = AuditCounterComparison::of(facts, &model, &compared, counter)?;
        match by_window.is_too_wide() {
            // As much work lies at the window's boundaries as was done in it.
            true => by_whole().filter(|held| !held.is_too_wide()).or(Some(by_window)),
            false => Some(by_window),
        }
    };
    let held = counters.into_iter().filter_map(compare);
    let (too_wide, held): (Vec<AuditCounterComparison>, Vec<AuditCounterComparison>) =
        held.partition(AuditCounterComparison::is_too_wide);
    let findings: Vec<Finding> = held.into_iter().map(|held| held.finding(facts)).collect();
    if let (true, Some(first)) = (findings.is_empty(), too_wide.first()) {
        return skip(first.too_wide());
    }
    let Some(worst) = findings.iter().map(|finding| finding.status).max() else {
        return skip("no counter has an expectation for all classes and a count of the database");
    };
    let all = |of: fn(&Finding) -> &String| findings.iter().map(of).cloned().collect::<Vec<_>>().join("; ");
    conclude(worst, all(|one| &one.expected), all(|one| &one.observed), all(|one| &one.detail))
}

/// Share of the learned rows per transaction below which the transactions do different work.
const FOUND_WARN: f64 = 0.5;

/// The same share below which the run did almost none of the requested work.
const FOUND_FAIL: f64 = 0.1;

/// Rows per transaction below which a loss of rows cannot be detected, and transactions below which
/// a mean says nothing.
const ROWS_MIN: f64 = 0.5;
const TRANSACTIONS_MIN: u64 = 20;

/// Whether statements still find as many rows as while transactions were learned. Another session
/// may have emptied a table.
pub(super) fn rows_found(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let workload = TransactionModel::of(facts)?;
    let IntervalOps { interval, ops_by_class: done, .. } = IntervalOps::of(facts, facts.compared()?)?;
    let rows_of = |class: &str| {
        let transaction = workload.expected.iter().find(|transaction| transaction.class == class)?;
        transaction.learned.as_ref()?.rows
    };
    let learned: Option<Vec<f64>> =
        done.iter().map(|&(class, ops)| Some(rows_of(class)? * ops as f64)).collect();
    let Some(expected_rows) = learned.map(|rows| rows.iter().sum::<f64>()) else {
        return skip("the number of rows that transactions find was not learned");
    };
    let transactions: u64 = done.iter().map(|(_, ops)| *ops).sum();
    if transactions < TRANSACTIONS_MIN || expected_rows < ROWS_MIN * transactions as f64 {
        return skip("transactions found too few rows while they were learned");
    }
    let rows = interval.rows().saturating_add(interval.rows_inserted);
    let (expected, observed) = (count(expected_rows.round() as u64), count(rows));
    let words = format!(
        "statements of {} transactions returned or changed {observed} rows; the number learned before gives \
         {expected}",
        count(transactions)
    );
    let status = match rows as f64 / expected_rows {
        share if share >= FOUND_WARN => return conclude(CheckStatus::Pass, expected, observed, words),
        // A workload that deletes may have emptied its tables itself.
        share if share >= FOUND_FAIL || interval.rows_deleted > 0 => CheckStatus::Warn,
        _ => CheckStatus::Fail,
    };
    conclude(status, expected, observed, format!("{words}: check whether rows were deleted"))
}

/// For each counter: the excess beyond what the run's transactions are known to do, and the
/// database's count.
pub(super) fn foreign_counts(facts: &AuditFacts<'_>) -> Vec<(Counter, u64, u64)> {
    // Writes of sessions on other targets are replicated here, and this server counts them too.
    if facts.replicated || (facts.record.is_total() && facts.is_shared()) {
        return Vec::new();
    }
    let over = || IntervalOps::of(facts, facts.compared()?);
    let (Ok(known), Ok(over)) = (TransactionModel::of(facts), over()) else { return Vec::new() };
    let held =
        TOLD.into_iter().filter_map(|counter| AuditCounterComparison::of(facts, &known, &over, counter));
    held.map(|held| (held.counter, (held.gap() - held.slack).max(0.0) as u64, held.observed)).collect()
}

/// What was expected of one counter, and what the database counted.
struct AuditCounterComparison {
    counter: Counter,
    observed: u64,
    expected: f64,
    /// The difference that is allowed between both.
    slack: f64,
    /// Whether the workload declares the effect, instead of Dyno learning it.
    is_declared: bool,
    words: String,
}

impl AuditCounterComparison {
    /// One counter. `None` where the effect of a class is unknown, or where the background activity
    /// is the run's own.
    fn of(
        facts: &AuditFacts<'_>,
        model: &TransactionModel<'_>,
        over: &IntervalOps<'_>,
        counter: Counter,
    ) -> Option<Self> {
        let is_commits = counter == Counter::Commits;
        if !is_commits
            && facts.shared_server_reason().is_some()
            && facts.counting.for_server.contains(&counter)
        {
            return None;
        }
        let IntervalOps { interval, ops_by_class: done, unsure } = over;
        let counted = interval.without_observer(counter).ok()?;
        let observed_count = if is_commits { commits::session_commits(interval, counted) } else { counted };
        let learned_mean = |class: &str| {
            let class_model = model.expected.iter().find(|one| one.class == class)?;
            Some((
                class_model.of(counter)?,
                class_model.learned.as_ref().map_or(0, |learned| learned.transactions),
            ))
        };
        let (mut sum, mut error, mut per_op) = (0.0, 0.0, 0.0_f64);
        let mut words = Vec::new();
        for &(class, ops) in done {
            let (mean, transactions) = learned_mean(class)?;
            sum += mean.mean * ops as f64;
            // The error of the mean, and the random deviation of this many transactions from it.
            error += mean.error * (ops as f64 + (ops as f64 * transactions as f64).sqrt());
            per_op = per_op.max(mean.mean);
            let beyond: u64 = unsure.iter().map(|part| part.of(class)).sum();
            error += mean.mean * beyond as f64 / ERRORS;
            words.push(format!("{} of each {class}", fixed(mean.mean, 2)));
        }
        if words.is_empty() {
            return None;
        }
        // A transaction that conflicted has written rows, too, before it was rolled back.
        let failed = model.failed as f64 * per_op;
        let met_first = if is_commits { model.first_use_allowance as f64 } else { 0.0 };
        let steps: u64 = if is_commits { unsure.iter().map(|part| part.beside).sum() } else { 0 };
        let slack =
            ERRORS * error + SLACK * sum + met_first + failed + per_op + steps as f64 + interval.blur * sum;
        let is_said = model.expected.iter().any(|one| one.said.contains_key(&counter));
        Some(Self {
            counter,
            observed: observed_count,
            expected: sum,
            slack,
            is_declared: is_said,
            words: words.join(", "),
        })
    }

    /// Whether the difference is within the tolerance, and the tolerance is at least the expected
    /// count. That proves nothing.
    fn is_too_wide(&self) -> bool {
        let gap = self.gap().abs();
        gap >= 0.5 && gap <= self.slack && self.slack >= self.expected
    }

    fn too_wide(&self) -> String {
        format!(
            "{}: {} expected, database counted {}: up to {} may differ, so these counts prove nothing",
            self.counter.name().replace('_', " "),
            count(self.expected.round() as u64),
            count(self.observed),
            count(self.slack.round() as u64)
        )
    }

    fn gap(&self) -> f64 {
        self.observed as f64 - self.expected
    }

    fn finding(self, facts: &AuditFacts<'_>) -> Finding {
        let (expected, observed) = (count(self.expected.round() as u64), count(self.observed));
        let name = self.counter.name().replace('_', " ");
        let head = format!("{name}: {} are {expected}, and the database counted {observed}", self.words);
        let (status, tail) = match (self.gap().abs() <= self.slack, self.is_declared) {
            (true, _) => (CheckStatus::Pass, ""),
            _ if facts.replicated && self.gap() > 0.0 => {
                (CheckStatus::Pass, ": more, because it also applies writes of sessions on the other targets")
            }
            (false, true) => (
                CheckStatus::Fail,
                ": transactions do not do what the workload states, or other sessions add to the count",
            ),
            (false, false) => (
                CheckStatus::Warn,
                ": other sessions add to the count, or transactions do not do the same as when they ran alone",
            ),
        };
        Finding { status, expected, observed, detail: format!("{head}{tail}") }
    }
}
