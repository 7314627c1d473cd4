//! The progress of a run or campaign: one state, computed from its events, for every view of it.
//!
//! The full screen, the progress line, the pages and API of `dyno serve` and the exported metrics show parts of
//! a [`RunProgress`]. In the measuring process it follows each [`CampaignEvent`]; another process reads the
//! [`ProgressEvent`]s from the file of `--events`.
//!
//! | file | job |
//! | --- | --- |
//! | `phase` | what a campaign does at the moment |
//! | `event` | the progress events, as they are serialized |
//! | `convert` | events of a campaign as progress events |
//! | `campaign_run` | a run of a campaign: its place and result |
//! | `estimates` | elapsed and remaining time, and questions about the state |
//! | `recent`, `history`, `totals` | the last minutes; the window so far; all windows of the process |

mod campaign_run;
mod convert;
mod estimates;
mod event;
mod history;
mod phase;
mod recent;
#[cfg(test)]
mod tests;
mod totals;

use std::collections::BTreeMap;

use dyno_drive::{CompletedInterval, LiveProgress, RunEvent, RunningTotals};
use dyno_record::{PointSetting, SweepKind};
use dyno_watch::{ObservationEvent, ObservedInterval};
use schemars::JsonSchema;
use serde::Serialize;

pub use campaign_run::CampaignRun;
pub use event::{CampaignStep, CompleteInterval, IntervalProgress, ProgressEvent, RunResult, WatchProgress};
pub use history::{HistoryPart, ThroughputHistory};
pub use phase::RunPhase;
pub use recent::{Recent, RecentFigures};
pub use totals::ProgressTotals;

use crate::event::{CampaignEvent, LoadEvent};

/// Maximum number of runs and steps kept; a sweep has hundreds, a search tens.
const KEPT_MAX: usize = 10_000;

/// The progress of a run or campaign so far. The API of `dyno serve` serializes it as the progress of a job;
/// fields that only the measuring process knows are not serialized.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "JobProgress")]
pub struct RunProgress {
    /// The current phase, such as `window`.
    #[schemars(with = "String")]
    pub phase: RunPhase,
    /// Expected duration of the phase, s; absent if it is unknown.
    pub phase_s: Option<f64>,
    /// Seconds since the window began; absent outside a window.
    pub elapsed_s: Option<f64>,
    /// Length of the window, s; absent if it is unknown.
    pub total_s: Option<f64>,
    /// Completed share of the window, 0–1; absent outside a window.
    pub done: Option<f64>,
    /// Rows that the current phase of a load has handled.
    pub rows: Option<u64>,
    /// Rows that the current phase of a load handles in total.
    pub rows_of: Option<u64>,
    /// Failed operations of the window so far.
    pub errors: u64,
    /// The last complete interval; absent before the first.
    pub last: Option<IntervalProgress>,
    /// The last interval of a database that is observed with `dyno watch`.
    pub watched: Option<WatchProgress>,
    /// Why the observed database does not answer; absent while it does.
    pub away: Option<String>,
    /// Number of snapshots that were compared with the previous one.
    pub looks: u64,
    /// What these comparisons found: changed settings, and counters that fell.
    pub found: Vec<String>,
    /// Whether the current point can be skipped.
    pub skips: bool,
    /// Whether the campaign is paused before its next run.
    pub paused: bool,
    /// Whether the job has reached all targets.
    pub is_reached: bool,
    /// Name of the current run, or of the last one.
    pub run: Option<String>,
    /// Targets of the run, with product and version.
    pub targets: String,
    /// Name of the campaign; absent for a single run.
    pub sweep: Option<String>,
    /// The kind of the campaign, such as `sweep`.
    pub sweep_kind: Option<String>,
    /// The current run of the campaign; absent between runs.
    pub next: Option<CampaignRun>,
    /// Total number of runs of the campaign; absent if unknown.
    pub of: Option<u32>,
    /// Estimated time for the current and all later runs, s; absent if unknown.
    pub all_s: Option<f64>,
    /// The finished runs of the campaign, in order.
    pub ended: Vec<CampaignRun>,
    /// The stored runs, in the order of storing.
    pub stored: Vec<RunResult>,
    /// The exit code of each finished process, in order.
    pub exits: Vec<i32>,

    /// Begin of the phase, s on the listener's clock.
    #[serde(skip)]
    pub since_s: f64,
    /// The last progress of the window, and its time, s on the listener's clock.
    #[serde(skip)]
    pub live: Option<(LiveProgress, f64)>,
    /// The last complete interval, with everything known up to its end.
    #[serde(skip)]
    #[schemars(skip)]
    pub complete: Option<Box<CompletedInterval>>,
    /// The last minutes of complete intervals.
    #[serde(skip)]
    #[schemars(skip)]
    pub recent: Recent,
    /// Operations and latencies of the current window so far.
    #[serde(skip)]
    #[schemars(skip)]
    pub history: ThroughputHistory,
    /// Content of the rows that the current phase of a load has handled, bytes.
    #[serde(skip)]
    pub bytes: u64,
    /// Sessions of the run; absent before they connect.
    #[serde(skip)]
    pub sessions: Option<u32>,
    /// The last state of an observed database; without figures while it does not answer.
    #[serde(skip)]
    #[schemars(skip)]
    pub observed: Option<Box<ObservedInterval>>,
    /// The run of the campaign that began last.
    #[serde(skip)]
    pub begun: Option<CampaignStep>,
    /// Estimated time for the runs after the current one, s.
    #[serde(skip)]
    pub rest_s: Option<f64>,
    /// The points of the campaign with their settings; empty if they are unknown in advance.
    #[serde(skip)]
    pub points: Vec<(u32, Vec<PointSetting>)>,
    /// Number of stored runs by status.
    #[serde(skip)]
    pub runs_by_status: BTreeMap<&'static str, u64>,
    /// Totals of finished windows, and of loads.
    #[serde(skip)]
    #[schemars(skip)]
    finished: ProgressTotals,
    /// Totals of the window in progress, up to its last complete interval.
    #[serde(skip)]
    #[schemars(skip)]
    current: RunningTotals,
}

impl RunProgress {
    /// Follows an event of this process, which arrived at `now_s` on the listener's clock.
    pub fn hear(&mut self, event: &CampaignEvent, now_s: f64) {
        for progress in ProgressEvent::of(event) {
            self.apply(&progress, now_s);
        }
        self.keep_details(event);
    }

    /// Follows a progress event, which arrived at `now_s` on the listener's clock.
    pub fn apply(&mut self, event: &ProgressEvent, now_s: f64) {
        match event {
            ProgressEvent::Reached => self.is_reached = true,
            ProgressEvent::Phase { phase, seconds, rows } => self.begin_phase(phase, *seconds, *rows, now_s),
            ProgressEvent::Loaded { rows } => self.rows = Some(*rows),
            ProgressEvent::Progress(live) => {
                (self.elapsed_s, self.total_s) = (Some(live.elapsed_s), live.total_s);
                (self.done, self.errors) = (Some(live.done), live.errors);
                self.live = Some((*live, now_s));
            }
            ProgressEvent::Interval(interval) => self.last = Some(interval.as_ref().clone()),
            ProgressEvent::Watched(interval) => {
                (self.watched, self.away) = (Some(interval.as_ref().clone()), None);
            }
            ProgressEvent::Away { why } => self.away.clone_from(why),
            ProgressEvent::Late { .. } => {}
            ProgressEvent::Complete(complete) => {
                (self.looks, self.found) = (complete.looks, complete.found.clone());
            }
            ProgressEvent::Paused { paused } => self.paused = *paused,
            ProgressEvent::Run { id, targets } => {
                (self.run, self.targets) = (Some(id.clone()), targets.clone());
                (self.live, self.complete) = (None, None);
                (self.recent, self.history) = (Recent::default(), ThroughputHistory::default());
                self.close_window();
            }
            ProgressEvent::Begun { id, kind, skips, points, .. } => {
                (self.sweep, self.sweep_kind, self.skips) = (Some(id.clone()), Some(kind.clone()), *skips);
                self.points.clone_from(points);
            }
            ProgressEvent::Next { step, of, all_s, rest_s } => {
                (self.next, self.begun) = (Some(step.into()), Some(step.clone()));
                (self.of, self.all_s, self.rest_s) = (*of, *all_s, *rest_s);
            }
            ProgressEvent::Ended { step, run, failed, skipped } => {
                self.next = None;
                let (run, failed, skipped) = (run.as_deref().cloned(), failed.clone(), *skipped);
                keep(&mut self.ended, CampaignRun { run, failed, skipped, ..step.into() });
            }
            ProgressEvent::Stored(run) => self.store(run),
            ProgressEvent::End { exit } => {
                self.exits.push(*exit);
                (self.phase, self.is_reached) = (RunPhase::None, false);
                (self.paused, self.next) = (false, None);
            }
        }
    }

    fn begin_phase(&mut self, phase: &RunPhase, seconds: Option<f64>, rows: Option<u64>, now_s: f64) {
        if !self.phase.is_continued_by(phase) {
            self.since_s = now_s;
        }
        (self.phase, self.phase_s) = (phase.clone(), seconds);
        (self.rows, self.rows_of, self.bytes) = (None, rows, 0);
        (self.elapsed_s, self.total_s, self.done) = (None, None, None);
        match phase {
            RunPhase::Window => {
                (self.errors, self.last) = (0, None);
                (self.looks, self.found) = (0, Vec::new());
            }
            RunPhase::Connecting(_, of) if *of > 0 => self.sessions = Some(*of),
            _ => {}
        }
    }

    fn store(&mut self, run: &RunResult) {
        // A leg of a study does not end with its run, so its runs are shown once they are stored.
        if self.sweep_kind.as_deref() == Some(SweepKind::Study.name())
            && let Some(leg) = self.next.clone()
        {
            keep(&mut self.ended, CampaignRun { run: Some(run.clone()), ..leg });
        }
        *self.runs_by_status.entry(run.status.name()).or_default() += 1;
        keep(&mut self.stored, run.clone());
    }

    /// Keeps what only events of this process contain.
    fn keep_details(&mut self, event: &CampaignEvent) {
        match event {
            CampaignEvent::Load(LoadEvent::Target(url)) => self.targets.clone_from(url),
            CampaignEvent::Load(LoadEvent::Advance(rows, bytes)) => {
                self.rows = Some(self.rows.unwrap_or(0) + rows);
                self.bytes += bytes;
                self.finished.loaded_rows += rows;
                self.finished.loaded_bytes += bytes;
            }
            CampaignEvent::Phase(RunEvent::Complete(complete)) => {
                let point = &complete.point;
                self.recent.add(point, &complete.latency);
                let (ops, seconds, p99_us) = (point.ops, point.seconds, point.p99_us.unwrap_or(0.0));
                self.history.add(HistoryPart { ops, seconds, p99_us });
                self.current = complete.so_far.clone();
                self.complete = Some(complete.clone());
            }
            CampaignEvent::Phase(RunEvent::Whole(totals)) => {
                self.current = RunningTotals::clone(totals);
                self.close_window();
            }
            CampaignEvent::Seen(ObservationEvent::Interval(observed)) => {
                self.observed = Some(observed.clone());
            }
            // What was known describes the present no longer.
            CampaignEvent::Seen(ObservationEvent::Lost(_)) => {
                if let Some(observed) = self.observed.as_deref_mut() {
                    let (elapsed_s, total_s) = (observed.elapsed_s, observed.total_s);
                    *observed = ObservedInterval { elapsed_s, total_s, ..ObservedInterval::default() };
                }
            }
            _ => {}
        }
    }

    /// Adds the window in progress to the finished ones, so that totals do not fall when the next run begins.
    fn close_window(&mut self) {
        self.finished.add(&std::mem::take(&mut self.current));
    }

    /// Totals of all windows of this process, the one in progress included.
    pub fn totals(&self) -> ProgressTotals {
        let mut totals = self.finished.clone();
        totals.add(&self.current);
        totals
    }
}

/// Adds to a list of bounded length, whose last element is always the latest.
fn keep<T>(list: &mut Vec<T>, last: T) {
    list.truncate(KEPT_MAX - 1);
    list.push(last);
}
