//! Own against all: how much of what the platform counted was somebody else's work.
//!
//! A database counts for whoever works in it, and its server for all its databases. What the run's own tables and sessions
//! account for stands beside each counter, so the rest can be named, and a figure that holds the work of others is
//! never shown as the run's.

use dyno_record::{CheckStatus, Company as Sampled, Counter, OtherSessions, Waits};

use super::compare::share_of;
use super::facts::{Facts, Interval};
use super::finding::{Skip, Verdict, found, skip};
use super::physical::{self, DeviceExcess};
use super::{commits, expected, processor, system};
use crate::number::{count, figure, megabytes, percent};

/// Share of a figure, %, from which the work of others is worth a warning: as much as repeated runs differ at best.
const SHARE_WARN_PCT: f64 = 1.0;

/// Share of a figure, %, with which it is not the run's any more: repeated runs of an untuned platform differ by about as
/// much.
const SHARE_FAIL_PCT: f64 = 5.0;

/// Blocks or rows per second below which the work of others is no load: what a monitoring agent asks for.
const FLOOR_PER_S: f64 = 10.0;

/// Logical reads per second in other databases below which they are visits: an agent's, or autovacuum's, which reads about
/// 500 blocks of a catalog to see whether there is something to do. A processor does a million a second, so this is half a
/// percent of one.
const VISITS_PER_S: f64 = 5_000.0;

/// Share of the work that may lie beyond the interval's ends from which nobody can tell what is others': it could be as much.
const BLUR_MAX: f64 = 0.5;

/// Redo per second, bytes, below which others' redo in a run that writes nothing is no load.
const REDO_FLOOR_PER_S: f64 = 1e6;

/// Other sessions at work, on average, that are worth a word, and with which the processors and devices were shared: one
/// that works a quarter of the time is no agent that looks in now and then.
const ACTIVE_WARN: f64 = 0.05;
const ACTIVE_FAIL: f64 = 0.25;

/// Programs named in one sentence.
const NAMED_MAX: usize = 3;

/// How much of one counter others had.
#[derive(Debug, Clone, Copy)]
struct Share {
    /// Whether that is no load: less than what a monitoring agent asks for.
    little: bool,
    counter: Counter,
    all: u64,
    others: u64,
}

impl Share {
    fn pct(&self) -> f64 {
        if self.all == 0 { 0.0 } else { (self.others as f64 * 100.0 / self.all as f64).min(100.0) }
    }

    fn words(&self) -> String {
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

fn status(pct: f64) -> CheckStatus {
    match pct {
        pct if pct > SHARE_FAIL_PCT => CheckStatus::Fail,
        pct if pct > SHARE_WARN_PCT => CheckStatus::Warn,
        _ => CheckStatus::Pass,
    }
}

/// What fails only where the plan does not say that the server is shared.
fn of_server(facts: &Facts<'_>, status: CheckStatus) -> CheckStatus {
    if facts.record.plan.target.shared { status.min(CheckStatus::Warn) } else { status }
}

/// Bytes of a block, of which bytes that were read or written are made.
fn block_bytes(facts: &Facts<'_>) -> f64 {
    let largest = facts.record.targets.iter().map(|target| target.identity.block_size).max();
    largest.unwrap_or_default().max(1) as f64
}

/// How much of each counter that the database keeps for all others had. Redo has its own check.
fn shares(facts: &Facts<'_>, interval: &Interval<'_>) -> Vec<Share> {
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

/// Whether others worked in the database under test: whose its own counters are.
pub(super) fn here(facts: &Facts<'_>) -> Verdict {
    facts.on_test_data()?;
    let interval = facts.compared()?;
    if facts.replicated {
        return skip("it applies what sessions on the other targets write");
    }
    if interval.blur >= BLUR_MAX {
        return skip(format!("{} % of the work may lie beyond the ends", percent(interval.blur * 100.0)));
    }
    let shares = shares(facts, &interval);
    if shares.is_empty() {
        return skip("the engine does not tell the run's own reads and rows from those of others");
    }
    if shares.iter().all(|share| share.all == 0) {
        return skip("the database counted no reads and no rows");
    }
    let judged = |share: &Share| if share.little { CheckStatus::Pass } else { status(share.pct()) };
    // Bytes follow from their blocks.
    let blocks = shares.iter().filter(|share| share.counter.unit() != dyno_record::Unit::Bytes);
    let mut seen: Vec<&Share> = blocks.filter(|share| judged(share) != CheckStatus::Pass).collect();
    seen.sort_by(|a, b| b.pct().total_cmp(&a.pct()));
    let worst = seen.iter().map(|share| judged(share)).max().unwrap_or(CheckStatus::Pass);
    let most = shares.iter().map(Share::pct).fold(0.0, f64::max);
    let expected = format!("≤ {} %", percent(SHARE_WARN_PCT));
    let left_out = system::words(facts, &interval);
    if worst == CheckStatus::Pass {
        let pct =
            if most > SHARE_WARN_PCT { "next to nothing".to_owned() } else { format!("{} %", percent(most)) };
        let detail = format!("others had {pct} of the reads and rows that the database counted{left_out}");
        return found(worst, expected, pct, detail);
    }
    let words: Vec<String> = seen.iter().map(|share| share.words()).collect();
    let detail = format!(
        "others had {}: these figures are not this run's alone; measure when nobody else works in this database{left_out}",
        words.join(", ")
    );
    found(worst, expected, format!("{} %", percent(seen.first().map_or(0.0, |share| share.pct()))), detail)
}

/// Rows of the test tables that others read: what the database counted beyond those that the sessions asked for.
fn rows_of_test_tables(facts: &Facts<'_>, interval: &Interval<'_>) -> Result<Share, Skip> {
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

/// Whether others read the test tables.
pub(super) fn test_tables(facts: &Facts<'_>) -> Verdict {
    facts.on_test_data()?;
    let interval = facts.compared()?;
    if !facts.counting.for_test_tables.contains(&Counter::RowsRead) {
        return skip("the engine counts no rows by table");
    }
    let share = rows_of_test_tables(facts, &interval)?;
    if share.all == 0 {
        return skip("the database counted no row of the test tables");
    }
    let (expected, observed) = (count(interval.rows()), count(share.all));
    let more = share.all.saturating_sub(interval.rows());
    if share.others == 0 && more > interval.rows() {
        return skip(format!(
            "{expected} rows touched, database counted {observed}: failed operations may have read as many"
        ));
    }
    let words = format!("{expected} rows touched, database counted {observed} in the test tables");
    let little = (share.others as f64) < FLOOR_PER_S * interval.seconds.max(0.0);
    let status = if little { CheckStatus::Pass } else { status(share.pct()) };
    let detail = match status {
        CheckStatus::Pass => words,
        _ => format!("{words}: others read them too, {} % of all", percent(share.pct())),
    };
    found(status, expected, observed, detail)
}

/// What others did beside the database under test, as far as it bears on figures of the whole server.
#[derive(Debug, Clone, Default)]
struct Beside {
    /// Share of the redo, %; absent where nobody can tell.
    redo_pct: Option<f64>,
    /// Where that comes from.
    redo_from: String,
    /// Share of the logical reads, %; absent likewise.
    reads_pct: Option<f64>,
    rows: Option<u64>,
    commits: Option<u64>,
    reads: Option<u64>,
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
fn beside(facts: &Facts<'_>, interval: &Interval<'_>) -> Beside {
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
/// others, if there were any: cleaning up after the run's own updates writes redo, too.
fn redo(facts: &Facts<'_>, interval: &Interval<'_>, by_rows: Option<f64>) -> (Option<f64>, String) {
    let all = interval.counter(Counter::RedoBytes).ok();
    let own = interval.counters.own.get(&Counter::RedoBytes).map(|&own| u64::try_from(own).unwrap_or(0));
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

/// Whether what others wrote may have been counted late: the server keeps statistics back, does not count redo by session, and no
/// other session was seen at work.
fn booked_late(facts: &Facts<'_>, counters: &dyno_record::Counters) -> bool {
    let no_redo_of_sessions = !counters.own.contains_key(&Counter::RedoBytes);
    facts.counting.held_back_s.is_some()
        && no_redo_of_sessions
        && active(facts).is_ok_and(|(active, _)| active == 0.0)
}

/// Whether others wrote redo, or had the server's time, in other databases or tables.
pub(super) fn on_the_server(facts: &Facts<'_>) -> Verdict {
    let interval = facts.compared()?;
    if let Some(reason) = facts.own_company() {
        return skip(reason);
    }
    if interval.counters.elsewhere.is_empty() {
        return skip("the engine does not tell what others do on the server");
    }
    let beside = beside(facts, &interval);
    let redo = interval.counter(Counter::RedoBytes).unwrap_or(0);
    let redo_pct = beside.redo_pct.unwrap_or(0.0);
    // Redo of a run that writes nothing is not its figure: little of it is no load.
    let small = interval.writes() == 0 && (redo as f64) < REDO_FLOOR_PER_S * interval.seconds.max(0.0);
    let of_redo = match status(redo_pct) {
        CheckStatus::Fail if small => CheckStatus::Warn,
        status => status,
    };
    // Statistics of a session that idles arrive late, and rows say little of how much redo they were.
    let late = booked_late(facts, interval.counters) && of_redo == CheckStatus::Fail;
    let of_redo = if late { CheckStatus::Warn } else { of_redo };
    let reads_pct = beside.reads_pct.unwrap_or(0.0);
    let worst = of_server(facts, of_redo.max(status(reads_pct)));
    let expected = format!("≤ {} %", percent(SHARE_WARN_PCT));
    let observed = format!("{} %", percent(redo_pct.max(reads_pct)));
    let parts = [
        (beside.rows, "wrote", "rows outside the test tables"),
        (beside.commits, "committed", "transactions in other databases"),
        (beside.reads, "read", "blocks there"),
    ];
    // What was not counted is not told: 0 would claim that nobody did it.
    let told: Vec<String> = parts
        .into_iter()
        .filter_map(|(value, verb, what)| Some(format!("{verb} {} {what}", count(value?))))
        .collect();
    let told = match told.as_slice() {
        [] => "did nothing that is counted".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    };
    let did = format!("others on the server {told}");
    if worst == CheckStatus::Pass && of_redo.max(status(reads_pct)) == CheckStatus::Pass {
        return found(worst, expected, observed, did);
    }
    let mut touched = Vec::new();
    if late {
        touched.push(
            "no other session was seen at work, so they may have been written before the window".to_owned(),
        );
    }
    if of_redo != CheckStatus::Pass {
        touched.push(format!("{} % of the redo is theirs ({})", percent(redo_pct), beside.redo_from));
    }
    if status(reads_pct) != CheckStatus::Pass {
        touched.push(format!("{} % of the server's logical reads", percent(reads_pct)));
    }
    let detail = format!(
        "{did}: {}; redo, writes and CPU are the whole server's, so they are not this run's alone{}",
        touched.join(", "),
        way_out(facts)
    );
    found(worst, expected, observed, detail)
}

/// What to do about a server that others use.
fn way_out(facts: &Facts<'_>) -> &'static str {
    if facts.record.plan.target.shared {
        " and are marked, as target.shared says"
    } else {
        "; measure alone, or set target.shared = true and take these figures as marked"
    }
}

/// Other sessions that were active on average, and who they were.
fn active<'a>(facts: &Facts<'a>) -> Result<(f64, &'a [OtherSessions]), Skip> {
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

/// Whether other sessions were at work on the server.
pub(super) fn sessions(facts: &Facts<'_>) -> Verdict {
    facts.window()?;
    if let Some(reason) = facts.own_company() {
        return skip(reason);
    }
    let (active, seen) = active(facts)?;
    let own = match &facts.record.waits {
        Waits::Sampled { average_active_sessions, .. } => average_active_sessions.max(0.0),
        Waits::Absent { .. } => 0.0,
    };
    // Where the database sees its sessions less than the client does, what the client saw is the better figure.
    let busy = facts.window().ok().and_then(|window| window.busy_sessions()).unwrap_or(0.0);
    let share_pct = 100.0 * active / (active + own.max(busy)).max(f64::MIN_POSITIVE);
    let (expected, observed) = (format!("< {}", figure(ACTIVE_WARN)), figure(active));
    if active < ACTIVE_WARN {
        let words = if active == 0.0 { "none was seen" } else { "hardly any was seen" };
        return found(
            CheckStatus::Pass,
            expected,
            observed,
            format!("other sessions at work on the server: {words}"),
        );
    }
    let status = match active >= ACTIVE_FAIL && share_pct > SHARE_FAIL_PCT {
        true => of_server(facts, CheckStatus::Fail),
        false => CheckStatus::Warn,
    };
    let name = |other: &OtherSessions| {
        let program = if other.program.is_empty() { "a session" } else { &other.program };
        match (other.here, other.database.as_str()) {
            (true, _) => format!("{program} in this database"),
            (false, "") => program.to_owned(),
            (false, database) => format!("{program} in database {database}"),
        }
    };
    let named: Vec<String> = seen.iter().take(NAMED_MAX).map(name).collect();
    let detail = format!(
        "{} other sessions were at work on the server on average ({}), beside {} of the run's: they shared its processors and \
         devices{}",
        figure(active),
        named.join(", "),
        figure(own.max(busy)),
        way_out(facts)
    );
    found(status, expected, observed, detail)
}
