//! Agents on other hosts as the crew of a run: the conductor leads them as it leads threads, only earlier, for they hear of everything
//! a way later, and on clocks of their own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use dyno_drive::{Crew, Interval, Job, Results, Shape, Size};
use dyno_engine::TargetError;
use dyno_engine::target::Stuck;
use dyno_host::ProcessAddress;
use dyno_plan::SessionCount;
use dyno_record::{Fleet, Host, Placed};

use crate::account::{Edges, account, unpack};
use crate::coding::written;
use crate::ear::{Ear, Seat};
use crate::messages::{Ask, HandedIn, Step};
use crate::options::FleetOptions;
use crate::party::{Party, loss_words};
use crate::reach::{have_led, wait_reached};
use crate::subjects::Subjects;
use crate::wire::{Hearing, Wire};

/// How long before a moment agents are told of it, beside the time that messages take.
const LEAD_NS: u64 = 100_000_000;

/// Agents on other hosts that do the sessions of one run.
pub(crate) struct Distant {
    party: Party,
    _hearing: [Hearing; 2],
    shape: Shape,
    group: String,
    allow_short: bool,
    /// Sessions of the first workload: those with the lowest numbers.
    first: SessionCount,
    hosts: Vec<Host>,
    /// Processes of agents on this machine.
    local: Vec<u32>,
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
        seats: Vec<Seat>,
        (job, shape): (&Job<'_>, Shape),
        orders: Vec<(String, Vec<u8>)>,
    ) -> Result<(Self, Receiver<Box<Interval>>), TargetError> {
        let (full, filled) = channel();
        let ear = Ear::new(seats, shape.clone(), Arc::clone(&job.clock));
        let hearing = ear.listen(&wire, subjects, &job.run_id, full)?;
        let give_up = || {
            let hurry =
                written(&Ask::Do { leader: leader.clone(), run_id: job.run_id.clone(), step: Step::Hurry });
            ear.seats.iter().for_each(|seat| wire.publish(&seat.member.subject, hurry.clone()));
        };
        let leads = have_led(&wire, &ear, orders).inspect_err(|_| give_up())?;
        let (hosts, processes): (Vec<Host>, Vec<ProcessAddress>) = leads.into_iter().unzip();
        let this = ProcessAddress::this();
        let local = processes.iter().filter_map(|process| process.pid_seen_by(&this)).collect();
        wait_reached(&ear, job, options.silence).inspect_err(|_| give_up())?;
        let first = job.plan.sides().next().map_or(0, |side| side.sessions);
        let handed = ear.seats.iter().map(|_| None).collect();
        let party = Party {
            wire,
            run_id: job.run_id.clone(),
            ear,
            clock: Arc::clone(&job.clock),
            leader,
            silence: options.silence,
        };
        let crew = Self {
            party,
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
            handed,
        };
        Ok((crew, filled))
    }
}

impl Crew for Distant {
    fn size(&self) -> Size {
        let there = self.party.there();
        let numbers = || there.iter().flat_map(|rank| &self.party.ear.seats[*rank].numbers);
        let threads = self.handed.iter().flatten().map(|handed| handed.threads).sum();
        Size {
            sessions: numbers().count() as u32,
            leading: numbers().filter(|number| **number < self.first).count() as u32,
            threads,
        }
    }

    fn lead_ns(&self) -> u64 {
        let ways = self.party.ear.seats.iter().map(|seat| seat.member.round_trip_ns());
        LEAD_NS + 4 * ways.max().unwrap_or(0)
    }

    fn connect(&mut self) {
        self.party.step(|_| Ok(Step::Connect));
    }

    fn listen(&mut self, patience: Duration) {
        if !patience.is_zero() {
            self.party.ear.wait(patience);
        }
        self.party.look_for_lost();
        self.party.look_for_hanging();
    }

    fn failure(&self) -> Option<String> {
        let heard = self.party.ear.heard();
        let of = heard.len();
        let named = |rank: usize| {
            format!("driver host {} of {of} ({})", rank + 1, self.party.ear.seats[rank].member.name)
        };
        let lost: Vec<usize> = (0..of).filter(|rank| heard[*rank].lost.is_some()).collect();
        if let Some(&rank) = lost.first()
            && (!self.allow_short || lost.len() == of)
        {
            let why = heard[rank].lost.as_deref().unwrap_or_default();
            return Some(loss_words(&named(rank), why));
        }
        let there = (0..of).filter(|rank| heard[*rank].lost.is_none());
        let mut failures = there.filter_map(|rank| Some((rank, heard[rank].standing.failure.as_ref()?)));
        failures.next().map(|(rank, why)| format!("{}: {why}", named(rank)))
    }

    fn local_clients(&self) -> Vec<u32> {
        self.local.clone()
    }

    fn ready(&self) -> u32 {
        self.party.sum(|heard| heard.standing.ready)
    }

    fn at_edge(&self, edge: usize) -> u32 {
        self.party.sum(|heard| heard.standing.at_edge[edge])
    }

    fn ended(&self) -> u32 {
        self.party.sum(|heard| heard.standing.ended)
    }

    fn reached_ops(&self) -> u32 {
        self.party.sum(|heard| heard.standing.reached_ops)
    }

    fn all_shown(&self, since_ns: u64) -> bool {
        let heard = self.party.ear.heard();
        let there = heard.iter().zip(&self.party.ear.seats).filter(|(heard, _)| heard.lost.is_none());
        there
            .filter_map(|(heard, seat)| Some((heard.standing.shown_ns?, seat)))
            .all(|(shown_ns, seat)| seat.member.own_ns(shown_ns).is_some_and(|shown_ns| shown_ns >= since_ns))
    }

    fn shown_ns_mean(&self) -> u64 {
        let heard = self.party.ear.heard();
        let there = heard.iter().zip(&self.party.ear.seats).filter(|(heard, _)| heard.lost.is_none());
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
        let heard = self.party.ear.heard();
        heard.iter().filter_map(|heard| heard.standing.overhead.get(target)).sum()
    }

    fn prepare_gate(&mut self) {
        // Before the moment is chosen, not in the time that it is told ahead: on slow ways this takes longer than that.
        self.party.refresh_clocks();
    }

    fn open_gate(&mut self, opens_ns: u64) {
        self.opens_ns = Some(opens_ns);
        self.party.step(|member| Ok(Step::Gate { opens_ns: member.there(opens_ns)? }));
    }

    fn open_window(&mut self, origin_ns: u64, ends_ns: Option<u64>) -> u64 {
        self.party.ear.opened(origin_ns);
        self.ends_ns = ends_ns;
        self.party.step(|member| {
            let ends_ns = ends_ns.map(|ends_ns| member.there(ends_ns)).transpose()?;
            Ok(Step::Open { origin_ns: member.there(origin_ns)?, ends_ns })
        })
    }

    fn enter_window(&mut self) {
        self.party.step(|_| Ok(Step::Enter));
    }

    fn close_window(&mut self) -> u64 {
        let now_ns = self.party.clock.now_ns();
        if let Some(ends_ns) = self.ends_ns.filter(|ends_ns| *ends_ns <= now_ns) {
            return ends_ns;
        }
        let at_ns = now_ns + self.lead_ns();
        self.party.step(|member| Ok(Step::Close { at_ns: member.there(at_ns)? }));
        while self.party.clock.now_ns() < at_ns {
            self.party.clock.park_until(at_ns);
        }
        at_ns
    }

    fn looking(&mut self, edge: usize, targets: &[usize]) {
        let bits = targets.iter().filter(|at| **at < 64).fold(0u64, |bits, at| bits | 1 << at);
        // Nobody reads before all have answered: what they note from then on may be in it or not.
        self.party.step(|_| Ok(Step::Looking { edge: edge as u8, targets: bits }));
    }

    fn looked(&mut self, edge: usize, target: usize, answered_ns: u64) {
        self.party.step(|member| {
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
        self.party.step(|_| Ok(Step::Stop { drain_ms: drain.as_millis() as u64 }));
        self.party.refresh_clocks();
        self.ended_ns = Some(self.party.clock.now_ns());
        self.party.wait_handed(drain, impatient);
        self.handed = unpack(&self.party.ear, &self.shape);
        let mut broken_off: Vec<u32> =
            self.handed.iter().flatten().flat_map(|handed| &handed.broken_off).copied().collect();
        broken_off.sort_unstable();
        broken_off
    }

    fn placement(&self) -> Option<Placed> {
        None
    }

    fn into_results(self: Box<Self>) -> (Results, Option<Fleet>) {
        let mut all = Results::default();
        let mut hosts = Vec::new();
        let ended_ns = self.ended_ns.unwrap_or_else(|| self.party.clock.now_ns());
        let edges = Edges { opens_ns: self.opens_ns, ended_ns };
        for (rank, mut handed) in self.handed.into_iter().enumerate() {
            let host = (rank, &self.hosts[rank]);
            hosts.push(account(&self.party.ear, host, &edges, &self.shape, handed.as_mut()));
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
