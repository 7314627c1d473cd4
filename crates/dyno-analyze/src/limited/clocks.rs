//! Divides the sessions' time into shares, by the clocks of database and client, or by samples
//! where there is no clock.

use dyno_record::{COMMIT, CONNECT, Counter, RunRecord};

use super::waits::{Sampled, WaitKind};
use crate::audit::page_cache_pct;

/// Share of the reads that came from the page cache, %, above which their time is not the device's.
const MEMORY_PCT: f64 = 50.0;

/// Shares of the sessions' time, %. The waits, `work` and `outside` are parts of one time: they add up to at most 100 %.
#[derive(Debug, Clone, Default)]
pub(super) struct Shares {
    /// In commits, as the client or the database measured it.
    pub(super) commit: Option<f64>,
    /// Whether `commit` is by the client's clock, rather than by samples.
    pub(super) commit_is_timed: bool,
    /// In reads and writes of data.
    pub(super) device: Option<f64>,
    /// In waits for locks of rows.
    pub(super) row_lock: Option<f64>,
    /// In waits for other locks.
    pub(super) lock: Option<f64>,
    /// In waits for locks of the database's memory.
    pub(super) latch: Option<f64>,
    /// In waits of a kind that no rule knows.
    pub(super) other_waits: Option<f64>,
    /// In opening connections for operations.
    pub(super) connect: Option<f64>,
    /// At work or waiting for a processor, by the samples.
    pub(super) sampled_cpu: Option<f64>,
    /// The same, as far as the client's clock does not count it as a commit.
    pub(super) work: Option<f64>,
    /// Neither waiting in the database nor working there, nor in a commit or connect that the client timed.
    pub(super) outside: Option<f64>,
    /// Processor time of database and client, relative to the sessions' time. It overlaps the other shares.
    pub(super) cpu: Option<f64>,
    /// How much of the window the log was being synced.
    pub(super) syncing: Option<f64>,
    /// Whether waits for the device were timed rather than sampled.
    pub(super) device_is_timed: bool,
    /// The events behind commits, device, locks, latches and other waits.
    pub(super) events: [Option<String>; 5],
    /// Share of the reads that the operating system's page cache answered, %.
    pub(super) page_cache: Option<f64>,
    /// Why there are no sampled waits.
    pub(super) unsampled: Option<String>,
}

impl Shares {
    /// The shares of sessions with `all_s` in total over `seconds`; `cpu_s` is the processor time
    /// of database and client.
    pub(super) fn of(record: &RunRecord, seconds: f64, all_s: f64, cpu_s: Option<f64>) -> Self {
        let timed_s = |counter| record.counters.get(counter).ok().map(|us| us as f64 / 1e6);
        let pct = |part_s: f64| (all_s > 0.0).then(|| (100.0 * part_s / all_s).clamp(0.0, 100.0));
        let reads_s = timed_s(Counter::PhysicalReadTime).filter(|s| *s > 0.0);
        let steps_s = |name: &str| {
            let steps = record.ops.get(name).filter(|steps| steps.count > 0)?;
            Some(steps.service_us.mean? * steps.count as f64 / 1e6)
        };
        let page_cache = page_cache_pct(record);
        // Copies from memory are processor work, whatever the database calls them.
        let is_memory = page_cache.is_some_and(|pct| pct >= MEMORY_PCT);
        let mut shares = Self {
            page_cache,
            commit: steps_s(COMMIT).and_then(pct),
            connect: steps_s(CONNECT).and_then(pct),
            device: reads_s.filter(|_| !is_memory).and_then(pct),
            cpu: cpu_s.and_then(pct),
            syncing: timed_s(Counter::RedoSyncTime).map(|s| (100.0 * s / seconds).clamp(0.0, 100.0)),
            device_is_timed: reads_s.is_some() && !is_memory,
            commit_is_timed: steps_s(COMMIT).is_some(),
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
        let time_pct = |kinds: &[WaitKind]| pct(sampled.of_kinds(kinds) * seconds);
        // The client times each commit of the block workload, with all waits in it. Statements of custom workloads may
        // commit by themselves, and only samples see that.
        let is_custom = record.workload.is_some() || record.plan.workload.folder.is_some();
        if shares.commit.is_none() || is_custom {
            let timed = shares.commit;
            shares.commit = max(timed, time_pct(&[WaitKind::Commit]));
            shares.commit_is_timed = timed.is_some() && shares.commit == timed;
        }
        if !is_memory {
            shares.device = max(shares.device, time_pct(&[WaitKind::Device]));
        }
        shares.row_lock = max(shares.row_lock, time_pct(&[WaitKind::RowLock]));
        shares.lock = time_pct(&[WaitKind::Lock]);
        shares.latch = time_pct(&[WaitKind::Latch]);
        shares.sampled_cpu = time_pct(&[WaitKind::Cpu]);
        let (unknown, largest_unknown) = sampled.unknown_waits();
        shares.other_waits = pct(unknown * seconds);
        let inside = sampled.active - sampled.of_kinds(&[WaitKind::Outside]);
        shares.outside = pct(inside * seconds).map(|inside| 100.0 - inside - shares.unseen(time_pct));
        let event = |kinds: &[WaitKind]| sampled.most(kinds).map(str::to_owned);
        shares.events = [
            event(&[WaitKind::Commit]),
            event(&[WaitKind::Device]),
            event(&[WaitKind::RowLock, WaitKind::Lock]),
            event(&[WaitKind::Latch]),
            largest_unknown.map(str::to_owned),
        ];
        shares.fit();
        shares
    }

    /// Time in timed commits, reads, row locks and connects, less what the samples saw of it: samples show the rest
    /// as outside.
    fn unseen(&self, sampled_pct: impl Fn(&[WaitKind]) -> Option<f64>) -> f64 {
        let timed = [
            (self.commit, WaitKind::Commit),
            (self.device, WaitKind::Device),
            (self.row_lock, WaitKind::RowLock),
        ];
        let beyond_samples = timed.into_iter().filter_map(|(pct, kind)| Some(pct? - sampled_pct(&[kind])?));
        beyond_samples.sum::<f64>() + self.connect.unwrap_or(0.0)
    }

    /// Makes the parts add up to at most 100 %. Clocks and samples of one moment overlap: waits count first, then
    /// work, then the time outside.
    fn fit(&mut self) {
        let waits = [
            &mut self.commit,
            &mut self.device,
            &mut self.row_lock,
            &mut self.lock,
            &mut self.latch,
            &mut self.other_waits,
            &mut self.connect,
        ];
        let all_pct: f64 = waits.iter().filter_map(|pct| **pct).sum();
        if all_pct > 100.0 {
            waits.into_iter().flatten().for_each(|pct| *pct *= 100.0 / all_pct);
        }
        let rest = (100.0 - all_pct).max(0.0);
        self.work = self.sampled_cpu.map(|pct| pct.min(rest));
        let rest = rest - self.work.unwrap_or(0.0);
        self.outside = self.outside.map(|pct| pct.clamp(0.0, rest));
    }
}

/// Time in waits for row locks, where the server counts it: InnoDB does, in ms.
fn row_locks_s(record: &RunRecord) -> Option<f64> {
    let native = &record.counters.native;
    let entry = native.iter().find(|(name, _)| name.ends_with("nnodb_row_lock_time"));
    entry.map(|(_, ms)| ms / 1e3).filter(|s| s.is_finite() && *s > 0.0)
}

fn max(first: Option<f64>, other: Option<f64>) -> Option<f64> {
    first.into_iter().chain(other).reduce(f64::max)
}
