//! Describes this machine for others: an agent's answer has the same form as one through ssh.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{HostDescription, HostPlace, RemoteTime, SourceError, SourceErrorKind, TimedHostSnapshot};
use crate::files::Root;
use crate::locate::Location;
use crate::observer::HostObserver;

/// The most devices and interfaces that are counted separately: an answer has to fit into one message.
const NAMES_MAX: usize = 500;

/// This machine, with the places of another host's run.
#[derive(Debug)]
pub struct LocalHost {
    described: HostDescription,
    observer: HostObserver,
}

impl LocalHost {
    /// Opens this machine with these places.
    ///
    /// # Errors
    /// The machine has no readable counters.
    pub fn with(places: &[HostPlace]) -> Result<Self, SourceError> {
        let root = Root::system();
        if !root.exists("proc/stat") {
            let words = "there is no /proc on it: counters are read on Linux only";
            return Err(SourceError::new(SourceErrorKind::Unsupported, words));
        }
        let mut missing = Vec::new();
        let mut located = Vec::new();
        for (name, path) in places {
            match check_place(path) {
                Ok(()) => located.push(Location::find(&root, name, Path::new(path))),
                Err(why) => missing.push((format!("place.{name}"), why)),
            }
        }
        missing
            .push(("processes".to_owned(), "the processes that used its processors are not read".to_owned()));
        missing
            .push(("cgroup".to_owned(), "limits of the database's control groups are not read".to_owned()));
        let mut host = crate::facts::of_places(&root, &located);
        // The limits of the agent's own process do not apply to others.
        host.cpus_allowed = 0;
        host.facts.retain(|name, _| !name.starts_with("cgroup."));
        let boot = host.facts.get("boot_id").cloned();
        let observer = HostObserver::of(root, &located, NAMES_MAX);
        Ok(Self { described: HostDescription { host, missing, boot }, observer })
    }

    pub fn described(&self) -> &HostDescription {
        &self.described
    }

    /// Its counters, and when its own clock says they were read. Only the caller knows when it asked.
    pub fn read(&mut self) -> TimedHostSnapshot {
        let begin_ns = own_time_ns();
        let mut snapshot = self.observer.snapshot();
        snapshot.process = None;
        let far = RemoteTime { begin_ns, end_ns: own_time_ns(), resolution_ns: 0 };
        TimedHostSnapshot { snapshot, far: Some(far), within_far: true, ..TimedHostSnapshot::default() }
    }

    /// Reads only this machine's clock.
    pub fn clock() -> TimedHostSnapshot {
        let now_ns = own_time_ns();
        let far = RemoteTime { begin_ns: now_ns, end_ns: now_ns, resolution_ns: 0 };
        TimedHostSnapshot { far: Some(far), within_far: true, ..TimedHostSnapshot::default() }
    }
}

/// Whether this user can see a place, or why not. A missing place is not replaced by its parent, which may be
/// on another device.
fn check_place(path: &str) -> Result<(), String> {
    match std::fs::metadata(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(format!("there is no {path} on it: a database in a container has mounts of its own"))
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(format!(
            "its agent's user cannot inspect {path}: start the agent as a user that can, such as the \
             database's"
        )),
        Err(error) => Err(format!("{path} cannot be inspected: {error}")),
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
    fn local_host_description_excludes_the_agent_process() {
        let places = [("data".to_owned(), "/".to_owned()), ("redo".to_owned(), "/no/such".to_owned())];
        let Ok(mut own) = LocalHost::with(&places) else { return };
        let description = own.described().clone();
        assert!(
            description.missing.iter().any(|(name, why)| name == "place.redo" && why.contains("/no/such"))
        );
        assert!(
            !description.host.facts.keys().any(|name| name.starts_with("cgroup.") || name.contains("redo"))
        );
        assert!(super::super::is_this(&description));
        assert!(description.host.cpus > 0);
        let reading = own.read();
        assert_eq!((reading.snapshot.process, reading.snapshot.cpu.is_some()), (None, true));
        let far = reading.far.unwrap();
        assert!(far.begin_ns <= far.end_ns);
        assert!(far.begin_ns > 1_600_000_000_000_000_000);
    }
}
