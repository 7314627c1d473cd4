//! Presents agents on other hosts as the worker pool of a run. The conductor controls them like local
//! threads. It schedules steps earlier, because messages need time to arrive, and converts moments to each
//! agent's clock.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use dyno_drive::{DriveJob, IntervalCounts, ResultShape, Results, WorkerPool, WorkerPoolSize};
use dyno_engine::TargetError;
use dyno_engine::target::HungSessionReport;
use dyno_host::ProcessAddress;
use dyno_plan::SessionCount;
use dyno_record::{Fleet, Host, ThreadPlacement};

use crate::agent_group::{AgentGroup, loss_words};
use crate::agent_inbox::{AgentInbox, AgentSlot};
use crate::coding::encode;
use crate::host_results::{Edges, account, unpack};
use crate::messages::{AgentRequest, AgentResults, AgentStep};
use crate::options::FleetOptions;
use crate::startup::{have_led, wait_reached};
use crate::subjects::Subjects;
use crate::wire::{Subscription, Wire};

/// How far ahead of a moment the conductor sends it to agents, in addition to the messages' travel time, ns.
const LEAD_NS: u64 = 100_000_000;

/// The agents that run the sessions of one run.
pub(crate) struct RemoteWorkerPool {
    agents: AgentGroup,
    _hearing: [Subscription; 2],
    shape: ResultShape,
    group: String,
    allow_short: bool,
    /// Number of sessions of the first workload, which have the lowest numbers.
    first: SessionCount,
    hosts: Vec<Host>,
    /// Process ids of agents on this machine.
    local: Vec<u32>,
    opens_ns: Option<u64>,
    /// The announced end of the window; absent while it is open-ended.
    ends_ns: Option<u64>,
    /// When the clocks were last measured; absent before the end of the run.
    ended_ns: Option<u64>,
    results: Vec<Option<AgentResults>>,
}

impl RemoteWorkerPool {
    /// Sends each agent its order, and waits until all have reached the targets.
    pub(crate) fn start(
        wire: Arc<Wire>,
        subjects: &Subjects,
        (options, leader): (&FleetOptions, String),
        slots: Vec<AgentSlot>,
        (job, shape): (&DriveJob<'_>, ResultShape),
        orders: Vec<(String, Vec<u8>)>,
    ) -> Result<(Self, Receiver<Box<IntervalCounts>>), TargetError> {
        let (full, filled) = channel();
        let inbox = AgentInbox::new(slots, shape.clone(), Arc::clone(&job.clock));
        let hearing = inbox.listen(&wire, subjects, &job.run_id, full)?;
        let give_up = || {
            let hurry = encode(&AgentRequest::Do {
                leader: leader.clone(),
                run_id: job.run_id.clone(),
                step: AgentStep::Hurry,
            });
            inbox.slots.iter().for_each(|slot| wire.publish(&slot.member.subject, hurry.clone()));
        };
        let leads = have_led(&wire, &inbox, orders).inspect_err(|_| give_up())?;
        let (hosts, processes): (Vec<Host>, Vec<ProcessAddress>) = leads.into_iter().unzip();
        let this = ProcessAddress::this();
        let local = processes.iter().filter_map(|process| process.pid_seen_by(&this)).collect();
        wait_reached(&inbox, job, options.silence).inspect_err(|_| give_up())?;
        let first = job.plan.workload_shares().next().map_or(0, |side| side.sessions);
        let handed = inbox.slots.iter().map(|_| None).collect();
        let agent_group = AgentGroup {
            wire,
            run_id: job.run_id.clone(),
            inbox,
            clock: Arc::clone(&job.clock),
            leader,
            silence: options.silence,
        };
        let pool = Self {
            agents: agent_group,
            _hearing: hearing,
            shape,
            group: options.group.clone(),
            allow_short: options.allow_short,
            first,
            hosts,
            local,
            opens_ns: None,
            ends_ns: None,
            ended_ns: None,
            results: handed,
        };
        Ok((pool, filled))
    }
}

impl WorkerPool for RemoteWorkerPool {
    fn size(&self) -> WorkerPoolSize {
        let active_ranks = self.agents.active_ranks();
        let numbers = || active_ranks.iter().flat_map(|rank| &self.agents.inbox.slots[*rank].numbers);
        let threads = self.results.iter().flatten().map(|handed| handed.threads).sum();
        WorkerPoolSize {
            sessions: numbers().count() as u32,
            leading: numbers().filter(|number| **number < self.first).count() as u32,
            threads,
        }
    }

    fn lead_time_ns(&self) -> u64 {
        let ways = self.agents.inbox.slots.iter().map(|slot| slot.member.round_trip_ns());
        LEAD_NS + 4 * ways.max().unwrap_or(0)
    }

    fn connect(&mut self) {
        self.agents.step(|_| Ok(AgentStep::Connect));
    }

    fn listen(&mut self, patience: Duration) {
        if !patience.is_zero() {
            self.agents.inbox.wait(patience);
        }
        self.agents.mark_silent();
        self.agents.mark_hanging();
    }

    fn failure(&self) -> Option<String> {
        let statuses = self.agents.inbox.statuses.lock();
        let host_count = statuses.len();
        let named = |rank: usize| {
            format!(
                "driver host {} of {host_count} ({})",
                rank + 1,
                self.agents.inbox.slots[rank].member.name
            )
        };
        let lost: Vec<usize> = (0..host_count).filter(|rank| statuses[*rank].lost_reason.is_some()).collect();
        if let Some(&rank) = lost.first()
            && (!self.allow_short || lost.len() == host_count)
        {
            let why = statuses[rank].lost_reason.as_deref().unwrap_or_default();
            return Some(loss_words(&named(rank), why));
        }
        let active_ranks = (0..host_count).filter(|rank| statuses[*rank].lost_reason.is_none());
        let mut failures =
            active_ranks.filter_map(|rank| Some((rank, statuses[rank].worker_status.failure.as_ref()?)));
        failures.next().map(|(rank, why)| format!("{}: {why}", named(rank)))
    }

    fn local_clients(&self) -> Vec<u32> {
        self.local.clone()
    }

    fn ready(&self) -> u32 {
        self.agents.sum(|heard| heard.worker_status.ready)
    }

    fn at_boundary(&self, edge: usize) -> u32 {
        self.agents.sum(|heard| heard.worker_status.at_edge[edge])
    }

    fn ended(&self) -> u32 {
        self.agents.sum(|heard| heard.worker_status.ended)
    }

    fn reached_ops(&self) -> u32 {
        self.agents.sum(|heard| heard.worker_status.reached_ops)
    }

    fn all_visible_since(&self, since_ns: u64) -> bool {
        let statuses = self.agents.inbox.statuses.lock();
        let active =
            statuses.iter().zip(&self.agents.inbox.slots).filter(|(status, _)| status.lost_reason.is_none());
        active.filter_map(|(agent, slot)| Some((agent.worker_status.shown_ns?, slot))).all(
            |(shown_ns, agent_slot)| {
                agent_slot.member.to_own_ns(shown_ns).is_some_and(|shown_ns| shown_ns >= since_ns)
            },
        )
    }

    fn mean_visible_ns(&self) -> u64 {
        let statuses = self.agents.inbox.statuses.lock();
        let active =
            statuses.iter().zip(&self.agents.inbox.slots).filter(|(status, _)| status.lost_reason.is_none());
        let (mut sum, mut sessions) = (0u128, 0u128);
        for (agent, slot) in active {
            let shown_ns =
                agent.worker_status.shown_mean_ns.and_then(|shown_ns| slot.member.to_own_ns(shown_ns));
            let session_count = slot.numbers.len() as u128;
            sum += session_count * u128::from(shown_ns.unwrap_or(u64::MAX));
            sessions += session_count;
        }
        (sum / sessions.max(1)) as u64
    }

    fn overhead(&self, target: usize) -> i64 {
        let statuses = self.agents.inbox.statuses.lock();
        statuses.iter().filter_map(|status| status.worker_status.overhead.get(target)).sum()
    }

    fn prepare_gate(&mut self) {
        // Done before the moment is chosen: on slow connections this takes longer than the lead time.
        self.agents.refresh_clocks();
    }

    fn open_gate(&mut self, opens_ns: u64) {
        self.opens_ns = Some(opens_ns);
        self.agents.step(|member| Ok(AgentStep::Gate { opens_ns: member.to_remote_ns(opens_ns)? }));
    }

    fn open_window(&mut self, origin_ns: u64, ends_ns: Option<u64>) -> u64 {
        self.agents.inbox.note_window_open(origin_ns);
        self.ends_ns = ends_ns;
        self.agents.step(|member| {
            let ends_ns = ends_ns.map(|ends_ns| member.to_remote_ns(ends_ns)).transpose()?;
            Ok(AgentStep::Open { origin_ns: member.to_remote_ns(origin_ns)?, ends_ns })
        })
    }

    fn enter_window(&mut self) {
        self.agents.step(|_| Ok(AgentStep::Enter));
    }

    fn close_window(&mut self) -> u64 {
        let now_ns = self.agents.clock.now_ns();
        if let Some(ends_ns) = self.ends_ns.filter(|ends_ns| *ends_ns <= now_ns) {
            return ends_ns;
        }
        let at_ns = now_ns + self.lead_time_ns();
        self.agents.step(|member| Ok(AgentStep::Close { at_ns: member.to_remote_ns(at_ns)? }));
        while self.agents.clock.now_ns() < at_ns {
            self.agents.clock.park_until(at_ns);
        }
        at_ns
    }

    fn announce_snapshot(&mut self, edge: usize, targets: &[usize]) {
        let bits = targets.iter().filter(|at| **at < 64).fold(0u64, |bits, at| bits | 1 << at);
        // Waits until all hosts have answered before counters are read. Operations noted from then on may or
        // may not be in the counters.
        self.agents.step(|_| Ok(AgentStep::Looking { edge: edge as u8, targets: bits }));
    }

    fn snapshot_taken(&mut self, edge: usize, target: usize, answered_ns: u64) {
        self.agents.step(|member| {
            // Takes the latest possible moment, because the counters may include everything done by then.
            let bound_ns = member.bound_ns(answered_ns)? as u64;
            let answered_ns = member.to_remote_ns(answered_ns)?.saturating_add(bound_ns);
            Ok(AgentStep::Looked { edge: edge as u8, target: target as u32, answered_ns })
        });
    }

    fn stop(
        &mut self,
        drain: Duration,
        _: &dyn Fn() -> f64,
        impatient: &dyn Fn() -> bool,
        _: &mut dyn FnMut(&[u32]),
    ) -> Vec<u32> {
        self.agents.step(|_| Ok(AgentStep::Stop { drain_ms: drain.as_millis() as u64 }));
        self.agents.refresh_clocks();
        self.ended_ns = Some(self.agents.clock.now_ns());
        self.agents.wait_handed(drain, impatient);
        self.results = unpack(&self.agents.inbox, &self.shape);
        let mut broken_off: Vec<u32> =
            self.results.iter().flatten().flat_map(|handed| &handed.broken_off).copied().collect();
        broken_off.sort_unstable();
        broken_off
    }

    fn placement(&self) -> Option<ThreadPlacement> {
        None
    }

    fn into_results(self: Box<Self>) -> (Results, Option<Fleet>) {
        let mut all = Results::default();
        let mut hosts = Vec::new();
        let ended_ns = self.ended_ns.unwrap_or_else(|| self.agents.clock.now_ns());
        let edges = Edges { opens_ns: self.opens_ns, ended_ns };
        for (rank, mut handed) in self.results.into_iter().enumerate() {
            let host = (rank, &self.hosts[rank]);
            hosts.push(account(&self.agents.inbox, host, &edges, &self.shape, handed.as_mut()));
            if let Some(handed) = handed {
                all.add(handed.results);
            }
        }
        (all, Some(Fleet { group: self.group.clone(), hosts }))
    }

    fn stuck(&self) -> Vec<HungSessionReport> {
        self.results.iter().flatten().flat_map(AgentResults::stuck).collect()
    }
}
