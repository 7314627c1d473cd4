//! An agent that only observes: it reports its machine's counters to every controller, drives no load, and
//! stores nothing.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use dyno_engine::Cancel;
use dyno_host::remote::{HostPlace, LocalHost};

use super::messages::{AgentObserverReply, AgentObserverRequest, check};
use crate::agent_event::{AgentEvent, AgentEventSink};
use crate::coding::{decode, encode};
use crate::error::FleetError;
use crate::limits::{MESSAGE_BYTES_MAX, PROTOCOL};
use crate::messages::{AgentCall, AgentHello};
use crate::subjects::{Subjects, plain};
use crate::wire::{Access, IncomingMessage, Wire};

/// How often the agent checks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Maximum number of queued requests; further ones are dropped, and their senders get no answer.
const WAITING_MAX: usize = 256;
/// Maximum number of sets of places remembered, enough for a few runs.
const KNOWN_MAX: usize = 16;
/// Maximum number of controllers remembered, so that each is reported once.
const TOLD_MAX: usize = 64;

/// The options with which an observing agent starts.
#[derive(Debug)]
pub struct ObserverOptions {
    /// The NATS server, and the credentials for it.
    pub access: Access,
    /// The group name that controllers and agents share.
    pub group: String,
    /// The name by which controllers find the agent: `agent://NAME`.
    pub name: String,
    pub version: String,
    /// Signals that the agent is to end.
    pub cancel: Cancel,
}

/// Answers requests about this machine until the agent is asked to end.
///
/// # Errors
/// The NATS server cannot be used, or this machine has no counters.
pub fn observe(options: &ObserverOptions, tell: &AgentEventSink<'_>) -> Result<(), FleetError> {
    let usage = |problem: String, hint: String| FleetError::Usage { problem, hint };
    let subjects = Subjects::of(&options.group).map_err(|problem| usage(problem, String::new()))?;
    if let Err(error) = LocalHost::with(&[]) {
        return Err(usage(error.message, error.hint));
    }
    let wire = Wire::reach(&options.access)?;
    let id = format!("{}-{:x}", std::process::id(), crate::random());
    let (give, asks) = sync_channel(WAITING_MAX);
    let _all = {
        let give = give.clone();
        wire.subscribe(&subjects.observers(), move |message, _| drop(give.try_send((true, message))))?
    };
    let _own =
        wire.subscribe(&subjects.observer(&id), move |incoming, _| drop(give.try_send((false, incoming))))?;
    tell(&AgentEvent::Observes);
    let mut observer = Observer { options, tell, wire, id, hosts: Vec::new(), reported: Vec::new() };
    observer.serve(&asks);
    Ok(())
}

struct Observer<'a> {
    options: &'a ObserverOptions,
    tell: &'a AgentEventSink<'a>,
    wire: Wire,
    id: String,
    /// Machine readers by their places; the last used is at the end.
    hosts: Vec<(Vec<HostPlace>, LocalHost)>,
    /// Ids of the controllers that were already reported.
    reported: Vec<String>,
}

impl Observer<'_> {
    fn serve(&mut self, asks: &Receiver<(bool, IncomingMessage)>) {
        while !self.options.cancel.is_cancelled() {
            match asks.recv_timeout(LOOK_EVERY) {
                Ok((true, came)) => self.send_hello(&came),
                Ok((false, came)) => self.answer(&came),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
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
            place: None,
            cpus,
            busy: None,
            keeps: 0,
        };
        self.wire.publish(reply, encode(&hello));
    }

    fn answer(&mut self, message: &IncomingMessage) {
        let Some(reply) = &message.reply else { return };
        let response = decode::<AgentObserverRequest>(&message.bytes)
            .and_then(|look| self.handle_request(look))
            .unwrap_or_else(|why| {
                let why = plain(&why);
                (self.tell)(&AgentEvent::Refused(why.clone()));
                AgentObserverReply::Refused(why)
            });
        let mut bytes = encode(&response);
        if bytes.len() > MESSAGE_BYTES_MAX {
            let why = format!("its answer has {} bytes, more than {MESSAGE_BYTES_MAX}", bytes.len());
            bytes = encode(&AgentObserverReply::Refused(why));
        }
        self.wire.publish(reply, bytes);
    }

    fn handle_request(&mut self, look: AgentObserverRequest) -> Result<AgentObserverReply, String> {
        match look {
            AgentObserverRequest::Clock => {
                let reading = LocalHost::clock();
                reading.far.map(AgentObserverReply::Clock).ok_or_else(|| "it has no clock".to_owned())
            }
            AgentObserverRequest::Describe { leader, places } => {
                let described = self.host_with(places, true)?.described().clone();
                if !self.reported.contains(&leader.id) {
                    if self.reported.len() >= TOLD_MAX {
                        self.reported.remove(0);
                    }
                    self.reported.push(leader.id.chars().take(100).collect());
                    (self.tell)(&AgentEvent::Observed(plain(&leader.words)));
                }
                Ok(AgentObserverReply::Described(Box::new(described)))
            }
            AgentObserverRequest::Read { places } => {
                Ok(AgentObserverReply::Read(Box::new(self.host_with(places, false)?.read())))
            }
        }
    }

    /// Returns the reader for these places. Each description uses a new reader, because a file system may
    /// have been mounted since.
    fn host_with(&mut self, places: Vec<HostPlace>, anew: bool) -> Result<&mut LocalHost, String> {
        check(&places)?;
        let at = self.hosts.iter().position(|(known, _)| *known == places);
        let host = match at.map(|at| self.hosts.remove(at)) {
            Some((_, cached)) if !anew => cached,
            _ => LocalHost::with(&places).map_err(|error| error.to_string())?,
        };
        if self.hosts.len() >= KNOWN_MAX {
            self.hosts.remove(0);
        }
        self.hosts.push((places, host));
        let (_, current) = self.hosts.last_mut().expect("it was just pushed");
        Ok(current)
    }
}
