//! Rows that the database counted as changed, apart by kind, as far as its own counters tell.

use dyno_record::window::Counted;

use super::compare::{Tolerance, share_of};
use super::facts::{Engine, Facts, Interval};

/// Share of the rows that MySQL may fail to count: threads add to its counters of rows without locks, so that two at one
/// moment may count as one (`ib_counter_t` in InnoDB's ut0counter.h). With 2 sessions on 2 processors 1 of 4,888 was seen
/// missing, and none in most runs.
const FUZZY_SHARE: f64 = 0.001;

/// Rows by what was done to them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changed {
    pub(super) updated: u64,
    pub(super) inserted: u64,
    pub(super) deleted: u64,
}

/// Native counters of rows updated, inserted and deleted.
///
/// PostgreSQL's are those of the test tables. MySQL's are InnoDB's, and MariaDB's are those of all storage engines, in which a
/// log that is a table has its rows, too.
fn names(facts: &Facts<'_>) -> Option<[&'static str; 3]> {
    match facts.engine {
        Engine::Postgres => Some(["dyno.rows.n_tup_upd", "dyno.rows.n_tup_ins", "dyno.rows.n_tup_del"]),
        Engine::Mysql if is_mariadb(facts) => {
            Some(["status.Handler_update", "status.Handler_write", "status.Handler_delete"])
        }
        Engine::Mysql => {
            Some(["status.Innodb_rows_updated", "status.Innodb_rows_inserted", "status.Innodb_rows_deleted"])
        }
        _ => None,
    }
}

/// Rows that the database counted; nothing where it does not count them apart.
pub(super) fn changed(facts: &Facts<'_>, interval: &Interval<'_>) -> Option<Changed> {
    let [updated, inserted, deleted] = names(facts)?.map(|name| interval.native(name));
    Some(Changed { updated: updated?, inserted: inserted?, deleted: deleted? })
}

fn is_mariadb(facts: &Facts<'_>) -> bool {
    facts.target().is_some_and(|target| target.identity.product == "MariaDB")
}

/// Whether the database may lose rows that it counts. MariaDB's own counts are those of its sessions, and exact.
pub(super) fn is_fuzzy(facts: &Facts<'_>) -> bool {
    facts.engine == Engine::Mysql && !is_mariadb(facts)
}

/// What the interval's uncertainty and the database's own allow for counts of `rows`. `of` tells how many of them a part of
/// the work counts: in a short window a single update under way is a greater share of the rows updated than of all work.
pub(super) fn tolerance(
    facts: &Facts<'_>,
    interval: &Interval<'_>,
    rows: u64,
    per_error: u64,
    of: impl Fn(&Counted) -> u64,
) -> Tolerance {
    let mut tolerance = Tolerance::of(interval, rows, per_error);
    if let Some((begin, end)) = &interval.unsure {
        let failed = interval.errors.saturating_mul(per_error);
        let either = failed.saturating_add(of(begin).max(of(end)));
        (tolerance.fewer, tolerance.more) = (tolerance.fewer.max(either), tolerance.more.max(either));
    }
    if is_fuzzy(facts) {
        tolerance.fewer = tolerance.fewer.saturating_add(share_of(rows, FUZZY_SHARE));
    }
    tolerance
}

/// Records that a row is in the layout: InnoDB's rows have spacers, one for each, but on pages of 64 KiB, where three keep rows
/// apart.
pub(super) fn records(facts: &Facts<'_>) -> u64 {
    if facts.engine != Engine::Mysql {
        return 1;
    }
    let block_size = facts.target().and_then(|target| target.data.as_ref()).map(|data| data.block_size);
    if block_size == Some(65_536) { 4 } else { 2 }
}

/// Why rows inserted are more than the run's, if the server itself writes some for each statement.
pub(super) fn logs_into_tables(facts: &Facts<'_>) -> Option<&'static str> {
    let settings = &facts.target().filter(|_| is_mariadb(facts))?.identity.settings;
    let is = |name: &str, value: &str| {
        settings.get(name).is_some_and(|set| set.split(',').any(|word| word.eq_ignore_ascii_case(value)))
    };
    let logs = is("slow_query_log", "ON") || is("general_log", "ON");
    (logs && is("log_output", "TABLE"))
        .then_some("the server logs statements into tables (log_output), whose rows are among those inserted")
}
