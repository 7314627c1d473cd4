//! What the sessions of a run do: classes of operations and what each is expected to do to the database's counters, which
//! operation comes next ([`draw`]), when it is due ([`pace`]), and how long a session rests after it ([`think`]).
//!
//! [`blocks`] is the classic method.

pub mod acceptance;
mod actor;
pub mod blocks;
mod class_id;
mod classes;
pub mod conformance;
pub mod draw;
mod effect;
mod needs;
pub mod own;
pub mod pace;
pub mod think;
mod turn;

pub use actor::Actor;
pub use class_id::ClassId;
pub use classes::Classes;
pub use draw::{Draw, Task};
pub use effect::{Effect, Failed};
pub use needs::needs;
pub use pace::Pace;
pub use think::Think;
pub use turn::Turn;
