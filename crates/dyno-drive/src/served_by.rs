//! Which instance of a database served a session, and what the sessions of each instance did.

use std::collections::BTreeMap;

use dyno_record::{Histogram, InstanceLoad};
use dyno_workload::Classes;
use serde::{Deserialize, Serialize};

use crate::results::SelectedResults;

/// The longest name of an instance that another host may report; Oracle's have up to 16 bytes.
const NAME_BYTES_MAX: usize = 128;

/// The instance that served a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum ServedBy {
    /// The session does not report one, or has a connection for each transaction.
    #[default]
    Unknown,
    /// The instance with this name, from log-on to log-off.
    Instance(String),
    /// Several: it reconnected to another one.
    Several,
}

impl ServedBy {
    /// Notes the instance that serves the session's connection; `None` changes nothing.
    #[cold]
    pub(crate) fn note(&mut self, instance: Option<String>) {
        let Some(instance) = instance else { return };
        *self = match self {
            Self::Unknown => Self::Instance(instance),
            Self::Instance(former) if *former == instance => return,
            _ => Self::Several,
        };
    }

    /// Whether it can be an instance's name; it may come from another host.
    pub(crate) fn is_plausible(&self) -> bool {
        match self {
            Self::Instance(name) => name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control),
            Self::Unknown | Self::Several => true,
        }
    }

    fn name(&self) -> Option<String> {
        match self {
            Self::Instance(name) => Some(name.clone()),
            Self::Unknown | Self::Several => None,
        }
    }
}

/// The load of each instance, in the order of their names; empty if one instance served all sessions.
pub(crate) fn instance_loads(results: &SelectedResults<'_>, classes: &Classes) -> Vec<InstanceLoad> {
    let mut loads: BTreeMap<&ServedBy, InstanceLoad> = BTreeMap::new();
    for session in results.sessions.iter().filter(|session| session.served_by != ServedBy::Unknown) {
        let empty = || InstanceLoad { instance: session.served_by.name(), ..InstanceLoad::default() };
        let load = loads.entry(&session.served_by).or_insert_with(empty);
        load.sessions += session.many().sessions;
        load.ops += session.window_ops;
    }
    if loads.len() < 2 {
        return Vec::new();
    }
    for (served_by, load) in &mut loads {
        let mut service = Histogram::new();
        let threads = results.threads.iter().filter(|thread| thread.served_by == **served_by);
        let timed = threads
            .flat_map(|thread| classes.operations().filter_map(|class| thread.classes.get(class.index())));
        timed.for_each(|class| class.service.add_to(&mut service));
        // Otherwise some operations have no time, or threads have sessions of several instances.
        if service.count() == load.ops {
            load.service_p99_us = service.summary().p99;
        }
    }
    loads.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::none_of;
    use crate::results::Results;
    use crate::session::SessionResult;

    fn served_by(instances: &[&str]) -> ServedBy {
        let mut served_by = ServedBy::default();
        instances.iter().for_each(|name| served_by.note(Some((*name).to_owned())));
        served_by
    }

    fn session(instances: &[&str], window_ops: u64) -> SessionResult {
        SessionResult { served_by: served_by(instances), window_ops, many: None, ..none_of(0, 1) }
    }

    fn loads(results: &Results) -> Vec<(Option<String>, u32, u64)> {
        let loads = instance_loads(&results.of_target(0), &Classes::new(Vec::new()));
        loads.into_iter().map(|load| (load.instance, load.sessions, load.ops)).collect()
    }

    #[test]
    fn session_that_changes_its_instance_belongs_to_none() {
        let mut unknown = served_by(&[]);
        unknown.note(None);
        assert_eq!(unknown, ServedBy::Unknown);
        let mut constant = served_by(&["orcl1", "orcl1"]);
        constant.note(None);
        assert_eq!(constant, ServedBy::Instance("orcl1".to_owned()));
        assert_eq!(served_by(&["orcl1", "orcl2", "orcl1"]), ServedBy::Several);
        assert!(constant.is_plausible());
        assert!(!served_by(&["a\u{1b}[2J"]).is_plausible() && !served_by(&[&"a".repeat(200)]).is_plausible());
    }

    #[test]
    fn folded_results_keep_the_load_of_each_instance() {
        let sessions = [
            session(&["orcl1"], 10),
            session(&["orcl2"], 20),
            session(&["orcl1"], 30),
            session(&["orcl1", "orcl2"], 5),
            session(&[], 0),
        ];
        let mut results = Results { sessions: sessions.to_vec(), threads: Vec::new() };
        let wanted = vec![(Some("orcl1".to_owned()), 2, 40), (Some("orcl2".to_owned()), 1, 20), (None, 1, 5)];
        assert_eq!(loads(&results), wanted);
        results.fold();
        assert_eq!(results.sessions.len(), 4);
        assert_eq!(loads(&results), wanted);
        results.sessions.truncate(2);
        assert_eq!(loads(&results), [], "one instance and sessions of unknown ones");
    }
}
