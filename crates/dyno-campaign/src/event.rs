//! The events that a campaign reports to its caller, and the questions that it asks.

use std::path::PathBuf;
use std::sync::Arc;

use dyno_engine::{DropItem, LoadReport, Secret};
use dyno_plan::{Plan, TargetUrl};
use dyno_record::{PartOf, PointSetting, RecordKind, RunId, RunRecord, Status, SweepId, SweepKind};

use crate::error::Error;

/// Receives the events of a campaign and answers its questions. Events arrive in order; those of a load come
/// from any thread.
pub trait Listener: Sync {
    fn event(&self, event: CampaignEvent);

    /// Returns the password for `url`, whose server requires one; `None` if the user cannot be asked.
    ///
    /// # Errors
    /// Asking the user failed.
    fn password(&self, url: &TargetUrl) -> Result<Option<Secret>, Error>;

    /// Returns whether these commands of a plan may run; each is preceded by its name.
    ///
    /// # Errors
    /// Asking the user failed.
    fn allows(&self, commands: &[(&str, &str)]) -> Result<bool, Error>;

    /// Returns whether a workload may change data at `url` that Dyno did not create; `ways` describes the
    /// changes.
    ///
    /// # Errors
    /// Asking the user failed.
    fn allows_writes(&self, url: &str, ways: &[String]) -> Result<bool, Error>;
}

/// An event of a campaign.
#[derive(Debug, Clone)]
pub enum CampaignEvent {
    /// Every target was reached; from now on `Cancel` ends the campaign in an orderly way. Reported once.
    Reached,
    /// A target is locked; the text says what the lock does not prevent, if anything.
    Locked(Option<String>),
    /// A workload is allowed to change data that Dyno did not create: the target's URL, and the changes.
    Writes(String, Vec<String>),
    /// Dyno starts to check the data of a target.
    LookingAtData,
    /// Data loaded through one target is not yet visible through all targets.
    WaitingForData,
    /// Dyno deleted this many rows that a run had inserted and left behind.
    Removed(u64),
    /// Dyno drops data of another block size to make room.
    DroppingData,
    /// Dyno loads, runs and drops a small schema to check a target.
    CheckingDeeply,
    /// A step of an acceptance test begins: its number, from 1, and its title.
    AcceptanceStep(u32, String),
    /// An event of a command of the plan.
    Hook(HookEvent),
    /// An event of a load.
    Load(LoadEvent),
    /// A run has a name and is stored in the repository as started.
    RunBegun {
        /// The name of the run.
        id: RunId,
        /// A run or a watch.
        kind: RecordKind,
        /// The run's targets, with product and version.
        targets: String,
        /// Whether the run belongs to a campaign of several runs.
        is_part: bool,
    },
    /// Dyno recreates the table that a run loads.
    EmptyingTable,
    /// Dyno creates indexes on the rows a run has loaded, flushes them to disk, and counts them.
    SettlingLoad,
    /// Dyno queries the invariants of a custom workload, which may read whole tables.
    AskingInvariants,
    /// Dyno measures on a single session what one transaction of each class does.
    Learning,
    /// An event of the run in progress.
    Phase(dyno_drive::RunEvent),
    /// An event of a database that `dyno watch` observes.
    Seen(dyno_watch::ObservationEvent),
    /// The sessions of a run have ended.
    RunOver,
    /// The run is stored; deleting the rows that it inserted takes a while.
    Tidying,
    /// The database's own report of a run: its name, such as `AWR snapshots 17 to 18`, and its file if it has
    /// one.
    OwnReport(String, Option<PathBuf>),
    /// A run is audited and stored.
    Stored(Arc<RunRecord>),
    /// A campaign of several runs begins.
    Begun(Box<CampaignBegun>),
    /// The next run of a campaign begins.
    Next(NextRun),
    /// The campaign is paused (true) or continues (false).
    Paused(bool),
    /// A run of a campaign has ended.
    Ended(RunEnded),
    /// A search compared a run with its limits: whether the run keeps them, and each measured value.
    Judged(bool, Vec<String>),
    /// An event of a proof of updates or durability.
    Proof(ProofEvent),
    /// An event of a study of variants.
    Study(StudyEvent),
    /// Dyno's objects were removed from a target, or there were none.
    Dropped(TargetObjects),
    /// A problem that does not end the campaign.
    Warning(Warning),
}

/// The start of a campaign of several runs.
#[derive(Debug, Clone)]
pub struct CampaignBegun {
    /// The campaign's name, which all its runs share.
    pub id: SweepId,
    pub kind: SweepKind,
    /// The plan of the first run.
    pub plan: Plan,
    /// The settings that vary between the runs, each with the length of its longest value.
    pub axes: Vec<(String, usize)>,
    /// The sides of an A/B test: name and description of each.
    pub sides: Vec<(&'static str, String)>,
    /// The points with their settings; empty if they are unknown in advance.
    pub points: Vec<(u32, Vec<PointSetting>)>,
    /// Whether points can be skipped.
    pub skips: bool,
}

/// The next run of a campaign.
#[derive(Debug, Clone)]
pub struct NextRun {
    /// Number of the run in the campaign, from 1.
    pub number: u32,
    /// Total number of runs; absent if it is unknown.
    pub total: Option<u32>,
    /// Point, repeat and side of the run.
    pub part: PartOf,
    /// Estimated time for this run and all later ones, s; absent if it is unknown.
    pub all_s: Option<f64>,
    /// Estimated time for the later runs, s; absent if it is unknown.
    pub rest_s: Option<f64>,
}

/// The end of a run of a campaign. Without a record and a failure, the run was stopped before it measured
/// anything.
#[derive(Debug, Clone)]
pub struct RunEnded {
    /// Number of the run in the campaign, from 1.
    pub number: u32,
    /// Point, repeat and side of the run.
    pub part: PartOf,
    /// The run's record, which may have the status failed; absent if there is none.
    pub record: Option<Arc<RunRecord>>,
    /// Why there is no record; absent if there is one.
    pub failed: Option<String>,
    /// Whether the user skipped the run's point while the run was in progress.
    pub skipped: bool,
}

impl RunEnded {
    /// Whether the run was stopped because the campaign was cancelled.
    pub fn is_stopped(&self) -> bool {
        let stopped = |record: &Arc<RunRecord>| record.status == Status::Interrupted;
        !self.skipped && self.failed.is_none() && self.record.as_ref().is_none_or(stopped)
    }
}

/// An event of a command of the plan: its name, such as `before_run`, and the command or its output, each
/// line indented.
#[derive(Debug, Clone)]
pub enum HookEvent {
    /// The command will run: name and command.
    Planned(&'static str, String),
    /// The command starts: name and command.
    Started(&'static str, String),
    /// The command has succeeded with this output.
    Said(&'static str, String),
    /// The command after one run failed with this error; the run still counts.
    FailedAfterRun(String),
    /// The command after all runs failed with this error; the runs still count.
    FailedAtEnd(String),
}

/// An event of a data load.
#[derive(Debug, Clone)]
pub enum LoadEvent {
    /// The load of one of several targets begins: its URL.
    Target(String),
    /// The target is in memory, so its data is lost when the process ends.
    Ephemeral,
    /// A phase of a load begins, such as `rows`; the number of rows that it handles, 0 if unknown.
    Phase(String, u64),
    /// The phase has handled this many more rows, and bytes of their content.
    Advance(u64, u64),
    /// The last phase has ended.
    Over,
    /// The existing data is damaged, as this error says; Dyno removes it and loads it again.
    Damaged(String),
    /// The database rolled the work back, as this error says; it is retried. The numbers are the attempt and
    /// the maximum.
    Retried(String, u32, u32),
    /// The existing data is good; the text says what updates have changed about it.
    Worn(String),
    /// The target is loaded, with this report.
    Done(LoadReport),
    /// A custom workload is set up.
    SetUp(WorkloadSetup),
}

/// The result of setting up a custom workload.
#[derive(Debug, Clone, Default)]
pub struct WorkloadSetup {
    /// The name of the workload.
    pub name: String,
    /// The tables that the workload describes, with their row counts.
    pub tables: Vec<(String, u64)>,
    /// Whether the tables existed already, so nothing was done.
    pub already: bool,
    /// Number of rows written; fewer than all if an earlier load wrote the others.
    pub rows_written: u64,
    /// Number of the workload's own statements that were executed.
    pub statements: usize,
    /// Duration of the setup, s.
    pub seconds: f64,
    /// Number of the workload's conditions that hold for the loaded data.
    pub conditions: usize,
    /// Time that checking the conditions took, s.
    pub conditions_s: f64,
}

/// An event of a proof of updates or durability.
#[derive(Debug, Clone)]
pub enum ProofEvent {
    /// The plan only reads; the proof runs updates only.
    OnlyUpdates,
    /// The updates on a target cannot be verified: its URL, and why.
    NoAccount(String, String),
    /// Dyno reads every row, before the run.
    Reading,
    /// Dyno reads every row again, after the run of this name if it is stored.
    ReadingAgain(Option<RunId>),
    /// Dyno runs the command that kills the server.
    Killing,
    /// Dyno starts the server again.
    Restarting,
    /// Dyno waits until the server answers.
    Waiting,
    /// Dyno runs this command of the user.
    Command(String),
    /// The command `kill` or `restart` did not succeed; its exit status.
    CommandEnded(&'static str, String),
}

/// An event of a study of variants.
#[derive(Debug, Clone)]
pub enum StudyEvent {
    /// The study begins or is resumed.
    Begun {
        /// The name of the study.
        id: SweepId,
        /// The folder with the study's journal and files.
        folder: PathBuf,
        /// Number of legs that are done, and of all legs.
        legs: (usize, usize),
    },
    /// The next leg begins: its variant is applied, measured and reverted.
    Leg {
        /// Number of the leg, from 1.
        number: usize,
        of: usize,
        variant: String,
        /// Repeat of this variant, from 1.
        repeat: u32,
        /// Estimated time for this leg and all later ones, s; absent if it is unknown.
        left_s: Option<f64>,
    },
    /// A command starts: its phase, and the command.
    Command(&'static str, String),
    /// Output of a command, each line indented.
    Said(String),
    /// The data of this task is reset to its initial state.
    Resetting(String),
    /// A task of a leg was measured: its name, the seconds of its load, and the record of its run.
    Measured(String, Option<f64>, Option<Arc<RunRecord>>),
    /// A variant or the setup is reverted: its name, and why.
    Reverting(String, &'static str),
    /// The revert commands succeeded; whether they had an effect is checked before the next measurement.
    Reverted(String),
    /// A leg failed: its variant, and why. The study continues.
    Failed(String, String),
    /// Number of processes that an earlier process of the study had left running and that were killed.
    EndedLeft(usize),
    /// The data of a variant could not be dropped, for this reason.
    DataStays(String),
}

/// Dyno's objects on a target, found or removed.
#[derive(Debug, Clone)]
pub struct TargetObjects {
    pub url: String,
    /// The objects that Dyno created.
    pub items: Vec<DropItem>,
    /// Objects next to them that Dyno did not create, and that stay.
    pub left: Vec<DropItem>,
}

/// A problem that does not end the campaign, with its reason.
#[derive(Debug, Clone)]
pub enum Warning {
    /// Intervals cannot be stored while the run lasts; storing is retried.
    NotKept(String),
    /// The full series could not be stored completely.
    SeriesNotWhole(String),
    /// Dyno could not measure what a transaction (or any of a workload) does: its name, and why.
    NotLearned(String, String),
    /// The record could not be stored in the repository; it is in this file.
    StoredElsewhere(String, PathBuf),
    /// The database's own report of a run is not available.
    NoOwnReport(String),
    /// The database's own report cannot be written: why, its name, and the file.
    OwnReportNotWritten(String, String, PathBuf),
    /// Rows that a run inserted still exist; why, if that is known.
    RowsLeft(Option<String>),
    /// The consent to commands cannot be stored in this file.
    ConsentNotKept(String, PathBuf),
    /// Other users can read the file of a secret; the text names it.
    OpenSecret(String),
    /// The sides of an A/B test use different data.
    SidesDiffer,
    /// An A/B test of so many pairs cannot reach significance.
    TooFewPairs(u32),
}
