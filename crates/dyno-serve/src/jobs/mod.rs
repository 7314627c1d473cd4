//! Jobs started from a page or the API. Each has a folder, so that a restarted server finds it again.
//!
//! | file | job |
//! | --- | --- |
//! | `job` | a job: its file and its state |
//! | `child` | the processes of a job: started, found again, stopped |
//! | `feed` | the events of a job, for any number of viewers |
//! | `progress` | the progress of a job, computed from its events |
//! | `queue` | the queue: one job at a time on each target |

mod child;
mod feed;
mod job;
mod progress;
mod queue;

pub(crate) use feed::Follower;
pub(crate) use job::{JobKind, JobStart, JobState, MACHINE, ServeJob};
pub(crate) use progress::{JobProgress, JobRunShown, JobStepShown};
pub(crate) use queue::{Jobs, QueuePolicy, Steering, StopError};
