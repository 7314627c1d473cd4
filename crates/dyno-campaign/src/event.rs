//! What a campaign tells whoever leads it, and what it asks them.

use std::path::PathBuf;
use std::sync::Arc;

use dyno_engine::{DropItem, LoadReport, Secret};
use dyno_plan::{Plan, TargetUrl};
use dyno_record::{PartOf, RunId, RunRecord, Setting, Status, SweepId, SweepKind};

use crate::error::Error;

/// Whoever leads a campaign. Events come in their order; those of a load come from any thread.
pub trait Listener: Sync {
    /// Something has happened.
    fn event(&self, event: Event);

    /// The password of `url`, whose server wants one; nothing where nobody can be asked.
    ///
    /// # Errors
    /// Somebody was asked and could not answer.
    fn password(&self, url: &TargetUrl) -> Result<Option<Secret>, Error>;

    /// Whether these commands of a plan, each behind its name, may run.
    ///
    /// # Errors
    /// Somebody was asked and could not answer.
    fn allows(&self, commands: &[(&str, &str)]) -> Result<bool, Error>;

    /// Whether a workload may change data of the target at `url` that Dyno did not make, in these ways.
    ///
    /// # Errors
    /// Somebody was asked and could not answer.
    fn allows_writes(&self, url: &str, ways: &[String]) -> Result<bool, Error>;
}

/// What happens.
#[derive(Debug, Clone)]
pub enum Event {
    /// Every target was reached: from now on the campaign ends in good order where its `Cancel` is asked. Told once.
    Reached,
    /// A target is locked against others; what the lock does not keep off, if there is something.
    Locked(Option<String>),
    /// A workload changes data of the target of this URL that Dyno did not make, in these ways, and may do so from now on.
    Writes(String, Vec<String>),
    /// The data of a target is looked at.
    LookingAtData,
    /// Data was loaded through one target, and is not seen through all of them yet.
    WaitingForData,
    /// So many rows that a run had inserted and left behind are gone.
    Removed(u64),
    /// Data of another block size is dropped to make room.
    DroppingData,
    /// A small schema is loaded, driven and dropped.
    CheckingDeeply,
    /// A step of an acceptance begins: its number, from 1, and what it tries.
    AcceptanceStep(u32, String),
    /// About a command of the plan.
    Hook(HookEvent),
    /// About a load.
    Load(LoadEvent),
    /// A run has a name and is noted in the repository.
    RunBegun {
        /// Its name.
        id: RunId,
        /// Its targets, with product and version.
        targets: String,
        /// Whether it is one of several that belong together.
        is_part: bool,
    },
    /// The table that a run loads is made anew.
    EmptyingTable,
    /// What a run has loaded gets its indexes, is written to the disk for good, and counted.
    SettlingLoad,
    /// What must stay true of a user's own workload is asked for, which may read whole tables.
    AskingInvariants,
    /// What one transaction of each class does is learned on one session alone.
    Learning,
    /// A run goes on.
    Phase(dyno_drive::Event),
    /// A database that is only looked at goes on.
    Seen(dyno_drive::present::Seen),
    /// The sessions of a run have ended.
    RunOver,
    /// A run is stored; rows that it inserted are being removed, which takes a while.
    Tidying,
    /// The database's own report of a run: its name, such as `AWR snapshots 17 to 18`, and its file if it has one.
    OwnReport(String, Option<PathBuf>),
    /// A run is judged and stored.
    Stored(Arc<RunRecord>),
    /// Runs that belong together begin.
    Begun(Box<Begun>),
    /// The next run.
    Next(Next),
    /// No run begins, or the next one does after all.
    Paused(bool),
    /// A run of several has ended.
    Ended(Ended),
    /// A run was held against the limits of a search: whether it keeps them, and what was measured of each.
    Judged(bool, Vec<String>),
    /// About a proof.
    Proof(ProofEvent),
    /// About a study of variants.
    Study(StudyEvent),
    /// Dyno's objects were removed from a target, or there were none.
    Dropped(Holdings),
    /// Something that does not end the campaign, and should be known.
    Warning(Warning),
}

/// Runs that belong together begin.
#[derive(Debug, Clone)]
pub struct Begun {
    /// The name they share.
    pub id: SweepId,
    /// What they are made for.
    pub kind: SweepKind,
    /// The plan of the first.
    pub plan: Plan,
    /// What sets them apart, each with the length of its longest value.
    pub axes: Vec<(String, usize)>,
    /// The sides of a comparison: name and words of each.
    pub sides: Vec<(&'static str, String)>,
    /// The points, each with its settings, where they are known from the beginning.
    pub points: Vec<(u32, Vec<Setting>)>,
    /// Whether a point may be left out.
    pub skips: bool,
}

/// The next run of several.
#[derive(Debug, Clone)]
pub struct Next {
    /// Its number, from 1.
    pub number: u32,
    /// How many there will be, where that is known.
    pub of: Option<u32>,
    /// Its place among them.
    pub part: PartOf,
    /// How long it and all after it will take, s, where that is known.
    pub all_s: Option<f64>,
    /// How long those after it will take.
    pub rest_s: Option<f64>,
}

/// A run of several has ended. With neither record nor failure it was stopped before anything was measured.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Its number, from 1.
    pub number: u32,
    /// Its place among them.
    pub part: PartOf,
    /// Its record, which may be that of a failure.
    pub record: Option<Arc<RunRecord>>,
    /// Why there is none.
    pub failed: Option<String>,
    /// Whether it was broken off to leave its point out.
    pub skipped: bool,
}

impl Ended {
    /// Whether the run was broken off because the campaign was stopped.
    pub fn is_stopped(&self) -> bool {
        let stopped = |record: &Arc<RunRecord>| record.status == Status::Interrupted;
        !self.skipped && self.failed.is_none() && self.record.as_ref().is_none_or(stopped)
    }
}

/// About a command of the plan: its name, such as `before_run`, and the command or what it said, each line set off.
#[derive(Debug, Clone)]
pub enum HookEvent {
    /// It will run.
    Planned(&'static str, String),
    /// It runs.
    Started(&'static str, String),
    /// It has ended well, and said this.
    Said(&'static str, String),
    /// It failed with this error, after one run that counts all the same.
    FailedAfterRun(String),
    /// It failed with this error, after all runs, which count all the same.
    FailedAtEnd(String),
}

/// About a load.
#[derive(Debug, Clone)]
pub enum LoadEvent {
    /// One of several targets is loaded: its URL.
    Target(String),
    /// The target lives in memory, so nothing of this load will stay.
    Ephemeral,
    /// A phase begins, such as `rows`; how many rows it will handle, 0 where that is not known.
    Phase(String, u64),
    /// The phase goes on by so many rows and bytes of content.
    Advance(u64, u64),
    /// The last phase has ended.
    Over,
    /// What is there is damaged, as this error says: it is removed, and loaded anew.
    Damaged(String),
    /// The database took the work back because of others, as this error says; it is done again, the first time of the second.
    Retried(String, u32, u32),
    /// What is there is good, and this is what updates have made of it.
    Worn(String),
    /// The target is loaded.
    Done(LoadReport),
    /// A workload of the user's own is set up.
    SetUp(SetUp),
}

/// What was done to set a workload of the user's own up.
#[derive(Debug, Clone, Default)]
pub struct SetUp {
    /// Its name.
    pub name: String,
    /// The tables that it describes, with their rows.
    pub tables: Vec<(String, u64)>,
    /// Whether they were there, and nothing was done.
    pub already: bool,
    /// Rows that were written: fewer than all where an earlier load has written the others.
    pub rows_written: u64,
    /// Statements of its own that were done.
    pub statements: usize,
    /// Seconds that this took.
    pub seconds: f64,
    /// Conditions of the workload that hold of what was loaded.
    pub conditions: usize,
    /// Seconds that it took to ask for them.
    pub conditions_s: f64,
}

/// About a proof.
#[derive(Debug, Clone)]
pub enum ProofEvent {
    /// The plan only reads; the proof does nothing but updates.
    OnlyUpdates,
    /// A target keeps no account: its URL, and why.
    NoAccount(String, String),
    /// Every row is read, before the run.
    Reading,
    /// Every row is read again; of the run that is stored by now.
    ReadingAgain(Option<RunId>),
    /// The server is killed.
    Killing,
    /// The server is started again.
    Restarting,
    /// The server is waited for.
    Waiting,
    /// This command runs.
    Command(String),
    /// A command, `kill` or `restart`, did not end well, but so.
    CommandEnded(&'static str, String),
}

/// About a study of variants.
#[derive(Debug, Clone)]
pub enum StudyEvent {
    /// It begins or goes on, with its work in this folder.
    Begun {
        /// Its name.
        id: SweepId,
        /// Where its journal and its own files are.
        folder: PathBuf,
        /// Legs that are done, and all of them.
        legs: (usize, usize),
    },
    /// The next variant is applied, measured and reverted.
    Leg {
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// The variant.
        variant: String,
        /// Which time, from 1.
        repeat: u32,
        /// How long it and all after it will take, s, where that is known.
        left_s: Option<f64>,
    },
    /// A command runs: when, and which.
    Command(&'static str, String),
    /// A command has said this, each line set off.
    Said(String),
    /// The data of a task is brought to its state.
    Resetting(String),
    /// A task of a leg was measured: its name, the seconds of its load, and the record of its run.
    Measured(String, Option<f64>, Option<Arc<RunRecord>>),
    /// Everything is put back: of which variant, or what was set up, and why.
    Reverting(String, &'static str),
    /// The commands that put it back ended well; whether that is so is checked before the next measurement.
    Reverted(String),
    /// A leg failed, for this reason; the study goes on.
    Failed(String, String),
    /// What an earlier process of the study had left running was ended.
    EndedLeft(usize),
    /// The data of a variant could not be dropped, for this reason.
    DataStays(String),
}

/// What a target holds of Dyno's, or held before it was removed.
#[derive(Debug, Clone)]
pub struct Holdings {
    /// The target.
    pub url: String,
    /// What Dyno made.
    pub items: Vec<DropItem>,
    /// What is beside it, is not Dyno's, and stays.
    pub left: Vec<DropItem>,
}

/// Something that does not end the campaign, with its reason.
#[derive(Debug, Clone)]
pub enum Warning {
    /// What is measured cannot be kept while the run lasts; it is tried again.
    NotKept(String),
    /// Not all of the full series could be stored.
    SeriesNotWhole(String),
    /// What a transaction, or any of a workload, does to the database could not be learned: its name, and why.
    NotLearned(String, String),
    /// The record could not be stored in the repository, and lies in this file.
    StoredElsewhere(String, PathBuf),
    /// The database's own report of a run cannot be had.
    NoOwnReport(String),
    /// The database's own report cannot be written: why, its name, and the file.
    OwnReportNotWritten(String, String, PathBuf),
    /// Rows that a run inserted are still there; why, if that is known.
    RowsLeft(Option<String>),
    /// That commands are allowed cannot be kept in this file.
    ConsentNotKept(String, PathBuf),
    /// The file of a secret is open to others, in words.
    OpenSecret(String),
    /// The sides of a comparison have different data.
    SidesDiffer,
}
