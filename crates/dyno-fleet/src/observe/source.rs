//! Reads a machine's counters through the agent on it, with time limits and plausibility checks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_host::remote::{
    HostDescription, HostPlace, HostSource, Now, SourceError, SourceErrorKind, TimedHostSnapshot,
};

use super::messages::{AgentObserverReply, AgentObserverRequest};
use crate::coding::{decode, encode};
use crate::messages::Leader;
use crate::subjects::plain;
use crate::wire::{Unanswered, Wire};

/// How long an agent may be silent before it counts as lost; the second value applies if nobody has
/// subscribed to its subject.
const SILENCE: Duration = Duration::from_secs(10);
const ABSENCE: Duration = Duration::from_secs(3);
/// Minimum time to wait for an answer.
const PATIENCE_MIN: Duration = Duration::from_millis(1);

/// The connection and subject of an agent that answered.
pub(super) struct FoundAgent {
    pub(super) wire: Arc<Wire>,
    /// The subject on which the agent receives requests.
    pub(super) subject: String,
}

/// Finds the agent at the first use, within a time limit.
pub(super) type Find = Box<dyn FnMut(Duration) -> Result<FoundAgent, SourceError> + Send>;

/// A machine observed through an agent.
pub(super) struct AgentSource {
    /// The agent's name in errors.
    pub(super) name: String,
    pub(super) now: Now,
    pub(super) leader: Leader,
    pub(super) find: Find,
    pub(super) agent: Option<FoundAgent>,
    pub(super) places: Vec<HostPlace>,
    /// When the agent last answered.
    pub(super) last_heard: Instant,
}

impl AgentSource {
    fn wrong(&self, kind: SourceErrorKind, words: &str) -> SourceError {
        SourceError::new(kind, format!("{}: {words}", self.name))
    }

    /// Returns the agent's connection and subject; finds the agent first if they are unknown.
    fn locate(&mut self, patience: Duration) -> Result<(Arc<Wire>, String), SourceError> {
        if self.agent.is_none() {
            self.agent = Some((self.find)(patience)?);
            self.last_heard = Instant::now();
        }
        let agent = self.agent.as_ref().expect("it was just found");
        Ok((Arc::clone(&agent.wire), agent.subject.clone()))
    }

    /// Sends a request; returns the answer and the moments of sending and receiving.
    fn ask(
        &mut self,
        look: &AgentObserverRequest,
        patience: Duration,
    ) -> Result<(AgentObserverReply, u64, u64), SourceError> {
        let until = Instant::now() + patience;
        let (wire, subject) = self.locate(patience)?;
        let bytes = encode(look);
        let left = until.saturating_duration_since(Instant::now()).max(PATIENCE_MIN);
        let asked_ns = (self.now)();
        let answer = wire.asked(&subject, bytes, left);
        let answered_ns = (self.now)();
        let bytes = answer.map_err(|why| self.timeout_error(why))?;
        self.last_heard = Instant::now();
        let nonsense = |words: &str| {
            self.wrong(SourceErrorKind::Nonsense, words).hint(
                "it is not a `dyno agent --observe-only` of this version, or another process answers in its \
                 name",
            )
        };
        match decode::<AgentObserverReply>(&bytes) {
            Ok(AgentObserverReply::Refused(why)) => Err(nonsense(&format!("it refuses: {}", plain(&why)))),
            Ok(seen) => Ok((seen, asked_ns, answered_ns)),
            Err(why) => Err(nonsense(&plain(&why))),
        }
    }

    /// Returns the error for a missing answer: the agent or the NATS server may be slow, or the agent may be
    /// gone.
    fn timeout_error(&self, why: Unanswered) -> SourceError {
        let silent_for = self.last_heard.elapsed();
        let (borne, words) = match why {
            Unanswered::Nobody => (ABSENCE, "no agent answers"),
            Unanswered::Late => (SILENCE, "no answer came in time"),
        };
        if silent_for < borne {
            return self.wrong(SourceErrorKind::Late, words);
        }
        let words = format!("it was lost: no message from it for {:.1} s", silent_for.as_secs_f64());
        self.wrong(SourceErrorKind::Lost, &words).hint(
            "check that `dyno agent --observe-only` still runs there, and that it reaches the NATS server",
        )
    }

    fn not_asked_error(&self) -> SourceError {
        self.wrong(SourceErrorKind::Nonsense, "it sent an unexpected answer")
    }
}

impl HostSource for AgentSource {
    fn describe(&mut self, places: &[HostPlace], patience: Duration) -> Result<HostDescription, SourceError> {
        self.places = places.to_vec();
        let look = AgentObserverRequest::Describe { leader: self.leader.clone(), places: places.to_vec() };
        match self.ask(&look, patience)? {
            (AgentObserverReply::Described(described), ..) => {
                described.bounded().map_err(|why| self.wrong(SourceErrorKind::Nonsense, &why))
            }
            _ => Err(self.not_asked_error()),
        }
    }

    fn clock(&mut self, patience: Duration) -> Result<TimedHostSnapshot, SourceError> {
        match self.ask(&AgentObserverRequest::Clock, patience)? {
            (AgentObserverReply::Clock(far), asked_ns, answered_ns) => Ok(TimedHostSnapshot {
                asked_ns,
                answered_ns,
                far: Some(far),
                within_far: true,
                ..TimedHostSnapshot::default()
            }),
            _ => Err(self.not_asked_error()),
        }
    }

    fn read(&mut self, patience: Duration) -> Result<TimedHostSnapshot, SourceError> {
        let look = AgentObserverRequest::Read { places: self.places.clone() };
        match self.ask(&look, patience)? {
            (AgentObserverReply::Read(reading), asked_ns, answered_ns) => {
                let reading = reading.bounded().map_err(|why| self.wrong(SourceErrorKind::Nonsense, &why))?;
                Ok(TimedHostSnapshot { asked_ns, answered_ns, within_far: reading.far.is_some(), ..reading })
            }
            _ => Err(self.not_asked_error()),
        }
    }
}
