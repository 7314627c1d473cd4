//! What to do: the plan of a run.
//!
//! A plan is what a user writes (TOML, `--set`, `--target`) turned into values that cannot be wrong: [`mod@read`]
//! is the way from text to a validated [`Plan`], [`keys`] is the one list of every key with its meaning, and
//! everything after it trusts the [`Plan`] and checks nothing again.

mod assignment;
pub mod conf;
pub mod data;
pub mod engine;
pub mod error;
mod escape;
pub mod hosts;
pub mod keys;
pub mod lines;
mod mix;
mod names;
pub mod phases;
pub mod plan;
pub mod read;
pub mod ready;
pub mod reference;
pub mod similar;
pub mod study;
pub mod sweep;
pub mod template;
pub mod terminal;
pub mod units;
pub mod url;
mod written;

pub use data::{DataError, DataSpec, GROUP_ROWS};
pub use engine::{EngineSpec, Engines};
pub use error::{Origin, PlanError, PlanErrorKind, PlanErrors};
pub use hosts::{HostError, HostRole, HostScheme, HostSpec, HostUrl};
pub use mix::mix;
pub use phases::{Curve, Phase, Stage};
pub use plan::{
    Arrivals, Awr, Axis, Commit, Connect, Data, Drive, Holding, Hooks, Keys, Length, OWN_MIX, Observe,
    ObservedHost, OnLost, Order, OwnRate, PLAN_VERSION, Placement, Plan, Protocol, Redo, Run, SessionCount,
    Side, Sweep, Target, Until, Workload,
};
pub use read::{PlanFile, PlanSource, check_options, is_of_method, keys_set_by, read, usual};
pub use ready::{READY, Ready};
pub use template::template;
pub use units::{Blocks, Bytes, Rate, Size, Span};
pub use url::TargetUrl;
pub use written::with_options;
