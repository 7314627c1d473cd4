//! The agent of a driver host: it waits for leaders, is one leader's at a time, and leads the sessions of one run at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use dyno_engine::{Clock, MonotonicClock};
use dyno_host::ProcessAddress;

use crate::agent_event::{AgentEvent, Tell};
use crate::agent_options::AgentOptions;
use crate::coding::{read, read_with, written, written_with};
use crate::drive::{Board, Drive, Given};
use crate::error::FleetError;
use crate::folders::Arrived;
use crate::kept::{KEPT_MAX, Kept};
use crate::leader_heard::LeaderHeard;
use crate::limits::PROTOCOL;
use crate::messages::{Answer, Ask, Call, Hello, Leader, Order, Step};
use crate::opener::Opener;
use crate::order_check::check;
use crate::pieces::Piece;
use crate::subjects::{Subjects, plain};
use crate::wire::{Came, Wire};

/// How often an agent looks whether its leader is still there, or it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// For how long a leader may ask an agent to go on alone.
const SILENCE_MAX_MS: u64 = 600_000;

/// Whoever has reserved the agent.
#[derive(Debug, Clone)]
struct Reserved {
    leader: Leader,
    silence: Duration,
}

/// A run under way.
struct Running<'scope> {
    run_id: String,
    /// The leader whose run it is.
    leader: String,
    steps: Sender<Given>,
    board: Arc<Board>,
    thread: ScopedJoinHandle<'scope, ()>,
}

/// Serves leaders until it is asked to end.
///
/// # Errors
/// The meeting point cannot be used, or nothing can be kept.
pub fn serve(options: &AgentOptions, opener: &dyn Opener, tell: &Tell<'_>) -> Result<(), FleetError> {
    let usage = |problem: String| FleetError::Usage { problem, hint: String::new() };
    let subjects = Subjects::of(&options.group).map_err(usage)?;
    let kept = Kept::open(&options.keep)?;
    let wire = Arc::new(Wire::reach(&options.access)?);
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
    let id = format!("{}-{:x}", std::process::id(), crate::random());
    let heard = Arc::<LeaderHeard>::default();
    let (give, asks) = channel();
    let _all = {
        let give = give.clone();
        wire.hear_with(&subjects.all(), move |came, _| drop(give.send((true, came))))?
    };
    let _own = {
        let (heard, clock) = (Arc::clone(&heard), Arc::clone(&clock));
        wire.hear_with(&subjects.agent(&id), move |came, answerer| {
            let heard_ns = clock.now_ns();
            match (read::<Ask>(&came.bytes), &came.reply) {
                // Answered here, where it is heard first: the way is what is measured.
                (Ok(Ask::Clock(leader)), Some(reply)) => {
                    heard.note(&leader, heard_ns);
                    let said_ns = clock.now_ns();
                    answerer.answer(reply, written(&Answer::Clock { heard_ns, said_ns }));
                }
                _ => drop(give.send((false, came))),
            }
        })?
    };
    tell(&AgentEvent::Waits(kept.all().len()));
    std::thread::scope(|scope| {
        let mut agent = Agent {
            options,
            opener,
            tell,
            wire,
            subjects,
            kept,
            clock,
            id,
            heard,
            reserved: None,
            running: None,
            arrived: Arrived::default(),
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
    tell: &'env Tell<'env>,
    wire: Arc<Wire>,
    subjects: Subjects,
    kept: Kept,
    clock: Arc<dyn Clock>,
    id: String,
    heard: Arc<LeaderHeard>,
    reserved: Option<Reserved>,
    running: Option<Running<'scope>>,
    /// Folders of workloads that whoever has reserved it has sent.
    arrived: Arrived,
    /// Messages with a wrong seal that were reported.
    refusals: u64,
    scope: &'scope Scope<'scope, 'env>,
}

impl Agent<'_, '_> {
    fn serve(&mut self, asks: &Receiver<(bool, Came)>) {
        while !self.options.cancel.is_cancelled() {
            match asks.recv_timeout(LOOK_EVERY) {
                Ok((true, came)) => self.greet(&came),
                Ok((false, came)) => self.obey(&came),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look_around();
        }
        if let Some(running) = self.running.take() {
            running.board.alone.store(true, Ordering::Release);
            // It keeps what it has measured, and ends.
            let _ = running.thread.join();
        }
    }

    /// Whether messages were refused, the run has ended, and the leader is still there.
    fn look_around(&mut self) {
        if let Some((error, count)) = self.wire.refused()
            && count > self.refusals
        {
            // Once for many: whoever sends them could fill a log.
            if self.refusals == 0 || count >= self.refusals * 2 {
                (self.tell)(&AgentEvent::Refused(format!("{error} ({count} so far)")));
                self.refusals = count;
            }
        }
        if self.running.as_ref().is_some_and(|running| running.thread.is_finished()) {
            self.running = None;
        }
        let Some(reserved) = &self.reserved else { return };
        let silent_ns = self.clock.now_ns().saturating_sub(self.heard.at_ns());
        if silent_ns < reserved.silence.as_nanos() as u64 {
            return;
        }
        (self.tell)(&AgentEvent::Alone(plain(&reserved.leader.words)));
        self.set_free();
    }

    fn set_free(&mut self) {
        if let Some(running) = &self.running {
            running.board.alone.store(true, Ordering::Release);
        }
        self.reserved = None;
        self.arrived = Arrived::default();
        self.heard.follow(None, 0);
        (self.tell)(&AgentEvent::Free);
    }

    /// Says that it is there, to whoever calls.
    fn greet(&self, came: &Came) {
        let (Ok(_), Some(reply)) = (read::<Call>(&came.bytes), &came.reply) else { return };
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
        let hello = Hello {
            protocol: PROTOCOL,
            version: self.options.version.clone(),
            id: self.id.clone(),
            name: self.options.name.clone(),
            place: self.options.place,
            cpus,
            busy: self.busy(),
            keeps: self.kept.all().len() as u32,
        };
        self.wire.publish(reply, written(&hello));
    }

    /// Whoever has it; a run that still ends keeps it, too.
    fn busy(&self) -> Option<Leader> {
        let ends = || {
            let words = format!("run {}, which ends", self.running.as_ref()?.run_id);
            Some(Leader { id: String::new(), words })
        };
        self.reserved.as_ref().map(|reserved| reserved.leader.clone()).or_else(ends)
    }

    fn obey(&mut self, came: &Came) {
        let (ask, rest) = match read_with::<Ask>(&came.bytes) {
            Ok(read) => read,
            Err(why) => {
                (self.tell)(&AgentEvent::Refused(why.clone()));
                return self.answer(came, &Answer::Refused(why));
            }
        };
        match ask {
            // Answered where it is heard; one without an address for the answer means nothing.
            Ask::Clock(_) => {}
            Ask::Reserve { leader, silence_ms } => {
                let answer = self.reserve(leader, silence_ms);
                self.answer(came, &answer);
            }
            Ask::Release(leader) => {
                if self.is_reserved_by(&leader) {
                    self.set_free();
                }
            }
            Ask::Folders { leader, number, of, sum } => {
                let taken = match self.is_reserved_by(&leader) {
                    true => self.arrived.take(Piece { number, of, sum }, rest),
                    false => Err("it is not reserved by whoever sends this".to_owned()),
                };
                self.answer(came, &taken.map_or_else(Answer::Refused, |()| Answer::Done { late_ns: 0 }));
            }
            Ask::Lead { leader, order } => {
                let led = match self.is_reserved_by(&leader) {
                    true => self.lead(*order),
                    false => Err("it is not reserved by the leader that sends this".to_owned()),
                };
                let answer = match led {
                    Ok(()) => Answer::Leads(Box::new(dyno_host::facts(&[])), ProcessAddress::this()),
                    Err(why) => {
                        (self.tell)(&AgentEvent::Refused(why.clone()));
                        Answer::Refused(why)
                    }
                };
                self.answer(came, &answer);
            }
            // Its own leader may have been lost and found again: what is under way is still that leader's.
            Ask::Do { leader, run_id, step } => self.step(came, &leader, &run_id, step),
            Ask::Kept => self.answer(came, &Answer::Kept(self.kept.all())),
            Ask::Piece { run_id, number } => match self.kept.piece(&run_id, number) {
                Ok((bytes, of)) => {
                    if let Some(reply) = &came.reply {
                        self.wire.publish(reply, written_with(&Answer::Piece { of }, &bytes));
                    }
                }
                Err(error) => self.answer(came, &Answer::Refused(error.to_string())),
            },
            Ask::Forget { run_id, sum } => {
                // Only whoever has all of it can name its sum.
                if self.kept.sum(&run_id).is_some_and(|own| own == sum) {
                    self.kept.forget(&run_id);
                }
            }
            Ask::Stored { leader, run_id } => {
                if self.is_reserved_by(&leader) {
                    self.kept.forget(&run_id);
                }
            }
        }
    }

    fn is_reserved_by(&self, leader: &str) -> bool {
        self.reserved.as_ref().is_some_and(|reserved| reserved.leader.id == leader)
    }

    fn answer(&self, came: &Came, answer: &Answer) {
        if let Some(reply) = &came.reply {
            self.wire.publish(reply, written(answer));
        }
    }

    fn reserve(&mut self, leader: Leader, silence_ms: u64) -> Answer {
        if let Some(other) = self.busy().filter(|other| other.id != leader.id) {
            return Answer::Refused(format!("it is reserved by {}", plain(&other.words)));
        }
        if silence_ms == 0 || silence_ms > SILENCE_MAX_MS {
            return Answer::Refused(format!("{silence_ms} ms of silence: up to {SILENCE_MAX_MS} are borne"));
        }
        self.heard.follow(Some(&leader), self.clock.now_ns());
        (self.tell)(&AgentEvent::Reserved(plain(&leader.words)));
        self.reserved = Some(Reserved { leader, silence: Duration::from_millis(silence_ms) });
        Answer::Done { late_ns: 0 }
    }

    fn lead(&mut self, mut order: Order) -> Result<(), String> {
        if let Some(running) = &self.running {
            return Err(format!("it leads run {}", running.run_id));
        }
        check(&order)?;
        let may_write = self.options.policy.admit(&mut order.plan)?;
        order.folders = self.arrived.get(order.folders_sum.as_deref())?;
        let kept = self.kept.all().len();
        if kept >= KEPT_MAX {
            return Err(format!(
                "it keeps {kept} runs that nobody has collected; `dyno collect` fetches them, or empty {}",
                self.options.keep.display()
            ));
        }
        let (steps, taken) = channel();
        let board = Arc::new(Board::default());
        let drive = Drive {
            wire: Arc::clone(&self.wire),
            subjects: self.subjects.clone(),
            clock: Arc::clone(&self.clock),
            opener: self.opener,
            kept: self.kept.clone(),
            board: Arc::clone(&board),
            version: self.options.version.clone(),
            tell: self.tell,
            may_write,
            order,
        };
        let run_id = drive.order.run_id.clone();
        let own = crate::share::shares(&drive.order.plan, &drive.order.weights);
        let own = own[drive.order.rank as usize].len();
        (self.tell)(&AgentEvent::Leads(run_id.clone(), own, drive.order.plan.sessions()));
        let thread = std::thread::Builder::new()
            .name("dyno-part".to_owned())
            .spawn_scoped(self.scope, move || drive.run(&taken))
            .map_err(|error| format!("no thread could be started: {error}"))?;
        let leader = self.reserved.as_ref().map(|reserved| reserved.leader.id.clone()).unwrap_or_default();
        self.running = Some(Running { run_id, leader, steps, board, thread });
        Ok(())
    }

    fn step(&self, came: &Came, leader: &str, run_id: &str, step: Step) {
        let is_it = |running: &&Running<'_>| running.run_id == run_id && running.leader == leader;
        let running = self.running.as_ref().filter(is_it);
        let given = match (running, &came.reply) {
            (Some(running), reply) => {
                // Heard at once, whatever its thread does.
                if step == Step::Hurry {
                    running.board.hurry.store(true, Ordering::Release);
                }
                running.steps.send((step, reply.clone().unwrap_or_default())).is_ok()
            }
            (None, _) => false,
        };
        if !given {
            self.answer(came, &Answer::Refused(format!("it does not lead run {}", plain(run_id))));
        }
    }
}
