//! Agents on other hosts as the crew of a run: the conductor leads them as it leads threads, only earlier, for they hear of everything
//! a way later, and on clocks of their own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use dyno_drive::{Crew, Interval, Job, Results, Shape, Size};
use dyno_engine::target::Stuck;
use dyno_engine::{Clock, TargetError, TargetErrorKind};
use dyno_plan::SessionCount;
use dyno_record::{Fleet, FleetHost, Host, Placed};

use crate::clocks::ask_clocks;
use crate::ear::{Ear, Heard, Seat};
use crate::hand_in;
use crate::member::Member;
use crate::messages::{Answer, Ask, HandedIn, Step, Subjects, plain, read, written};
use crate::options::FleetOptions;
use crate::wire::{Hearing, Wire};

/// How long before a moment agents are told of it, beside the time that messages take.
const LEAD_NS: u64 = 100_000_000;
/// How long an agent may take to say whether it leads its part: it reads nothing but the order before.
const LEADS_MAX: Duration = Duration::from_secs(20);
/// Exchanges by which clocks are known anew: the shortest of them counts.
const REFRESH: u32 = 12;
/// How long sessions that were broken off may take, with what is asked of their servers, and what is handed in to begin to come.
const HAND_IN_MAX: Duration = Duration::from_secs(30);
/// How long hosts may take to reach the targets, which each may take a minute to tell what it is.
const REACH_MAX: Duration = Duration::from_secs(180);
/// How much later than any message a standing may be told, which is told four times a second.
const REPORT_MAX: Duration = Duration::from_secs(5);
/// How long is waited for what is under way once the user is impatient.
const HURRY_MAX: Duration = Duration::from_secs(2);

/// Agents on other hosts that do the sessions of one run.
pub(crate) struct Distant {
    wire: Arc<Wire>,
    run_id: String,
    ear: Arc<Ear>,
    _hearing: [Hearing; 2],
    clock: Arc<dyn Clock>,
    shape: Shape,
    group: String,
    leader: String,
    silence: Duration,
    allow_short: bool,
    /// Sessions of the first workload: those with the lowest numbers.
    first: SessionCount,
    hosts: Vec<Host>,
    opens_ns: Option<u64>,
    /// When the window was announced to end.
    ends_ns: Option<u64>,
    /// When clocks were last asked for.
    ended_ns: Option<u64>,
    handed: Vec<Option<HandedIn>>,
}

impl Distant {
    /// Has each of these lead its part of `job`, as the `orders` say.
    pub(crate) fn start(
        wire: Arc<Wire>,
        subjects: &Subjects,
        (options, leader): (&FleetOptions, String),
        seats: impl Iterator<Item = (Arc<Member>, Vec<u32>, u32)>,
        (job, shape): (&Job<'_>, Shape),
        orders: Vec<(String, Vec<u8>)>,
    ) -> Result<(Self, Receiver<Box<Interval>>), TargetError> {
        let seats: Vec<Seat> =
            seats.map(|(member, numbers, weight)| Seat { member, numbers, weight }).collect();
        let (full, filled) = channel();
        let ear = Ear::new(seats, shape.clone(), Arc::clone(&job.clock));
        let hearing = ear.listen(&wire, subjects, &job.run_id, full)?;
        let answers = wire.ask_each(orders, LEADS_MAX);
        let mut hosts = Vec::new();
        let mut refusals = Vec::new();
        for (answer, seat) in answers.into_iter().zip(&ear.seats) {
            let name = &seat.member.name;
            match answer.map(|bytes| read::<Answer>(&bytes)) {
                Some(Ok(Answer::Leads(host))) => hosts.push(*host),
                Some(Ok(Answer::Refused(why))) => refusals.push(format!("{name} refuses: {}", plain(&why))),
                Some(_) => refusals.push(format!("{name} answers what is not understood")),
                None => refusals.push(format!("{name} did not answer within {} s", LEADS_MAX.as_secs())),
            }
        }
        let give_up = || {
            let hurry = written(&Ask::Do(job.run_id.clone(), Step::Hurry));
            ear.seats.iter().for_each(|seat| wire.publish(&seat.member.subject, hurry.clone()));
        };
        if !refusals.is_empty() {
            give_up();
            return Err(TargetError::new(
                TargetErrorKind::Database,
                format!("the run cannot be led from all hosts: {}", refusals.join("; ")),
            ));
        }
        wait_reached(&ear, job, options.silence).inspect_err(|_| give_up())?;
        let first = job.plan.sides().next().map_or(0, |side| side.sessions);
        let handed = ear.seats.iter().map(|_| None).collect();
        let crew = Self {
            wire,
            run_id: job.run_id.clone(),
            ear,
            _hearing: hearing,
            clock: Arc::clone(&job.clock),
            shape,
            group: options.group.clone(),
            leader,
            silence: options.silence,
            allow_short: options.allow_short,
            first,
            hosts,
            opens_ns: None,
            ends_ns: None,
            ended_ns: None,
            handed,
        };
        Ok((crew, filled))
    }

    /// Ranks that have not been lost.
    fn there(&self) -> Vec<usize> {
        let heard = self.ear.heard();
        (0..heard.len()).filter(|rank| heard[*rank].lost.is_none()).collect()
    }

    /// Sums up what those that are there have reported.
    fn sum(&self, of: impl Fn(&Heard) -> u32) -> u32 {
        self.ear.heard().iter().filter(|heard| heard.lost.is_none()).map(of).sum()
    }

    /// Has all that are there do a step, which may be another one for each; returns how much too late the last did, ns.
    fn step(&self, make: impl Fn(&Member) -> Result<Step, String>) -> u64 {
        let mut questions = Vec::new();
        let mut asked = Vec::new();
        for rank in self.there() {
            let member = &self.ear.seats[rank].member;
            match make(member) {
                Ok(step) => {
                    let ask = written(&Ask::Do(self.run_id.clone(), step));
                    questions.push((member.subject.clone(), ask));
                    asked.push(rank);
                }
                Err(why) => self.ear.lose(rank, why),
            }
        }
        let answers = self.wire.ask_each(questions, self.silence);
        let mut late_max_ns = 0;
        for (rank, answer) in asked.into_iter().zip(answers) {
            match answer.map(|bytes| read::<Answer>(&bytes)) {
                Some(Ok(Answer::Done { late_ns })) => {
                    late_max_ns = late_max_ns.max(late_ns);
                    let mut heard = self.ear.heard();
                    heard[rank].late_ns = heard[rank].late_ns.max(late_ns);
                }
                Some(Ok(Answer::Refused(why))) => self.ear.lose(rank, plain(&why)),
                Some(_) => self.ear.lose(rank, "it answers what is not understood".to_owned()),
                None => {
                    let why = format!("no answer within {:.1} s", self.silence.as_secs_f64());
                    self.ear.lose(rank, why);
                }
            }
        }
        late_max_ns
    }

    /// Asks for clocks anew, shortly before a moment or after one: what is known of them ages.
    fn refresh_clocks(&self) {
        let there = self.there();
        let members = there.iter().map(|rank| self.ear.seats[*rank].member.as_ref());
        ask_clocks(&self.wire, &self.clock, &self.leader, members, REFRESH);
    }

    /// Notes whose sessions' standing has not been told for too long, though the agent answers.
    fn look_for_hanging(&self) {
        let heard = self.ear.heard();
        let hangs = |heard: &Heard| {
            heard.lost.is_none()
                && heard.reported.is_some_and(|reported| reported.elapsed() > self.silence + REPORT_MAX)
        };
        let hanging: Vec<usize> = (0..heard.len()).filter(|rank| hangs(&heard[*rank])).collect();
        drop(heard);
        for rank in hanging {
            self.ear.lose(rank, "its agent answers, and tells nothing of its sessions".to_owned());
        }
    }

    /// Notes who has been silent for too long.
    fn look_for_lost(&self) {
        for rank in self.there() {
            let silent_for = self.ear.seats[rank].member.silent_for();
            if silent_for >= self.silence {
                self.ear.lose(rank, format!("nothing was heard of it for {:.1} s", silent_for.as_secs_f64()));
            }
        }
    }

    /// Waits until all that are there have handed in, or will not.
    fn wait_handed(&self, drain: Duration, impatient: &dyn Fn() -> bool) {
        let mut until = Instant::now() + drain + HAND_IN_MAX;
        let mut hurried = false;
        loop {
            self.look_for_lost();
            let waits_for: Vec<usize> = {
                let heard = self.ear.heard();
                (0..heard.len())
                    .filter(|rank| heard[*rank].lost.is_none() && heard[*rank].handed.is_none())
                    .collect()
            };
            if waits_for.is_empty() {
                return;
            }
            if impatient() && !hurried {
                hurried = true;
                self.step(|_| Ok(Step::Hurry));
                until = until.min(Instant::now() + HURRY_MAX);
            }
            if Instant::now() >= until {
                for rank in waits_for {
                    self.ear.lose(rank, "it handed in nothing in time".to_owned());
                }
                return;
            }
            self.ear.wait(Duration::from_millis(50));
        }
    }

    /// Reads what was handed in, on as many threads as there are processors.
    fn unpack(&mut self) {
        let packed: Vec<(usize, Vec<u8>)> = {
            let mut heard = self.ear.heard();
            let there = heard.iter_mut().enumerate();
            there.filter_map(|(rank, heard)| Some((rank, heard.handed.take()?))).collect()
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (shape, seats) = (&self.shape, &self.ear.seats);
        let stretch = packed.len().div_ceil(threads).max(1);
        let unpacked: Vec<(usize, Result<HandedIn, String>)> = std::thread::scope(|scope| {
            let one = |(rank, bytes): &(usize, Vec<u8>)| {
                (*rank, hand_in::unpacked(bytes, shape, seats[*rank].numbers.len()))
            };
            let threads: Vec<_> = packed
                .chunks(stretch)
                .map(|some| scope.spawn(move || some.iter().map(one).collect::<Vec<_>>()))
                .collect();
            // A thread that panicked has read nothing, and its hosts are lost.
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        for (rank, handed) in unpacked {
            match handed {
                Ok(handed) => self.handed[rank] = Some(handed),
                Err(why) => self.ear.lose(rank, format!("what it handed in is none of this run: {why}")),
            }
        }
        for (rank, handed) in self.handed.iter().enumerate() {
            if handed.is_none() {
                self.ear.lose(rank, "what it handed in was not read".to_owned());
            }
        }
    }

    /// What a host did, for the record; its moments are on the leader's clock when this returns.
    fn account(&self, rank: usize, handed: Option<&mut HandedIn>) -> FleetHost {
        let seat = &self.ear.seats[rank];
        let (lost, late_ns) = {
            let heard = self.ear.heard();
            (heard[rank].lost.clone(), heard[rank].late_ns)
        };
        let mut host = FleetHost {
            rank: rank as u32,
            name: seat.member.name.clone(),
            host: self.hosts[rank].clone(),
            weight: seat.weight,
            sessions: seat.numbers.len() as u32,
            late_us: late_ns as f64 / 1e3,
            lost,
            ..FleetHost::default()
        };
        let clock = seat.member.clock();
        let now_ns = self.ended_ns.unwrap_or_else(|| self.clock.now_ns());
        host.clock = clock.fit(self.opens_ns.unwrap_or(now_ns)).unwrap_or_default();
        let Some(handed) = handed else { return host };
        (host.threads, host.ops) = (handed.threads, handed.results.operations(&self.shape));
        host.cpu_busy_pct = handed.use_of_host.cpu_busy_pct;
        host.client_cpus = handed.use_of_host.client_cpus;
        host.send_queue_bytes_max = handed.use_of_host.send_queue_bytes_max;
        let ends = |own_ns: Option<u64>| clock.there(own_ns.unwrap_or(now_ns));
        let mapped = ends(self.opens_ns).and_then(|first| clock.mapping(first, ends(Some(now_ns))?));
        match mapped {
            Ok(mapping) => {
                handed.results.on_clock(&|there_ns| mapping.own_ns(there_ns));
                host.clock.bound_us = mapping.bound_ns() / 1e3;
            }
            Err(why) => host.lost = host.lost.or(Some(why)),
        }
        if let (Some((first_ns, last_ns)), Some(opens_ns)) = (handed.results.started_ns(), self.opens_ns) {
            let after_us = |at_ns: u64| (at_ns as f64 - opens_ns as f64) / 1e3;
            host.started_us = Some((after_us(first_ns), after_us(last_ns)));
        }
        host
    }
}

/// Waits until all hosts have reached the targets of `job`, which none may be kept from by another's silence.
fn wait_reached(ear: &Ear, job: &Job<'_>, silence: Duration) -> Result<(), TargetError> {
    let until = Instant::now() + REACH_MAX;
    let refused = |words: String| Err(TargetError::new(TargetErrorKind::Database, words));
    loop {
        {
            let heard = ear.heard();
            for (heard, seat) in heard.iter().zip(&ear.seats) {
                let name = &seat.member.name;
                if let Some(why) = heard.standing.failure.as_ref().or(heard.lost.as_ref()) {
                    return refused(format!("the run cannot be led from {name}: {why}"));
                }
                if seat.member.silent_for() >= silence {
                    return refused(format!("the driver host {name} is not heard of any more"));
                }
            }
            if heard.iter().all(|heard| heard.reached) {
                return Ok(());
            }
            if Instant::now() >= until {
                let late = heard.iter().zip(&ear.seats).filter(|(heard, _)| !heard.reached);
                let names: Vec<&str> = late.map(|(_, seat)| seat.member.name.as_str()).collect();
                let seconds = REACH_MAX.as_secs();
                return refused(format!(
                    "no target was reached within {seconds} s from {}",
                    names.join(", ")
                ));
            }
        }
        if job.cancel.is_cancelled() {
            return Err(TargetError::new(TargetErrorKind::Cancelled, "stopped before the run began"));
        }
        ear.wait(Duration::from_millis(100));
    }
}

impl Crew for Distant {
    fn size(&self) -> Size {
        let there = self.there();
        let numbers = || there.iter().flat_map(|rank| &self.ear.seats[*rank].numbers);
        let threads = self.handed.iter().flatten().map(|handed| handed.threads).sum();
        Size {
            sessions: numbers().count() as u32,
            leading: numbers().filter(|number| **number < self.first).count() as u32,
            threads,
        }
    }

    fn lead_ns(&self) -> u64 {
        let ways = self.ear.seats.iter().map(|seat| seat.member.round_trip_ns());
        LEAD_NS + 4 * ways.max().unwrap_or(0)
    }

    fn connect(&mut self) {
        self.step(|_| Ok(Step::Connect));
    }

    fn listen(&mut self, patience: Duration) {
        if !patience.is_zero() {
            self.ear.wait(patience);
        }
        self.look_for_lost();
        self.look_for_hanging();
    }

    fn failure(&self) -> Option<String> {
        let heard = self.ear.heard();
        let of = heard.len();
        let named =
            |rank: usize| format!("driver host {} of {of} ({})", rank + 1, self.ear.seats[rank].member.name);
        let lost: Vec<usize> = (0..of).filter(|rank| heard[*rank].lost.is_some()).collect();
        if let Some(&rank) = lost.first()
            && (!self.allow_short || lost.len() == of)
        {
            let why = heard[rank].lost.as_deref().unwrap_or_default();
            return Some(format!("{} was lost: {why}", named(rank)));
        }
        let there = (0..of).filter(|rank| heard[*rank].lost.is_none());
        let mut failures = there.filter_map(|rank| Some((rank, heard[rank].standing.failure.as_ref()?)));
        failures.next().map(|(rank, why)| format!("{}: {why}", named(rank)))
    }

    fn ready(&self) -> u32 {
        self.sum(|heard| heard.standing.ready)
    }

    fn at_edge(&self, edge: usize) -> u32 {
        self.sum(|heard| heard.standing.at_edge[edge])
    }

    fn ended(&self) -> u32 {
        self.sum(|heard| heard.standing.ended)
    }

    fn reached_ops(&self) -> u32 {
        self.sum(|heard| heard.standing.reached_ops)
    }

    fn all_shown(&self, since_ns: u64) -> bool {
        let heard = self.ear.heard();
        let there = heard.iter().zip(&self.ear.seats).filter(|(heard, _)| heard.lost.is_none());
        there
            .filter_map(|(heard, seat)| Some((heard.standing.shown_ns?, seat)))
            .all(|(shown_ns, seat)| seat.member.own_ns(shown_ns).is_some_and(|shown_ns| shown_ns >= since_ns))
    }

    fn shown_ns_mean(&self) -> u64 {
        let heard = self.ear.heard();
        let there = heard.iter().zip(&self.ear.seats).filter(|(heard, _)| heard.lost.is_none());
        let (mut sum, mut sessions) = (0u128, 0u128);
        for (heard, seat) in there {
            let shown_ns = heard.standing.shown_mean_ns.and_then(|shown_ns| seat.member.own_ns(shown_ns));
            let own = seat.numbers.len() as u128;
            sum += own * u128::from(shown_ns.unwrap_or(u64::MAX));
            sessions += own;
        }
        (sum / sessions.max(1)) as u64
    }

    fn overhead(&self, target: usize) -> i64 {
        let heard = self.ear.heard();
        heard.iter().filter_map(|heard| heard.standing.overhead.get(target)).sum()
    }

    fn open_gate(&mut self, opens_ns: u64) {
        self.refresh_clocks();
        self.opens_ns = Some(opens_ns);
        self.step(|member| Ok(Step::Gate { opens_ns: member.there(opens_ns)? }));
    }

    fn open_window(&mut self, origin_ns: u64, ends_ns: Option<u64>) -> u64 {
        self.ear.opened(origin_ns);
        self.ends_ns = ends_ns;
        self.step(|member| {
            let ends_ns = ends_ns.map(|ends_ns| member.there(ends_ns)).transpose()?;
            Ok(Step::Open { origin_ns: member.there(origin_ns)?, ends_ns })
        })
    }

    fn enter_window(&mut self) {
        self.step(|_| Ok(Step::Enter));
    }

    fn close_window(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        if let Some(ends_ns) = self.ends_ns.filter(|ends_ns| *ends_ns <= now_ns) {
            return ends_ns;
        }
        let at_ns = now_ns + self.lead_ns();
        self.step(|member| Ok(Step::Close { at_ns: member.there(at_ns)? }));
        while self.clock.now_ns() < at_ns {
            self.clock.park_until(at_ns);
        }
        at_ns
    }

    fn looking(&mut self, edge: usize, targets: &[usize]) {
        let bits = targets.iter().filter(|at| **at < 64).fold(0u64, |bits, at| bits | 1 << at);
        // Nobody reads before all have answered: what they note from then on may be in it or not.
        self.step(|_| Ok(Step::Looking { edge: edge as u8, targets: bits }));
    }

    fn looked(&mut self, edge: usize, target: usize, answered_ns: u64) {
        self.step(|member| {
            // As late as it may have been, for what was done by then may be in it.
            let bound_ns = member.bound_ns(answered_ns)? as u64;
            let answered_ns = member.there(answered_ns)?.saturating_add(bound_ns);
            Ok(Step::Looked { edge: edge as u8, target: target as u32, answered_ns })
        });
    }

    fn stop(
        &mut self,
        drain: Duration,
        _: &dyn Fn() -> f64,
        impatient: &dyn Fn() -> bool,
        _: &mut dyn FnMut(&[u32]),
    ) -> Vec<u32> {
        self.step(|_| Ok(Step::Stop { drain_ms: drain.as_millis() as u64 }));
        self.refresh_clocks();
        self.ended_ns = Some(self.clock.now_ns());
        self.wait_handed(drain, impatient);
        self.unpack();
        let mut broken_off: Vec<u32> =
            self.handed.iter().flatten().flat_map(|handed| &handed.broken_off).copied().collect();
        broken_off.sort_unstable();
        broken_off
    }

    fn placement(&self) -> Option<Placed> {
        None
    }

    fn into_results(mut self: Box<Self>) -> (Results, Option<Fleet>) {
        let mut all = Results::default();
        let mut hosts = Vec::new();
        for rank in 0..self.ear.seats.len() {
            let mut handed = self.handed[rank].take();
            hosts.push(self.account(rank, handed.as_mut()));
            if let Some(handed) = handed {
                all.add(handed.results);
            }
        }
        (all, Some(Fleet { group: self.group.clone(), hosts }))
    }

    fn stuck(&self) -> Vec<Stuck> {
        self.handed.iter().flatten().flat_map(HandedIn::stuck).collect()
    }
}
