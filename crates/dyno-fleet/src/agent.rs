//! The agent of a driver host: it waits for controllers, serves one at a time, and runs the sessions of one
//! run at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use dyno_engine::{Clock, MonotonicClock};
use dyno_host::ProcessAddress;

use crate::agent_event::{AgentEvent, AgentEventSink};
use crate::agent_options::AgentOptions;
use crate::coding::{decode, decode_with_payload, encode, encode_with_payload};
use crate::controller_contact::LeaderContact;
use crate::drive::{AgentRunPart, AgentRunSignals, AgentStepRequest};
use crate::error::FleetError;
use crate::folders::ReceivedFolders;
use crate::limits::PROTOCOL;
use crate::messages::{AgentCall, AgentHello, AgentOrder, AgentReply, AgentRequest, AgentStep, Leader};
use crate::opener::Opener;
use crate::order_check::check;
use crate::pieces::TransferPiece;
use crate::run_store::{KEPT_MAX, KeptRunStore};
use crate::subjects::{Subjects, plain};
use crate::wire::{IncomingMessage, Wire};

/// How often an agent checks whether its controller is still there and whether it was asked to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Longest silence that a controller may ask an agent to tolerate, ms.
const SILENCE_MAX_MS: u64 = 600_000;

/// The controller that has reserved the agent, and the silence that the agent tolerates.
#[derive(Debug, Clone)]
struct Reserved {
    leader: Leader,
    silence: Duration,
}

struct Running<'scope> {
    run_id: String,
    /// Id of the controller that started the run.
    leader: String,
    steps: Sender<AgentStepRequest>,
    board: Arc<AgentRunSignals>,
    thread: ScopedJoinHandle<'scope, ()>,
}

/// Serves controllers until the agent is asked to end.
///
/// # Errors
/// The NATS server or the folder for kept runs cannot be used.
pub fn serve(
    options: &AgentOptions,
    opener: &dyn Opener,
    tell: &AgentEventSink<'_>,
) -> Result<(), FleetError> {
    let usage = |problem: String| FleetError::Usage { problem, hint: String::new() };
    let subjects = Subjects::of(&options.group).map_err(usage)?;
    let run_store = KeptRunStore::open(&options.keep)?;
    let wire = Arc::new(Wire::reach(&options.access)?);
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
    let id = format!("{}-{:x}", std::process::id(), crate::random());
    let leader_contact = Arc::<LeaderContact>::default();
    let (give, asks) = channel();
    let _all = {
        let give = give.clone();
        wire.subscribe(&subjects.all(), move |message, _| drop(give.send((true, message))))?
    };
    let _own = {
        let (contact, clock) = (Arc::clone(&leader_contact), Arc::clone(&clock));
        wire.subscribe(&subjects.agent(&id), move |incoming, answerer| {
            let heard_ns = clock.now_ns();
            match (decode::<AgentRequest>(&incoming.bytes), &incoming.reply) {
                // Answered on the receiving thread, because the travel time of the message is what is
                // measured.
                (Ok(AgentRequest::Clock(leader)), Some(reply)) => {
                    contact.note(&leader, heard_ns);
                    let said_ns = clock.now_ns();
                    answerer.answer(reply, encode(&AgentReply::Clock { heard_ns, said_ns }));
                }
                _ => drop(give.send((false, incoming))),
            }
        })?
    };
    tell(&AgentEvent::Waits(run_store.all().len()));
    std::thread::scope(|scope| {
        let mut agent = Agent {
            options,
            opener,
            tell,
            wire,
            subjects,
            run_store,
            clock,
            id,
            leader_contact,
            reserved: None,
            running: None,
            arrived: ReceivedFolders::default(),
            refusals: 0,
            scope,
        };
        agent.serve(&asks);
    });
    Ok(())
}

struct Agent<'scope, 'env> {
    options: &'env AgentOptions,
    opener: &'env dyn Opener,
    tell: &'env AgentEventSink<'env>,
    wire: Arc<Wire>,
    subjects: Subjects,
    run_store: KeptRunStore,
    clock: Arc<dyn Clock>,
    id: String,
    leader_contact: Arc<LeaderContact>,
    reserved: Option<Reserved>,
    running: Option<Running<'scope>>,
    /// Workload folders sent by the controller that reserved the agent.
    arrived: ReceivedFolders,
    /// Number of messages with a wrong seal that were already reported.
    refusals: u64,
    scope: &'scope Scope<'scope, 'env>,
}

impl Agent<'_, '_> {
    fn serve(&mut self, asks: &Receiver<(bool, IncomingMessage)>) {
        while !self.options.cancel.is_cancelled() {
            match asks.recv_timeout(LOOK_EVERY) {
                Ok((true, came)) => self.send_hello(&came),
                Ok((false, came)) => self.handle_request(&came),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.check_state();
        }
        if let Some(running) = self.running.take() {
            running.board.alone.store(true, Ordering::Release);
            // The thread keeps its results on disk, then ends.
            let _ = running.thread.join();
        }
    }

    /// Reports refused messages, clears a finished run, and frees the agent if its controller is silent for
    /// too long.
    fn check_state(&mut self) {
        if let Some((error, count)) = self.wire.last_refusal()
            && count > self.refusals
        {
            // Reported only when the count doubles, because the senders of such messages could fill a log.
            if self.refusals == 0 || count >= self.refusals * 2 {
                (self.tell)(&AgentEvent::Refused(format!("{error} ({count} so far)")));
                self.refusals = count;
            }
        }
        if self.running.as_ref().is_some_and(|running| running.thread.is_finished()) {
            self.running = None;
        }
        let Some(reserved) = &self.reserved else { return };
        let silent_ns = self.clock.now_ns().saturating_sub(self.leader_contact.at_ns());
        if silent_ns < reserved.silence.as_nanos() as u64 {
            return;
        }
        (self.tell)(&AgentEvent::Alone(plain(&reserved.leader.words)));
        self.release();
    }

    fn release(&mut self) {
        if let Some(running) = &self.running {
            running.board.alone.store(true, Ordering::Release);
        }
        self.reserved = None;
        self.arrived = ReceivedFolders::default();
        self.leader_contact.follow(None, 0);
        (self.tell)(&AgentEvent::Free);
    }

    /// Answers a controller's call with a description of this agent.
    fn send_hello(&self, message: &IncomingMessage) {
        let (Ok(_), Some(reply)) = (decode::<AgentCall>(&message.bytes), &message.reply) else { return };
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
        let hello = AgentHello {
            protocol: PROTOCOL,
            version: self.options.version.clone(),
            id: self.id.clone(),
            name: self.options.name.clone(),
            place: self.options.place,
            cpus,
            busy: self.busy(),
            keeps: self.run_store.all().len() as u32,
        };
        self.wire.publish(reply, encode(&hello));
    }

    /// The controller that has reserved the agent, or a run that is still ending.
    fn busy(&self) -> Option<Leader> {
        let ends = || {
            let words = format!("run {}, which is ending", self.running.as_ref()?.run_id);
            Some(Leader { id: String::new(), words })
        };
        self.reserved.as_ref().map(|reserved| reserved.leader.clone()).or_else(ends)
    }

    fn handle_request(&mut self, message: &IncomingMessage) {
        let (ask, rest) = match decode_with_payload::<AgentRequest>(&message.bytes) {
            Ok(read) => read,
            Err(why) => {
                (self.tell)(&AgentEvent::Refused(why.clone()));
                return self.answer(message, &AgentReply::Refused(why));
            }
        };
        match ask {
            // The receiving thread answers these; one without a reply subject is ignored.
            AgentRequest::Clock(_) => {}
            AgentRequest::Reserve { leader, silence_ms } => {
                let answer = self.reserve(leader, silence_ms);
                self.answer(message, &answer);
            }
            AgentRequest::Release(leader) => {
                if self.is_reserved_by(&leader) {
                    self.release();
                }
            }
            AgentRequest::Folders { leader, number, of, sum } => {
                let outcome = match self.is_reserved_by(&leader) {
                    true => self.arrived.take(TransferPiece { number, piece_count: of, sum }, rest),
                    false => Err("it is not reserved by the sender of this request".to_owned()),
                };
                self.answer(
                    message,
                    &outcome.map_or_else(AgentReply::Refused, |()| AgentReply::Done { late_ns: 0 }),
                );
            }
            AgentRequest::Lead { leader, order } => {
                let led = match self.is_reserved_by(&leader) {
                    true => self.start_part(*order),
                    false => Err("it is not reserved by the sender of this request".to_owned()),
                };
                let answer = match led {
                    Ok(()) => AgentReply::Leads(Box::new(dyno_host::facts(&[])), ProcessAddress::this()),
                    Err(why) => {
                        (self.tell)(&AgentEvent::Refused(why.clone()));
                        AgentReply::Refused(why)
                    }
                };
                self.answer(message, &answer);
            }
            // The controller may have lost the agent and reserved it again; a run in progress still belongs
            // to it.
            AgentRequest::Do { leader, run_id, step } => self.step(message, &leader, &run_id, step),
            AgentRequest::Kept => self.answer(message, &AgentReply::Kept(self.run_store.all())),
            AgentRequest::Piece { run_id, number } => match self.run_store.piece(&run_id, number) {
                Ok((bytes, of)) => {
                    if let Some(reply) = &message.reply {
                        self.wire.publish(reply, encode_with_payload(&AgentReply::Piece { of }, &bytes));
                    }
                }
                Err(error) => self.answer(message, &AgentReply::Refused(error.to_string())),
            },
            AgentRequest::Forget { run_id, sum } => {
                // Only a controller that has received all of it knows the checksum.
                if self.run_store.checksum(&run_id).is_some_and(|own| own == sum) {
                    self.run_store.forget(&run_id);
                }
            }
            AgentRequest::Stored { leader, run_id } => {
                if self.is_reserved_by(&leader) {
                    self.run_store.forget(&run_id);
                }
            }
        }
    }

    fn is_reserved_by(&self, leader: &str) -> bool {
        self.reserved.as_ref().is_some_and(|reserved| reserved.leader.id == leader)
    }

    fn answer(&self, message: &IncomingMessage, answer: &AgentReply) {
        if let Some(reply) = &message.reply {
            self.wire.publish(reply, encode(answer));
        }
    }

    fn reserve(&mut self, leader: Leader, silence_ms: u64) -> AgentReply {
        if let Some(other) = self.busy().filter(|other| other.id != leader.id) {
            return AgentReply::Refused(format!("it is reserved by {}", plain(&other.words)));
        }
        if silence_ms == 0 || silence_ms > SILENCE_MAX_MS {
            return AgentReply::Refused(format!(
                "invalid silence limit of {silence_ms} ms: the maximum is {SILENCE_MAX_MS}"
            ));
        }
        self.leader_contact.follow(Some(&leader), self.clock.now_ns());
        (self.tell)(&AgentEvent::Reserved(plain(&leader.words)));
        self.reserved = Some(Reserved { leader, silence: Duration::from_millis(silence_ms) });
        AgentReply::Done { late_ns: 0 }
    }

    fn start_part(&mut self, mut order: AgentOrder) -> Result<(), String> {
        if let Some(running) = &self.running {
            return Err(format!("it already takes part in run {}", running.run_id));
        }
        check(&order)?;
        let may_write = self.options.policy.admit(&mut order.plan)?;
        order.folders = self.arrived.get(order.folders_sum.as_deref())?;
        let kept_count = self.run_store.all().len();
        if kept_count >= KEPT_MAX {
            return Err(format!(
                "it stores {kept_count} runs that were not collected; fetch them with `dyno collect`, or \
                 empty {}",
                self.options.keep.display()
            ));
        }
        let (steps, taken) = channel();
        let board = Arc::new(AgentRunSignals::default());
        let drive = AgentRunPart {
            wire: Arc::clone(&self.wire),
            subjects: self.subjects.clone(),
            clock: Arc::clone(&self.clock),
            opener: self.opener,
            run_store: self.run_store.clone(),
            board: Arc::clone(&board),
            version: self.options.version.clone(),
            tell: self.tell,
            may_write,
            order,
        };
        let run_id = drive.order.run_id.clone();
        let session_shares = crate::share::shares(&drive.order.plan, &drive.order.weights);
        let own_count = session_shares[drive.order.rank as usize].len();
        (self.tell)(&AgentEvent::Leads(run_id.clone(), own_count, drive.order.plan.sessions()));
        let thread = std::thread::Builder::new()
            .name("dyno-part".to_owned())
            .spawn_scoped(self.scope, move || drive.run(&taken))
            .map_err(|error| format!("no thread could be started: {error}"))?;
        let leader = self.reserved.as_ref().map(|reserved| reserved.leader.id.clone()).unwrap_or_default();
        self.running = Some(Running { run_id, leader, steps, board, thread });
        Ok(())
    }

    fn step(&self, message: &IncomingMessage, leader: &str, run_id: &str, step: AgentStep) {
        let is_it = |running: &&Running<'_>| running.run_id == run_id && running.leader == leader;
        let running = self.running.as_ref().filter(is_it);
        let is_delivered = match (running, &message.reply) {
            (Some(running), reply) => {
                // Takes effect at once, whatever the run's thread is doing.
                if step == AgentStep::Hurry {
                    running.board.hurry.store(true, Ordering::Release);
                }
                running.steps.send((step, reply.clone().unwrap_or_default())).is_ok()
            }
            (None, _) => false,
        };
        if !is_delivered {
            self.answer(
                message,
                &AgentReply::Refused(format!("it does not take part in run {}", plain(run_id))),
            );
        }
    }
}
