//! Machines that are looked at through an agent which drives nothing: their agents wait on subjects of their own, so that whoever
//! gathers driver hosts never meets them.
//!
//! | file | job |
//! | --- | --- |
//! | `messages` | what is asked of such an agent, and what it answers |
//! | `serve` | the agent |
//! | `agents`, `source` | whoever looks: finds an agent by its name, and asks it |

mod agents;
mod messages;
mod serve;
mod source;

pub use agents::{NatsAgents, ToMeet};
pub use serve::{ObserverOptions, observe};
