//! The workloads of sessions: classes of operations and their expected effect on counters, the next operation ([`draw`]), when it
//! is due ([`pace`]), and the think time after it ([`think`]).
//!
//! [`blocks`] is the block workload.

pub mod acceptance;
mod actor;
pub mod blocks;
mod class_id;
mod classes;
pub mod conformance;
pub mod custom;
pub mod draw;
mod effect;
mod needs;
mod next_action;
pub mod pace;
pub mod think;

pub use actor::SessionActor;
pub use class_id::ClassId;
pub use classes::Classes;
pub use draw::{DrawnOperation, OperationGenerator};
pub use effect::{Effect, FailureRecovery};
pub use needs::needs;
pub use next_action::SessionTurn;
pub use pace::Pace;
pub use think::SessionThinkTime;
