//! One thing that was started: its directory and its state.

use std::path::{Path, PathBuf};

use dyno_record::new_run_id;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::private_file;

/// What it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// One run.
    Run,
    /// Runs over a grid.
    Sweep,
    /// One setting for hours.
    Soak,
    /// The highest load within limits.
    Search,
    /// Two sides by turns.
    Ab,
    /// A catalogue of tests.
    Suite,
    /// Data only.
    Load,
    /// Whether the target is fit for it: nothing is run.
    Check,
    /// What a running database does by itself.
    Watch,
    /// Raw limits of the machine with the target's data.
    Calibrate,
    /// That what is claimed is so.
    Prove,
    /// Variants of the platform by turns.
    Study,
}

dyno_plan::names! {
    /// As the command line has it: `run`.
    Kind {
        Run = "run", Sweep = "sweep", Soak = "soak", Search = "search", Ab = "ab", Suite = "suite", Load = "load",
        Check = "check", Watch = "watch", Calibrate = "calibrate", Prove = "prove", Study = "study"
    }
}

/// The place of what has the whole machine to itself, whatever its target is: nothing else is at work beside it.
pub(crate) const MACHINE: &str = "*";

/// Whether a job at one place keeps one at the other waiting.
pub(crate) fn hinders(place: &str, other: &str) -> bool {
    place == other || place == MACHINE || other == MACHINE
}

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobState {
    /// Others are at work on its target.
    Queued,
    /// It is at work.
    Running,
    /// It came to its end.
    Done,
    /// It came to its end, and something in it does not count: the audit found a run invalid, or a limit was not kept.
    Doubtful,
    /// It was stopped; what was measured is stored.
    Stopped,
    /// It failed.
    Failed,
    /// Its process was gone without a word: killed, or the machine was restarted.
    Interrupted,
}

dyno_plan::names! {
    /// The word in lists: `running`.
    JobState {
        Queued = "queued", Running = "running", Done = "done", Doubtful = "doubtful", Stopped = "stopped",
        Failed = "failed", Interrupted = "interrupted"
    }
}

impl JobState {
    /// Whether it has ended.
    pub(crate) fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// What is to be started.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) kind: Kind,
    /// The name of its target.
    pub(crate) target: String,
    /// What keeps it apart from others on the same target: the URL, or [`MACHINE`].
    pub(crate) place: String,
    /// Its plan file.
    pub(crate) plan: Option<String>,
    /// The command line that does the same.
    pub(crate) command: String,
    /// What its processes are given, one after the other; `--plan=PLAN` is its plan file.
    pub(crate) steps: Vec<Vec<String>>,
    /// Whether it may run commands of a plan, a study or a proof.
    pub(crate) runs_commands: bool,
}

/// One thing that was started, as its file has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) id: String,
    /// The name of the token that started it; absent in jobs of earlier versions.
    #[serde(default)]
    pub(crate) started_by: Option<String>,
    /// Whether it may run commands of a plan, a study or a proof; jobs of earlier versions may.
    #[serde(default = "yes")]
    pub(crate) runs_commands: bool,
    pub(crate) kind: Kind,
    pub(crate) target: String,
    pub(crate) place: String,
    pub(crate) command: String,
    pub(crate) started_at: String,
    pub(crate) ended_at: Option<String>,
    pub(crate) state: JobState,
    pub(crate) steps: Vec<Vec<String>>,
    /// Which of its steps is at work, from 0.
    pub(crate) step: usize,
    /// The process of that step.
    pub(crate) process: Option<Process>,
    /// Whether somebody asked it to stop.
    pub(crate) stop: bool,
    /// The exit code of its last step.
    pub(crate) exit: Option<i32>,
}

/// A process, and when it started, in clock ticks after the boot of this name: a process id alone is given to others, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) start_ticks: u64,
    pub(crate) boot_id: String,
}

fn yes() -> bool {
    true
}

const FILE: &str = "job.json";

impl Job {
    /// A new one, with its directory in `jobs`.
    pub(crate) fn create(jobs: &Path, start: Start, started_by: &str) -> std::io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let now = jiff::Timestamp::now();
        let random = u16::from_le_bytes(random_pair()?);
        let id = new_run_id(now, random);
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

    /// Writes its file, whole or not at all.
    pub(crate) fn save(&self, jobs: &Path) -> std::io::Result<()> {
        dyno_record::private_file::write(&jobs.join(&self.id).join(FILE), &serde_json::to_vec_pretty(self)?)
    }

    /// All in `jobs`, the oldest first. What is not whole is left out, and so is what another user could have put there.
    pub(crate) fn all(jobs: &Path) -> std::io::Result<Vec<Self>> {
        let mut found = Vec::new();
        let entries = match std::fs::read_dir(jobs) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
            entries => entries?,
        };
        for entry in entries {
            let folder = entry?.path();
            let is_safe = dyno_record::private_file::check_folder(&folder).is_ok();
            let Ok(Some(text)) = private_file::read(&folder.join(FILE)) else { continue };
            found.extend(serde_json::from_str::<Self>(&text).ok().filter(|_| is_safe));
        }
        found.sort_by(|a: &Self, b| (&a.started_at, &a.id).cmp(&(&b.started_at, &b.id)));
        Ok(found)
    }

    /// The file of its events.
    pub(crate) fn events(&self, jobs: &Path) -> PathBuf {
        jobs.join(&self.id).join("events.jsonl")
    }

    /// The file of what its processes say.
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
