//! Checks for background activity: whether other sessions worked in the database or on its server.
//!
//! A database counts for all its sessions, and a server for all its databases. A figure that
//! includes the work of others is never shown as the run's; `others_share` computes how much that
//! is.

use dyno_record::{CheckStatus, Counter, OtherSessions, Waits};

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};
use super::others_share::{
    ACTIVE_FAIL, ACTIVE_WARN, AuditShare, FLOOR_PER_S, SHARE_FAIL_PCT, SHARE_WARN_PCT, active,
    rows_of_test_tables, server_activity, shares,
};
use super::system;
use crate::number::{count, figure, percent};

/// Share of the work that may lie beyond the interval's ends, above which the part of others cannot
/// be determined: it could be as large.
const BLUR_MAX: f64 = 0.5;

/// Redo per second, bytes, below which redo of others does not count as load in a run that writes
/// nothing.
const REDO_FLOOR_PER_S: f64 = 1e6;

/// Most programs named in one sentence.
const NAMED_MAX: usize = 3;

fn status(pct: f64) -> CheckStatus {
    match pct {
        pct if pct > SHARE_FAIL_PCT => CheckStatus::Fail,
        pct if pct > SHARE_WARN_PCT => CheckStatus::Warn,
        _ => CheckStatus::Pass,
    }
}

/// Lowers a failure to a warning where the plan declares the server as shared.
fn of_server(facts: &AuditFacts<'_>, status: CheckStatus) -> CheckStatus {
    if facts.record.plan.target.shared { status.min(CheckStatus::Warn) } else { status }
}

/// Whether other sessions worked in the database under test, so its counters include their work.
pub(super) fn in_database(facts: &AuditFacts<'_>) -> AuditCheckResult {
    facts.on_test_data()?;
    let interval = facts.compared()?;
    if facts.replicated {
        return skip("it also applies writes of sessions on the other targets");
    }
    if interval.blur >= BLUR_MAX {
        return skip(format!("{} % of the work may lie outside the window", percent(interval.blur * 100.0)));
    }
    let shares = shares(facts, &interval);
    if shares.is_empty() {
        return skip("the engine does not count reads and rows of the run separately");
    }
    if shares.iter().all(|share| share.all == 0) {
        return skip("the database counted no reads and no rows");
    }
    let judged =
        |share: &AuditShare| if share.is_negligible { CheckStatus::Pass } else { status(share.pct()) };
    // Bytes follow from their blocks.
    let blocks = shares.iter().filter(|share| share.counter.unit() != dyno_record::Unit::Bytes);
    let mut flagged_shares: Vec<&AuditShare> =
        blocks.filter(|share| judged(share) != CheckStatus::Pass).collect();
    flagged_shares.sort_by(|a, b| b.pct().total_cmp(&a.pct()));
    let worst = flagged_shares.iter().map(|share| judged(share)).max().unwrap_or(CheckStatus::Pass);
    let most = shares.iter().map(AuditShare::pct).fold(0.0, f64::max);
    let expected = format!("≤ {} %", percent(SHARE_WARN_PCT));
    let left_out = system::words(facts, &interval);
    if worst == CheckStatus::Pass {
        let pct =
            if most > SHARE_WARN_PCT { "next to nothing".to_owned() } else { format!("{} %", percent(most)) };
        let detail =
            format!("other sessions caused {pct} of the reads and rows that the database counted{left_out}");
        return conclude(worst, expected, pct, detail);
    }
    let words: Vec<String> = flagged_shares.iter().map(|share| share.words()).collect();
    let detail = format!(
        "other sessions caused {}: these figures include their work; measure while nothing else uses this \
         database{left_out}",
        words.join(", ")
    );
    conclude(
        worst,
        expected,
        format!("{} %", percent(flagged_shares.first().map_or(0.0, |share| share.pct()))),
        detail,
    )
}

/// Whether other sessions read the test tables.
pub(super) fn test_tables(facts: &AuditFacts<'_>) -> AuditCheckResult {
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
    if share.others_count == 0 && more > interval.rows() {
        return skip(format!(
            "{expected} rows touched, database counted {observed}: failed operations may have read as many"
        ));
    }
    let words = format!("{expected} rows touched, database counted {observed} in the test tables");
    let little = (share.others_count as f64) < FLOOR_PER_S * interval.seconds.max(0.0);
    let status = if little { CheckStatus::Pass } else { status(share.pct()) };
    let detail = match status {
        CheckStatus::Pass => words,
        _ => format!("{words}: other sessions read them too, {} % of all", percent(share.pct())),
    };
    conclude(status, expected, observed, detail)
}

/// Whether redo of others may have been counted late. That is so where the server delays its
/// statistics, does not count redo per session, and no other session was seen at work.
fn may_be_late_redo(facts: &AuditFacts<'_>, counters: &dyno_record::Counters) -> bool {
    let no_redo_of_sessions = !counters.own.contains_key(&Counter::RedoBytes);
    facts.counting.held_back_s.is_some()
        && no_redo_of_sessions
        && active(facts).is_ok_and(|(active, _)| active == 0.0)
}

/// Whether other sessions wrote redo, or read much, in other databases or tables of the server.
pub(super) fn on_the_server(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let interval = facts.compared()?;
    if let Some(reason) = facts.shared_server_reason() {
        return skip(reason);
    }
    if interval.counters.elsewhere.is_empty() {
        return skip("the engine does not report what other sessions do on the server");
    }
    let beside = server_activity(facts, &interval);
    let redo = interval.counter(Counter::RedoBytes).unwrap_or(0);
    let redo_pct = beside.redo_pct.unwrap_or(0.0);
    // A run that writes nothing has no redo figure to protect, so a little redo is no load.
    let small = interval.writes() == 0 && (redo as f64) < REDO_FLOOR_PER_S * interval.seconds.max(0.0);
    let of_redo = match status(redo_pct) {
        CheckStatus::Fail if small => CheckStatus::Warn,
        status => status,
    };
    // Statistics of idle sessions arrive late, and row counts say little about the amount of redo.
    let late = may_be_late_redo(facts, interval.counters) && of_redo == CheckStatus::Fail;
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
    // A figure that was not counted is left out: 0 would claim that there was no such activity.
    let activities: Vec<String> = parts
        .into_iter()
        .filter_map(|(value, verb, what)| Some(format!("{verb} {} {what}", count(value?))))
        .collect();
    let activity = match activities.as_slice() {
        [] => "did nothing that the server counts".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    };
    let did = format!("other sessions on the server {activity}");
    if worst == CheckStatus::Pass && of_redo.max(status(reads_pct)) == CheckStatus::Pass {
        return conclude(worst, expected, observed, did);
    }
    let mut touched = Vec::new();
    if late {
        touched.push(
            "no other session was seen active, so they may have been written before the window".to_owned(),
        );
    }
    if of_redo != CheckStatus::Pass {
        touched.push(format!("{} % of the redo is theirs ({})", percent(redo_pct), beside.redo_from));
    }
    if status(reads_pct) != CheckStatus::Pass {
        touched.push(format!("{} % of the server's logical reads", percent(reads_pct)));
    }
    let detail = format!(
        "{did}: {}; redo, writes and CPU are the whole server's, so they include this activity{}",
        touched.join(", "),
        advice(facts)
    );
    conclude(worst, expected, observed, detail)
}

/// What to do about a server with background activity.
fn advice(facts: &AuditFacts<'_>) -> &'static str {
    if facts.record.plan.target.shared {
        " and are marked (target.shared)"
    } else {
        "; measure alone, or set target.shared = true and accept these figures as marked"
    }
}

/// Whether other sessions were at work on the server.
pub(super) fn sessions(facts: &AuditFacts<'_>) -> AuditCheckResult {
    facts.window()?;
    if let Some(reason) = facts.shared_server_reason() {
        return skip(reason);
    }
    let (active, seen) = active(facts)?;
    let run_active_sessions = match &facts.record.waits {
        Waits::Sampled { average_active_sessions, .. } => average_active_sessions.max(0.0),
        Waits::Absent { .. } => 0.0,
    };
    // The samples may see fewer busy sessions than the client did; then the client's figure is
    // used.
    let busy = facts.window().ok().and_then(|window| window.busy_sessions()).unwrap_or(0.0);
    let share_pct = 100.0 * active / (active + run_active_sessions.max(busy)).max(f64::MIN_POSITIVE);
    let (expected, observed) = (format!("< {}", figure(ACTIVE_WARN)), figure(active));
    if active < ACTIVE_WARN {
        let words = if active == 0.0 { "none was seen" } else { "hardly any was seen" };
        return conclude(
            CheckStatus::Pass,
            expected,
            observed,
            format!("other active sessions on the server: {words}"),
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
        "{} other sessions were active on the server on average ({}), beside {} of the run: they shared its \
         processors and devices{}",
        figure(active),
        named.join(", "),
        figure(run_active_sessions.max(busy)),
        advice(facts)
    );
    conclude(status, expected, observed, detail)
}
