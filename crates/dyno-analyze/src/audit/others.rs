//! Own against all: checks of whether other sessions worked in the database or on its server.
//!
//! A database counts for whoever works in it, and its server for all its databases. A figure that holds the work of others is
//! never shown as the run's; `others_share` says how much that is.

use dyno_record::{CheckStatus, Counter, OtherSessions, Waits};

use super::facts::Facts;
use super::finding::{Verdict, found, skip};
use super::others_share::{
    ACTIVE_FAIL, ACTIVE_WARN, FLOOR_PER_S, SHARE_FAIL_PCT, SHARE_WARN_PCT, Share, active, beside,
    rows_of_test_tables, shares,
};
use super::system;
use crate::number::{count, figure, percent};

/// Share of the work that may lie beyond the interval's ends from which nobody can tell what is others': it could be as much.
const BLUR_MAX: f64 = 0.5;

/// Redo per second, bytes, below which others' redo in a run that writes nothing is no load.
const REDO_FLOOR_PER_S: f64 = 1e6;

/// Programs named in one sentence.
const NAMED_MAX: usize = 3;

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
