//! A machine through the agent on it: asked over the meeting point, within a time, and believed no more than a machine can say.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_host::far::{Described, Now, Place, Reading, Source, SourceError, SourceErrorKind};

use super::messages::{Look, Seen};
use crate::coding::{read, written};
use crate::messages::Leader;
use crate::subjects::plain;
use crate::wire::{Unanswered, Wire};

/// For how long nothing may be heard of an agent before it counts as lost; where nobody is there any more, for how long.
const SILENCE: Duration = Duration::from_secs(10);
const ABSENCE: Duration = Duration::from_secs(3);
/// How long one answer is waited for, at least.
const PATIENCE_MIN: Duration = Duration::from_millis(1);

/// An agent that answered.
pub(super) struct Found {
    pub(super) wire: Arc<Wire>,
    /// Where it hears.
    pub(super) subject: String,
}

/// Finds the agent, once it is asked for; up to a time.
pub(super) type Find = Box<dyn FnMut(Duration) -> Result<Found, SourceError> + Send>;

/// A machine with an agent on it.
pub(super) struct Agent {
    /// What it is called in errors.
    pub(super) name: String,
    pub(super) now: Now,
    pub(super) leader: Leader,
    pub(super) find: Find,
    pub(super) found: Option<Found>,
    pub(super) places: Vec<Place>,
    /// When it was last heard.
    pub(super) heard: Instant,
}

impl Agent {
    fn wrong(&self, kind: SourceErrorKind, words: &str) -> SourceError {
        SourceError::new(kind, format!("{}: {words}", self.name))
    }

    /// Where it is, looked for where that is not known yet.
    fn found(&mut self, patience: Duration) -> Result<(Arc<Wire>, String), SourceError> {
        if self.found.is_none() {
            self.found = Some((self.find)(patience)?);
            self.heard = Instant::now();
        }
        let found = self.found.as_ref().expect("it was just found");
        Ok((Arc::clone(&found.wire), found.subject.clone()))
    }

    /// Asks it; returns its answer and the moments of asking and of the answer.
    fn ask(&mut self, look: &Look, patience: Duration) -> Result<(Seen, u64, u64), SourceError> {
        let until = Instant::now() + patience;
        let (wire, subject) = self.found(patience)?;
        let bytes = written(look);
        let left = until.saturating_duration_since(Instant::now()).max(PATIENCE_MIN);
        let asked_ns = (self.now)();
        let answer = wire.asked(&subject, bytes, left);
        let answered_ns = (self.now)();
        let bytes = answer.map_err(|why| self.silent(why))?;
        self.heard = Instant::now();
        let nonsense = |words: &str| {
            self.wrong(SourceErrorKind::Nonsense, words)
                .hint("it is no `dyno agent --observe-only` of this version, or somebody answers in its name")
        };
        match read::<Seen>(&bytes) {
            Ok(Seen::Refused(why)) => Err(nonsense(&format!("it refuses: {}", plain(&why)))),
            Ok(seen) => Ok((seen, asked_ns, answered_ns)),
            Err(why) => Err(nonsense(&plain(&why))),
        }
    }

    /// What it means that no answer came: it may be on its way, the meeting point may be, or nobody is there.
    fn silent(&self, why: Unanswered) -> SourceError {
        let silent_for = self.heard.elapsed();
        let (borne, words) = match why {
            Unanswered::Nobody => (ABSENCE, "nobody answers in its place"),
            Unanswered::Late => (SILENCE, "no answer came in time"),
        };
        if silent_for < borne {
            return self.wrong(SourceErrorKind::Late, words);
        }
        let words = format!("it was lost: nothing was heard of it for {:.1} s", silent_for.as_secs_f64());
        self.wrong(SourceErrorKind::Lost, &words).hint(
            "check that `dyno agent --observe-only` still runs there, and that it reaches the NATS server",
        )
    }

    fn unasked(&self) -> SourceError {
        self.wrong(SourceErrorKind::Nonsense, "it answers what was not asked")
    }
}

impl Source for Agent {
    fn describe(&mut self, places: &[Place], patience: Duration) -> Result<Described, SourceError> {
        self.places = places.to_vec();
        let look = Look::Describe { leader: self.leader.clone(), places: places.to_vec() };
        match self.ask(&look, patience)? {
            (Seen::Described(described), ..) => {
                described.bounded().map_err(|why| self.wrong(SourceErrorKind::Nonsense, &why))
            }
            _ => Err(self.unasked()),
        }
    }

    fn clock(&mut self, patience: Duration) -> Result<Reading, SourceError> {
        match self.ask(&Look::Clock, patience)? {
            (Seen::Clock(far), asked_ns, answered_ns) => {
                Ok(Reading { asked_ns, answered_ns, far: Some(far), within_far: true, ..Reading::default() })
            }
            _ => Err(self.unasked()),
        }
    }

    fn read(&mut self, patience: Duration) -> Result<Reading, SourceError> {
        let look = Look::Read { places: self.places.clone() };
        match self.ask(&look, patience)? {
            (Seen::Read(reading), asked_ns, answered_ns) => {
                let reading = reading.bounded().map_err(|why| self.wrong(SourceErrorKind::Nonsense, &why))?;
                Ok(Reading { asked_ns, answered_ns, within_far: reading.far.is_some(), ..reading })
            }
            _ => Err(self.unasked()),
        }
    }
}
