//! Runs a study: variants of the platform, interleaved; each is applied, verified, measured and reverted.
//!
//! A journal on disk records every change before it is made, and again once it is reverted. So the journal
//! always shows what must be reverted. `resume` does that first, no matter how the earlier process ended.
//!
//! | file | job |
//! | --- | --- |
//! | `order` | the definition of a study: its file with all plans |
//! | `steps` | lists every command in order, so that the user can consent |
//! | `journal`, `progress` | what was done, on disk, and the state that follows from it |
//! | `command`, `leftover_process` | runs one command; kills what an earlier process left running |
//! | `device` | decides which devices may be formatted |
//! | `walk` | the state of a study in progress |
//! | `leg`, `restore` | one leg: apply, verify, reset the data, measure; and revert |
//! | `execution` | executes the legs one after the other |
//! | `conclusion` | the conclusion from what was measured |

mod command;
mod conclusion;
mod consent;
mod device;
mod event_filter;
mod execution;
mod journal;
mod leftover_process;
mod leftover_settings;
mod leg;
mod order;
mod progress;
mod restore;
mod resumed;
mod steps;
mod walk;

pub use conclusion::conclusion;
pub use execution::{StudyEnd, StudyOutcome, resume, run};
pub use order::{StudyDefinition, home};
pub use resumed::{find, latest};
pub use steps::steps;
