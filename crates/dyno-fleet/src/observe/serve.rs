//! An agent that only observes: it answers for its machine whoever asks, drives nothing, and keeps nothing.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use dyno_engine::Cancel;
use dyno_host::far::{Own, Place};

use super::messages::{Look, Seen, check};
use crate::agent_event::{AgentEvent, Tell};
use crate::coding::{read, written};
use crate::error::FleetError;
use crate::limits::{MESSAGE_BYTES_MAX, PROTOCOL};
use crate::messages::{Call, Hello};
use crate::subjects::{Subjects, plain};
use crate::wire::{Access, Came, Wire};

/// How often it looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Questions that wait to be answered; more are dropped, which whoever asked sees in what is not answered.
const WAITING_MAX: usize = 256;
/// Sets of places that are known at the same time: those of a few runs.
const KNOWN_MAX: usize = 16;
/// Whoever looked last that are remembered, so that each is told once.
const TOLD_MAX: usize = 64;

/// How such an agent is started.
#[derive(Debug)]
pub struct ObserverOptions {
    /// The meeting point.
    pub access: Access,
    /// The name under which those meet who belong together.
    pub group: String,
    /// The name by which it is found: `agent://NAME`.
    pub name: String,
    /// The version of this program.
    pub version: String,
    /// Asks it to end.
    pub cancel: Cancel,
}

/// Answers for this machine until it is asked to end.
///
/// # Errors
/// The meeting point cannot be used, or this machine has no counters.
pub fn observe(options: &ObserverOptions, tell: &Tell<'_>) -> Result<(), FleetError> {
    let usage = |problem: String, hint: String| FleetError::Usage { problem, hint };
    let subjects = Subjects::of(&options.group).map_err(|problem| usage(problem, String::new()))?;
    if let Err(error) = Own::with(&[]) {
        return Err(usage(error.message, error.hint));
    }
    let wire = Wire::reach(&options.access)?;
    let id = format!("{}-{:x}", std::process::id(), crate::random());
    let (give, asks) = sync_channel(WAITING_MAX);
    let _all = {
        let give = give.clone();
        wire.hear_with(&subjects.observers(), move |came, _| drop(give.try_send((true, came))))?
    };
    let _own = wire.hear_with(&subjects.observer(&id), move |came, _| drop(give.try_send((false, came))))?;
    tell(&AgentEvent::Observes);
    let mut observer = Observer { options, tell, wire, id, known: Vec::new(), told: Vec::new() };
    observer.serve(&asks);
    Ok(())
}

struct Observer<'a> {
    options: &'a ObserverOptions,
    tell: &'a Tell<'a>,
    wire: Wire,
    id: String,
    /// The machine by the places that were asked for; the last that was asked for is the last.
    known: Vec<(Vec<Place>, Own)>,
    /// Numbers of those who looked.
    told: Vec<String>,
}

impl Observer<'_> {
    fn serve(&mut self, asks: &Receiver<(bool, Came)>) {
        while !self.options.cancel.is_cancelled() {
            match asks.recv_timeout(LOOK_EVERY) {
                Ok((true, came)) => self.greet(&came),
                Ok((false, came)) => self.answer(&came),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
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
            place: None,
            cpus,
            busy: None,
            keeps: 0,
        };
        self.wire.publish(reply, written(&hello));
    }

    fn answer(&mut self, came: &Came) {
        let Some(reply) = &came.reply else { return };
        let seen = read::<Look>(&came.bytes).and_then(|look| self.look(look)).unwrap_or_else(|why| {
            let why = plain(&why);
            (self.tell)(&AgentEvent::Refused(why.clone()));
            Seen::Refused(why)
        });
        let mut bytes = written(&seen);
        if bytes.len() > MESSAGE_BYTES_MAX {
            let why = format!("its answer has {} bytes, more than {MESSAGE_BYTES_MAX}", bytes.len());
            bytes = written(&Seen::Refused(why));
        }
        self.wire.publish(reply, bytes);
    }

    fn look(&mut self, look: Look) -> Result<Seen, String> {
        match look {
            Look::Clock => {
                let reading = Own::clock();
                reading.far.map(Seen::Clock).ok_or_else(|| "it has no clock".to_owned())
            }
            Look::Describe { leader, places } => {
                let described = self.own(places, true)?.described().clone();
                if !self.told.contains(&leader.id) {
                    if self.told.len() >= TOLD_MAX {
                        self.told.remove(0);
                    }
                    self.told.push(leader.id.chars().take(100).collect());
                    (self.tell)(&AgentEvent::Observed(plain(&leader.words)));
                }
                Ok(Seen::Described(Box::new(described)))
            }
            Look::Read { places } => Ok(Seen::Read(Box::new(self.own(places, false)?.read()))),
        }
    }

    /// The machine with these places, looked for anew where somebody asks what it is: one may have been mounted since.
    fn own(&mut self, places: Vec<Place>, anew: bool) -> Result<&mut Own, String> {
        check(&places)?;
        let at = self.known.iter().position(|(known, _)| *known == places);
        let own = match at.map(|at| self.known.remove(at)) {
            Some((_, own)) if !anew => own,
            _ => Own::with(&places).map_err(|error| error.to_string())?,
        };
        if self.known.len() >= KNOWN_MAX {
            self.known.remove(0);
        }
        self.known.push((places, own));
        let (_, own) = self.known.last_mut().expect("it was just pushed");
        Ok(own)
    }
}
