//! Who had the processors: whether somebody else's work took what the platform under test would have used.
//!
//! A machine that others keep busy makes every figure one of what was left. That is no error of the run, whose counts are
//! what they are; but it has to be said, with how much it was.

use dyno_record::{CheckStatus, Metric};

use super::facts::Facts;
use super::finding::{Verdict, found, skip};
use crate::number::percent;

/// Share of all processors, %, that others may have on a busy machine: less is what any system does beside.
const OTHERS_PCT: f64 = 5.0;

/// Share of all processors in use, %, from which work waits for a processor now and then, and what others have is missing.
const BUSY_PCT: f64 = 75.0;

/// Share of all processors, %, that is not little on any machine: caches and memory are shared, too.
const OTHERS_MUCH_PCT: f64 = 25.0;

/// Share of all processors, %, that a hypervisor may take.
const STEAL_PCT: f64 = 2.0;

/// What a record tells about the processors, % of all of them.
struct Shares {
    others_pct: f64,
    busy_pct: f64,
    steal_pct: f64,
    /// This program and the database, in words.
    known: String,
    /// The largest of the others, in words; empty where none is known.
    most: String,
}

impl Shares {
    fn of(facts: &Facts<'_>) -> Result<Self, String> {
        let counters = &facts.record.driver().counters;
        let counter = |name: &str| counters.get(name).copied().filter(|s| s.is_finite());
        let capacity_s = counter("processors.capacity_s").filter(|s| *s > 0.0);
        let others_s = counter("others.cpu_s");
        let (Some(capacity_s), Some(others_s)) = (capacity_s, others_s) else {
            return Err(match facts.record.metrics.get("others_cpu_pct") {
                Some(Metric::Absent { absent }) => absent.clone(),
                _ => "the record does not tell whose the processors were".to_owned(),
            });
        };
        let pct = |seconds: f64| 100.0 * seconds / capacity_s;
        let own = counter("own.cpu_s").map(|s| format!("this program {} %", percent(pct(s))));
        let server = counter("server.cpu_s").map(|s| format!("the database {} %", percent(pct(s))));
        let known = [own, server].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let named = counters.iter().filter_map(|(name, seconds)| {
            Some((name.strip_prefix("others.")?.strip_suffix(".cpu_s")?, *seconds))
        });
        let most = named.max_by(|a, b| a.1.total_cmp(&b.1));
        let most = most.map(|(name, seconds)| format!(", most of it {name} ({} %)", percent(pct(seconds))));
        let steal_pct = pct(counter("processors.steal_s").unwrap_or(0.0));
        let busy_pct = pct(counter("processors.busy_s").unwrap_or(0.0)) + steal_pct;
        Ok(Self { others_pct: pct(others_s), busy_pct, steal_pct, known, most: most.unwrap_or_default() })
    }

    /// Whether others had so much that figures of time are not the platform's own.
    fn is_taken(&self) -> bool {
        let by_others = self.others_pct > OTHERS_PCT && self.busy_pct >= BUSY_PCT;
        by_others || self.others_pct > OTHERS_MUCH_PCT || self.steal_pct > STEAL_PCT
    }
}

/// Whose the processors were.
pub(super) fn others(facts: &Facts<'_>) -> Verdict {
    facts.window()?;
    let shares = match Shares::of(facts) {
        Ok(shares) => shares,
        Err(reason) => return skip(reason),
    };
    let Shares { others_pct, busy_pct, steal_pct, known, most } = &shares;
    let mut words = format!(
        "the processors were {} % busy: {known}, others {} %{most}",
        percent(*busy_pct),
        percent(*others_pct)
    );
    if *steal_pct > STEAL_PCT {
        words += &format!("; the hypervisor took {} %", percent(*steal_pct));
    }
    let expected = format!("≤ {} % by others", percent(OTHERS_PCT));
    let observed = format!("{} %", percent(others_pct + steal_pct));
    if shares.is_taken() {
        let detail = format!(
            "{words}; rates and latencies are those of what was left: measure when nobody else works here"
        );
        return found(CheckStatus::Warn, expected, observed, detail);
    }
    found(CheckStatus::Pass, expected, observed, words)
}
