//! Runs load from several driver hosts that communicate through a NATS server.
//!
//! An agent ([`serve`]) waits on each driver host. The controller (`leader` in code and messages) reserves
//! agents with [`NatsFleet`]. The drive controls them like any other worker pool. Steps reach agents ahead of
//! time, in the time of a clock that [`ClockMap`] has mapped. Afterwards agents hand in what their sessions
//! measured. An agent keeps these results on disk until the controller has them; [`FleetCollector`] fetches
//! what a lost controller left. An agent that only [`observe`]s reads counters of its machine; [`NatsAgents`]
//! finds such agents.
//!
//! Sessions' threads are not involved: the NATS client has threads of its own ([`Wire`]).

mod agent;
mod agent_event;
mod agent_group;
mod agent_inbox;
mod agent_options;
mod clock;
mod clocks;
mod coding;
mod collect;
mod controller_contact;
mod discovery;
mod drive;
mod error;
mod folders;
mod host_results;
mod host_watch;
mod limits;
mod member;
mod messages;
mod observe;
mod opener;
mod options;
mod order_check;
mod orders;
mod pieces;
mod policy;
mod queue;
mod remote_pool;
mod reservation;
mod result_packing;
mod run_store;
mod seal;
mod sending;
mod share;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod slow_links;
mod startup;
mod subjects;
mod upload;
mod wire;

pub use agent::serve;
pub use agent_event::AgentEvent;
pub use agent_options::AgentOptions;
pub use clock::{ClockMap, Exchange};
pub use collect::{CollectedRun, Collection, FleetCollector};
pub use discovery::Gathering;
pub use error::FleetError;
pub use limits::PROTOCOL;
pub use messages::FleetTarget;
pub use observe::{NatsAccessProvider, NatsAgents, ObserverOptions, observe};
pub use opener::{Opened, Opener};
pub use options::FleetOptions;
pub use policy::{AgentPolicy, AllowedTarget};
pub use reservation::NatsFleet;
pub use seal::GroupKey;
pub use share::{Weights, shares};
pub use wire::{Access, Wire};

/// Returns a random number that is unique in practice.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}
