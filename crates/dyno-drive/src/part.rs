//! Runs an agent's part of a run's sessions. It applies the remote conductor's commands here and reports the
//! state as plain values. All times are on this host's clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_engine::Clock;
use dyno_engine::target::HungSessionReport;
use serde::{Deserialize, Serialize};

use crate::hang_reasons;
use crate::interval::IntervalCounts;
use crate::job::DriveJob;
use crate::results::Results;
use crate::shared::DrivePhase;
use crate::snapshot_status::SnapshotStatus;
use crate::stalls::{StallMeter, Stalls};
use crate::threads::{IntervalChannels, Threads};
use crate::worker_pool::WorkerPool;

/// The state of the sessions of a part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Number of sessions that are connected and prepared.
    pub ready: u32,
    /// Number of sessions that have reached the begin and the end of the window.
    pub at_edge: [u32; 2],
    pub ended: u32,
    /// Sessions of the first workload that have done the operations that the plan asks of each.
    pub reached_ops: u32,
    /// Until when all of them have published their work; absent where work is visible at once.
    pub shown_ns: Option<u64>,
    /// The mean over these sessions.
    pub shown_mean_ns: Option<u64>,
    /// Overhead transactions so far, target by target.
    pub overhead: Vec<i64>,
    /// Why the run has failed; absent while it has not.
    pub failure: Option<String>,
}

/// The sessions of a run on this agent.
pub struct SessionGroup {
    threads: Threads,
    feed: IntervalChannels,
    next_empty: usize,
    snapshot_statuses: Vec<Arc<SnapshotStatus>>,
    targets: usize,
    clock: Arc<dyn Clock>,
    /// When the window is to end; absent while unknown.
    closes_ns: Option<u64>,
    /// When the window ended here.
    closed_ns: Option<u64>,
    /// When the window begins, on this host's clock.
    origin_ns: Option<u64>,
    stalls: StallMeter,
}

impl SessionGroup {
    /// Starts the sessions of `job` with these `numbers`: they connect, prepare and wait at the gate.
    pub fn start(job: &DriveJob<'_>, numbers: Vec<u32>) -> Self {
        let snapshot_statuses: Vec<Arc<SnapshotStatus>> =
            job.targets.iter().map(|_| Arc::default()).collect();
        let (threads, feed) = Threads::start(job, &snapshot_statuses, numbers);
        let (targets, clock) = (job.targets.len(), Arc::clone(&job.clock));
        Self {
            threads,
            feed,
            next_empty: 0,
            snapshot_statuses,
            targets,
            clock,
            closes_ns: None,
            closed_ns: None,
            origin_ns: None,
            stalls: StallMeter::default(),
        }
    }

    /// The numbers of its sessions.
    pub fn numbers(&self) -> &[u32] {
        self.threads.numbers()
    }

    /// Number of threads that run its sessions.
    pub fn threads(&self) -> u32 {
        self.threads.size().threads
    }

    /// Opens the gate; returns how late this call is, ns.
    pub fn open_gate(&mut self, opens_ns: u64) -> u64 {
        self.threads.open_gate(opens_ns);
        self.clock.now_ns().saturating_sub(opens_ns)
    }

    /// Begins the window: work that ends after `origin_ns` counts, until `ends_ns` if that is known. Returns
    /// how late this call is, ns.
    pub fn open_window(&mut self, origin_ns: u64, ends_ns: Option<u64>) -> u64 {
        (self.origin_ns, self.closes_ns) = (Some(origin_ns), ends_ns);
        self.threads.open_window(origin_ns, ends_ns)
    }

    /// Notes that the counters of the window's begin were read.
    pub fn enter_window(&mut self) {
        self.threads.enter_window();
    }

    /// Ends the window at `at_ns`, unless it has ended; returns how late this call is, ns.
    pub fn close_window(&mut self, at_ns: u64) -> u64 {
        self.closes_ns = Some(at_ns);
        self.poll();
        self.closed_ns.map_or(0, |closed_ns| closed_ns.saturating_sub(at_ns))
    }

    /// When the window ended here.
    pub fn closed_ns(&self) -> Option<u64> {
        self.closed_ns
    }

    /// Announces that the counters of these targets at a window boundary are read next.
    pub fn announce_snapshot(&self, edge: usize, targets: &[usize]) {
        targets
            .iter()
            .filter_map(|at| self.snapshot_statuses.get(*at))
            .for_each(|looks| looks.note_requested(edge));
    }

    /// Notes that the counters of a target at a boundary arrived at `answered_ns`.
    pub fn snapshot_taken(&self, edge: usize, target: usize, answered_ns: u64) {
        if let Some(status) = self.snapshot_statuses.get(target) {
            status.note_answered(edge, answered_ns);
        }
    }

    /// Does the work that is due: receives the sessions' reports, and ends the window at its time. Returns
    /// the time until more work is due, ns; `None` if that is unknown.
    ///
    /// While the window is open, a call that comes later than [`SessionGroup::PAUSE`] after the one before is
    /// a stall.
    pub fn poll(&mut self) -> Option<u64> {
        self.note_stall();
        self.threads.listen(Duration::ZERO);
        let closes_ns = self.closes_ns.filter(|_| self.closed_ns.is_none())?;
        let left_ns = closes_ns.saturating_sub(self.clock.now_ns());
        if left_ns == 0 {
            self.closed_ns = Some(self.threads.close_window());
        }
        Some(left_ns)
    }

    /// How often [`SessionGroup::poll`] must be called while the window is open.
    pub const PAUSE: Duration = Duration::from_millis(5);

    /// Stalls of this process in the window.
    pub fn stalls(&self) -> Stalls {
        self.stalls.stalls()
    }

    fn note_stall(&mut self) {
        let now_ns = self.clock.now_ns();
        let begins_ns = self.origin_ns.filter(|origin_ns| now_ns >= *origin_ns);
        let Some(begins_ns) = begins_ns.filter(|_| self.closed_ns.is_none()) else {
            return self.stalls.end();
        };
        if !self.stalls.is_measuring() {
            self.stalls.begin(begins_ns);
        }
        self.stalls.look(now_ns, Self::PAUSE.as_nanos() as u64);
    }

    /// Whether sessions are about to reach a window boundary, so that time is critical.
    pub fn is_at_boundary(&self) -> bool {
        match self.threads.shared.phase() {
            DrivePhase::Opening => true,
            DrivePhase::Closing => {
                self.threads.at_boundary(1) + self.threads.ended() < self.threads.size().sessions
            }
            DrivePhase::Warmup | DrivePhase::Window | DrivePhase::Stop => false,
        }
    }

    /// The present state of its sessions.
    pub fn status(&self) -> WorkerStatus {
        let shown_ns = self.threads.shared.shown_ns_min();
        let shown_mean_ns = self.threads.shared.shown_mean_of_part_ns();
        WorkerStatus {
            ready: self.threads.ready(),
            at_edge: [self.threads.at_boundary(0), self.threads.at_boundary(1)],
            ended: self.threads.ended(),
            reached_ops: self.threads.reached_ops(),
            shown_ns: (shown_ns < u64::MAX).then_some(shown_ns),
            shown_mean_ns,
            overhead: (0..self.targets).map(|at| self.threads.overhead(at)).collect(),
            failure: self.threads.failure(),
        }
    }

    /// The intervals that sessions have reported since the last call, one per target and number.
    pub fn intervals(&mut self) -> Vec<IntervalCounts> {
        let mut all: BTreeMap<(u64, usize), Box<IntervalCounts>> = BTreeMap::new();
        while let Ok(mut interval) = self.feed.filled.try_recv() {
            let key = (interval.index, interval.target);
            let Some(sum) = all.get_mut(&key) else {
                all.insert(key, interval);
                continue;
            };
            sum.add(&interval);
            interval.clear();
            if !self.feed.recycled.is_empty() {
                self.next_empty = (self.next_empty + 1) % self.feed.recycled.len();
                // A thread that has ended takes none back.
                let _ = self.feed.recycled[self.next_empty].send(interval);
            }
        }
        all.into_values().map(|interval| *interval).collect()
    }

    /// Ends all sessions, as [`WorkerPool::stop`]; returns the interrupted ones, and their servers' reports.
    pub fn stop(
        &mut self,
        job: &DriveJob<'_>,
        drain: Duration,
        impatient: &dyn Fn() -> bool,
    ) -> (Vec<u32>, Vec<HungSessionReport>) {
        let started = Instant::now();
        let now_s = || started.elapsed().as_secs_f64();
        let mut stuck = Vec::new();
        let has_begun = self.threads.shared.opens_ns().is_some();
        let mut ask = |hanging: &[u32]| {
            if has_begun {
                stuck = hang_reasons::ask(job, hanging);
            }
        };
        let broken_off = self.threads.stop(drain, &now_s, impatient, &mut ask);
        (if has_begun { broken_off } else { Vec::new() }, stuck)
    }

    /// The results of its sessions; results that never arrived are missing.
    pub fn into_results(self) -> Results {
        Box::new(self.threads).into_results().0
    }
}

#[cfg(test)]
mod tests {

    use dyno_engine::{MonotonicClock, Target as _};
    use dyno_plan::Plan;
    use parking_lot::Mutex;

    use super::*;
    use crate::job::TargetContext;
    use crate::testing;
    use dyno_prove::scripted::{Act, OperationScript, ScriptedTarget};

    type OperationsBySession = BTreeMap<u32, Vec<String>>;

    fn plan() -> Plan {
        serde_json::from_value(serde_json::json!({
            "version": 1,
            "target": { "url": "sqlite:a", "connect_timeout": "1s" },
            "data": { "schemas": 1, "scale": "1000 blocks", "scan_scale": "0 blocks", "compressible": 0, "seed": 42,
                      "load_parallel": 1 },
            "workload": { "update_pct": 30, "scan_pct": 0, "lookup_pct": 20, "work_unit": 8, "redo": "lite",
                          "drive": "client", "arrivals": "constant", "seed": 5 },
            "run": { "sessions_per_schema": 6, "warmup": "0s", "ops_per_session": 50, "drain": "500ms" },
            "observe": { "interval": "50ms" }
        }))
        .unwrap()
    }

    /// The first 50 operations of each session of a run, whose sessions are distributed over these hosts.
    fn run_on_hosts(hosts: &[Vec<u32>]) -> OperationsBySession {
        let (plan, recorded) = (plan(), Arc::new(Mutex::new(OperationsBySession::new())));
        let mut parts = Vec::new();
        for numbers in hosts {
            let noted = Arc::clone(&recorded);
            let script: Arc<OperationScript> = Arc::new(move |session, _, op| {
                let mut operations_by_session = noted.lock();
                let session_operations: &mut Vec<String> = operations_by_session.entry(session).or_default();
                session_operations.push(format!("{op:?}"));
                Act::Take(0)
            });
            let target = ScriptedTarget::new(script, Arc::new(|_| std::thread::yield_now()));
            let identity = target.identify().unwrap();
            let job = DriveJob {
                run_id: "test".into(),
                started_at: "2026-01-01T00:00:00Z".into(),
                run_stamp: 7,
                plan: &plan,
                targets: vec![TargetContext::new(Arc::new(target), identity, testing::spec(1_000))],
                custom_workloads: Vec::new(),
                clock: Arc::new(MonotonicClock::default()),
                cancel: dyno_engine::Cancel::default(),
                dyno_version: "test".into(),
                series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
            };
            let mut part = SessionGroup::start(&job, numbers.clone());
            part.open_gate(job.clock.now_ns());
            part.open_window(job.clock.now_ns(), None);
            part.enter_window();
            parts.push((part, job));
        }
        for (mut part, job) in parts {
            while (part.status().reached_ops as usize) < part.numbers().len() {
                part.poll();
                std::thread::yield_now();
            }
            part.close_window(job.clock.now_ns());
            let (broken_off, _) = part.stop(&job, Duration::from_secs(5), &|| false);
            assert_eq!(broken_off, [0; 0]);
            assert!(!part.intervals().is_empty());
        }
        let mut result = std::mem::take(&mut *recorded.lock());
        result.values_mut().for_each(|operations| operations.truncate(50));
        result
    }

    #[test]
    fn operations_are_same_for_any_number_of_hosts() {
        let single_host = run_on_hosts(&[(0..6).collect()]);
        assert_eq!((single_host.len(), single_host[&5].len()), (6, 50));
        assert_ne!(single_host[&0], single_host[&1], "sessions differ");
        assert_eq!(run_on_hosts(&[vec![0, 1, 2], vec![3, 4, 5]]), single_host);
        assert_eq!(run_on_hosts(&[vec![0], vec![1], vec![2], vec![3], vec![4], vec![5]]), single_host);
    }
}
