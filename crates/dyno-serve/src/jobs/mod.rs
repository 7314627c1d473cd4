//! Jobs started from a page or the API. Each has a folder, so that a restarted server finds it again.
//!
//! | file | job |
//! | --- | --- |
//! | `job` | a job: its file and its state |
//! | `child` | the processes of a job: started, found again, stopped |
//! | `feed` | the events and the progress of a job, for any number of viewers |
//! | `queue` | the queue: one job at a time on each target |
//! | `schedule` | which queued jobs start, and how a job continues after a process |

mod child;
mod feed;
mod job;
mod queue;
mod schedule;

pub(crate) use feed::Follower;
pub(crate) use job::{JobKind, JobStart, JobState, MACHINE, ServeJob};
pub(crate) use queue::{Jobs, Steering, StopError};
pub(crate) use schedule::QueuePolicy;
