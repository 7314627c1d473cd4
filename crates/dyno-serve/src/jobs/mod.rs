//! What was started from a page: one directory for each, so that a restart of the server finds it again.
//!
//! | file | job |
//! | --- | --- |
//! | `job` | one thing that was started: its file, its state |
//! | `child` | its processes: started, found again, stopped |
//! | `feed` | its events, for as many viewers as there are |
//! | `progress` | what the events say, summed up |
//! | `queue` | one at a time on a target, the others wait |

mod child;
mod feed;
mod job;
mod progress;
mod queue;

pub(crate) use feed::Follower;
pub(crate) use job::{Job, JobState, Kind, MACHINE, Start};
pub(crate) use progress::{Progress, RunSeen, StepSeen};
pub(crate) use queue::{Jobs, QueuePolicy, Steering, StopError};
