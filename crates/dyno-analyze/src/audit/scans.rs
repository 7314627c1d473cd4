//! Which way full scans took: through the buffer cache, or past it.
//!
//! Oracle decides for each scan, by the size of the table and what of it is cached, whether it reads into the cache of all
//! sessions or past it into the session's own memory ("direct path read"). The one measures the cache, the other storage, and the
//! same plan may do either on two databases, so a result that holds scans has to say which it was.

use dyno_record::CheckStatus;

use super::facts::{Engine, Facts};
use super::finding::{Verdict, found, skip};
use crate::number::{count, percent};

/// Scans of large tables, and those of them that went past the cache.
const LONG: &str = "sysstat.table scans (long tables)";
const DIRECT: &str = "sysstat.table scans (direct read)";

/// Blocks read at all, and past the cache.
const READS: &str = "sysstat.physical reads";
const READS_DIRECT: &str = "sysstat.physical reads direct";

/// Share of scans, %, that is all or none of them.
const ALL_PCT: f64 = 98.0;

/// Which way it was.
pub(super) fn path(facts: &Facts<'_>) -> Verdict {
    if facts.engine != Engine::Oracle {
        return skip("only Oracle reads past its cache as it sees fit");
    }
    let interval = facts.window_interval()?;
    if interval.scans == 0 {
        return skip("no full scans in the window");
    }
    let Some([long, direct, reads, reads_direct]) = [LONG, DIRECT, READS, READS_DIRECT]
        .map(|name| interval.native(name))
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .and_then(|all| <[u64; 4]>::try_from(all).ok())
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
