//! What people do with runs: check, load, run, sweep, search, soak, compare two sides, prove, drop.
//!
//! Nothing here prints, asks or exits. Whoever leads a campaign (a terminal, a page, a test) gives a [`Lead`]: the engines
//! there are, where runs are kept, and a [`Listener`] that hears one stream of [`Event`]s and answers what only a person
//! knows. What comes of it is a value; runs and conclusions are stored on the way.
//!
//! | file | job |
//! | --- | --- |
//! | `lead`, `event`, `error` | who leads, what they hear, what can go wrong |
//! | `told` | events as lines of a file that another program follows |
//! | `targets`, `data`, `room`, `refuse`, `load`, `ready` | everything that is there before a run begins |
//! | `measure`, `hooks`, `shell`, `keeper`, `tidy`, `own_report` | one run, from the hook before it to its stored record |
//! | `campaign` | runs that belong together; `sweep`, `search`, `soak`, `ab` and `suite` say which comes next and what they conclude |
//! | `study` | variants of the platform by turns: applied, verified, measured, reverted, with a journal |
//! | `calibrate` | which raw limits are of the machine that a run had |
//! | `watch` | a running database looked at, without any load |
//! | `check`, `drop`, `prove` | looking at targets, removing data, proofs |
//! | `accept`, `accept_mask` | the acceptance of an engine on a server, and what of it can be sent to others |
//! | `own`, `own_data`, `described` | users' own workloads, their SQL, and the tables that they describe |
//! | `seen` | statements that a target has seen, as a draft of a workload |
//! | `select`, `conclusions`, `compare` | which stored runs are meant, and what they say against each other |
//! | `consent`, `writes`, `files` | a plan's commands run, and data of others is changed, for those who want it; files that are written whole or not at all |

pub mod ab;
mod accept;
mod accept_mask;
mod bulk;
pub mod calibrate;
mod campaign;
mod check;
mod check_statements;
pub mod compare;
pub mod conclusions;
mod consent;
mod data;
mod described;
mod driver;
mod drop;
mod error;
mod event;
mod expectations;
pub mod files;
mod hooks;
mod hosts;
mod invariants;
mod keeper;
mod lead;
mod load;
mod measure;
mod names;
pub mod own;
mod own_data;
mod own_plans;
mod own_report;
pub mod platforms;
pub mod prove;
mod ready;
mod refuse;
mod room;
mod run;
pub mod search;
mod secrets;
mod seen;
pub mod select;
mod shell;
mod soak;
mod steer;
pub mod study;
pub mod suite;
pub mod sweep;
mod targets;
mod tidy;
mod told;
mod watch;
mod writes;

pub use accept::{Accepted, accept};
pub use campaign::Concluded;
pub use check::{Checked, check, check_deep};
pub use consent::tell as tell_commands;
pub use driver::{KnownTarget, describe, reach_to_drive};
pub use drop::drop_data;
pub use dyno_host::far::Agents;
pub use error::{Error, ErrorKind, HookError};
pub use event::{
    Begun, Ended, Event, Holdings, HookEvent, Listener, LoadEvent, Next, ProofEvent, SetUp, StudyEvent,
    Warning,
};
pub use lead::{Consent, Lead, Marks, repository_path};
pub use load::{Done, Loaded, load};
pub use run::run;
pub use seen::seen;
pub use soak::soak;
pub use steer::Steer;
pub use told::{CompleteTold, IntervalTold, RunTold, Step, Told, WatchedTold};
pub use watch::watch;
