//! The messages exchanged with an agent that only observes. Each request is self-contained, because such an
//! agent knows nothing about runs.

use dyno_host::remote::{HostDescription, HostPlace, RemoteTime, TimedHostSnapshot};
use serde::{Deserialize, Serialize};

use crate::messages::Leader;

/// Maximum number of places in one request, and maximum length of a path, bytes.
pub(super) const PLACES_MAX: usize = 16;
const PATH_BYTES_MAX: usize = 4_096;

/// A request to an observing agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum AgentObserverRequest {
    /// Asks for the time of the agent's clock.
    Clock,
    /// Asks for a description of the machine with these places, for this controller.
    Describe { leader: Leader, places: Vec<HostPlace> },
    /// Asks for the machine's counters and those of these places.
    Read { places: Vec<HostPlace> },
}

/// The answer of an observing agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum AgentObserverReply {
    Clock(RemoteTime),
    Described(Box<HostDescription>),
    Read(Box<TimedHostSnapshot>),
    /// The agent refuses, for this reason.
    Refused(String),
}

/// Checks received places; the sender is not trusted.
pub(super) fn check(places: &[HostPlace]) -> Result<(), String> {
    let is_one = |(name, path): &HostPlace| {
        let is_short = !name.is_empty() && name.len() <= 64 && path.len() <= PATH_BYTES_MAX;
        is_short && name.bytes().all(|byte| byte.is_ascii_graphic()) && path.starts_with('/')
    };
    match places.len() <= PLACES_MAX && places.iter().all(is_one) {
        true => Ok(()),
        false => Err("these are not valid places on a host".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::coding::{decode, encode};

    #[test]
    fn observed_paths_are_validated_and_limited() {
        let check_place = |name: &str, path: &str| check(&[(name.to_owned(), path.to_owned())]);
        assert!(check_place("data", "/srv/pg").is_ok());
        assert!(check(&[]).is_ok());
        for (name, path) in [("", "/x"), ("a b", "/x"), ("data", "srv"), ("data", "")] {
            assert!(check_place(name, path).is_err(), "{name:?} {path:?}");
        }
        assert!(check_place("data", &format!("/{}", "x".repeat(PATH_BYTES_MAX))).is_err());
        assert!(check(&vec![("data".to_owned(), "/".to_owned()); PLACES_MAX + 1]).is_err());
    }

    proptest! {
        #[test]
        fn observer_messages_decode_any_bytes_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..200) {
            let _ = decode::<AgentObserverRequest>(&bytes);
            let _ = decode::<AgentObserverReply>(&bytes);
            let mut torn = encode(&AgentObserverRequest::Read { places: vec![("data".into(), "/srv".into())] });
            torn.truncate(at);
            torn.extend(bytes);
            let _ = decode::<AgentObserverRequest>(&torn);
        }
    }
}
