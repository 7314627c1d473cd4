//! Checks the path of full scans: through the buffer cache, or past it.
//!
//! A database may decide for each scan whether it reads into the shared cache or past it into the
//! session's own memory. The first measures the cache, the second storage, and the same plan may do
//! either on two databases. So a result with scans must name the path.

use dyno_record::CheckStatus;

use super::facts::AuditFacts;
use super::finding::{AuditCheckResult, conclude, skip};
use crate::number::{count, percent};

/// Share of scans, %, that counts as all of them; the remainder counts as none.
const ALL_PCT: f64 = 98.0;

/// Which path the scans took.
pub(super) fn path(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let Some(names) = &facts.counting.scans else {
        return skip("the engine never bypasses its cache for scans (no direct path reads)");
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
    // A small table is scanned through the cache, and does not count as a long scan.
    let direct_pct = 100.0 * direct as f64 / long.max(interval.scans) as f64;
    let words = format!(
        "{} of {} full scans read past the buffer cache (direct path); {} of {} blocks were read this way",
        count(direct),
        count(long.max(interval.scans)),
        count(reads_direct),
        count(reads)
    );
    let observed = format!("{} % direct", percent(direct_pct.min(100.0)));
    if direct_pct >= ALL_PCT {
        return conclude(CheckStatus::Pass, "one way", observed, format!("{words}: they measured storage"));
    }
    if direct_pct <= 100.0 - ALL_PCT {
        return conclude(
            CheckStatus::Pass,
            "one way",
            observed,
            format!("{words}: they went through the cache"),
        );
    }
    let detail = format!("{words}: one figure mixes scans of both kinds");
    conclude(CheckStatus::Warn, "one way", observed, detail)
}
