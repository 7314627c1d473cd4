//! Adds up what the sessions of each instance of a database did.

use std::collections::BTreeMap;

use dyno_record::{Histogram, InstanceLoad};
use dyno_workload::Classes;

use crate::results::Results;
use crate::served_by::ServedBy;

/// The load of each instance of a target, in the order of their names; empty if one instance served all sessions.
pub(super) fn instance_loads(results: &Results, target: usize, classes: &Classes) -> Vec<InstanceLoad> {
    let sessions = results.sessions.iter().filter(|session| session.target == target);
    let threads = || results.threads.iter().filter(|thread| thread.target == target);
    let mut loads: BTreeMap<&ServedBy, InstanceLoad> = BTreeMap::new();
    for session in sessions.filter(|session| session.served_by != ServedBy::Unknown) {
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
        let threads = threads().filter(|thread| thread.served_by == **served_by);
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
    use crate::session::SessionResult;

    fn session(instances: &[&str], window_ops: u64) -> SessionResult {
        let mut served_by = ServedBy::default();
        instances.iter().for_each(|name| served_by.note(Some((*name).to_owned())));
        SessionResult { served_by, window_ops, many: None, ..none_of(0, 1) }
    }

    fn loads(results: &Results) -> Vec<(Option<String>, u32, u64)> {
        let loads = instance_loads(results, 0, &Classes::new(Vec::new()));
        loads.into_iter().map(|load| (load.instance, load.sessions, load.ops)).collect()
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
