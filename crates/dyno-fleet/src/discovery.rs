//! Calls the agents of a group and reports which of them answer.

use std::sync::Arc;
use std::time::Duration;

use crate::coding::{decode, encode};
use crate::error::FleetError;
use crate::limits::{HOSTS_MAX, PROTOCOL};
use crate::member::FleetMember;
use crate::messages::{AgentCall, AgentHello, Leader};
use crate::options::FleetOptions;
use crate::seal::SealError;
use crate::subjects::{Subjects, is_name, plain};
use crate::wire::Wire;

/// How long agents may take to answer, before the controller calls again.
pub(crate) const CALL_FOR: Duration = Duration::from_millis(400);

/// Progress while the controller waits for agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gathering {
    /// Number of free agents of this version.
    pub ready: usize,
    /// Number of agents wanted.
    pub wanted: usize,
    /// Descriptions of the controllers that have reserved other agents.
    pub busy: Vec<String>,
}

/// Returns the free agents that are not reserved yet, and the progress.
pub(crate) fn call_agents(
    wire: &Wire,
    subjects: &Subjects,
    options: &FleetOptions,
    leader: &Leader,
    have: &[Arc<FleetMember>],
) -> Result<(Vec<AgentHello>, Gathering), FleetError> {
    let call = AgentCall { protocol: PROTOCOL, version: options.version.clone(), leader: leader.clone() };
    let answers = wire.ask_all(&subjects.all(), encode(&call), CALL_FOR);
    let mut gathering = Gathering { ready: have.len(), wanted: options.hosts, busy: Vec::new() };
    let mut free: Vec<AgentHello> = Vec::new();
    for bytes in answers.into_iter().take(HOSTS_MAX) {
        let Ok(hello) = decode::<AgentHello>(&bytes) else { continue };
        if !is_name(&hello.id) || have.iter().any(|member| member.id == hello.id) {
            continue;
        }
        let hello = AgentHello { name: plain(&hello.name), ..hello };
        if let Some(error) = version_mismatch(&hello, &options.group, &options.version) {
            return Err(error);
        }
        match &hello.busy {
            Some(other) if other.id != leader.id => {
                gathering.busy.push(format!("{} by {}", hello.name, plain(&other.words)));
            }
            _ => free.push(hello),
        }
    }
    gathering.ready += free.len();
    gathering.busy.sort();
    free.sort_by(|a, b| a.place.cmp(&b.place).then_with(|| a.name.cmp(&b.name)));
    Ok((free, gathering))
}

/// Returns the error for an agent of another version; absent if the version matches.
pub(crate) fn version_mismatch(hello: &AgentHello, group: &str, version: &str) -> Option<FleetError> {
    if (hello.protocol, hello.version.as_str()) == (PROTOCOL, version) {
        return None;
    }
    Some(FleetError::Agents {
        problem: format!(
            "the agent {} in group {group} runs dyno {} (protocol {}), but this is dyno {version} (protocol \
             {PROTOCOL})",
            hello.name,
            plain(&hello.version),
            hello.protocol,
        ),
        hint: "install the same version on all hosts; figures of different versions cannot be combined"
            .to_owned(),
    })
}

/// Returns the error for too few agents.
pub(crate) fn too_few(
    options: &FleetOptions,
    gathering: &Gathering,
    refused: Option<(SealError, u64)>,
) -> FleetError {
    let Gathering { ready: there, wanted: of, busy } = gathering;
    let group = &options.group;
    let waited = options.wait.as_secs();
    let (problem, hint) = match busy.first() {
        Some(first) => (
            format!("{there} of {of} agents of group {group} are free after {waited} s; reserved: {first}"),
            "wait until that command ends, or give these agents their own --group".to_owned(),
        ),
        None => (
            format!("{there} of {of} agents of group {group} answered within {waited} s"),
            format!("start `dyno agent --nats … --group {group}` on each driver host"),
        ),
    };
    // Agents with another key do not answer at all.
    let hint = match (refused, busy.is_empty()) {
        (Some((error, count)), _) => {
            format!(
                "{count} answers were refused ({error}): give the agents and this command the same \
                 --group-key-file"
            )
        }
        (None, true) => format!("{hint}, with the same --group-key-file as this command"),
        (None, false) => hint,
    };
    FleetError::Agents { problem, hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::Weights;
    use crate::wire::Access;

    fn options() -> FleetOptions {
        let (token, user, nkey, ca, certificate, key) = Default::default();
        FleetOptions {
            access: Access { url: "nats://127.0.0.1".to_owned(), token, user, nkey, ca, certificate, key },
            group: "blue".to_owned(),
            hosts: 3,
            weights: Weights::Equal,
            silence: Duration::from_secs(5),
            wait: Duration::from_secs(20),
            allow_short: false,
            fewer_for_few: false,
            version: "1.2.3".to_owned(),
        }
    }

    fn words(error: FleetError) -> (String, String) {
        let FleetError::Agents { problem, hint } = error else { panic!("{error}") };
        (problem, hint)
    }

    #[test]
    fn agent_of_another_version_is_named() {
        let hello = AgentHello {
            protocol: PROTOCOL,
            version: "1.2.3".to_owned(),
            id: "a".to_owned(),
            name: "load1".to_owned(),
            place: None,
            cpus: 2,
            busy: None,
            keeps: 0,
        };
        assert!(version_mismatch(&hello, "blue", "1.2.3").is_none());
        let (problem, hint) = words(version_mismatch(&hello, "blue", "2.0.0").unwrap());
        assert!(problem.contains("the agent load1 in group blue runs dyno 1.2.3"), "{problem}");
        assert!(problem.contains("this is dyno 2.0.0"), "{problem}");
        assert!(hint.contains("same version"), "{hint}");
        let other = AgentHello { protocol: PROTOCOL + 1, ..hello };
        assert!(version_mismatch(&other, "blue", "1.2.3").is_some());
    }

    #[test]
    fn too_few_agents_are_explained_by_their_cause() {
        let gathering = |busy: &[&str]| Gathering {
            ready: 1,
            wanted: 3,
            busy: busy.iter().map(|&words| words.to_owned()).collect(),
        };
        let (problem, hint) = words(too_few(&options(), &gathering(&[]), None));
        assert_eq!(problem, "1 of 3 agents of group blue answered within 20 s");
        assert!(hint.contains("dyno agent --nats"), "{hint}");
        assert!(hint.contains("same --group-key-file"), "{hint}");
        let (problem, hint) = words(too_few(&options(), &gathering(&["load1 by host db1"]), None));
        assert!(problem.ends_with("are free after 20 s; reserved: load1 by host db1"), "{problem}");
        assert!(hint.contains("wait until that command ends"), "{hint}");
        let (_, hint) = words(too_few(&options(), &gathering(&[]), Some((SealError::Wrong, 2))));
        assert!(hint.starts_with("2 answers were refused (a message whose seal"), "{hint}");
    }
}
