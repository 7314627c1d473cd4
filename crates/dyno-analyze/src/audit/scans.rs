//! Which way full scans took: through the buffer cache, or past it.
//!
//! A database may decide for each scan whether it reads into the cache of all sessions or past it into the session's own memory.
//! The one measures the cache, the other storage, and the same plan may do either on two databases, so a result that holds scans
//! has to say which it was.

use dyno_record::CheckStatus;

use super::facts::Facts;
use super::finding::{Verdict, found, skip};
use crate::number::{count, percent};

/// Share of scans, %, that is all or none of them.
const ALL_PCT: f64 = 98.0;

/// Which way it was.
pub(super) fn path(facts: &Facts<'_>) -> Verdict {
    let Some(names) = &facts.counting.scans else {
        return skip("the engine does not read past its cache as it sees fit");
    };
    let interval = facts.window_interval()?;
    if interval.scans == 0 {
        return skip("no full scans in the window");
    }
    let counters = [&names.long, &names.direct, &names.reads, &names.reads_direct];
    let [Some(long), Some(direct), Some(reads), Some(reads_direct)] =
        counters.map(|name| interval.native(name))
    else {
        return skip("the database does not report its table scans");
    };
    // A small table is scanned through the cache, and is none of the long ones.
    let direct_pct = 100.0 * direct as f64 / long.max(interval.scans) as f64;
    let words = format!(
        "{} of {} full scans read past the buffer cache (direct path); {} of {} blocks read came so",
        count(direct),
        count(long.max(interval.scans)),
        count(reads_direct),
        count(reads)
    );
    let observed = format!("{} % direct", percent(direct_pct.min(100.0)));
    if direct_pct >= ALL_PCT {
        return found(CheckStatus::Pass, "one way", observed, format!("{words}: they measured storage"));
    }
    if direct_pct <= 100.0 - ALL_PCT {
        return found(
            CheckStatus::Pass,
            "one way",
            observed,
            format!("{words}: they went through the cache"),
        );
    }
    let detail = format!("{words}: scans of both kinds are mixed in one figure");
    found(CheckStatus::Warn, "one way", observed, detail)
}
