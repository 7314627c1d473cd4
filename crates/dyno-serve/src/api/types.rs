//! Response types of the API that are not defined elsewhere.

use dyno_campaign::RunProgress;
use schemars::JsonSchema;
use serde::Serialize;

use crate::jobs::{JobKind, JobState, ServeJob};
use crate::order::{FieldError, PreparedJob};

/// A job that was started on this server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct JobShown {
    /// The unique name of the job.
    pub(crate) id: String,
    /// The name of the token that started it; absent in jobs of earlier versions.
    pub(crate) started_by: Option<String>,
    /// The kind of the job.
    pub(crate) kind: JobKind,
    /// Name of the target in the server's list.
    pub(crate) target: String,
    /// The equivalent command line for a terminal.
    pub(crate) command: String,
    /// Time of the start, RFC 3339 in UTC.
    pub(crate) started_at: String,
    /// Time of the end, RFC 3339 in UTC; absent while it is queued or running.
    pub(crate) ended_at: Option<String>,
    /// Current state of the job.
    pub(crate) state: JobState,
    /// Whether a user asked the job to stop.
    pub(crate) stop_asked: bool,
    /// Number of jobs on the same target that are queued before it.
    pub(crate) before: usize,
    /// Exit code of the last process; absent if there is none.
    pub(crate) exit: Option<i32>,
}

impl JobShown {
    pub(crate) fn of(job: &ServeJob, before: usize) -> Self {
        Self {
            id: job.id.clone(),
            started_by: job.started_by.clone(),
            kind: job.kind,
            target: job.target.clone(),
            command: job.command.clone(),
            started_at: job.started_at.clone(),
            ended_at: job.ended_at.clone(),
            state: job.state,
            stop_asked: job.stop,
            before,
            exit: job.exit,
        }
    }
}

/// A job with its progress and output.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct JobFull {
    /// The job and its state.
    pub(crate) job: JobShown,
    /// The progress of the job so far.
    pub(crate) progress: RunProgress,
    /// The last lines of the output of its processes.
    pub(crate) talk: Vec<String>,
}

/// Whether a job request can be started.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CheckedOrder {
    /// The job that would be started; absent if the request has problems.
    pub(crate) made: Option<PreparedJob>,
    /// All problems of the request; empty if there are none.
    pub(crate) wrong: Vec<FieldError>,
}

/// A campaign with its conclusion.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SweepShown {
    /// The name of the campaign.
    pub(crate) id: String,
    /// Ids of the campaign's runs that have a record, in the order of execution.
    pub(crate) runs: Vec<String>,
    /// The result in one sentence.
    pub(crate) answer: String,
    /// Notes that limit or explain the result.
    pub(crate) more: Vec<String>,
    /// The stored conclusion of the campaign; absent if there is none.
    pub(crate) conclusion: Option<serde_json::Value>,
}

/// A report of selected runs in short form.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ReportShown {
    /// The result in one sentence.
    pub(crate) answer: String,
    /// Notes that limit or explain the result.
    pub(crate) more: Vec<String>,
    /// Names of the report's charts, for `/export/file`.
    pub(crate) charts: Vec<String>,
    /// The settings that differ between the points.
    pub(crate) axes: Vec<String>,
    /// The points of the report.
    pub(crate) points: Vec<PointShown>,
    /// Runs without a result, each with the reason.
    pub(crate) left_out: Vec<(String, String)>,
}

/// A point of a report, with its runs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PointShown {
    /// The point's value on each axis.
    pub(crate) at: Vec<String>,
    /// Ids of the runs at this point.
    pub(crate) runs: Vec<String>,
    /// Median of each measure over the runs, by measure name.
    pub(crate) measures: std::collections::BTreeMap<String, f64>,
}

/// The options for a plan: targets, hosts, ready plans and keys.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PlanShown {
    /// The targets of the server's list.
    pub(crate) targets: Vec<NamedDescription>,
    /// The hosts that `observe.hosts` may name.
    pub(crate) hosts: Vec<NamedDescription>,
    /// The ready plans that a job can start with.
    pub(crate) ready: Vec<NamedDescription>,
    /// The ready workloads that a job can run.
    pub(crate) workloads: Vec<NamedDescription>,
    /// The plan keys that requests may set.
    pub(crate) keys: Vec<KeyShown>,
}

/// A name with its description.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NamedDescription {
    /// The name, as requests use it.
    pub(crate) name: String,
    /// A description of what it names.
    pub(crate) about: String,
}

/// A plan key and its values.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct KeyShown {
    /// Full name of the key, such as `run.time`.
    pub(crate) path: String,
    /// A description of the key's effect.
    pub(crate) about: String,
    /// The values that the key accepts.
    pub(crate) allowed: String,
    /// The default value; absent if there is none.
    pub(crate) usual: Option<String>,
}
