//! Calls the agents of a group, and says who of them answers.

use std::sync::Arc;
use std::time::Duration;

use crate::coding::{read, written};
use crate::error::FleetError;
use crate::limits::{HOSTS_MAX, PROTOCOL};
use crate::member::Member;
use crate::messages::{Call, Hello, Leader};
use crate::options::FleetOptions;
use crate::seal::SealError;
use crate::subjects::{Subjects, is_name, plain};
use crate::wire::Wire;

/// How long agents may take to say that they are there, before they are called again.
pub(crate) const CALL_FOR: Duration = Duration::from_millis(400);

/// Who is there so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gathering {
    /// Free agents of this version.
    pub there: usize,
    /// How many there are to be.
    pub of: usize,
    /// Who has reserved others, in words.
    pub busy: Vec<String>,
}

/// Free agents beside those that are reserved.
pub(crate) fn call(
    wire: &Wire,
    subjects: &Subjects,
    options: &FleetOptions,
    leader: &Leader,
    have: &[Arc<Member>],
) -> Result<(Vec<Hello>, Gathering), FleetError> {
    let call = Call { protocol: PROTOCOL, version: options.version.clone(), leader: leader.clone() };
    let answers = wire.ask_all(&subjects.all(), written(&call), CALL_FOR);
    let mut gathering = Gathering { there: have.len(), of: options.hosts, busy: Vec::new() };
    let mut free: Vec<Hello> = Vec::new();
    for bytes in answers.into_iter().take(HOSTS_MAX) {
        let Ok(hello) = read::<Hello>(&bytes) else { continue };
        if !is_name(&hello.id) || have.iter().any(|member| member.id == hello.id) {
            continue;
        }
        let hello = Hello { name: plain(&hello.name), ..hello };
        if let Some(error) = of_another_version(&hello, &options.group, &options.version) {
            return Err(error);
        }
        match &hello.busy {
            Some(other) if other.id != leader.id => {
                gathering.busy.push(format!("{} by {}", hello.name, plain(&other.words)));
            }
            _ => free.push(hello),
        }
    }
    gathering.there += free.len();
    gathering.busy.sort();
    free.sort_by(|a, b| a.place.cmp(&b.place).then_with(|| a.name.cmp(&b.name)));
    Ok((free, gathering))
}

/// Why an agent is refused that is of another version than this one.
pub(crate) fn of_another_version(hello: &Hello, group: &str, version: &str) -> Option<FleetError> {
    if (hello.protocol, hello.version.as_str()) == (PROTOCOL, version) {
        return None;
    }
    Some(FleetError::Agents {
        problem: format!(
            "the agent {} in group {group} is of dyno {} (messages {}), and this is dyno {version} (messages {PROTOCOL})",
            hello.name,
            plain(&hello.version),
            hello.protocol,
        ),
        hint: "install the same version on all hosts; figures of different ones are not one run's".to_owned(),
    })
}

/// That there are too few of them.
pub(crate) fn too_few(
    options: &FleetOptions,
    gathering: &Gathering,
    refused: Option<(SealError, u64)>,
) -> FleetError {
    let Gathering { there, of, busy } = gathering;
    let group = &options.group;
    let waited = options.wait.as_secs();
    let (problem, hint) = match busy.first() {
        Some(first) => (
            format!("{there} of {of} agents of group {group} are free after {waited} s; reserved: {first}"),
            "wait for that command to end, or give these agents a --group of their own".to_owned(),
        ),
        None => (
            format!("{there} of {of} agents of group {group} were there after {waited} s"),
            format!("start `dyno agent --nats … --group {group}` on each driver host"),
        ),
    };
    // Agents with another key do not answer at all.
    let hint = match (refused, busy.is_empty()) {
        (Some((error, count)), _) => {
            format!(
                "{count} answers were refused ({error}): give agents and this command one --group-key-file"
            )
        }
        (None, true) => format!("{hint}, with the same --group-key-file as this command"),
        (None, false) => hint,
    };
    FleetError::Agents { problem, hint }
}
