//! What transactions of a user's own workload were expected to do to the database, against what its counters say.

use dyno_record::window::Counted;
use dyno_record::{CheckStatus, Class, Counter, Expected, Transactions};

use super::commits;
use super::facts::{Facts, Interval};
use super::finding::{Finding, Skip, Verdict, found, skip};
use crate::number::{count, fixed};

/// Counters that are held against what was learned, though nobody has said anything of them. Others depend on how many sessions
/// there are, and on what the data has become.
const LEARNED: [Counter; 1] = [Counter::RowsWritten];

/// Transactions in which a server looks up what a session meets for the first time, procedures and tables, at most.
const MET_FIRST: u64 = 8;

/// Standard errors of what was learned that are no chance any more.
const ERRORS: f64 = 5.0;

/// Share by which a count may differ from what was expected, whatever its error.
const SLACK: f64 = 0.01;

/// Counters whose excess is told as others': what else a transaction moves depends on who else is there.
const TOLD: [Counter; 2] = [Counter::RowsRead, Counter::RowsWritten];

/// What is known of the transactions of a run.
struct Known<'a> {
    expected: Vec<&'a Expected>,
    /// Tries that failed.
    failed: u64,
    /// What sessions may meet for the first time, in transactions.
    met_first: u64,
}

impl<'a> Known<'a> {
    fn of(facts: &Facts<'a>) -> Result<Self, Skip> {
        if facts.record.workload.is_none() {
            return Err(Skip("it is of workloads of the user's own".into()));
        }
        let expected: Vec<&Expected> = facts.record.workloads().flat_map(|own| &own.expected).collect();
        if expected.is_empty() {
            return Err(Skip(
                "nothing was said, and nothing learned: a run with a warm-up (run.warmup) learns".into(),
            ));
        }
        let failed = facts.record.errors.iter().map(|error| error.count + error.retried).sum::<u64>();
        Ok(Self { expected, failed, met_first: u64::from(facts.sessions()) * MET_FIRST })
    }
}

/// What was done over an interval.
struct Over<'a> {
    interval: Interval<'a>,
    /// Transactions of each class.
    done: Vec<(&'a str, u64)>,
    /// What may lie beyond the begin or the end.
    unsure: Vec<&'a Counted>,
}

impl<'a> Over<'a> {
    fn of(facts: &Facts<'a>, interval: Interval<'a>) -> Result<Self, Skip> {
        let window = facts.window()?;
        let is_window = interval.name == "window";
        let done = |class: &Class| match (&window.counted, &facts.record.whole) {
            (_, Some(whole)) if !is_window => whole.ops.get(&class.name).copied().unwrap_or(0),
            (Some(counted), _) => counted.of(&class.name),
            (None, _) => facts.ops(&class.name).map_or(0, |ops| ops.count),
        };
        let done = facts.record.classes.iter().map(|class| (class.name.as_str(), done(class)));
        let unsure = window.unsure.as_ref().filter(|_| is_window);
        Ok(Self {
            done: done.filter(|(_, ops)| *ops > 0).collect(),
            unsure: unsure.map(|(begin, end)| [begin, end]).into_iter().flatten().collect(),
            interval,
        })
    }
}

/// Whether the window's counters moved as its transactions should have moved them.
pub(super) fn check(facts: &Facts<'_>) -> Verdict {
    let known = Known::of(facts)?;
    let compared = Over::of(facts, facts.compared()?)?;
    let said = known.expected.iter().flat_map(|one| one.said.keys().copied());
    // Where each statement counts, nobody but the database knows of those within a procedure.
    let is_each = facts.counting.transactions == Transactions::Statements;
    let called = (is_each && known.expected.iter().any(|one| one.calls)).then_some(Counter::Commits);
    let mut counters: Vec<Counter> = LEARNED.into_iter().chain(called).chain(said).collect();
    counters.sort_unstable();
    counters.dedup();
    // Over the sessions' whole life nothing is under way at the ends.
    let whole = facts.whole_interval().and_then(|whole| Over::of(facts, whole)).ok();
    let compare = |counter| {
        let by_whole = || Held::of(facts, &known, whole.as_ref()?, counter);
        if Some(counter) == called && whole.is_some() {
            return by_whole();
        }
        let by_window = Held::of(facts, &known, &compared, counter)?;
        match by_window.is_too_wide() {
            // As much of the window's work lies on its ends as was done.
            true => by_whole().filter(|held| !held.is_too_wide()).or(Some(by_window)),
            false => Some(by_window),
        }
    };
    let held = counters.into_iter().filter_map(compare);
    let (too_wide, held): (Vec<Held>, Vec<Held>) = held.partition(Held::is_too_wide);
    let findings: Vec<Finding> = held.into_iter().map(|held| held.finding(facts)).collect();
    if let (true, Some(first)) = (findings.is_empty(), too_wide.first()) {
        return skip(first.too_wide());
    }
    let Some(worst) = findings.iter().map(|finding| finding.status).max() else {
        return skip("of no counter it is known what all classes do, and what the database counted");
    };
    let all = |of: fn(&Finding) -> &String| findings.iter().map(of).cloned().collect::<Vec<_>>().join("; ");
    found(worst, all(|one| &one.expected), all(|one| &one.observed), all(|one| &one.detail))
}

/// Share of the rows that transactions found while they were learned, below which they do other work.
const FOUND_WARN: f64 = 0.5;

/// The same below which the run has next to nothing of the work that was asked for.
const FOUND_FAIL: f64 = 0.1;

/// Rows of a transaction below which none is missing, and transactions of which a mean says something.
const ROWS_MIN: f64 = 0.5;
const TRANSACTIONS_MIN: u64 = 20;

/// Whether statements still find the rows that they found while transactions were learned. Somebody may have emptied a table.
pub(super) fn rows_found(facts: &Facts<'_>) -> Verdict {
    let workload = Known::of(facts)?;
    let Over { interval, done, .. } = Over::of(facts, facts.compared()?)?;
    let rows_of = |class: &str| {
        let transaction = workload.expected.iter().find(|transaction| transaction.class == class)?;
        transaction.learned.as_ref()?.rows
    };
    let learned: Option<Vec<f64>> =
        done.iter().map(|&(class, ops)| Some(rows_of(class)? * ops as f64)).collect();
    let Some(expected_rows) = learned.map(|rows| rows.iter().sum::<f64>()) else {
        return skip("it was not learned how many rows transactions find");
    };
    let transactions: u64 = done.iter().map(|(_, ops)| *ops).sum();
    if transactions < TRANSACTIONS_MIN || expected_rows < ROWS_MIN * transactions as f64 {
        return skip("too few rows were found while transactions were learned");
    }
    let rows = interval.rows().saturating_add(interval.rows_inserted);
    let (expected, observed) = (count(expected_rows.round() as u64), count(rows));
    let words = format!(
        "statements of {} transactions returned or changed {observed} rows; as they did while they were learned it would be {expected}",
        count(transactions)
    );
    let status = match rows as f64 / expected_rows {
        share if share >= FOUND_WARN => return found(CheckStatus::Pass, expected, observed, words),
        // A workload that deletes may have emptied its tables itself.
        share if share >= FOUND_FAIL || interval.rows_deleted > 0 => CheckStatus::Warn,
        _ => CheckStatus::Fail,
    };
    found(status, expected, observed, format!("{words}: see whether somebody deleted rows"))
}

/// How much of each counter lies beyond all that the run's transactions are known to do, and how much the database counted.
pub(super) fn beyond(facts: &Facts<'_>) -> Vec<(Counter, u64, u64)> {
    // What sessions on other targets write arrives by itself, and counts there, too.
    if facts.replicated || (facts.record.is_total() && facts.is_shared()) {
        return Vec::new();
    }
    let over = || Over::of(facts, facts.compared()?);
    let (Ok(known), Ok(over)) = (Known::of(facts), over()) else { return Vec::new() };
    let held = TOLD.into_iter().filter_map(|counter| Held::of(facts, &known, &over, counter));
    held.map(|held| (held.counter, (held.gap() - held.slack).max(0.0) as u64, held.seen)).collect()
}

/// What was expected of one counter, and what it did.
struct Held {
    counter: Counter,
    seen: u64,
    expected: f64,
    /// By how much they may differ.
    slack: f64,
    /// Whether the workload itself says it.
    is_said: bool,
    words: String,
}

impl Held {
    /// One counter; nothing where not all is known of it, or others' part in it is the run's own.
    fn of(facts: &Facts<'_>, known: &Known<'_>, over: &Over<'_>, counter: Counter) -> Option<Self> {
        let is_commits = counter == Counter::Commits;
        if !is_commits && facts.own_company().is_some() && facts.counting.for_server.contains(&counter) {
            return None;
        }
        let Over { interval, done, unsure } = over;
        let counted = interval.without_observer(counter).ok()?;
        let seen = if is_commits { commits::of_sessions(interval, counted) } else { counted };
        let of = |class: &str| {
            let known = known.expected.iter().find(|one| one.class == class)?;
            Some((known.of(counter)?, known.learned.as_ref().map_or(0, |learned| learned.transactions)))
        };
        let (mut sum, mut error, mut per_op) = (0.0, 0.0, 0.0_f64);
        let mut words = Vec::new();
        for &(class, ops) in done {
            let (mean, transactions) = of(class)?;
            sum += mean.mean * ops as f64;
            // What the mean may be off by, and what so many transactions differ from their mean by chance.
            error += mean.error * (ops as f64 + (ops as f64 * transactions as f64).sqrt());
            per_op = per_op.max(mean.mean);
            let beyond: u64 = unsure.iter().map(|part| part.of(class)).sum();
            error += mean.mean * beyond as f64 / ERRORS;
            words.push(format!("{} of each {class}", fixed(mean.mean, 2)));
        }
        if words.is_empty() {
            return None;
        }
        // A transaction that conflicted has written rows, too, before it was taken back.
        let failed = known.failed as f64 * per_op;
        let met_first = if is_commits { known.met_first as f64 } else { 0.0 };
        let steps: u64 = if is_commits { unsure.iter().map(|part| part.beside).sum() } else { 0 };
        let slack =
            ERRORS * error + SLACK * sum + met_first + failed + per_op + steps as f64 + interval.blur * sum;
        let is_said = known.expected.iter().any(|one| one.said.contains_key(&counter));
        Some(Self { counter, seen, expected: sum, slack, is_said, words: words.join(", ") })
    }

    /// Whether the counts differ by less than they may, and that is all that was expected or more: it proves nothing.
    fn is_too_wide(&self) -> bool {
        let gap = self.gap().abs();
        gap >= 0.5 && gap <= self.slack && self.slack >= self.expected
    }

    fn too_wide(&self) -> String {
        format!(
            "{}: {} expected, and the database counted {}: up to {} may differ, so this few prove nothing",
            self.counter.name().replace('_', " "),
            count(self.expected.round() as u64),
            count(self.seen),
            count(self.slack.round() as u64)
        )
    }

    fn gap(&self) -> f64 {
        self.seen as f64 - self.expected
    }

    fn finding(self, facts: &Facts<'_>) -> Finding {
        let (expected, observed) = (count(self.expected.round() as u64), count(self.seen));
        let name = self.counter.name().replace('_', " ");
        let head = format!("{name}: {} are {expected}, and the database counted {observed}", self.words);
        let (status, tail) = match (self.gap().abs() <= self.slack, self.is_said) {
            (true, _) => (CheckStatus::Pass, ""),
            _ if facts.replicated && self.gap() > 0.0 => {
                (CheckStatus::Pass, ": more, for it applies what sessions on the other targets write")
            }
            (false, true) => (
                CheckStatus::Fail,
                ": transactions do not do what the workload says, or others do it beside them",
            ),
            (false, false) => (
                CheckStatus::Warn,
                ": others do it beside the run, or transactions do other things than when they were alone",
            ),
        };
        Finding { status, expected, observed, detail: format!("{head}{tail}") }
    }
}
