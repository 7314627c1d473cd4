//! The plan of a run: parsing, validation and all keys.
//!
//! A plan turns the user's text (TOML, `--set`, `--target`) into values that are always valid. [`mod@read`] converts text
//! into a validated [`Plan`], and [`keys`] lists every key with its meaning. All later code relies on the [`Plan`] without
//! further checks.

#![warn(missing_docs)]

mod assignment;
pub mod data;
mod effect;
pub mod engine;
pub mod error;
mod escape;
pub mod hosts;
pub mod keys;
pub mod lines;
pub mod located;
mod mix;
mod names;
pub mod phases;
pub mod plan;
mod plan_edit;
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

pub use data::{DataError, DataSpec, GROUP_ROWS};
pub use effect::{all_without_effect, without_effect};
pub use engine::{EngineSpec, Engines};
pub use error::{Origin, PlanError, PlanErrorKind, PlanErrors};
pub use hosts::{HostError, HostRole, HostScheme, HostSpec, HostUrl};
pub use located::LocatedToml;
pub use mix::mix;
pub use phases::{RateCurve, RatePhase, Stage};
pub use plan::{
    Arrivals, AwrObserveMode, Commit, Connect, DataSettings, DataSharing, DriveMode, HookSettings,
    KeyDistribution, Length, OWN_MIX, ObserveSettings, ObservedHost, OnLost, OwnRate, PLAN_VERSION,
    Placement, Plan, Redo, RunSettings, SessionCount, StatementProtocol, SweepGridAxis, SweepPointOrder,
    SweepSettings, TargetSettings, Until, WorkloadSettings, WorkloadShare,
};
pub use plan_edit::with_options;
pub use read::{PlanFile, PlanSource, check_options, is_of_method, keys_set_by, read, usual};
pub use ready::{READY, Ready};
pub use template::{short_template, template};
pub use units::{BlockCount, BlocksOrBytes, Bytes, Rate, TimeSpan};
pub use url::TargetUrl;
