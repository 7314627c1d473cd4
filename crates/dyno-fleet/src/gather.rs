//! Gets the agents of a group together, and keeps them for one leader: for as long as this is there, nobody else gets them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dyno_drive::{Job, Muster, Mustered, Shape};
use dyno_engine::{Cancel, Clock, MonotonicClock, TargetError};

use crate::clocks::{ask_clocks, note_clock};
use crate::coding::{read, written};
use crate::crew::Distant;
use crate::ear::Seat;
use crate::error::FleetError;
use crate::limits::{HOSTS_MAX, MESSAGE_BYTES_MAX};
use crate::member::Member;
use crate::messages::{Answer, Ask, Hello, Leader};
use crate::options::FleetOptions;
use crate::orders::{order, refuse_unfit};
use crate::roll_call::{self, Gathering, too_few};
use crate::sending::{parcel, send};
use crate::share::{Weights, busy, shares};
use crate::subjects::Subjects;
use crate::wire::Wire;

/// Exchanges by which a clock is known before it is used.
const EXCHANGES: u32 = 24;
/// How long an agent may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The agents of a group, reserved for this process.
pub struct NatsFleet {
    options: FleetOptions,
    subjects: Subjects,
    leader: Leader,
    wire: Arc<Wire>,
    clock: Arc<dyn Clock>,
    members: Mutex<Vec<Arc<Member>>>,
    over: Arc<AtomicBool>,
}

impl NatsFleet {
    /// Reserves as many agents as there are to be; `tell` hears who is there.
    ///
    /// # Errors
    /// The meeting point cannot be reached; or there are too few agents, they are of another version, or somebody else has them.
    pub fn gather(
        options: FleetOptions,
        cancel: &Cancel,
        tell: &dyn Fn(&Gathering),
    ) -> Result<Self, FleetError> {
        let usage = |problem: String, hint: &str| FleetError::Usage { problem, hint: hint.to_owned() };
        if options.hosts == 0 || options.hosts > HOSTS_MAX {
            let problem = format!("--hosts {}: from 1 to {HOSTS_MAX} hosts can drive", options.hosts);
            return Err(usage(problem, "leave --hosts out, and this host drives alone"));
        }
        let subjects = Subjects::of(&options.group).map_err(|problem| usage(problem, ""))?;
        if let Weights::Given(weights) = &options.weights
            && (weights.len() != options.hosts || weights.contains(&0))
        {
            return Err(usage(
                format!("{} weights for {} hosts", weights.len(), options.hosts),
                "one whole number from 1 for each host, in the order of ranks",
            ));
        }
        let wire = Arc::new(Wire::reach(&options.access)?);
        let fleet = Self {
            leader: this_leader(),
            subjects,
            wire,
            clock: Arc::new(MonotonicClock::default()),
            members: Mutex::default(),
            over: Arc::default(),
            options,
        };
        fleet.fill(cancel, tell)?;
        Ok(fleet)
    }

    /// Names of the hosts, by rank.
    pub fn names(&self) -> Vec<String> {
        self.members().iter().map(|member| member.name.clone()).collect()
    }

    fn members(&self) -> Vec<Arc<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets agents go that are silent, and reserves others in their place.
    fn fill(&self, cancel: &Cancel, tell: &dyn Fn(&Gathering)) -> Result<(), FleetError> {
        let mut members = self.members();
        members.retain(|member| member.silent_for() < self.options.silence);
        let until = Instant::now() + self.options.wait;
        let mut told = None;
        while members.len() < self.options.hosts {
            let (free, gathering) =
                roll_call::call(&self.wire, &self.subjects, &self.options, &self.leader, &members)?;
            if told.as_ref() != Some(&gathering) {
                tell(&gathering);
                told = Some(gathering.clone());
            }
            if members.len() + free.len() >= self.options.hosts {
                let wanted = self.options.hosts - members.len();
                members.extend(self.reserve(free.into_iter().take(wanted).collect()));
                if members.len() >= self.options.hosts {
                    break;
                }
            }
            if cancel.is_cancelled() {
                self.give_up(&members);
                return Err(FleetError::Cancelled);
            }
            if Instant::now() >= until {
                self.give_up(&members);
                return Err(too_few(&self.options, &gathering, self.wire.refused()));
            }
        }
        // Where nobody gave them a place, the order of names is as good as any, and the same in each run.
        members.sort_by(|a, b| {
            let place = |member: &Member| member.place.unwrap_or(u32::MAX);
            place(a).cmp(&place(b)).then_with(|| a.name.cmp(&b.name)).then_with(|| a.id.cmp(&b.id))
        });
        *self.members.lock().unwrap_or_else(PoisonError::into_inner) = members;
        Ok(())
    }

    /// Reserves these agents, all of them or none: two leaders that each had half would wait for ever.
    fn reserve(&self, free: Vec<Hello>) -> Vec<Arc<Member>> {
        let ask =
            Ask::Reserve { leader: self.leader.clone(), silence_ms: self.options.silence.as_millis() as u64 };
        let members: Vec<Arc<Member>> = free
            .into_iter()
            .map(|hello| {
                let subject = self.subjects.agent(&hello.id);
                Member::new(hello, subject)
            })
            .collect();
        let questions = members.iter().map(|member| (member.subject.clone(), written(&ask))).collect();
        let answers = self.wire.ask_each(questions, ANSWER_MAX);
        let is_done = |answer: &Option<Vec<u8>>| {
            answer.as_ref().is_some_and(|bytes| matches!(read(bytes), Ok(Answer::Done { .. })))
        };
        if !answers.iter().all(is_done) {
            let got: Vec<_> =
                members.into_iter().zip(&answers).filter(|(_, answer)| is_done(answer)).collect();
            self.let_go(&got.into_iter().map(|(member, _)| member).collect::<Vec<_>>());
            // Whoever was quicker may be as unlucky next time: not both at the same moment.
            std::thread::park_timeout(Duration::from_millis(u64::from(std::process::id() % 7) * 37));
            return Vec::new();
        }
        self.know_clocks(&members);
        members.iter().for_each(|member| self.watch(member));
        members
    }

    /// Lets all of them go, and counts on none: the next run of a command calls them anew.
    fn give_up(&self, members: &[Arc<Member>]) {
        self.let_go(members);
        self.members.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn let_go(&self, members: &[Arc<Member>]) {
        let ask = written(&Ask::Release(self.leader.id.clone()));
        members.iter().for_each(|member| self.wire.publish(&member.subject, ask.clone()));
        self.wire.flush();
    }

    /// Asks for their clocks until these are known well.
    fn know_clocks(&self, members: &[Arc<Member>]) {
        ask_clocks(&self.wire, &self.clock, &self.leader.id, members.iter().map(Arc::as_ref), EXCHANGES);
    }

    /// Goes on asking for its clock, by which it knows that its leader is there, and the leader that it is.
    fn watch(&self, member: &Arc<Member>) {
        let every = (self.options.silence / 8).clamp(Duration::from_millis(50), Duration::from_millis(500));
        let ask = written(&Ask::Clock(self.leader.id.clone()));
        let (over, subject) = (Arc::clone(&self.over), member.subject.clone());
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

    /// Who leads which sessions of a run, and by which weights.
    fn shared_out(&self, job: &Job<'_>) -> Result<Vec<Seat>, FleetError> {
        let members = self.members();
        let weights = self.weights(&members);
        let all = shares(job.plan, &weights);
        let (ranks, all) = match all.iter().position(Vec::is_empty) {
            None => ((0..members.len()).collect(), all),
            Some(_) if self.options.fewer_for_few => busy(job.plan, &weights),
            Some(idle) => {
                return Err(FleetError::Usage {
                    problem: format!(
                        "the sessions ({}) are too few for {} hosts: {} would have none",
                        job.plan.sessions(),
                        members.len(),
                        members[idle].name
                    ),
                    hint: "fewer --hosts, or more sessions (run.sessions_per_schema)".to_owned(),
                });
            }
        };
        let seat = |(rank, numbers): (usize, _)| {
            let member = Arc::clone(&members[rank]);
            Seat { member, numbers, weight: weights[rank] }
        };
        Ok(ranks.into_iter().zip(all).map(seat).collect())
    }

    fn weights(&self, members: &[Arc<Member>]) -> Vec<u32> {
        match &self.options.weights {
            Weights::Equal => vec![1; members.len()],
            Weights::Processors => members.iter().map(|member| member.cpus.max(1)).collect(),
            Weights::Given(weights) => weights.clone(),
        }
    }
}

impl Muster for NatsFleet {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    fn stored(&self, run_id: &str) {
        let ask = written(&Ask::Stored { leader: self.leader.id.clone(), run_id: run_id.to_owned() });
        self.members().iter().for_each(|member| self.wire.publish(&member.subject, ask.clone()));
    }

    fn start(&self, job: &Job<'_>, tell: &dyn Fn(usize, usize)) -> Result<Mustered, TargetError> {
        refuse_unfit(job)?;
        self.fill(&job.cancel, &|gathering| {
            if gathering.there < gathering.of {
                tell(gathering.there, gathering.of);
            }
        })?;
        let seats = self.shared_out(job)?;
        let parcel = parcel(job)?;
        if let Some(parcel) = &parcel {
            let members: Vec<&Member> = seats.iter().map(|seat| seat.member.as_ref()).collect();
            send((&self.wire, &self.leader.id), parcel, &members, job)?;
        }
        let folders_sum = parcel.map(|parcel| parcel.sum);
        let weights: Vec<u32> = seats.iter().map(|seat| seat.weight).collect();
        let orders = (0..).zip(&seats).map(|(rank, seat)| {
            let order = order(job, weights.clone(), rank, folders_sum.clone());
            (
                seat.member.subject.clone(),
                written(&Ask::Lead { leader: self.leader.id.clone(), order: Box::new(order) }),
            )
        });
        let orders: Vec<_> = orders.collect();
        if let Some((_, bytes)) = orders.iter().find(|(_, bytes)| bytes.len() > MESSAGE_BYTES_MAX) {
            return Err(TargetError::unsupported(format!(
                "the plan takes {} bytes, more than the {MESSAGE_BYTES_MAX} that agents are sent",
                bytes.len()
            )));
        }
        let (crew, filled) = Distant::start(
            Arc::clone(&self.wire),
            &self.subjects,
            (&self.options, self.leader.id.clone()),
            seats,
            (job, Shape::of(job)),
            orders,
        )?;
        Ok((Box::new(crew), filled))
    }
}

impl Drop for NatsFleet {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        self.let_go(&self.members());
    }
}

/// This process as a leader.
pub(crate) fn this_leader() -> Leader {
    let holder = dyno_engine::Holder::this_process(dyno_engine::Work::Run);
    let id = format!("{}-{}-{:x}", holder.host, holder.pid, crate::random());
    Leader { id, words: format!("host {}, process {}, since {}", holder.host, holder.pid, holder.since) }
}
