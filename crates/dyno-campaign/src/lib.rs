//! The commands of Dyno as a library: check, load, run, sweep, search, soak, A/B test, suite, study, prove,
//! drop.
//!
//! Nothing here prints, prompts or exits. The caller (a terminal, a page, a test) provides a
//! [`CampaignContext`]: the engines, the repository, and a [`Listener`]. The listener receives one stream of
//! [`CampaignEvent`]s and answers questions that need a person. Results are returned as values; runs and
//! conclusions are stored on the way.
//!
//! | file | job |
//! | --- | --- |
//! | `campaign_context`, `event`, `error` | the caller's context, its events, and errors |
//! | `progress` | the state of a run or campaign after each event, and the events that other programs read |
//! | `targets`, `data`, `room`, `refuse`, `load`, `ready` | preparation before a run: targets, locks, data |
//! | `measure`, `hooks`, `shell`, `interval_store`, `row_cleanup`, `database_reports`, `awr_report` | one run, from the hook before it to its stored record |
//! | `campaign` | the runs of a campaign; `sweep`, `search`, `soak`, `ab` and `suite` decide which run comes next and conclude |
//! | `journal` | what must be reverted, on disk, for studies and for A/B tests of server settings |
//! | `study` | variants of the platform, interleaved: applied, verified, measured, reverted, with a journal |
//! | `calibrate` | stored raw limits of machines |
//! | `watch` | observes a running database without any load |
//! | `check`, `drop`, `prove` | checks of targets, removal of data, proofs |
//! | `accept`, `accept_mask` | acceptance tests of an engine on a server, and their masked report |
//! | `custom_workloads`, `custom_data`, `described` | custom workloads, their SQL, and the tables that they describe |
//! | `executed_statements` | statements that a target has executed, as a draft of a workload |
//! | `select`, `conclusions`, `compare` | selects stored runs, reads their conclusions, and compares them |
//! | `consent`, `writes`, `files` | consent for commands and for writes to foreign data; files written atomically |

pub mod ab;
mod accept;
mod accept_mask;
pub mod awr_report;
mod bulk;
pub mod calibrate;
mod campaign;
mod campaign_context;
mod campaign_control;
mod check;
mod check_statements;
pub mod compare;
pub mod conclusions;
mod consent;
mod custom_data;
pub mod custom_workloads;
mod data;
mod database_reports;
mod described;
pub mod doctor;
mod driver;
mod drop;
mod error;
mod event;
mod executed_statements;
mod expectations;
pub mod files;
mod hooks;
mod hosts;
mod interval_store;
mod invariants;
mod journal;
mod load;
mod measure;
mod names;
pub mod platforms;
pub mod progress;
pub mod prove;
mod ready;
mod refuse;
mod room;
mod row_cleanup;
mod run;
pub mod search;
mod secrets;
pub mod select;
mod setting_value;
mod shell;
mod soak;
mod statement_plans;
pub mod study;
pub mod suite;
pub mod sweep;
mod targets;
mod watch;
mod writes;

pub use accept::{TargetAcceptance, accept};
pub use campaign::{CampaignOutcome, nominal_s};
pub use campaign_context::{CampaignContext, Consent, RunLabels, repository_path};
pub use campaign_control::CampaignControl;
pub use check::{Checked, check, check_deep};
pub use consent::tell as tell_commands;
pub use driver::{KnownTarget, describe, reach_to_drive};
pub use drop::drop_data;
pub use dyno_host::remote::Agents;
pub use error::{Error, ErrorKind, HookError};
pub use event::{
    CampaignBegun, CampaignEvent, HookEvent, Listener, LoadEvent, NextRun, ProofEvent, RunEnded, StudyEvent,
    TargetObjects, Warning, WorkloadSetup,
};
pub use executed_statements::seen;
pub use load::{LoadOutcome, LoadedTarget, load};
pub use progress::{ProgressEvent, RunPhase, RunProgress, RunResult};
pub use run::run;
pub use soak::soak;
pub use watch::watch;
