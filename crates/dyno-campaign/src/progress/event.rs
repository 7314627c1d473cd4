//! The progress events of a campaign: what moves its state, and what `--events` writes.
//!
//! An event is serialized as it is: one line of the file, and one server-sent event of the API. Fields that
//! only this process uses are not serialized. Messages are no progress; the program writes them to stderr.

use std::collections::BTreeMap;

use dyno_drive::LiveProgress;
use dyno_record::{AuditCheck, PointSetting, RunId, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phase::RunPhase;

/// A change of a campaign's progress: one line of the file of `--events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ProgressEvent {
    /// Every target was reached; from now on a signal ends the campaign in an orderly way.
    Reached,
    /// A phase begins: `connect`, `warm-up`, `window`, `drain`, `tidy`, or a phase of a load.
    Phase {
        /// Name of the phase that begins.
        #[schemars(with = "String")]
        phase: RunPhase,
        /// Expected duration, s; absent if it is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
        /// Rows that a phase of a load handles; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<u64>,
    },
    /// A load has handled more rows of its phase.
    Loaded {
        /// Number of rows that the phase has handled so far.
        rows: u64,
    },
    /// The progress of a window.
    Progress(LiveProgress),
    /// A completed interval, with the values that the record will contain.
    Interval(Box<IntervalProgress>),
    /// Further values up to the end of the last complete interval.
    Complete(Box<CompleteInterval>),
    /// A completed interval of a database that `dyno watch` observes.
    Watched(Box<WatchProgress>),
    /// The observed database stopped answering, or answers again.
    Away {
        /// Why the database does not answer; absent once it answers again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The campaign is paused, or continues.
    Paused {
        /// Whether the campaign is paused before its next run.
        paused: bool,
    },
    /// Operations that belong to an earlier interval: their session was in a long operation when that
    /// interval was reported.
    Late {
        /// The interval's begin, seconds after the window began.
        at_s: f64,
        /// Number of operations to add to the interval.
        ops: u64,
        /// Number of failed operations to add.
        errors: u64,
        /// Their longest response time, µs; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_us: Option<f64>,
    },
    /// A run has been given a name.
    Run {
        /// Name of the run that starts.
        id: RunId,
        /// The run's targets, with product and version.
        targets: String,
    },
    /// A campaign of several runs begins.
    Begun {
        /// The campaign's name, which all its runs share.
        id: String,
        /// The kind of campaign, such as `sweep`.
        kind: String,
        /// Names of the settings that vary between the runs.
        axes: Vec<String>,
        /// Whether points of the campaign can be skipped.
        skips: bool,
        /// The points with their settings; empty if they are unknown in advance.
        #[serde(skip)]
        points: Vec<(u32, Vec<PointSetting>)>,
    },
    /// The next run of a campaign begins.
    Next {
        /// Number, settings, repeat and side of the run.
        step: CampaignStep,
        /// Total number of runs; absent if it is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<u32>,
        /// Estimated time for this run and all later ones, s; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        all_s: Option<f64>,
        /// Estimated time for the later runs, s; absent if unknown.
        #[serde(skip)]
        rest_s: Option<f64>,
    },
    /// A run of a campaign has ended.
    Ended {
        /// Number, settings, repeat and side of the run.
        step: CampaignStep,
        /// The result of the run; absent if nothing was measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Box<RunResult>>,
        /// Why there is no result; absent if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
        /// Whether the user skipped the run's point.
        #[serde(skip)]
        skipped: bool,
    },
    /// A run was audited and stored.
    Stored(Box<RunResult>),
    /// The program ends with this exit code.
    End {
        /// Exit code of the program, as documented for `dyno`.
        exit: i32,
    },
}

/// The place of a run in its campaign.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CampaignStep {
    /// Number of the run, counted from 1.
    pub number: u32,
    /// The run's settings as pairs of key and value.
    pub settings: Vec<(String, String)>,
    /// Number of this run among those of its point, from 1.
    pub repeat: u32,
    /// The side of an A/B test; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// Number of the point, from 1, in the order of settings.
    #[serde(skip)]
    pub point: u32,
}

/// An interval of all targets together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalProgress {
    /// The interval's begin, seconds after the window began.
    pub at_s: f64,
    /// Length of the interval, s.
    pub seconds: f64,
    /// Operations that ended in the interval.
    pub ops: u64,
    /// Operations that failed in the interval.
    pub errors: u64,
    /// Median response time, µs; absent if none was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<f64>,
    /// 99th percentile of response time, µs; absent if none was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// Longest response time, µs; absent if none was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_us: Option<f64>,
    /// Rates of counters of database and host, by metric name.
    pub metrics: BTreeMap<String, f64>,
}

/// An interval of a database that `dyno watch` observes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchProgress {
    /// The interval's begin, seconds after the watch began.
    pub at_s: f64,
    /// Length of the interval, s.
    pub seconds: f64,
    /// Rates of counters of database and host, by metric name.
    pub metrics: BTreeMap<String, f64>,
    /// Average number of sessions in each wait class, largest first; absent if waits are not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Vec<(String, f64)>>,
}

/// Values known up to the end of a complete interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompleteInterval {
    /// The interval's begin, seconds after the window began.
    pub at_s: f64,
    /// Response times in the interval: for each latency band of records with operations, its number *b* and
    /// the count. The band extends from 10^(b ÷ 6) µs to the next one.
    pub heat: Vec<(i16, u64)>,
    /// Number of wait samples since the window began.
    pub samples: u64,
    /// Average number of sessions in each wait class over these samples, largest first.
    pub waits: Vec<(String, f64)>,
    /// Number of snapshots that were compared with the previous one.
    pub looks: u64,
    /// What these comparisons found: changed settings, and counters that fell.
    pub found: Vec<String>,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Name of the finished run.
    pub id: RunId,
    /// How the run ended, such as `valid`.
    pub status: Status,
    /// Why the run is not valid; empty if it is.
    pub reasons: Vec<String>,
    /// Operations per second in the window; absent if nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops_per_s: Option<f64>,
    /// 99th percentile of service time, µs; absent if nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// The audit checks that did not pass.
    pub doubts: Vec<AuditCheck>,
    /// Number of audit checks that passed.
    pub passed: u32,
    /// Number of audit checks that were skipped.
    #[serde(skip)]
    pub skipped: u32,
    /// 99th percentile of response time, µs; absent if nothing was measured.
    #[serde(skip)]
    pub response_p99_us: Option<f64>,
}
