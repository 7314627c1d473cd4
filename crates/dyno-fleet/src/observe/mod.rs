//! Observes machines through agents that drive no load. Such agents use subjects of their own, so a
//! controller that reserves driver hosts never finds them.
//!
//! | file | job |
//! | --- | --- |
//! | `messages` | requests to such an agent, and its answers |
//! | `serve` | the agent |
//! | `agents`, `source` | the observing side: finds an agent by its name, and sends requests |

mod agents;
mod messages;
mod serve;
mod source;

pub use agents::{NatsAccessProvider, NatsAgents};
pub use serve::{ObserverOptions, observe};
