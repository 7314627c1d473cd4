//! A job: its folder, its file and its state.

use std::path::{Path, PathBuf};

use dyno_record::new_run_id;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::private_file;

/// The kind of a job: the command that it executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobKind {
    /// A single run of a plan.
    Run,
    /// Runs over a grid of settings.
    Sweep,
    /// One setting that runs for hours.
    Soak,
    /// Search for the highest load within limits.
    Search,
    /// Two sides that are interleaved: an A/B test.
    Ab,
    /// A suite of tests of single components.
    Suite,
    /// Loading the data, without a run.
    Load,
    /// A check whether target and plan are suitable, without a run.
    Check,
    /// Observation of a running database without load.
    Watch,
    /// Raw limits of the machine that holds the target's data.
    Calibrate,
    /// A proof of updates, of the window or of durability.
    Prove,
    /// Variants of the platform that are interleaved.
    Study,
}

dyno_plan::names! {
    /// The name on the command line, such as `run`.
    JobKind {
        Run = "run", Sweep = "sweep", Soak = "soak", Search = "search", Ab = "ab", Suite = "suite", Load = "load",
        Check = "check", Watch = "watch", Calibrate = "calibrate", Prove = "prove", Study = "study"
    }
}

/// The place of a job that needs the whole machine, whatever its target is. No other job runs at the same
/// time.
pub(crate) const MACHINE: &str = "*";

/// Whether a job at one place delays a job at the other.
pub(crate) fn conflicts_with(place: &str, other: &str) -> bool {
    place == other || place == MACHINE || other == MACHINE
}

/// The state of a job in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobState {
    /// Waiting, because other jobs use its target.
    Queued,
    /// A process of the job is running.
    Running,
    /// The job completed without problems.
    Done,
    /// The job completed, but the audit found a run invalid, or a limit was not kept.
    Doubtful,
    /// A user stopped the job; measured runs are stored.
    Stopped,
    /// The job failed with an error.
    Failed,
    /// The job's process disappeared without a final event: it was killed, or the machine restarted.
    Interrupted,
}

dyno_plan::names! {
    /// The name in lists, such as `running`.
    JobState {
        Queued = "queued", Running = "running", Done = "done", Doubtful = "doubtful", Stopped = "stopped",
        Failed = "failed", Interrupted = "interrupted"
    }
}

impl JobState {
    /// Whether the job has ended in any way.
    pub(crate) fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// The description of a job to start.
#[derive(Debug, Clone)]
pub(crate) struct JobStart {
    pub(crate) kind: JobKind,
    /// Name of the target in the server's list.
    pub(crate) target: String,
    /// Where the job runs: the target's URL, or [`MACHINE`]. Jobs at the same place run one after the other.
    pub(crate) place: String,
    /// The text of the plan file; absent if the job has none.
    pub(crate) plan: Option<String>,
    /// The equivalent command line for a terminal.
    pub(crate) command: String,
    /// The arguments of the job's processes, which run one after the other; `--plan=PLAN` stands for its plan
    /// file.
    pub(crate) steps: Vec<Vec<String>>,
    /// Whether it may run commands of a plan, a study or a proof.
    pub(crate) runs_commands: bool,
}

/// A job as it is stored in its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ServeJob {
    pub(crate) id: String,
    /// Name of the token that started the job; absent in jobs of earlier versions.
    #[serde(default)]
    pub(crate) started_by: Option<String>,
    /// Whether the job may run commands of a plan, a study or a proof; true in jobs of earlier versions.
    #[serde(default = "yes")]
    pub(crate) runs_commands: bool,
    pub(crate) kind: JobKind,
    pub(crate) target: String,
    pub(crate) place: String,
    pub(crate) command: String,
    pub(crate) started_at: String,
    pub(crate) ended_at: Option<String>,
    pub(crate) state: JobState,
    pub(crate) steps: Vec<Vec<String>>,
    /// The current step, from 0.
    pub(crate) step: usize,
    /// The process of the current step; absent before it starts.
    pub(crate) process: Option<JobProcess>,
    /// Whether a user asked the job to stop.
    pub(crate) stop: bool,
    /// Exit code of the last step; absent before it ends.
    pub(crate) exit: Option<i32>,
}

/// A process with its start time, in clock ticks since the boot with this id. The process id alone is not
/// unique over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobProcess {
    pub(crate) pid: u32,
    pub(crate) start_ticks: u64,
    pub(crate) boot_id: String,
}

fn yes() -> bool {
    true
}

const FILE: &str = "job.json";

impl ServeJob {
    /// Creates a job, with its folder in `jobs`.
    pub(crate) fn create(jobs: &Path, start: JobStart, started_by: &str) -> std::io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let now = jiff::Timestamp::now();
        let random = u16::from_le_bytes(random_pair()?);
        // Ids of runs have no such beginning, so nobody takes one for the other.
        let id = format!("job-{}", new_run_id(now, random));
        let directory = jobs.join(&id);
        std::fs::DirBuilder::new().mode(0o700).create(&directory)?;
        if let Some(plan) = &start.plan {
            dyno_record::private_file::write(&directory.join("plan.toml"), plan.as_bytes())?;
        }
        let plan = format!("--plan={}", directory.join("plan.toml").display());
        let put = |arg: String| if arg == "--plan=PLAN" { plan.clone() } else { arg };
        let steps = start.steps.into_iter().map(|step| step.into_iter().map(put).collect()).collect();
        let job = Self {
            id,
            started_by: Some(started_by.to_owned()),
            runs_commands: start.runs_commands,
            kind: start.kind,
            target: start.target,
            place: start.place,
            command: start.command,
            started_at: dyno_record::rfc3339(now),
            ended_at: None,
            state: JobState::Queued,
            steps,
            step: 0,
            process: None,
            stop: false,
            exit: None,
        };
        job.save(jobs)?;
        Ok(job)
    }

    /// Writes the job's file atomically.
    pub(crate) fn save(&self, jobs: &Path) -> std::io::Result<()> {
        dyno_record::private_file::write(&jobs.join(&self.id).join(FILE), &serde_json::to_vec_pretty(self)?)
    }

    /// Loads all jobs in `jobs`, oldest first. Incomplete files, and files that another user could have
    /// written, are skipped.
    pub(crate) fn all(jobs: &Path) -> std::io::Result<Vec<Self>> {
        let mut stored_jobs = Vec::new();
        let entries = match std::fs::read_dir(jobs) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(stored_jobs),
            entries => entries?,
        };
        for entry in entries {
            let folder = entry?.path();
            let is_safe = dyno_record::private_file::check_folder(&folder).is_ok();
            let Ok(Some(text)) = private_file::read(&folder.join(FILE)) else { continue };
            stored_jobs.extend(serde_json::from_str::<Self>(&text).ok().filter(|_| is_safe));
        }
        stored_jobs.sort_by(|a: &Self, b| (&a.started_at, &a.id).cmp(&(&b.started_at, &b.id)));
        Ok(stored_jobs)
    }

    /// The path of the job's event file.
    pub(crate) fn events(&self, jobs: &Path) -> PathBuf {
        jobs.join(&self.id).join("events.jsonl")
    }

    /// The path of the job's output file.
    pub(crate) fn talk(&self, jobs: &Path) -> PathBuf {
        jobs.join(&self.id).join("talk.txt")
    }
}

fn random_pair() -> std::io::Result<[u8; 2]> {
    use std::io::Read as _;
    let mut bytes = [0; 2];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
