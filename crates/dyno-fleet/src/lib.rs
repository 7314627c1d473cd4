//! Several driver hosts that meet on a NATS server.
//!
//! An [`agent`](serve) waits on each driver host. Whoever leads gathers them ([`NatsFleet`]), and is for the drive a crew like any
//! other: it is told of each moment ahead, on a clock that many exchanges have mapped ([`ClockMap`]), and hands in what its sessions
//! measured. What an agent has measured stays on its disk until the leader has it; [`Collector`] fetches what a lost leader left.
//! A machine that is only looked at has an agent that only [`observe`]s, and [`NatsAgents`] knows these.
//!
//! Nothing of this is on the threads of sessions: the client of NATS has threads of its own ([`Wire`]).

mod account;
mod agent;
mod agent_event;
mod agent_options;
mod clock;
mod clocks;
mod coding;
mod collect;
mod crew;
mod drive;
mod ear;
mod error;
mod folders;
mod gather;
mod hand_in;
mod host_watch;
mod kept;
mod leader_heard;
mod limits;
mod member;
mod messages;
mod observe;
mod opener;
mod options;
mod order_check;
mod orders;
mod party;
mod pieces;
mod policy;
mod queue;
mod reach;
mod roll_call;
mod seal;
mod sending;
mod share;
#[cfg(test)]
mod simulated;
mod subjects;
mod upload;
#[cfg(test)]
mod ways;
mod wire;

pub use agent::serve;
pub use agent_event::AgentEvent;
pub use agent_options::AgentOptions;
pub use clock::{ClockMap, Exchange};
pub use collect::{CollectedRun, Collection, Collector};
pub use error::FleetError;
pub use gather::NatsFleet;
pub use limits::PROTOCOL;
pub use messages::Known;
pub use observe::{NatsAgents, ObserverOptions, ToMeet, observe};
pub use opener::{Opened, Opener};
pub use options::FleetOptions;
pub use policy::{AgentPolicy, AllowedTarget};
pub use roll_call::Gathering;
pub use seal::GroupKey;
pub use share::{Weights, shares};
pub use wire::{Access, Wire};

/// A number that nobody else draws.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}
