//! Computes how much of each figure is background activity.
//!
//! Each counter is compared with what the run's own tables and sessions account for; the rest
//! belongs to others.

use dyno_record::{Counter, ForeignActivity as Sampled, OtherSessions, Waits};

use super::compare::share_of;
use super::facts::{AuditFacts, AuditInterval};
use super::finding::Skip;
use super::physical::{self, DeviceExcess};
use super::{commits, expected, processor, system};
use crate::number::{count, figure, megabytes, percent};

/// Share of a figure, %, above which background activity causes a warning: as much as repeated runs
/// differ at best.
pub(super) const SHARE_WARN_PCT: f64 = 1.0;

/// Share of a figure, %, above which the figure no longer describes the run: repeated runs of an
/// untuned platform differ by about as much.
pub(super) const SHARE_FAIL_PCT: f64 = 5.0;

/// Blocks or rows per second below which background activity is no load: a monitoring agent causes
/// about this much.
pub(super) const FLOOR_PER_S: f64 = 10.0;

/// Logical reads per second in other databases below which they are occasional lookups by an agent
/// or by autovacuum. Autovacuum reads about 500 blocks of a catalog to see whether there is
/// something to do. A processor does a million reads a second, so this is half a percent of one.
const VISITS_PER_S: f64 = 5_000.0;

/// Other sessions at work, on average: the limit for a warning, and the limit above which they
/// shared processors and devices. A session that works a quarter of the time is no monitoring
/// agent.
pub(super) const ACTIVE_WARN: f64 = 0.05;
pub(super) const ACTIVE_FAIL: f64 = 0.25;

/// The part of one counter that others caused.
#[derive(Debug, Clone, Copy)]
pub(super) struct AuditShare {
    /// Whether that part is no load: less than what a monitoring agent causes.
    pub(super) is_negligible: bool,
    pub(super) counter: Counter,
    pub(super) all: u64,
    pub(super) others_count: u64,
}

impl AuditShare {
    pub(super) fn pct(&self) -> f64 {
        if self.all == 0 { 0.0 } else { (self.others_count as f64 * 100.0 / self.all as f64).min(100.0) }
    }

    pub(super) fn words(&self) -> String {
        let amount = |value: u64| match self.counter.unit() {
            dyno_record::Unit::Bytes => megabytes(value as f64),
            _ => count(value),
        };
        format!(
            "{} of {} {} ({} %)",
            amount(self.others_count),
            amount(self.all),
            self.counter.name().replace('_', " "),
            percent(self.pct())
        )
    }
}

/// Bytes per block, to convert blocks that were read or written into bytes.
fn block_bytes(facts: &AuditFacts<'_>) -> f64 {
    let largest = facts.record.targets.iter().map(|target| target.identity.block_size).max();
    largest.unwrap_or_default().max(1) as f64
}

/// The part of others in each counter that the database keeps for all sessions. Redo has its own
/// check.
pub(super) fn shares(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> Vec<AuditShare> {
    let share = |(&counter, &own): (&Counter, &i64)| {
        let all = interval.counter(counter).ok()?;
        let run_count = u64::try_from(own).ok()?;
        // Reads of system relations beyond what observation and background work explain count as
        // background activity too.
        let unexplained = system::unexplained(facts, interval, counter);
        // Work of the run's sessions between their own counts and the snapshots does not belong to
        // others.
        let blur = share_of(all, interval.blur);
        let foreign_count =
            all.saturating_sub(run_count).saturating_sub(blur).saturating_add(unexplained).min(all);
        let unit = if counter.unit() == dyno_record::Unit::Bytes { block_bytes(facts) } else { 1.0 };
        let little = (foreign_count as f64) < FLOOR_PER_S * interval.seconds.max(0.0) * unit;
        Some(AuditShare { is_negligible: little, counter, all, others_count: foreign_count })
    };
    let counters = interval.counters.own.iter().filter(|(counter, _)| **counter != Counter::RedoBytes);
    counters.filter_map(share).collect()
}

/// Rows of the test tables that others read: the database's count beyond what the run's sessions
/// requested.
pub(super) fn rows_of_test_tables(
    facts: &AuditFacts<'_>,
    interval: &AuditInterval<'_>,
) -> Result<AuditShare, Skip> {
    let counted = interval.counter(Counter::RowsRead)?;
    let requested_rows = interval.rows();
    // A failed operation may have read its rows. Near the window boundary the same holds for counts
    // on the wrong side.
    let per_error = facts.rows_per_operation(|_| true);
    let failed =
        interval.errors.saturating_mul(facts.operations_per_error(interval)).saturating_mul(per_error);
    let open = share_of(requested_rows, interval.blur).saturating_add(failed);
    let foreign_rows = counted.saturating_sub(requested_rows).saturating_sub(open);
    Ok(AuditShare {
        is_negligible: false,
        counter: Counter::RowsRead,
        all: counted,
        others_count: foreign_rows,
    })
}

/// Background activity outside the database under test, as far as it affects figures of the whole
/// server.
#[derive(Debug, Clone, Default)]
pub(super) struct AuditServerActivity {
    /// Share of the redo, %; absent where it cannot be determined.
    pub(super) redo_pct: Option<f64>,
    /// What that share was derived from.
    pub(super) redo_from: String,
    /// Share of the logical reads, %; absent where it cannot be determined.
    pub(super) reads_pct: Option<f64>,
    pub(super) rows: Option<u64>,
    pub(super) commits: Option<u64>,
    pub(super) reads: Option<u64>,
}

/// What the attribution of a record's figures is based on.
#[derive(Debug, Clone, Default)]
pub(crate) struct AuditForeignActivity {
    shares: Vec<AuditShare>,
    /// Share of what the server wrote, %, and what it was derived from.
    pub(crate) server_pct: Option<f64>,
    pub(crate) server_from: String,
    /// Other sessions at work, on average.
    pub(crate) active: Option<f64>,
    /// Whether another target of the run is on the same server.
    pub(crate) shares_own_server: bool,
    /// What others did in the database itself, in words, where their part in its other counters is
    /// unknown.
    pub(crate) database_activity: Option<String>,
    /// The share of a counter that Dyno's own observer may have caused, %, where the database does
    /// not report it.
    pub(crate) observer_pct: Vec<(Counter, f64)>,
    /// Counters that cover the test tables only.
    pub(crate) of_test_tables: Vec<Counter>,
    /// What the data's device did beyond the database's own work.
    pub(crate) device: Option<DeviceExcess>,
    /// What others used of the resources that determine speed, in words; absent where nothing is
    /// known.
    pub(crate) disturbance: Option<String>,
    /// Share above which a figure is marked, %; and the same for the host's processors.
    pub(crate) mark_pct: f64,
    pub(crate) host_mark_pct: f64,
}

impl AuditForeignActivity {
    /// What the audit of these facts determines.
    pub(super) fn of(facts: &AuditFacts<'_>) -> Self {
        let Ok(interval) = facts.compared() else { return Self::default() };
        let of_this_run = facts.shared_server_reason().is_some();
        let mut shares = shares(facts, &interval);
        let commits = commits::foreign_commits(facts, &interval);
        shares.extend(commits.map(|(others, all)| AuditShare {
            is_negligible: false,
            counter: Counter::Commits,
            all,
            others_count: others,
        }));
        // Sessions on other data use no test tables, and the database counts for all of it.
        let of_test_tables = match facts.on_test_data() {
            Ok(()) => facts.counting.for_test_tables.clone(),
            Err(_) => Vec::new(),
        };
        let rows_are_ours = of_test_tables.contains(&Counter::RowsRead);
        shares.extend(rows_are_ours.then(|| rows_of_test_tables(facts, &interval).ok()).flatten());
        let beyond = expected::foreign_counts(facts).into_iter();
        shares.extend(beyond.map(|(counter, others, all)| AuditShare {
            is_negligible: false,
            counter,
            all,
            others_count: others,
        }));
        let database_note = match facts.on_test_data() {
            Ok(()) => None,
            Err(_) => largest_foreign_share(&shares, &interval),
        };
        let observer_pct = Counter::ALL.into_iter().filter_map(|counter| {
            let most = system::observer_max(facts, &interval, counter)?;
            let all = interval.counter(counter).ok().filter(|all| *all > 0)?;
            Some((counter, most as f64 * 100.0 / all as f64))
        });
        let device = physical::excess(facts).ok();
        let active = active(facts).ok().map(|(active, _)| active).filter(|_| !of_this_run);
        let disturbed = disturbance_words(facts, active, device);
        let beside =
            if of_this_run { AuditServerActivity::default() } else { server_activity(facts, &interval) };
        Self {
            shares,
            server_pct: beside.redo_pct,
            server_from: beside.redo_from,
            active,
            shares_own_server: of_this_run,
            observer_pct: observer_pct.collect(),
            of_test_tables,
            database_activity: database_note,
            device,
            disturbance: disturbed,
            mark_pct: SHARE_WARN_PCT,
            host_mark_pct: SHARE_FAIL_PCT,
        }
    }

    /// The share of a counter that others caused, %, where it is counted.
    pub(crate) fn share_pct(&self, counter: Counter) -> Option<f64> {
        self.shares.iter().filter(|share| share.counter == counter).map(AuditShare::pct).reduce(f64::max)
    }

    /// The same for activity that is a load: one block of nine says nothing about the run's
    /// figures.
    pub(crate) fn load_pct(&self, counter: Counter) -> Option<f64> {
        let loads = self.shares.iter().filter(|share| share.counter == counter && !share.is_negligible);
        loads.map(AuditShare::pct).reduce(f64::max)
    }

    /// Whether this number of sessions is a load.
    pub(crate) fn is_at_work(&self, active: f64) -> bool {
        active >= ACTIVE_WARN
    }
}

/// What others used of the resources that determine speed, in words.
fn disturbance_words(
    facts: &AuditFacts<'_>,
    active: Option<f64>,
    device: Option<DeviceExcess>,
) -> Option<String> {
    let sessions = active
        .filter(|active| *active >= ACTIVE_FAIL)
        .map(|active| format!("{} other sessions were active on the server on average", figure(active)));
    let device = device.filter(DeviceExcess::has_writes).map(|excess| {
        format!(
            "other programs caused {} writes/s and {} MB/s of the device's writes",
            figure(excess.writes_per_s),
            figure(excess.write_mb_per_s)
        )
    });
    let words: Vec<String> = processor::taken(facts).into_iter().chain(sessions).chain(device).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// What others did in the same database beyond the run's sessions and transactions: the largest
/// share above the limits.
fn largest_foreign_share(shares: &[AuditShare], interval: &AuditInterval<'_>) -> Option<String> {
    let floor = FLOOR_PER_S * interval.seconds.max(0.0);
    let significant_shares =
        shares.iter().filter(|share| share.others_count as f64 >= floor && share.pct() > SHARE_WARN_PCT);
    let most = significant_shares.max_by(|a, b| a.pct().total_cmp(&b.pct()))?;
    Some(format!(
        "other sessions caused {} in this database, and their share of its other figures is unknown",
        most.words()
    ))
}

/// Background activity on the server outside the database under test.
pub(super) fn server_activity(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> AuditServerActivity {
    let elsewhere = |counter| {
        let moved = interval.counters.elsewhere.get(&counter).copied();
        moved.map(|moved| u64::try_from(moved).unwrap_or(0))
    };
    let run_count = |counter: Counter| match interval.counters.own.get(&counter) {
        Some(&own) => Some(u64::try_from(own).unwrap_or(0)),
        None => interval.counter(counter).ok(),
    };
    let part = |others: u64, run_amount: u64| AuditShare {
        is_negligible: false,
        counter: Counter::RowsWritten,
        all: others.saturating_add(run_amount),
        others_count: others,
    };
    let rows = elsewhere(Counter::RowsWritten);
    let reads = elsewhere(Counter::LogicalReads);
    let little = |value: u64, per_s: f64| (value as f64) < per_s * interval.seconds.max(0.0);
    let by_rows =
        rows.zip(run_count(Counter::RowsWritten)).map(|(rows, own)| match little(rows, FLOOR_PER_S) {
            true => 0.0,
            false => part(rows, own).pct(),
        });
    let reads_pct =
        reads.zip(run_count(Counter::LogicalReads)).map(|(reads, own)| match little(reads, VISITS_PER_S) {
            true => 0.0,
            false => part(reads, own).pct(),
        });
    let (redo_pct, redo_from) = redo(facts, interval, by_rows);
    AuditServerActivity { redo_pct, redo_from, reads_pct, rows, commits: elsewhere(Counter::Commits), reads }
}

/// Share of the redo that others wrote, %, and what it was derived from. Where the sessions' own
/// redo is counted, the rest belongs to others, if any were seen: cleaning up after the run's own
/// updates writes redo too. The redo that a session wrote before its connection was lost is in no
/// session's count. So the rest says nothing where sessions reconnected.
fn redo(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>, by_rows: Option<f64>) -> (Option<f64>, String) {
    let all = interval.counter(Counter::RedoBytes).ok();
    let is_whole = facts.record.errors.iter().all(|error| error.reconnects == 0);
    let run_redo = interval.counters.own.get(&Counter::RedoBytes).filter(|_| is_whole);
    let run_redo_bytes = run_redo.map(|&own| u64::try_from(own).unwrap_or(0));
    let were_there =
        by_rows.is_some_and(|pct| pct > 0.0) || active(facts).is_ok_and(|(active, _)| active >= ACTIVE_WARN);
    match (all, run_redo_bytes, by_rows) {
        (Some(0), ..) => (Some(0.0), "no redo was written".to_owned()),
        (Some(all), Some(own), _) => {
            let share = AuditShare {
                is_negligible: false,
                counter: Counter::RedoBytes,
                all,
                others_count: all.saturating_sub(own),
            };
            match were_there {
                true => (Some(share.pct()), "all redo that the run's own sessions did not write".to_owned()),
                false => (Some(0.0), "no other session was seen writing".to_owned()),
            }
        }
        (_, _, Some(pct)) => (Some(pct), "by the rows that were written".to_owned()),
        _ => (None, "the engine does not report which sessions wrote redo".to_owned()),
    }
}

/// The average number of other active sessions, and who they were.
pub(super) fn active<'a>(facts: &AuditFacts<'a>) -> Result<(f64, &'a [OtherSessions]), Skip> {
    let company = match &facts.record.waits {
        Waits::Absent { absent } => return Err(Skip(format!("sessions were not sampled: {absent}"))),
        Waits::Sampled { company, .. } => company,
    };
    match company {
        Sampled::Absent { absent } => Err(Skip(absent.clone())),
        Sampled::Sampled { average_active_sessions, .. } if !average_active_sessions.is_finite() => {
            Err(Skip("the sampled value is not a number".to_owned()))
        }
        Sampled::Sampled { average_active_sessions, seen } => Ok((*average_active_sessions, seen)),
    }
}
