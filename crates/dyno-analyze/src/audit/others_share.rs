//! How much of each figure is the work of others.
//!
//! What the run's own tables and sessions account for stands beside each counter; the rest is that of others.

use dyno_record::{Company as Sampled, Counter, OtherSessions, Waits};

use super::compare::share_of;
use super::facts::{Facts, Interval};
use super::finding::Skip;
use super::physical::{self, DeviceExcess};
use super::{commits, expected, processor, system};
use crate::number::{count, figure, megabytes, percent};

/// Share of a figure, %, from which the work of others is worth a warning: as much as repeated runs differ at best.
pub(super) const SHARE_WARN_PCT: f64 = 1.0;

/// Share of a figure, %, with which it is not the run's any more: repeated runs of an untuned platform differ by about as
/// much.
pub(super) const SHARE_FAIL_PCT: f64 = 5.0;

/// Blocks or rows per second below which the work of others is no load: what a monitoring agent asks for.
pub(super) const FLOOR_PER_S: f64 = 10.0;

/// Logical reads per second in other databases below which they are visits: an agent's, or autovacuum's, which reads about
/// 500 blocks of a catalog to see whether there is something to do. A processor does a million a second, so this is half a
/// percent of one.
const VISITS_PER_S: f64 = 5_000.0;

/// Other sessions at work, on average, that are worth a word, and with which the processors and devices were shared: one
/// that works a quarter of the time is no agent that looks in now and then.
pub(super) const ACTIVE_WARN: f64 = 0.05;
pub(super) const ACTIVE_FAIL: f64 = 0.25;

/// How much of one counter others had.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// Whether that is no load: less than what a monitoring agent asks for.
    pub(super) little: bool,
    pub(super) counter: Counter,
    pub(super) all: u64,
    pub(super) others: u64,
}

impl Share {
    pub(super) fn pct(&self) -> f64 {
        if self.all == 0 { 0.0 } else { (self.others as f64 * 100.0 / self.all as f64).min(100.0) }
    }

    pub(super) fn words(&self) -> String {
        let amount = |value: u64| match self.counter.unit() {
            dyno_record::Unit::Bytes => megabytes(value as f64),
            _ => count(value),
        };
        format!(
            "{} of {} {} ({} %)",
            amount(self.others),
            amount(self.all),
            self.counter.name().replace('_', " "),
            percent(self.pct())
        )
    }
}

/// Bytes of a block, of which bytes that were read or written are made.
fn block_bytes(facts: &Facts<'_>) -> f64 {
    let largest = facts.record.targets.iter().map(|target| target.identity.block_size).max();
    largest.unwrap_or_default().max(1) as f64
}

/// How much of each counter that the database keeps for all others had. Redo has its own check.
pub(super) fn shares(facts: &Facts<'_>, interval: &Interval<'_>) -> Vec<Share> {
    let share = |(&counter, &own): (&Counter, &i64)| {
        let all = interval.counter(counter).ok()?;
        let own = u64::try_from(own).ok()?;
        // What the system's own relations cost beyond what observing and its background work explain is somebody's, too.
        let unexplained = system::unexplained(facts, interval, counter);
        // What sessions did between their own words and the counters is nobody else's.
        let blur = share_of(all, interval.blur);
        let others = all.saturating_sub(own).saturating_sub(blur).saturating_add(unexplained).min(all);
        let unit = if counter.unit() == dyno_record::Unit::Bytes { block_bytes(facts) } else { 1.0 };
        let little = (others as f64) < FLOOR_PER_S * interval.seconds.max(0.0) * unit;
        Some(Share { little, counter, all, others })
    };
    let counters = interval.counters.own.iter().filter(|(counter, _)| **counter != Counter::RedoBytes);
    counters.filter_map(share).collect()
}

/// Rows of the test tables that others read: what the database counted beyond those that the sessions asked for.
pub(super) fn rows_of_test_tables(facts: &Facts<'_>, interval: &Interval<'_>) -> Result<Share, Skip> {
    let counted = interval.counter(Counter::RowsRead)?;
    let asked = interval.rows();
    // A failed operation may have read its rows; where counts may lie on the wrong side of an edge, so may these.
    let per_error = facts.rows_per_operation(|_| true);
    let failed =
        interval.errors.saturating_mul(facts.operations_per_error(interval)).saturating_mul(per_error);
    let open = share_of(asked, interval.blur).saturating_add(failed);
    let others = counted.saturating_sub(asked).saturating_sub(open);
    Ok(Share { little: false, counter: Counter::RowsRead, all: counted, others })
}

/// What others did beside the database under test, as far as it bears on figures of the whole server.
#[derive(Debug, Clone, Default)]
pub(super) struct Beside {
    /// Share of the redo, %; absent where nobody can tell.
    pub(super) redo_pct: Option<f64>,
    /// Where that comes from.
    pub(super) redo_from: String,
    /// Share of the logical reads, %; absent likewise.
    pub(super) reads_pct: Option<f64>,
    pub(super) rows: Option<u64>,
    pub(super) commits: Option<u64>,
    pub(super) reads: Option<u64>,
}

/// What the figures of a record have to be told apart by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Company {
    shares: Vec<Share>,
    /// Share of what the server wrote, %, and where that comes from.
    pub(crate) server_pct: Option<f64>,
    pub(crate) server_from: String,
    /// Other sessions at work, on average.
    pub(crate) active: Option<f64>,
    /// Whether another target of the run is on the same server.
    pub(crate) of_this_run: bool,
    /// What others did in the database itself, in words, where nobody can tell how much of its other counters that is.
    pub(crate) here: Option<String>,
    /// How much of a counter Dyno's own observer may have caused, %, where the database does not tell.
    pub(crate) observer_pct: Vec<(Counter, f64)>,
    /// Counters that cover nothing but the test tables.
    pub(crate) of_test_tables: Vec<Counter>,
    /// What the data's device did beyond the database's own work.
    pub(crate) device: Option<DeviceExcess>,
    /// What others took that the platform needs to be fast, in words; absent where nothing is known of that.
    pub(crate) disturbed: Option<String>,
    /// Share above which a figure is marked, %; and that of the machine's processors.
    pub(crate) mark_pct: f64,
    pub(crate) host_mark_pct: f64,
}

impl Company {
    /// What the audit can tell.
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let Ok(interval) = facts.compared() else { return Self::default() };
        let of_this_run = facts.own_company().is_some();
        let mut shares = shares(facts, &interval);
        let commits = commits::others(facts, &interval);
        shares.extend(commits.map(|(others, all)| Share {
            little: false,
            counter: Counter::Commits,
            all,
            others,
        }));
        // Sessions on data of the user's own work in no test tables, and the database counts for all of it.
        let of_test_tables = match facts.on_test_data() {
            Ok(()) => facts.counting.for_test_tables.clone(),
            Err(_) => Vec::new(),
        };
        let rows_are_ours = of_test_tables.contains(&Counter::RowsRead);
        shares.extend(rows_are_ours.then(|| rows_of_test_tables(facts, &interval).ok()).flatten());
        let beyond = expected::beyond(facts).into_iter();
        shares.extend(beyond.map(|(counter, others, all)| Share { little: false, counter, all, others }));
        let here = match facts.on_test_data() {
            Ok(()) => None,
            Err(_) => seen_here(&shares, &interval),
        };
        let observer_pct = Counter::ALL.into_iter().filter_map(|counter| {
            let most = system::observer_max(facts, &interval, counter)?;
            let all = interval.counter(counter).ok().filter(|all| *all > 0)?;
            Some((counter, most as f64 * 100.0 / all as f64))
        });
        let device = physical::excess(facts).ok();
        let active = active(facts).ok().map(|(active, _)| active).filter(|_| !of_this_run);
        let disturbed = disturbed(facts, active, device);
        let beside = if of_this_run { Beside::default() } else { beside(facts, &interval) };
        Self {
            shares,
            server_pct: beside.redo_pct,
            server_from: beside.redo_from,
            active,
            of_this_run,
            observer_pct: observer_pct.collect(),
            of_test_tables,
            here,
            device,
            disturbed,
            mark_pct: SHARE_WARN_PCT,
            host_mark_pct: SHARE_FAIL_PCT,
        }
    }

    /// How much of a counter others had, %, where that is counted.
    pub(crate) fn share_pct(&self, counter: Counter) -> Option<f64> {
        self.shares.iter().filter(|share| share.counter == counter).map(Share::pct).reduce(f64::max)
    }

    /// The same of what is a load: a block of nine says nothing of the run's figures.
    pub(crate) fn load_pct(&self, counter: Counter) -> Option<f64> {
        let loads = self.shares.iter().filter(|share| share.counter == counter && !share.little);
        loads.map(Share::pct).reduce(f64::max)
    }

    /// Whether so many sessions are a load.
    pub(crate) fn is_at_work(&self, active: f64) -> bool {
        active >= ACTIVE_WARN
    }
}

/// What others took that the platform needs to be fast, in words.
fn disturbed(facts: &Facts<'_>, active: Option<f64>, device: Option<DeviceExcess>) -> Option<String> {
    let sessions = active
        .filter(|active| *active >= ACTIVE_FAIL)
        .map(|active| format!("{} other sessions were at work on the server on average", figure(active)));
    let device = device.filter(DeviceExcess::has_writes).map(|excess| {
        format!(
            "{} writes/s and {} MB/s of the device's writes were others'",
            figure(excess.writes_per_s),
            figure(excess.write_mb_per_s)
        )
    });
    let words: Vec<String> = processor::taken(facts).into_iter().chain(sessions).chain(device).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// What others did in the same database, by what its sessions and transactions account for: the greatest share that is a load.
fn seen_here(shares: &[Share], interval: &Interval<'_>) -> Option<String> {
    let floor = FLOOR_PER_S * interval.seconds.max(0.0);
    let seen = shares.iter().filter(|share| share.others as f64 >= floor && share.pct() > SHARE_WARN_PCT);
    let most = seen.max_by(|a, b| a.pct().total_cmp(&b.pct()))?;
    Some(format!(
        "others had {} in this database, and nobody can tell how much else of it is theirs",
        most.words()
    ))
}

/// Others on the server beside the database under test.
pub(super) fn beside(facts: &Facts<'_>, interval: &Interval<'_>) -> Beside {
    let elsewhere = |counter| {
        let moved = interval.counters.elsewhere.get(&counter).copied();
        moved.map(|moved| u64::try_from(moved).unwrap_or(0))
    };
    let own = |counter: Counter| match interval.counters.own.get(&counter) {
        Some(&own) => Some(u64::try_from(own).unwrap_or(0)),
        None => interval.counter(counter).ok(),
    };
    let part = |others: u64, own: u64| Share {
        little: false,
        counter: Counter::RowsWritten,
        all: others.saturating_add(own),
        others,
    };
    let rows = elsewhere(Counter::RowsWritten);
    let reads = elsewhere(Counter::LogicalReads);
    let little = |value: u64, per_s: f64| (value as f64) < per_s * interval.seconds.max(0.0);
    let by_rows = rows.zip(own(Counter::RowsWritten)).map(|(rows, own)| match little(rows, FLOOR_PER_S) {
        true => 0.0,
        false => part(rows, own).pct(),
    });
    let reads_pct =
        reads.zip(own(Counter::LogicalReads)).map(|(reads, own)| match little(reads, VISITS_PER_S) {
            true => 0.0,
            false => part(reads, own).pct(),
        });
    let (redo_pct, redo_from) = redo(facts, interval, by_rows);
    Beside { redo_pct, redo_from, reads_pct, rows, commits: elsewhere(Counter::Commits), reads }
}

/// Share of the redo that others wrote, %, and where that comes from. Where sessions' own redo is counted the rest is that of
/// others, if there were any: cleaning up after the run's own updates writes redo, too. What a session wrote before its connection was
/// lost is in nobody's count, so the rest says nothing where sessions had to come back.
fn redo(facts: &Facts<'_>, interval: &Interval<'_>, by_rows: Option<f64>) -> (Option<f64>, String) {
    let all = interval.counter(Counter::RedoBytes).ok();
    let is_whole = facts.record.errors.iter().all(|error| error.reconnects == 0);
    let own = interval.counters.own.get(&Counter::RedoBytes).filter(|_| is_whole);
    let own = own.map(|&own| u64::try_from(own).unwrap_or(0));
    let were_there =
        by_rows.is_some_and(|pct| pct > 0.0) || active(facts).is_ok_and(|(active, _)| active >= ACTIVE_WARN);
    match (all, own, by_rows) {
        (Some(0), ..) => (Some(0.0), "no redo was written".to_owned()),
        (Some(all), Some(own), _) => {
            let share =
                Share { little: false, counter: Counter::RedoBytes, all, others: all.saturating_sub(own) };
            match were_there {
                true => (Some(share.pct()), "what the run's own sessions did not write".to_owned()),
                false => (Some(0.0), "nobody else was seen to write".to_owned()),
            }
        }
        (_, _, Some(pct)) => (Some(pct), "by the rows that were written".to_owned()),
        _ => (None, "the engine does not tell who wrote redo".to_owned()),
    }
}

/// Other sessions that were active on average, and who they were.
pub(super) fn active<'a>(facts: &Facts<'a>) -> Result<(f64, &'a [OtherSessions]), Skip> {
    let company = match &facts.record.waits {
        Waits::Absent { absent } => return Err(Skip(format!("sessions were not sampled: {absent}"))),
        Waits::Sampled { company, .. } => company,
    };
    match company {
        Sampled::Absent { absent } => Err(Skip(absent.clone())),
        Sampled::Sampled { average_active_sessions, .. } if !average_active_sessions.is_finite() => {
            Err(Skip("what was sampled is no number".to_owned()))
        }
        Sampled::Sampled { average_active_sessions, seen } => Ok((*average_active_sessions, seen)),
    }
}
