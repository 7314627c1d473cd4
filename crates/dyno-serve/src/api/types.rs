//! What the API answers, where no other type says it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::jobs::{Job, JobState, Kind, Progress};
use crate::order::{Made, Wrong};

/// Something that was started here.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct JobShown {
    /// Its name.
    pub(crate) id: String,
    /// The name of the token that started it; absent in jobs of earlier versions.
    pub(crate) started_by: Option<String>,
    /// What it does.
    pub(crate) kind: Kind,
    /// The name of its target.
    pub(crate) target: String,
    /// The command line that does the same.
    pub(crate) command: String,
    /// When it was started, RFC 3339 in UTC.
    pub(crate) started_at: String,
    /// When it ended.
    pub(crate) ended_at: Option<String>,
    /// How it stands.
    pub(crate) state: JobState,
    /// Whether somebody asked it to stop.
    pub(crate) stop_asked: bool,
    /// How many on the same target come before it.
    pub(crate) before: usize,
    /// The exit code of its last process.
    pub(crate) exit: Option<i32>,
}

impl JobShown {
    pub(crate) fn of(job: &Job, before: usize) -> Self {
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

/// The same with how far it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct JobFull {
    /// What it is.
    pub(crate) job: JobShown,
    /// How far it is.
    pub(crate) progress: Progress,
    /// The last lines that its processes said.
    pub(crate) talk: Vec<String>,
}

/// Whether an order can be started.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CheckedOrder {
    /// What would be started; absent where something is wrong.
    pub(crate) made: Option<Made>,
    /// What is wrong.
    pub(crate) wrong: Vec<Wrong>,
}

/// Runs that belong together.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SweepShown {
    /// Its name.
    pub(crate) id: String,
    /// The ids of its runs that have a record, in the order in which they ran.
    pub(crate) runs: Vec<String>,
    /// The answer in a sentence.
    pub(crate) answer: String,
    /// What has to be known with it.
    pub(crate) more: Vec<String>,
    /// What the command concluded, as it noted it.
    pub(crate) conclusion: Option<serde_json::Value>,
}

/// A report in short.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ReportShown {
    /// The answer in a sentence.
    pub(crate) answer: String,
    /// What has to be known with it.
    pub(crate) more: Vec<String>,
    /// Names of its charts, for `/export/file`.
    pub(crate) charts: Vec<String>,
    /// Settings along which its points lie.
    pub(crate) axes: Vec<String>,
    /// Its points.
    pub(crate) points: Vec<PointShown>,
    /// Runs without a result, with the reason.
    pub(crate) left_out: Vec<(String, String)>,
}

/// One point.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PointShown {
    /// Its value on each axis.
    pub(crate) at: Vec<String>,
    /// Its runs.
    pub(crate) runs: Vec<String>,
    /// Medians of measures, by name.
    pub(crate) measures: std::collections::BTreeMap<String, f64>,
}

/// What a plan may say, and on what it may be run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PlanShown {
    /// Targets: name and what it is.
    pub(crate) targets: Vec<Named>,
    /// Hosts that `observe.hosts` may name.
    pub(crate) hosts: Vec<Named>,
    /// Ready plans.
    pub(crate) ready: Vec<Named>,
    /// Ready workloads.
    pub(crate) workloads: Vec<Named>,
    /// Keys of a plan that may be set from here.
    pub(crate) keys: Vec<KeyShown>,
}

/// A name, and what it means.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Named {
    /// The name.
    pub(crate) name: String,
    /// What it means.
    pub(crate) about: String,
}

/// A key of a plan.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct KeyShown {
    /// Its full name.
    pub(crate) path: String,
    /// What it means.
    pub(crate) about: String,
    /// What it may be.
    pub(crate) allowed: String,
    /// What holds when it is not set; absent where nothing does.
    pub(crate) usual: Option<String>,
}
