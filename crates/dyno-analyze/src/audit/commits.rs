//! Compares the commits acknowledged to the client with those that the database counted, and checks
//! that they waited for storage.

use dyno_plan::Commit;
use dyno_record::{CheckStatus, Counter, Expected, Transactions};

use super::compare::{FOREIGN_SHARE, Tolerance, share_of};
use super::facts::{AuditFacts, AuditInterval};
use super::finding::{AuditCheckResult, Skip, conclude, skip};
use crate::number::count;

/// Dyno's own transactions that are no operations, as the driver counts them. They belong to the
/// observer, the sampler, and the sessions that connect, prepare, flush statistics and read back.
const OWN_COMMITS: &str = "dyno.own_commits";

/// The part of them that the sessions executed.
const SESSION_COMMITS: &str = "dyno.session_commits";

/// Most transactions of one background worker: one that vacuums or analyzes a table with its TOAST
/// table, or one that finds nothing to do. It is three times the figure measured on PostgreSQL 15,
/// where each took two.
const VACUUM_COMMITS: u64 = 6;
const ROUND_COMMITS: u64 = 6;

/// Most transactions besides operations, per second of the sessions' life. The server adds them for
/// connections that are opened, tried and refused, and for background workers.
const CONNECTING_PER_S: f64 = 2.0;
const CONNECTING_AT_LEAST: u64 = 20;

/// Seconds between two rounds of such workers where the server does not say (`autovacuum_naptime`).
const NAPTIME_S: f64 = 60.0;

/// Transactions of the observer and the sampler that a snapshot may miss, where statistics become
/// visible late: the samples of one second. Elsewhere nothing is allowed: each transaction is
/// counted at its end, and noted before the snapshot reads the counters.
const OWN_UNBOOKED: u64 = 10;

/// Share by which parallel workers may exceed the learned number.
const LEARNED_SLACK: f64 = 0.02;

/// Share of the required syncs below which some commits cannot have waited. One sync serves at most
/// one commit of each session, so commits ÷ sessions syncs are required.
const SYNC_SHARE_MIN: f64 = 0.95;

/// The same share where the server reports much of its work late.
const SYNC_SHARE_LATE_MIN: f64 = 0.5;

/// Fewer commits than this say nothing about syncs.
const COMMITS_MIN: u64 = 20;

/// The transactions that the database must have counted, and how that number is derived.
fn transactions(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> Result<(u64, String), Skip> {
    let commits = interval.commits;
    if let (Some(all), Transactions::Calls | Transactions::Statements) =
        (interval.transactions, facts.counting.transactions)
    {
        let reads = all.saturating_sub(commits);
        let words = format!(
            "{} acknowledged ({} that changed rows and {} that did not)",
            count(all),
            count(commits),
            count(reads)
        );
        return Ok((all, words));
    }
    let slices = facts.server_drive().then_some(interval.slices);
    let rule = facts.counting.transactions;
    let Some(sum) = rule.counted(interval.reads, commits, slices) else {
        return Err(Skip("it is unknown how this engine counts commits".into()));
    };
    if rule == Transactions::Commits
        && facts.counting.empty_commits == Some(true)
        && interval.empty_commits > 0
    {
        let (all, empty) = (sum.saturating_add(interval.empty_commits), interval.empty_commits);
        let words = format!("{} acknowledged ({} of them without a change)", count(all), count(empty));
        return Ok((all, words));
    }
    let parts = match (rule, slices) {
        (Transactions::Commits | Transactions::Unknown, _) => String::new(),
        (Transactions::Calls, Some(slices)) => {
            format!(" ({} slices and {} commits inside them)", count(slices), count(commits))
        }
        _ if interval.reads == 0 => String::new(),
        _ => {
            let writes = if interval.writes() == interval.updates { "updates" } else { "writes" };
            let (reads, commits) = (count(interval.reads), count(commits));
            format!(" ({reads} reads and {commits} {writes}, each a transaction)")
        }
    };
    Ok((sum, format!("{} acknowledged{parts}", count(sum))))
}

/// Transactions by which background work of the server and late statistics may raise the database's
/// count.
fn allowance(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> u64 {
    let of_sessions = u64::from(facts.sessions()).saturating_mul(facts.counting.commits_per_session_max);
    if !facts.counting.workers_commit {
        return of_sessions;
    }
    if interval.name != "window" {
        return ((interval.seconds.max(0.0) * CONNECTING_PER_S) as u64)
            .saturating_add(CONNECTING_AT_LEAST)
            .saturating_add(of_sessions);
    }
    let setting = facts.target().and_then(|target| target.identity.settings.get("autovacuum_naptime"));
    let naptime_s = setting.and_then(|value| value.trim_end_matches('s').parse::<f64>().ok());
    let naptime_s = naptime_s.filter(|seconds| *seconds >= 1.0).unwrap_or(NAPTIME_S);
    let rounds = ((interval.seconds.max(0.0) / naptime_s) as u64).saturating_add(1);
    let vacuums = interval.native("pg_stat_database.autovacuums").unwrap_or(0);
    of_sessions
        .saturating_add(rounds.saturating_mul(ROUND_COMMITS))
        .saturating_add(vacuums.saturating_mul(VACUUM_COMMITS))
}

/// The most transactions that parallel workers of custom statements add, besides the transaction itself. It
/// is derived from what was learned of each class alone. Under load there may be fewer workers.
fn of_parallel_workers(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> u64 {
    if !facts.counting.parallel_commit {
        return 0;
    }
    let more = |known: &Expected| {
        let commits_per_op = known.learned.as_ref()?.counters.get(&Counter::Commits)?.mean;
        let ops = facts.ops(&known.class)?.count as f64;
        // Less than half a transaction is other activity during learning.
        Some(if commits_per_op > 1.5 { (commits_per_op - 1.0) * ops } else { 0.0 })
    };
    let expected = || facts.record.workloads().flat_map(|own| &own.expected);
    let of_window: f64 = expected().filter_map(more).sum();
    let window: u64 = expected().filter_map(|known| Some(facts.ops(&known.class)?.count)).sum();
    let share = interval.transactions.unwrap_or(window) as f64 / window.max(1) as f64;
    (of_window * share * (1.0 + LEARNED_SLACK)).ceil() as u64
}

/// Whether custom statements may have had parallel workers that commit, and nothing was learned of
/// them.
fn may_have_parallel_workers(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> bool {
    let learned = || facts.record.workloads().flat_map(|own| &own.expected).any(|one| one.learned.is_some());
    facts.counting.parallel_commit && interval.transactions.is_some() && !learned()
}

/// Dyno's own transactions that were no operations; below 0 where the database counts fewer
/// transactions than there were operations.
fn count_own_commits(interval: &AuditInterval<'_>) -> i64 {
    interval.counters.native.get(OWN_COMMITS).map_or(0, |own| own.round() as i64)
}

/// What the database counted for sessions, without the transactions of the observer and the
/// sampler.
pub(super) fn session_commits(interval: &AuditInterval<'_>, counted: u64) -> u64 {
    let beside = interval.counters.native.get(SESSION_COMMITS).map_or(0, |own| own.round() as i64);
    subtract_own(counted, count_own_commits(interval) - beside)
}

/// `counted` minus Dyno's own transactions.
fn subtract_own(counted: u64, dyno_commits: i64) -> u64 {
    counted.saturating_add_signed(dyno_commits.saturating_neg())
}

/// Transactions of other sessions among those that the database counted, and the total without
/// Dyno's own.
pub(super) fn foreign_commits(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> Option<(u64, u64)> {
    let counted = interval.counter(Counter::Commits).ok()?;
    let (expected, _) = transactions(facts, interval).ok()?;
    let dyno_commits = count_own_commits(interval);
    let database = subtract_own(counted, dyno_commits);
    let tolerance = Tolerance::of(interval, expected, 1);
    let more = tolerance.more.saturating_add(allowance(facts, interval));
    let more = more.saturating_add(of_parallel_workers(facts, interval));
    Some((database.saturating_sub(expected).saturating_sub(more), database))
}

/// Compares the commits of both sides.
pub(super) fn check(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> AuditCheckResult {
    let counted = interval.counter(Counter::Commits)?;
    let (expected, words) = transactions(facts, interval)?;
    // The server counts no transaction for a cached result, and does not say which session received
    // it.
    let hits = cached_results(interval).unwrap_or(0);
    if hits > expected / 2 {
        return skip(format!(
            "the server's query cache answered {} statements, which it does not count as transactions",
            count(hits)
        ));
    }
    let dyno_commits = count_own_commits(interval);
    let database = subtract_own(counted, dyno_commits);
    // A failed slice may have committed each of its operations.
    let per_error = match interval.slices {
        0 => 1,
        slices => interval.operations().div_ceil(slices).saturating_add(1),
    };
    let mut tolerance = Tolerance::of(interval, expected, per_error);
    tolerance.more = tolerance.more.saturating_add(allowance(facts, interval));
    let parallel = of_parallel_workers(facts, interval);
    tolerance.more = tolerance.more.saturating_add(parallel).saturating_add(hits);
    tolerance.fewer = tolerance.fewer.saturating_add(hits);
    if let (Some((begin, end)), Some(_)) = (&interval.unsure, interval.transactions) {
        // A snapshot in the middle of a transaction holds some of its steps.
        tolerance.fewer = tolerance.fewer.saturating_add(begin.beside);
        tolerance.more = tolerance.more.saturating_add(end.beside);
    }
    if interval.name == "window" && facts.counting.unseen_s > 0.0 {
        tolerance.fewer =
            tolerance.fewer.saturating_add(dyno_commits.max(0).cast_unsigned().min(OWN_UNBOOKED));
    }
    if facts.counting.transactions == Transactions::Commits {
        // Where empty commits count, those of procedures are among the acknowledged ones.
        let (fewer, more) = match facts.counting.empty_commits {
            Some(true) => (0, 0),
            Some(false) => (interval.unproven_commits, 0),
            None => (interval.unproven_commits, interval.empty_commits),
        };
        tolerance.fewer = tolerance.fewer.saturating_add(fewer);
        tolerance.more = tolerance.more.saturating_add(more);
    }
    let difference = tolerance.compare(expected, database);
    let left_out = match dyno_commits {
        0 => String::new(),
        1.. => format!(" ({} of Dyno's own left out)", count(dyno_commits.unsigned_abs())),
        _ => format!(" ({} added for statements that it does not count)", count(dyno_commits.unsigned_abs())),
    };
    let gap = count(u64::try_from(difference.excess.unsigned_abs()).unwrap_or(u64::MAX));
    if facts.replicated && difference.excess > 0 && difference.status != CheckStatus::Pass {
        let detail = format!(
            "{words}, database counted {}{left_out}; {gap} more: it also applies commits of sessions on the \
             other targets",
            count(database)
        );
        return conclude(CheckStatus::Pass, count(expected), count(database), detail);
    }
    let writers = foreign_writers(facts, interval, counted);
    // The learned number of parallel workers is expected, and not a tolerance.
    let allowed = Tolerance { more: tolerance.more - parallel, ..tolerance };
    if let (Some(free), None) = (allowed.too_wide(expected, difference), &writers) {
        return skip(format!(
            "{words}, database counted {}{left_out}: up to {} may differ, so these counts prove nothing",
            count(database),
            count(free)
        ));
    }
    let (beside, status) = match writers {
        Some((words, status)) => (words, difference.status.max(status)),
        None => (String::new(), difference.status),
    };
    let verdict = match (difference.excess, difference.status) {
        (0, _) => String::new(),
        (by, CheckStatus::Pass) if by > 0 && parallel > 0 => {
            format!("; {gap} more come from parallel workers, as learned when each class ran alone")
        }
        (by, CheckStatus::Pass) if by > 0 && interval.errors == 0 && interval.blur == 0.0 => {
            format!("; {gap} more are within what background workers commit")
        }
        (_, CheckStatus::Pass) => format!("; {gap} apart, {}", interval.uncertainty()),
        (by, _) if by > 0 && may_have_parallel_workers(facts, interval) => {
            format!(
                "; {gap} more: other sessions commit in this database too, or parallel workers of the \
                 statements do; a run with a warm-up (run.warmup) learns how many commits the workers add"
            )
        }
        (by, _) if by > 0 => {
            format!(
                "; {gap} more: other sessions commit in this database too, so its counters include their work"
            )
        }
        _ => format!("; {gap} are missing: acknowledged, but not counted"),
    };
    let detail = format!("{words}, database counted {}{left_out}{verdict}{beside}", count(database));
    conclude(status, count(expected), count(database), detail)
}

/// Other processes that wrote to the same file, for databases that are one file. They are the
/// file's transactions beyond the `counted` ones of this process.
fn foreign_writers(
    facts: &AuditFacts<'_>,
    interval: &AuditInterval<'_>,
    counted: u64,
) -> Option<(String, CheckStatus)> {
    let in_file = interval.native("file.transactions")?;
    // Read at the same moment as the file's count; a session may be in the middle of a transaction
    // then.
    let process_transactions = interval.native("file.own_transactions")?;
    let slack = u64::from(facts.sessions()) + interval.errors;
    let foreign_transactions = in_file.saturating_sub(process_transactions).checked_sub(slack + 1)? + 1;
    let status = match foreign_transactions > share_of(counted, FOREIGN_SHARE) {
        true => CheckStatus::Fail,
        false => CheckStatus::Warn,
    };
    let words = format!(
        "; {} transactions in the file are of another process: these figures include its writes and the time \
         it held the lock",
        count(foreign_transactions)
    );
    Some((words, status))
}

/// Share of operations with a cached result, %, above which figures hold little of the tables'
/// work; below it the check warns.
const CACHED_FAIL_PCT: f64 = 50.0;
const CACHED_WARN_PCT: f64 = 1.0;

/// Statements answered from a result cache; absent where the server does not count them.
fn cached_results(interval: &AuditInterval<'_>) -> Option<u64> {
    interval.native("status.Qcache_hits")
}

/// Whether statements were executed, or answered from a result cache (MariaDB's query cache).
pub(super) fn cached(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let interval = facts.compared()?;
    let Some(hits) = cached_results(&interval) else {
        return skip("the engine does not count results from a cache");
    };
    let operations = interval.transactions.unwrap_or_else(|| interval.operations()).max(1);
    let share_pct = 100.0 * hits as f64 / operations as f64;
    let (expected, observed) = ("no cached result", count(hits));
    if share_pct < CACHED_WARN_PCT {
        return conclude(
            CheckStatus::Pass,
            expected,
            observed,
            "statements were executed, not answered from a cache of results",
        );
    }
    let status = if share_pct > CACHED_FAIL_PCT { CheckStatus::Fail } else { CheckStatus::Warn };
    let detail = format!(
        "the server's query cache answered {} statements while the run did {} operations: these statements \
         read no table; SET GLOBAL query_cache_type = OFF",
        count(hits),
        count(operations)
    );
    conclude(status, expected, observed, detail)
}

/// Why commits do not wait by the plan's own settings, if so.
fn not_waiting(facts: &AuditFacts<'_>) -> Option<String> {
    let commit = facts.record.plan.workload.commit;
    (commit != Commit::Wait).then(|| format!("workload.commit={}", commit.name()))
}

/// Whether each commit waited for its redo to reach storage.
pub(super) fn durable(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let interval = facts.compared_window()?;
    if interval.commits == 0 {
        return skip("no commit of the run changed data");
    }
    if interval.commits < COMMITS_MIN {
        return skip(format!("{} commits that changed data are too few to tell", count(interval.commits)));
    }
    let syncs = interval.counter(Counter::RedoSyncs)?;
    let least = interval.commits.div_ceil(u64::from(facts.sessions().max(1)));
    let set = |name: &String| Some(format!("{name}={}", facts.target()?.identity.settings.get(name)?));
    let settings: Vec<String> =
        facts.counting.commit_settings.iter().filter_map(set).chain(not_waiting(facts)).collect();
    let why = if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
    let words = format!("{} commits, {} syncs of redo", count(interval.commits), count(syncs));
    let (expected, observed) = (format!("≥ {}", count(least)), count(syncs));
    let share_min = (SYNC_SHARE_MIN - interval.blur).max(SYNC_SHARE_LATE_MIN);
    if (syncs as f64) < least as f64 * share_min {
        let detail = format!("{words}: commits were acknowledged before their redo was on storage{why}");
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    let shared = interval.commits as f64 / syncs.max(1) as f64;
    let detail = if shared > 1.05 { format!("{words}: {shared:.1} commits share a sync") } else { words };
    conclude(CheckStatus::Pass, expected, observed, detail)
}

impl AuditInterval<'_> {
    /// Why the counts of this interval may differ.
    pub(super) fn uncertainty(&self) -> String {
        match (self.errors, self.blur > 0.0) {
            (0, true) => self.blur_from.to_owned(),
            (errors, _) => {
                format!("within the uncertainty of {} failed operations", count(errors))
            }
        }
    }
}
