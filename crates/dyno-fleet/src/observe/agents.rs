//! Finds agents that only observe. Connects to the NATS server at the first use, once for all of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_host::remote::{self, HostSource, Now, SourceError, SourceErrorKind};
use dyno_plan::HostUrl;
use parking_lot::Mutex;

use super::source::{AgentSource, FoundAgent};
use crate::coding::{decode, encode};
use crate::discovery::{CALL_FOR, version_mismatch};
use crate::error::FleetError;
use crate::limits::{HOSTS_MAX, PROTOCOL};
use crate::messages::{AgentCall, AgentHello, Leader};
use crate::subjects::{Subjects, is_name, plain};
use crate::wire::{Access, Wire};

/// How long an agent that does not answer is called.
const CALL_MAX: Duration = Duration::from_secs(4);
/// Maximum number of names that an error lists.
const LISTED_MAX: usize = 8;

/// Returns the NATS server's address and credentials when they are first needed; otherwise an error and a
/// hint.
pub type NatsAccessProvider = Box<dyn Fn() -> Result<Access, (String, String)> + Send + Sync>;

/// The agents of a group that only observe.
pub struct NatsAgents {
    inner: Arc<Inner>,
}

struct Inner {
    access: NatsAccessProvider,
    group: String,
    version: String,
    leader: Leader,
    wire: Mutex<Option<Arc<Wire>>>,
}

impl NatsAgents {
    /// Creates the finder for `group`, on the NATS server that `access` returns.
    pub fn new(access: NatsAccessProvider, group: String, version: String) -> Self {
        let leader = crate::reservation::this_leader();
        Self { inner: Arc::new(Inner { access, group, version, leader, wire: Mutex::default() }) }
    }
}

impl remote::Agents for NatsAgents {
    fn open(&self, url: &HostUrl, now: &Now) -> Result<Box<dyn HostSource>, SourceError> {
        let (inner, wanted, shown) = (Arc::clone(&self.inner), url.host.clone(), url.to_string());
        Ok(Box::new(AgentSource {
            name: url.to_string(),
            now: Now::clone(now),
            leader: self.inner.leader.clone(),
            find: Box::new(move |patience| inner.find(&wanted, &shown, patience)),
            agent: None,
            places: Vec::new(),
            last_heard: Instant::now(),
        }))
    }
}

impl Inner {
    fn reach(&self) -> Result<Arc<Wire>, SourceError> {
        let mut wire = self.wire.lock();
        if let Some(wire) = wire.as_ref() {
            return Ok(Arc::clone(wire));
        }
        let failed = |kind, (words, hint): (String, String)| SourceError::new(kind, words).hint(hint);
        let access = (self.access)().map_err(|why| failed(SourceErrorKind::Unsupported, why))?;
        let reached = Wire::reach(&access).map_err(|error| {
            failed(SourceErrorKind::Unreachable, (error.to_string(), error.hint().into()))
        })?;
        Ok(Arc::clone(wire.insert(Arc::new(reached))))
    }

    /// Finds the agent named `wanted`, or the only one if `wanted` is empty; `shown` is its name in errors.
    fn find(&self, wanted: &str, shown: &str, patience: Duration) -> Result<FoundAgent, SourceError> {
        let wrong = |kind, words: String| SourceError::new(kind, format!("{shown}: {words}"));
        let subjects = Subjects::of(&self.group).map_err(|why| wrong(SourceErrorKind::Unsupported, why))?;
        let wire = self.reach()?;
        let until = Instant::now() + patience.min(CALL_MAX);
        let all = loop {
            let all = self.call(&wire, &subjects);
            if all.iter().any(|hello| wanted.is_empty() || hello.name == wanted) || Instant::now() >= until {
                break all;
            }
        };
        let group = &self.group;
        let named: Vec<&AgentHello> =
            all.iter().filter(|hello| wanted.is_empty() || hello.name == wanted).collect();
        let hello = match named[..] {
            [one] => one,
            [] if all.is_empty() => {
                let words = format!("no observer is in group {group}");
                return Err(wrong(SourceErrorKind::Unreachable, words).hint(start(group)));
            }
            [] => {
                let words =
                    format!("no observer of that name is in group {group}; observers there: {}", names(&all));
                return Err(wrong(SourceErrorKind::Unreachable, words).hint("write one of these names"));
            }
            _ => {
                let words = format!("{} observers are in group {group}: {}", named.len(), names(&all));
                return Err(wrong(SourceErrorKind::Unproven, words).hint(
                    "write agent://NAME for the observer on the database host, and give each its own --name",
                ));
            }
        };
        if let Some(error) = version_mismatch(hello, group, &self.version) {
            return Err(refused(shown, &error));
        }
        Ok(FoundAgent { wire, subject: subjects.observer(&hello.id) })
    }

    /// Returns the observing agents that answer now.
    fn call(&self, wire: &Wire, subjects: &Subjects) -> Vec<AgentHello> {
        let call =
            AgentCall { protocol: PROTOCOL, version: self.version.clone(), leader: self.leader.clone() };
        let answers = wire.ask_all(&subjects.observers(), encode(&call), CALL_FOR);
        let hellos =
            answers.into_iter().take(HOSTS_MAX).filter_map(|bytes| decode::<AgentHello>(&bytes).ok());
        let valid = hellos.filter(|hello| is_name(&hello.id));
        let mut all: Vec<AgentHello> =
            valid.map(|hello| AgentHello { name: plain(&hello.name), ..hello }).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.id.cmp(&b.id)));
        all.dedup_by(|a, b| a.id == b.id);
        all
    }
}

fn refused(shown: &str, error: &FleetError) -> SourceError {
    SourceError::new(SourceErrorKind::Nonsense, format!("{shown}: {error}")).hint(error.hint().to_owned())
}

fn start(group: &str) -> String {
    format!(
        "start `dyno agent --observe-only --nats … --group {group}` on the database host, and name the same \
         NATS server and group here: --nats, --host-group, or DYNO_NATS, DYNO_GROUP"
    )
}

fn names(all: &[AgentHello]) -> String {
    let mut names: Vec<&str> = all.iter().take(LISTED_MAX).map(|hello| hello.name.as_str()).collect();
    if all.len() > LISTED_MAX {
        names.push("…");
    }
    names.join(", ")
}
