//! Computes the progress of a job from its events.

use dyno_campaign::{IntervalProgress, ProgressEvent, RunResult, WatchProgress};
use dyno_record::SweepKind;
use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of runs and steps kept; a sweep has hundreds, a search tens.
const KEPT_MAX: usize = 10_000;

/// The progress of a job so far.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct JobProgress {
    /// The current phase, such as `window`.
    pub(crate) phase: String,
    /// Expected duration of the phase, s; absent if it is unknown.
    pub(crate) phase_s: Option<f64>,
    /// Seconds since the window began; absent outside a window.
    pub(crate) elapsed_s: Option<f64>,
    /// Length of the window, s; absent if it is unknown.
    pub(crate) total_s: Option<f64>,
    /// Completed share of the window, 0–1; absent outside a window.
    pub(crate) done: Option<f64>,
    /// Rows that the current phase of a load has handled.
    pub(crate) rows: Option<u64>,
    /// Rows that the current phase of a load handles in total.
    pub(crate) rows_of: Option<u64>,
    /// Failed operations of the window so far.
    pub(crate) errors: u64,
    /// The last complete interval; absent before the first.
    pub(crate) last: Option<IntervalProgress>,
    /// The last interval of a database that is observed with `dyno watch`.
    pub(crate) watched: Option<WatchProgress>,
    /// Why the observed database does not answer; absent while it does.
    pub(crate) away: Option<String>,
    /// Number of snapshots that were compared with the previous one.
    pub(crate) looks: u64,
    /// What these comparisons found: changed settings, and counters that fell.
    pub(crate) found: Vec<String>,
    /// Whether the current point can be skipped.
    pub(crate) skips: bool,
    /// Whether the campaign is paused before its next run.
    pub(crate) paused: bool,
    /// Whether the job has reached all targets.
    pub(crate) is_reached: bool,
    /// Name of the current run, or of the last one.
    pub(crate) run: Option<String>,
    /// Targets of the run, with product and version.
    pub(crate) targets: String,
    /// Name of the campaign; absent for a single run.
    pub(crate) sweep: Option<String>,
    /// The kind of the campaign, such as `sweep`.
    pub(crate) sweep_kind: Option<String>,
    /// The current run of the campaign; absent between runs.
    pub(crate) next: Option<JobStepShown>,
    /// Total number of runs of the campaign; absent if unknown.
    pub(crate) of: Option<u32>,
    /// Estimated time for the current and all later runs, s; absent if unknown.
    pub(crate) all_s: Option<f64>,
    /// The finished runs of the campaign, in order.
    pub(crate) ended: Vec<JobStepShown>,
    /// The stored runs, in the order of storing.
    pub(crate) stored: Vec<JobRunShown>,
    /// The exit code of each finished process, in order.
    pub(crate) exits: Vec<i32>,
}

/// The place and result of a run of a campaign.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct JobStepShown {
    /// Number of the run, counted from 1.
    pub(crate) number: u32,
    /// The run's settings as pairs of key and value.
    pub(crate) settings: Vec<(String, String)>,
    /// Number of this run among those of its point, from 1.
    pub(crate) repeat: u32,
    /// The side of an A/B test; absent otherwise.
    pub(crate) side: Option<String>,
    /// The result of the run; absent if it has none.
    pub(crate) run: Option<JobRunShown>,
    /// Why there is no result; absent if there is one.
    pub(crate) failed: Option<String>,
}

/// The result of a stored run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct JobRunShown {
    /// The fields of the run's result.
    #[serde(flatten)]
    pub(crate) told: RunResult,
}

impl JobProgress {
    /// Updates the progress from one event.
    pub(crate) fn apply_event(&mut self, event: &ProgressEvent) {
        match event {
            ProgressEvent::Reached => self.is_reached = true,
            ProgressEvent::Phase { phase, seconds, rows } => {
                (self.phase, self.phase_s) = (phase.clone(), *seconds);
                (self.rows, self.rows_of) = (None, *rows);
                (self.elapsed_s, self.total_s, self.done) = (None, None, None);
                if phase == "window" {
                    (self.errors, self.last) = (0, None);
                    (self.looks, self.found) = (0, Vec::new());
                }
            }
            ProgressEvent::Loaded { rows } => self.rows = Some(*rows),
            ProgressEvent::Progress { elapsed_s, total_s, done, errors } => {
                (self.elapsed_s, self.total_s) = (Some(*elapsed_s), *total_s);
                (self.done, self.errors) = (Some(*done), *errors);
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
            }
            ProgressEvent::Begun { id, kind, skips, .. } => {
                (self.sweep, self.sweep_kind, self.skips) = (Some(id.clone()), Some(kind.clone()), *skips);
            }
            ProgressEvent::Next { step, of, all_s } => {
                (self.next, self.of, self.all_s) = (Some(shown_step(step)), *of, *all_s);
            }
            ProgressEvent::Ended { step, run, failed } => {
                self.next = None;
                let run = run.as_deref().map(|told| JobRunShown { told: told.clone() });
                if self.ended.len() < KEPT_MAX {
                    self.ended.push(JobStepShown { run, failed: failed.clone(), ..shown_step(step) });
                }
            }
            ProgressEvent::Stored(run) => {
                // A leg of a study does not end with its run, so its runs are shown once they are stored.
                if self.sweep_kind.as_deref() == Some(SweepKind::Study.name())
                    && let Some(leg) = self.next.clone().filter(|_| self.ended.len() < KEPT_MAX)
                {
                    let run = Some(JobRunShown { told: run.as_ref().clone() });
                    self.ended.push(JobStepShown { run, ..leg });
                }
                if self.stored.len() < KEPT_MAX {
                    self.stored.push(JobRunShown { told: run.as_ref().clone() });
                }
            }
            ProgressEvent::End { exit } => {
                self.exits.push(*exit);
                (self.phase, self.is_reached, self.paused, self.next) = (String::new(), false, false, None);
            }
        }
    }
}

fn shown_step(step: &dyno_campaign::CampaignStep) -> JobStepShown {
    JobStepShown {
        number: step.number,
        settings: step.settings.clone(),
        repeat: step.repeat,
        side: step.side.clone(),
        ..JobStepShown::default()
    }
}
