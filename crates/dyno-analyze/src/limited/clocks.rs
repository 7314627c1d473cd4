//! Where the sessions' time goes, by the clocks of database and client, and by samples where there is no clock.

use dyno_record::{COMMIT, Counter, RunRecord};

use super::waits::{Kind, Sampled};
use crate::audit::page_cache_pct;

/// Share of the reads that came from the page cache, %, from which their time is no device's.
const MEMORY_PCT: f64 = 50.0;

/// Shares of the sessions' time, %.
#[derive(Debug, Clone, Default)]
pub(super) struct Shares {
    /// In commits.
    pub(super) commit: Option<f64>,
    /// In reads and writes of data.
    pub(super) device: Option<f64>,
    /// In waits for locks of rows.
    pub(super) row_lock: Option<f64>,
    /// In waits for other locks.
    pub(super) lock: Option<f64>,
    /// In waits for locks of the database's memory.
    pub(super) latch: Option<f64>,
    /// Neither waiting in the database nor at work there.
    pub(super) outside: Option<f64>,
    /// Of all processor time of database and client against the sessions' time.
    pub(super) cpu: Option<f64>,
    /// How much of the window the log was being synced.
    pub(super) syncing: Option<f64>,
    /// Whether waits for the device were timed and not sampled.
    pub(super) device_is_timed: bool,
    /// The events behind commits, device, locks and latches.
    pub(super) events: [Option<String>; 4],
    /// Share of the reads that the operating system's page cache answered, %.
    pub(super) page_cache: Option<f64>,
    /// Why there are no sampled waits.
    pub(super) unsampled: Option<String>,
}

impl Shares {
    /// Of sessions whose time is `all_s` together, over `seconds`; `cpu_s` is what database and client had.
    pub(super) fn of(record: &RunRecord, seconds: f64, all_s: f64, cpu_s: Option<f64>) -> Self {
        let timed_s = |counter| record.counters.get(counter).ok().map(|us| us as f64 / 1e6);
        let pct = |part_s: f64| (all_s > 0.0).then(|| (100.0 * part_s / all_s).clamp(0.0, 100.0));
        let reads_s = timed_s(Counter::PhysicalReadTime).filter(|s| *s > 0.0);
        let commits = record.ops.get(COMMIT).filter(|commits| commits.count > 0);
        let commits_s =
            commits.and_then(|commits| Some(commits.service_us.mean? * commits.count as f64 / 1e6));
        let page_cache = page_cache_pct(record);
        // Copies from memory are work of a processor, whatever the database calls them.
        let is_memory = page_cache.is_some_and(|pct| pct >= MEMORY_PCT);
        let mut shares = Self {
            page_cache,
            commit: commits_s.and_then(pct),
            device: reads_s.filter(|_| !is_memory).and_then(pct),
            cpu: cpu_s.and_then(pct),
            syncing: timed_s(Counter::RedoSyncTime).map(|s| (100.0 * s / seconds).clamp(0.0, 100.0)),
            device_is_timed: reads_s.is_some() && !is_memory,
            row_lock: row_locks_s(record).and_then(pct),
            ..Self::default()
        };
        let sampled = match Sampled::of(record) {
            Ok(sampled) => sampled,
            Err(why) => {
                shares.unsampled = Some(why);
                return shares;
            }
        };
        let of = |kinds: &[Kind]| pct(sampled.of_kinds(kinds) * seconds);
        // What a client sees of a commit holds all of it, the waits in the database among it.
        shares.commit = max(shares.commit, of(&[Kind::Commit]));
        if !is_memory {
            shares.device = max(shares.device, of(&[Kind::Device]));
        }
        shares.row_lock = max(shares.row_lock, of(&[Kind::RowLock]));
        shares.lock = of(&[Kind::Lock]);
        shares.latch = of(&[Kind::Latch]);
        let inside = sampled.active - sampled.of_kinds(&[Kind::Outside]);
        shares.outside = pct(inside * seconds).map(|inside| 100.0 - inside);
        let event = |kinds: &[Kind]| sampled.most(kinds).map(str::to_owned);
        shares.events = [
            event(&[Kind::Commit]),
            event(&[Kind::Device]),
            event(&[Kind::RowLock, Kind::Lock]),
            event(&[Kind::Latch]),
        ];
        shares
    }
}

/// Time in waits for rows, where the server counts it: InnoDB does, in ms.
fn row_locks_s(record: &RunRecord) -> Option<f64> {
    let native = &record.counters.native;
    let found = native.iter().find(|(name, _)| name.ends_with("nnodb_row_lock_time"));
    found.map(|(_, ms)| ms / 1e3).filter(|s| s.is_finite() && *s > 0.0)
}

fn max(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}
