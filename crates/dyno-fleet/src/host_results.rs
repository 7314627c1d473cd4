//! Reads the results that driver hosts handed in, and describes each host for the record.

use dyno_drive::ResultShape;
use dyno_record::{FleetHost, Host};

use crate::agent_inbox::AgentInbox;
use crate::messages::AgentResults;
use crate::result_packing;

/// The moments between which the clocks of hosts are mapped, on the controller's clock.
pub(crate) struct Edges {
    /// When sessions were to start; absent if the gate never opened.
    pub(crate) opens_ns: Option<u64>,
    /// When the controller last measured the agents' clocks.
    pub(crate) ended_ns: u64,
}

/// Reads the results of all hosts, on one thread per processor. A host whose results cannot be read counts as
/// lost.
pub(crate) fn unpack(inbox: &AgentInbox, shape: &ResultShape) -> Vec<Option<AgentResults>> {
    let packed: Vec<(usize, Vec<u8>)> = {
        let mut agent_statuses = inbox.statuses.lock();
        let by_rank = agent_statuses.iter_mut().enumerate();
        by_rank.filter_map(|(rank, status)| Some((rank, status.packed_results.take()?))).collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let slots = &inbox.slots;
    let stretch = packed.len().div_ceil(threads).max(1);
    let unpacked: Vec<(usize, Result<AgentResults, String>)> = std::thread::scope(|scope| {
        let unpack_one = |(rank, bytes): &(usize, Vec<u8>)| {
            (*rank, result_packing::unpack_results(bytes, shape, slots[*rank].numbers.len()))
        };
        let threads: Vec<_> = packed
            .chunks(stretch)
            .map(|some| scope.spawn(move || some.iter().map(unpack_one).collect::<Vec<_>>()))
            .collect();
        // A thread that panicked has read nothing, so its hosts count as lost.
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    let mut all: Vec<Option<AgentResults>> = slots.iter().map(|_| None).collect();
    for (rank, handed) in unpacked {
        match handed {
            Ok(handed) => all[rank] = Some(handed),
            Err(why) => inbox.mark_lost(rank, format!("its results do not belong to this run: {why}")),
        }
    }
    for (rank, handed) in all.iter().enumerate() {
        if handed.is_none() {
            inbox.mark_lost(rank, "its results were not read".to_owned());
        }
    }
    all
}

/// Describes a host for the record, and moves its results to the controller's clock.
pub(crate) fn account(
    inbox: &AgentInbox,
    (rank, host): (usize, &Host),
    edges: &Edges,
    shape: &ResultShape,
    handed: Option<&mut AgentResults>,
) -> FleetHost {
    let slot = &inbox.slots[rank];
    let (lost, late_ns) = {
        let agent_statuses = inbox.statuses.lock();
        (agent_statuses[rank].lost_reason.clone(), agent_statuses[rank].late_ns)
    };
    let mut host = FleetHost {
        rank: rank as u32,
        name: slot.member.name.clone(),
        host: host.clone(),
        weight: slot.weight,
        sessions: slot.numbers.len() as u32,
        late_us: late_ns as f64 / 1e3,
        lost,
        ..FleetHost::default()
    };
    let clock = slot.member.clock();
    let Edges { opens_ns, ended_ns } = *edges;
    host.clock = clock.fit(opens_ns.unwrap_or(ended_ns)).unwrap_or_default();
    let Some(handed) = handed else { return host };
    (host.threads, host.ops) = (handed.threads, handed.results.operations(shape));
    handed.use_of_host.enter(&mut host);
    let ends = |own_ns: Option<u64>| clock.to_remote_ns(own_ns.unwrap_or(ended_ns));
    let mapped = ends(opens_ns).and_then(|first| clock.mapping(first, ends(Some(ended_ns))?));
    match mapped {
        Ok(mapping) => {
            handed.results.on_clock(&|there_ns| mapping.own_ns(there_ns));
            host.clock.bound_us = mapping.bound_ns() / 1e3;
            let (ahead_ns, drifted_ns) = mapping.ahead_ns();
            (host.clock.ahead_us, host.clock.drifted_us) = (Some(ahead_ns / 1e3), Some(drifted_ns / 1e3));
        }
        Err(why) => host.lost = host.lost.or(Some(why)),
    }
    if let (Some((first_ns, last_ns)), Some(opens_ns)) = (handed.results.started_ns(), opens_ns) {
        let after_us = |at_ns: u64| (at_ns as f64 - opens_ns as f64) / 1e3;
        host.started_us = Some((after_us(first_ns), after_us(last_ns)));
    }
    host
}
