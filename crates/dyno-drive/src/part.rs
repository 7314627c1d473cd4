//! A part of a run's sessions, as an agent leads them for a conductor that is elsewhere: what that says is applied here, and what is
//! here to see is told as plain values. All moments are on this host's clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_engine::Clock;
use dyno_engine::target::Stuck;
use serde::{Deserialize, Serialize};

use crate::crew::Crew;
use crate::interval::Interval;
use crate::job::Job;
use crate::looks::Looks;
use crate::results::Results;
use crate::shared::Phase;
use crate::stalls::{StallMeter, Stalls};
use crate::stuck;
use crate::threads::{Feed, Threads};

/// Where the sessions of a part stand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Sessions that are connected and prepared.
    pub ready: u32,
    /// Sessions that have reached the begin and the end of the window.
    pub at_edge: [u32; 2],
    /// Sessions that have ended.
    pub ended: u32,
    /// Sessions of the first workload that have done the operations that the plan asks of each.
    pub reached_ops: u32,
    /// Until when all of them have made visible what they did; nothing where that shows by itself.
    pub shown_ns: Option<u64>,
    /// The same on average.
    pub shown_mean_ns: Option<u64>,
    /// Transactions that were no operations, target by target.
    pub overhead: Vec<i64>,
    /// Why the run has failed.
    pub failure: Option<String>,
}

/// A part of a run's sessions.
pub struct Part {
    threads: Threads,
    feed: Feed,
    next_empty: usize,
    looks: Vec<Arc<Looks>>,
    targets: usize,
    clock: Arc<dyn Clock>,
    /// When the window is to end.
    closes_ns: Option<u64>,
    /// When it did.
    closed_ns: Option<u64>,
    /// When the window begins.
    origin_ns: Option<u64>,
    stalls: StallMeter,
}

impl Part {
    /// Starts the sessions of `job` that have these `numbers`: they connect, prepare and wait at the gate.
    pub fn start(job: &Job<'_>, numbers: Vec<u32>) -> Self {
        let looks: Vec<Arc<Looks>> = job.targets.iter().map(|_| Arc::default()).collect();
        let (threads, feed) = Threads::start(job, &looks, numbers);
        let (targets, clock) = (job.targets.len(), Arc::clone(&job.clock));
        Self {
            threads,
            feed,
            next_empty: 0,
            looks,
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

    /// Threads that lead its sessions.
    pub fn threads(&self) -> u32 {
        self.threads.size().threads
    }

    /// Opens the gate; returns how much too late, ns.
    pub fn open_gate(&mut self, opens_ns: u64) -> u64 {
        self.threads.open_gate(opens_ns);
        self.clock.now_ns().saturating_sub(opens_ns)
    }

    /// What ends from `origin_ns` on counts, until `ends_ns` where that is known; returns how much too late this comes, ns.
    pub fn open_window(&mut self, origin_ns: u64, ends_ns: Option<u64>) -> u64 {
        (self.origin_ns, self.closes_ns) = (Some(origin_ns), ends_ns);
        self.threads.open_window(origin_ns, ends_ns)
    }

    /// The window's begin is read.
    pub fn enter_window(&mut self) {
        self.threads.enter_window();
    }

    /// The window ends at `at_ns`, unless it has; returns how much too late this comes, ns.
    pub fn close_window(&mut self, at_ns: u64) -> u64 {
        self.closes_ns = Some(at_ns);
        self.beat();
        self.closed_ns.map_or(0, |closed_ns| closed_ns.saturating_sub(at_ns))
    }

    /// When the window ended here.
    pub fn closed_ns(&self) -> Option<u64> {
        self.closed_ns
    }

    /// The counters of these targets at an edge of the window are read next.
    pub fn looking(&self, edge: usize, targets: &[usize]) {
        targets.iter().filter_map(|at| self.looks.get(*at)).for_each(|looks| looks.asked(edge));
    }

    /// The counters of a target at an edge are there since `answered_ns`.
    pub fn looked(&self, edge: usize, target: usize, answered_ns: u64) {
        if let Some(looks) = self.looks.get(target) {
            looks.answered(edge, answered_ns);
        }
    }

    /// Does what is due: takes in what sessions report, and ends the window when its time has come. Returns how long nothing more
    /// is due, ns; nothing where that is not known.
    ///
    /// While the window is open, a call that comes later than [`Part::PAUSE`] after the one before is a stall.
    pub fn beat(&mut self) -> Option<u64> {
        self.note_stall();
        self.threads.listen(Duration::ZERO);
        let closes_ns = self.closes_ns.filter(|_| self.closed_ns.is_none())?;
        let left_ns = closes_ns.saturating_sub(self.clock.now_ns());
        if left_ns == 0 {
            self.closed_ns = Some(self.threads.close_window());
        }
        Some(left_ns)
    }

    /// How often this has to be called while the window is open.
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

    /// Whether sessions are on their way to an edge of the window, where a moment matters.
    pub fn is_at_an_edge(&self) -> bool {
        match self.threads.shared.phase() {
            Phase::Opening => true,
            Phase::Closing => self.threads.at_edge(1) + self.threads.ended() < self.threads.size().sessions,
            Phase::Warmup | Phase::Window | Phase::Stop => false,
        }
    }

    /// Where its sessions stand.
    pub fn standing(&self) -> Standing {
        let shown_ns = self.threads.shared.shown_ns_min();
        let shown_mean_ns = self.threads.shared.shown_mean_of_part_ns();
        Standing {
            ready: self.threads.ready(),
            at_edge: [self.threads.at_edge(0), self.threads.at_edge(1)],
            ended: self.threads.ended(),
            reached_ops: self.threads.reached_ops(),
            shown_ns: (shown_ns < u64::MAX).then_some(shown_ns),
            shown_mean_ns,
            overhead: (0..self.targets).map(|at| self.threads.overhead(at)).collect(),
            failure: self.threads.failure(),
        }
    }

    /// What sessions did in intervals of which they have reported since this was last asked, one of each target and number.
    pub fn intervals(&mut self) -> Vec<Interval> {
        let mut all: BTreeMap<(u64, usize), Box<Interval>> = BTreeMap::new();
        while let Ok(mut interval) = self.feed.filled.try_recv() {
            let key = (interval.index, interval.target);
            let Some(sum) = all.get_mut(&key) else {
                all.insert(key, interval);
                continue;
            };
            sum.add(&interval);
            interval.clear();
            if !self.feed.empties.is_empty() {
                self.next_empty = (self.next_empty + 1) % self.feed.empties.len();
                // A thread that has ended takes none back.
                let _ = self.feed.empties[self.next_empty].send(interval);
            }
        }
        all.into_values().map(|interval| *interval).collect()
    }

    /// Ends all sessions, as [`Crew::stop`] says; returns those that had to be broken off, and what their servers say of them.
    pub fn stop(
        &mut self,
        job: &Job<'_>,
        drain: Duration,
        impatient: &dyn Fn() -> bool,
    ) -> (Vec<u32>, Vec<Stuck>) {
        let started = Instant::now();
        let now_s = || started.elapsed().as_secs_f64();
        let mut stuck = Vec::new();
        let has_begun = self.threads.shared.opens_ns().is_some();
        let mut ask = |hanging: &[u32]| {
            if has_begun {
                stuck = stuck::ask(job, hanging);
            }
        };
        let broken_off = self.threads.stop(drain, &now_s, impatient, &mut ask);
        (if has_begun { broken_off } else { Vec::new() }, stuck)
    }

    /// What its sessions measured; those that never answered are missing.
    pub fn into_results(self) -> Results {
        Box::new(self.threads).into_results().0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use dyno_engine::{MonotonicClock, Target as _};
    use dyno_plan::Plan;

    use super::*;
    use crate::job::Aim;
    use crate::scripted::{Act, Script, ScriptedTarget};
    use crate::testing;

    type Done = BTreeMap<u32, Vec<String>>;

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

    /// The first 50 operations of each session of a run that hosts with these sessions do together.
    fn done_by(hosts: &[Vec<u32>]) -> Done {
        let (plan, done) = (plan(), Arc::new(Mutex::new(Done::new())));
        let mut parts = Vec::new();
        for numbers in hosts {
            let noted = Arc::clone(&done);
            let script: Arc<Script> = Arc::new(move |session, _, op| {
                let mut done = noted.lock().unwrap();
                let own: &mut Vec<String> = done.entry(session).or_default();
                own.push(format!("{op:?}"));
                Act::Take(0)
            });
            let target = ScriptedTarget::new(script, Arc::new(|_| std::thread::yield_now()));
            let identity = target.identify().unwrap();
            let job = Job {
                run_id: "test".into(),
                started_at: "2026-01-01T00:00:00Z".into(),
                run_stamp: 7,
                plan: &plan,
                targets: vec![Aim::new(Arc::new(target), identity, testing::spec(1_000))],
                owns: Vec::new(),
                clock: Arc::new(MonotonicClock::default()),
                cancel: dyno_engine::Cancel::default(),
                dyno_version: "test".into(),
                series_points_max: dyno_record::OVERVIEW_POINTS_MAX,
            };
            let mut part = Part::start(&job, numbers.clone());
            part.open_gate(job.clock.now_ns());
            part.open_window(job.clock.now_ns(), None);
            part.enter_window();
            parts.push((part, job));
        }
        for (mut part, job) in parts {
            while (part.standing().reached_ops as usize) < part.numbers().len() {
                part.beat();
                std::thread::yield_now();
            }
            part.close_window(job.clock.now_ns());
            let (broken_off, _) = part.stop(&job, Duration::from_secs(5), &|| false);
            assert_eq!(broken_off, [0; 0]);
            assert!(!part.intervals().is_empty());
        }
        let mut done = std::mem::take(&mut *done.lock().unwrap());
        done.values_mut().for_each(|own| own.truncate(50));
        done
    }

    #[test]
    fn one_host_two_and_six_do_the_same_operations() {
        let one = done_by(&[(0..6).collect()]);
        assert_eq!((one.len(), one[&5].len()), (6, 50));
        assert_ne!(one[&0], one[&1], "sessions differ");
        assert_eq!(done_by(&[vec![0, 1, 2], vec![3, 4, 5]]), one);
        assert_eq!(done_by(&[vec![0], vec![1], vec![2], vec![3], vec![4], vec![5]]), one);
    }
}
