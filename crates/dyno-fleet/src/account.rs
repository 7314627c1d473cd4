//! What hosts handed in of a run, read, and what of each goes into the record.

use dyno_drive::Shape;
use dyno_record::{FleetHost, Host};

use crate::ear::Ear;
use crate::hand_in;
use crate::messages::HandedIn;

/// Between which moments the clocks of hosts are mapped, on the leader's clock.
pub(crate) struct Edges {
    /// When sessions were to start, if they were.
    pub(crate) opens_ns: Option<u64>,
    /// When clocks were last asked for.
    pub(crate) ended_ns: u64,
}

/// Reads what was handed in, on as many threads as there are processors.
pub(crate) fn unpack(ear: &Ear, shape: &Shape) -> Vec<Option<HandedIn>> {
    let packed: Vec<(usize, Vec<u8>)> = {
        let mut heard = ear.heard();
        let there = heard.iter_mut().enumerate();
        there.filter_map(|(rank, heard)| Some((rank, heard.handed.take()?))).collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let seats = &ear.seats;
    let stretch = packed.len().div_ceil(threads).max(1);
    let unpacked: Vec<(usize, Result<HandedIn, String>)> = std::thread::scope(|scope| {
        let one = |(rank, bytes): &(usize, Vec<u8>)| {
            (*rank, hand_in::unpacked(bytes, shape, seats[*rank].numbers.len()))
        };
        let threads: Vec<_> = packed
            .chunks(stretch)
            .map(|some| scope.spawn(move || some.iter().map(one).collect::<Vec<_>>()))
            .collect();
        // A thread that panicked has read nothing, and its hosts are lost.
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    let mut all: Vec<Option<HandedIn>> = seats.iter().map(|_| None).collect();
    for (rank, handed) in unpacked {
        match handed {
            Ok(handed) => all[rank] = Some(handed),
            Err(why) => ear.lose(rank, format!("what it handed in is none of this run: {why}")),
        }
    }
    for (rank, handed) in all.iter().enumerate() {
        if handed.is_none() {
            ear.lose(rank, "what it handed in was not read".to_owned());
        }
    }
    all
}

/// What a host did, for the record; its moments are on the leader's clock when this returns.
pub(crate) fn account(
    ear: &Ear,
    (rank, host): (usize, &Host),
    edges: &Edges,
    shape: &Shape,
    handed: Option<&mut HandedIn>,
) -> FleetHost {
    let seat = &ear.seats[rank];
    let (lost, late_ns) = {
        let heard = ear.heard();
        (heard[rank].lost.clone(), heard[rank].late_ns)
    };
    let mut host = FleetHost {
        rank: rank as u32,
        name: seat.member.name.clone(),
        host: host.clone(),
        weight: seat.weight,
        sessions: seat.numbers.len() as u32,
        late_us: late_ns as f64 / 1e3,
        lost,
        ..FleetHost::default()
    };
    let clock = seat.member.clock();
    let Edges { opens_ns, ended_ns } = *edges;
    host.clock = clock.fit(opens_ns.unwrap_or(ended_ns)).unwrap_or_default();
    let Some(handed) = handed else { return host };
    (host.threads, host.ops) = (handed.threads, handed.results.operations(shape));
    handed.use_of_host.enter(&mut host);
    let ends = |own_ns: Option<u64>| clock.there(own_ns.unwrap_or(ended_ns));
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
