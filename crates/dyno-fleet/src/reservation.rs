//! Reserves the agents of a group for one controller, for as long as the [`NatsFleet`] exists.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dyno_drive::{DriveJob, ResultShape, StartedWorkerPool, WorkerPoolFactory};
use dyno_engine::{Cancel, Clock, MonotonicClock, TargetError};
use parking_lot::Mutex;

use crate::agent_inbox::AgentSlot;
use crate::clocks::{ask_clocks, note_clock};
use crate::coding::{decode, encode};
use crate::discovery::{self, Gathering, too_few};
use crate::error::FleetError;
use crate::limits::{HOSTS_MAX, MESSAGE_BYTES_MAX};
use crate::member::FleetMember;
use crate::messages::{AgentHello, AgentReply, AgentRequest, Leader};
use crate::options::FleetOptions;
use crate::orders::{order, refuse_unfit};
use crate::remote_pool::RemoteWorkerPool;
use crate::sending::{parcel, send};
use crate::share::{Weights, busy_ranks, shares};
use crate::subjects::Subjects;
use crate::wire::Wire;

/// Number of exchanges that measure a clock before its first use.
const EXCHANGES: u32 = 24;
/// How long an agent may take to answer a request.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The agents of a group, reserved for this process.
pub struct NatsFleet {
    options: FleetOptions,
    subjects: Subjects,
    leader: Leader,
    wire: Arc<Wire>,
    clock: Arc<dyn Clock>,
    members: Mutex<Vec<Arc<FleetMember>>>,
    is_over: Arc<AtomicBool>,
}

impl NatsFleet {
    /// Reserves the number of agents that `options` asks for; `tell` receives the progress.
    ///
    /// # Errors
    /// The NATS server cannot be reached; there are too few agents; or they have another version or are
    /// reserved by another controller.
    pub fn gather(
        options: FleetOptions,
        cancel: &Cancel,
        tell: &dyn Fn(&Gathering),
    ) -> Result<Self, FleetError> {
        let usage = |problem: String, hint: &str| FleetError::Usage { problem, hint: hint.to_owned() };
        if options.hosts == 0 || options.hosts > HOSTS_MAX {
            let problem =
                format!("--hosts {}: a run can use from 1 to {HOSTS_MAX} driver hosts", options.hosts);
            return Err(usage(problem, "leave --hosts out, and this host drives alone"));
        }
        let subjects = Subjects::of(&options.group).map_err(|problem| usage(problem, ""))?;
        if let Weights::Given(weights) = &options.weights
            && (weights.len() != options.hosts || weights.contains(&0))
        {
            return Err(usage(
                format!("{} weights for {} hosts", weights.len(), options.hosts),
                "give one whole number of at least 1 for each host, in the order of ranks",
            ));
        }
        let wire = Arc::new(Wire::reach(&options.access)?);
        let fleet = Self {
            leader: this_leader(),
            subjects,
            wire,
            clock: Arc::new(MonotonicClock::default()),
            members: Mutex::default(),
            is_over: Arc::default(),
            options,
        };
        fleet.fill(cancel, tell)?;
        Ok(fleet)
    }

    /// Names of the hosts, by rank.
    pub fn names(&self) -> Vec<String> {
        self.members().iter().map(|member| member.name.clone()).collect()
    }

    fn members(&self) -> Vec<Arc<FleetMember>> {
        self.members.lock().clone()
    }

    /// Drops silent agents and reserves others in their place.
    fn fill(&self, cancel: &Cancel, tell: &dyn Fn(&Gathering)) -> Result<(), FleetError> {
        let mut members = self.members();
        members.retain(|member| member.silent_for() < self.options.silence);
        let until = Instant::now() + self.options.wait;
        let mut last_gathering = None;
        while members.len() < self.options.hosts {
            let (free, gathering) =
                discovery::call_agents(&self.wire, &self.subjects, &self.options, &self.leader, &members)?;
            if last_gathering.as_ref() != Some(&gathering) {
                tell(&gathering);
                last_gathering = Some(gathering.clone());
            }
            if members.len() + free.len() >= self.options.hosts {
                let wanted = self.options.hosts - members.len();
                members.extend(self.reserve(free.into_iter().take(wanted).collect()));
                if members.len() >= self.options.hosts {
                    break;
                }
            }
            if cancel.is_cancelled() {
                self.release_all(&members);
                return Err(FleetError::Cancelled);
            }
            if Instant::now() >= until {
                self.release_all(&members);
                return Err(too_few(&self.options, &gathering, self.wire.last_refusal()));
            }
        }
        // Without an assigned position, agents are ordered by name, which is the same in each run.
        members.sort_by(|a, b| {
            let place = |member: &FleetMember| member.place.unwrap_or(u32::MAX);
            place(a).cmp(&place(b)).then_with(|| a.name.cmp(&b.name)).then_with(|| a.id.cmp(&b.id))
        });
        *self.members.lock() = members;
        Ok(())
    }

    /// Reserves all of these agents or none. Otherwise two controllers with half of them each would wait
    /// forever.
    fn reserve(&self, free: Vec<AgentHello>) -> Vec<Arc<FleetMember>> {
        let ask = AgentRequest::Reserve {
            leader: self.leader.clone(),
            silence_ms: self.options.silence.as_millis() as u64,
        };
        let members: Vec<Arc<FleetMember>> = free
            .into_iter()
            .map(|hello| {
                let subject = self.subjects.agent(&hello.id);
                FleetMember::new(hello, subject)
            })
            .collect();
        let questions = members.iter().map(|member| (member.subject.clone(), encode(&ask))).collect();
        let answers = self.wire.ask_each(questions, ANSWER_MAX);
        let is_done = |answer: &Option<Vec<u8>>| {
            answer.as_ref().is_some_and(|bytes| matches!(decode(bytes), Ok(AgentReply::Done { .. })))
        };
        if !answers.iter().all(is_done) {
            let got: Vec<_> =
                members.into_iter().zip(&answers).filter(|(_, answer)| is_done(answer)).collect();
            self.send_release(&got.into_iter().map(|(member, _)| member).collect::<Vec<_>>());
            // The other controller may also have failed. The pause differs by process, so the two do not
            // collide again.
            std::thread::park_timeout(Duration::from_millis(u64::from(std::process::id() % 7) * 37));
            return Vec::new();
        }
        self.measure_clocks(&members);
        members.iter().for_each(|member| self.watch(member));
        members
    }

    /// Releases all agents and forgets them; the next run reserves agents again.
    fn release_all(&self, members: &[Arc<FleetMember>]) {
        self.send_release(members);
        self.members.lock().clear();
    }

    fn send_release(&self, members: &[Arc<FleetMember>]) {
        let ask = encode(&AgentRequest::Release(self.leader.id.clone()));
        members.iter().for_each(|member| self.wire.publish(&member.subject, ask.clone()));
        self.wire.flush();
    }

    /// Measures the clocks often enough for their first use.
    fn measure_clocks(&self, members: &[Arc<FleetMember>]) {
        ask_clocks(&self.wire, &self.clock, &self.leader.id, members.iter().map(Arc::as_ref), EXCHANGES);
    }

    /// Keeps asking for the agent's clock. This shows each side that the other is still there.
    fn watch(&self, member: &Arc<FleetMember>) {
        let every = (self.options.silence / 8).clamp(Duration::from_millis(50), Duration::from_millis(500));
        let ask = encode(&AgentRequest::Clock(self.leader.id.clone()));
        let (over, subject) = (Arc::clone(&self.is_over), member.subject.clone());
        let (asked, answered) = (Arc::downgrade(member), Arc::downgrade(member));
        self.wire.keep_asking(
            Arc::clone(&self.clock),
            every,
            move || {
                let goes_on = !over.load(Ordering::Acquire) && asked.strong_count() > 0;
                goes_on.then(|| (subject.clone(), ask.clone()))
            },
            move |asked_ns, answered_ns, bytes| {
                if let Some(member) = answered.upgrade() {
                    note_clock(&member, asked_ns, answered_ns, &bytes);
                }
            },
        );
    }

    /// Assigns sessions and weights to the hosts of a run.
    fn assign_slots(&self, job: &DriveJob<'_>) -> Result<Vec<AgentSlot>, FleetError> {
        let members = self.members();
        let weights = self.weights(&members);
        let all = shares(job.plan, &weights);
        let (ranks, all) = match all.iter().position(Vec::is_empty) {
            None => ((0..members.len()).collect(), all),
            Some(_) if self.options.fewer_for_few => busy_ranks(job.plan, &weights),
            Some(idle) => {
                return Err(FleetError::Usage {
                    problem: format!(
                        "the sessions ({}) are too few for {} hosts: {} would have none",
                        job.plan.sessions(),
                        members.len(),
                        members[idle].name
                    ),
                    hint: "use fewer --hosts, or more sessions (run.sessions_per_schema)".to_owned(),
                });
            }
        };
        let slot = |(rank, numbers): (usize, _)| {
            let member = Arc::clone(&members[rank]);
            AgentSlot { member, numbers, weight: weights[rank] }
        };
        Ok(ranks.into_iter().zip(all).map(slot).collect())
    }

    fn weights(&self, members: &[Arc<FleetMember>]) -> Vec<u32> {
        match &self.options.weights {
            Weights::Equal => vec![1; members.len()],
            Weights::Processors => members.iter().map(|member| member.cpus.max(1)).collect(),
            Weights::Given(weights) => weights.clone(),
        }
    }
}

impl WorkerPoolFactory for NatsFleet {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    fn stored(&self, run_id: &str) {
        let ask = encode(&AgentRequest::Stored { leader: self.leader.id.clone(), run_id: run_id.to_owned() });
        self.members().iter().for_each(|member| self.wire.publish(&member.subject, ask.clone()));
    }

    fn start(
        &self,
        job: &DriveJob<'_>,
        tell: &dyn Fn(usize, usize),
    ) -> Result<StartedWorkerPool, TargetError> {
        refuse_unfit(job)?;
        self.fill(&job.cancel, &|gathering| {
            if gathering.ready < gathering.wanted {
                tell(gathering.ready, gathering.wanted);
            }
        })?;
        let slots = self.assign_slots(job)?;
        let parcel = parcel(job)?;
        if let Some(parcel) = &parcel {
            let members: Vec<&FleetMember> = slots.iter().map(|slot| slot.member.as_ref()).collect();
            send((&self.wire, &self.leader.id), parcel, &members, job)?;
        }
        let folders_sum = parcel.map(|parcel| parcel.sum);
        let weights: Vec<u32> = slots.iter().map(|agent_slot| agent_slot.weight).collect();
        let orders = (0..).zip(&slots).map(|(rank, host_slot)| {
            let order = order(job, weights.clone(), rank, folders_sum.clone());
            (
                host_slot.member.subject.clone(),
                encode(&AgentRequest::Lead { leader: self.leader.id.clone(), order: Box::new(order) }),
            )
        });
        let orders: Vec<_> = orders.collect();
        if let Some((_, bytes)) = orders.iter().find(|(_, bytes)| bytes.len() > MESSAGE_BYTES_MAX) {
            return Err(TargetError::unsupported(format!(
                "the plan has {} bytes, more than the limit of {MESSAGE_BYTES_MAX} for agents",
                bytes.len()
            )));
        }
        let (crew, filled) = RemoteWorkerPool::start(
            Arc::clone(&self.wire),
            &self.subjects,
            (&self.options, self.leader.id.clone()),
            slots,
            (job, ResultShape::of(job)),
            orders,
        )?;
        Ok((Box::new(crew), filled))
    }
}

impl Drop for NatsFleet {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.send_release(&self.members());
    }
}

/// Describes this process as a controller.
pub(crate) fn this_leader() -> Leader {
    let holder = dyno_engine::Holder::this_process(dyno_engine::LockPurpose::Run);
    let id = format!("{}-{}-{:x}", holder.host, holder.pid, crate::random());
    Leader { id, words: format!("host {}, process {}, since {}", holder.host, holder.pid, holder.since) }
}
