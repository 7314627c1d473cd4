//! This machine as others look at it: what an agent on it answers, in the words that it would have through ssh.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Described, FarTime, Place, Reading, SourceError, SourceErrorKind};
use crate::files::Root;
use crate::locate::Location;
use crate::observer::HostObserver;

/// Devices and interfaces that are told apart at most: an answer has to fit into one message.
const NAMES_MAX: usize = 500;

/// This machine with the places on it that matter to somebody's run.
#[derive(Debug)]
pub struct Own {
    described: Described,
    observer: HostObserver,
}

impl Own {
    /// This machine with these places.
    ///
    /// # Errors
    /// It has no counters that could be read.
    pub fn with(places: &[Place]) -> Result<Self, SourceError> {
        let root = Root::system();
        if !root.has("proc/stat") {
            let words = "there is no /proc on it: counters are read on Linux only";
            return Err(SourceError::new(SourceErrorKind::Unsupported, words));
        }
        let mut missing = Vec::new();
        let mut located = Vec::new();
        for (name, path) in places {
            match is_there(path) {
                Ok(()) => located.push(Location::find(&root, name, Path::new(path))),
                Err(why) => missing.push((format!("place.{name}"), why)),
            }
        }
        missing.push(("processes".to_owned(), "whose its processors were is not read there".to_owned()));
        missing.push((
            "cgroup".to_owned(),
            "limits of the database's control groups are not read there".to_owned(),
        ));
        let mut host = crate::facts::of_places(&root, &located);
        // Those of the agent's own process are nobody else's.
        host.cpus_allowed = 0;
        host.facts.retain(|name, _| !name.starts_with("cgroup."));
        let boot = host.facts.get("boot_id").cloned();
        let observer = HostObserver::of(root, &located, NAMES_MAX);
        Ok(Self { described: Described { host, missing, boot }, observer })
    }

    /// What it is.
    pub fn described(&self) -> &Described {
        &self.described
    }

    /// Its counters, and when they were read by its own clock. When they were asked for, only the asker knows.
    pub fn read(&mut self) -> Reading {
        let begin_ns = own_time_ns();
        let mut snapshot = self.observer.snapshot();
        snapshot.process = None;
        let far = FarTime { begin_ns, end_ns: own_time_ns(), resolution_ns: 0 };
        Reading { snapshot, far: Some(far), within_far: true, ..Reading::default() }
    }

    /// Its clock, and nothing else.
    pub fn clock() -> Reading {
        let now_ns = own_time_ns();
        let far = FarTime { begin_ns: now_ns, end_ns: now_ns, resolution_ns: 0 };
        Reading { far: Some(far), within_far: true, ..Reading::default() }
    }
}

/// Whether a place is there for this user, or why nothing is said of it: its nearest parent may be on another device.
fn is_there(path: &str) -> Result<(), String> {
    match std::fs::metadata(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(format!("there is no {path} on it: a database in a container has mounts of its own"))
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(format!(
            "its agent's user may not look at {path}: start the agent as a user that may, such as the database's"
        )),
        Err(error) => Err(format!("{path} cannot be looked at: {error}")),
    }
}

/// The time of day, ns since 1970.
fn own_time_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_without_the_process_that_tells_it() {
        let places = [("data".to_owned(), "/".to_owned()), ("redo".to_owned(), "/no/such".to_owned())];
        let Ok(mut own) = Own::with(&places) else { return };
        let told = own.described().clone();
        assert!(told.missing.iter().any(|(name, why)| name == "place.redo" && why.contains("/no/such")));
        assert!(!told.host.facts.keys().any(|name| name.starts_with("cgroup.") || name.contains("redo")));
        assert!(super::super::is_this(&told) && told.host.cpus > 0);
        let reading = own.read();
        assert_eq!((reading.snapshot.process, reading.snapshot.cpu.is_some()), (None, true));
        let far = reading.far.unwrap();
        assert!(far.begin_ns <= far.end_ns && far.begin_ns > 1_600_000_000_000_000_000);
    }
}
