//! What the events of a job say, summed up.

use dyno_campaign::{IntervalTold, RunTold, Told, WatchedTold};
use dyno_record::SweepKind;
use schemars::JsonSchema;
use serde::Serialize;

/// Runs and steps that are kept: a sweep has hundreds, a search tens.
const KEPT_MAX: usize = 10_000;

/// How far a job is.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct Progress {
    /// What goes on: `window`.
    pub(crate) phase: String,
    /// How long that takes, s, where it is known.
    pub(crate) phase_s: Option<f64>,
    /// Seconds since the window began.
    pub(crate) elapsed_s: Option<f64>,
    /// Its length, s.
    pub(crate) total_s: Option<f64>,
    /// Share of it that is done, 0–1.
    pub(crate) done: Option<f64>,
    /// Rows that a phase of a load has handled.
    pub(crate) rows: Option<u64>,
    /// Rows that it will handle.
    pub(crate) rows_of: Option<u64>,
    /// Failed operations of the window so far.
    pub(crate) errors: u64,
    /// The last interval that is over.
    pub(crate) last: Option<IntervalTold>,
    /// The last interval of a database that is only looked at.
    pub(crate) watched: Option<WatchedTold>,
    /// Why that is away, while it is.
    pub(crate) away: Option<String>,
    /// Snapshots that were held against the one before, and what they found.
    pub(crate) looks: u64,
    /// Settings that changed, counters that fell.
    pub(crate) found: Vec<String>,
    /// Whether the point under way may be left out.
    pub(crate) skips: bool,
    /// Whether no next run begins.
    pub(crate) paused: bool,
    /// Whether every target was reached.
    pub(crate) is_reached: bool,
    /// The run that is under way, or was the last.
    pub(crate) run: Option<String>,
    /// Its targets, with product and version.
    pub(crate) targets: String,
    /// The name of the sweep, search, soak, comparison or suite.
    pub(crate) sweep: Option<String>,
    /// What it is: `sweep`.
    pub(crate) sweep_kind: Option<String>,
    /// The run of several that is under way.
    pub(crate) next: Option<StepSeen>,
    /// How many there will be.
    pub(crate) of: Option<u32>,
    /// How long this one and all after it take, s.
    pub(crate) all_s: Option<f64>,
    /// Runs of several that have ended.
    pub(crate) ended: Vec<StepSeen>,
    /// Runs that are stored.
    pub(crate) stored: Vec<RunSeen>,
    /// How each process ended.
    pub(crate) exits: Vec<i32>,
}

/// A run of several.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct StepSeen {
    /// Its number, from 1.
    pub(crate) number: u32,
    /// Its settings: key and value.
    pub(crate) settings: Vec<(String, String)>,
    /// Number among those of its point.
    pub(crate) repeat: u32,
    /// The side of a comparison.
    pub(crate) side: Option<String>,
    /// What it came to.
    pub(crate) run: Option<RunSeen>,
    /// Why there is nothing.
    pub(crate) failed: Option<String>,
}

/// A run that is stored.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RunSeen {
    /// What it came to.
    #[serde(flatten)]
    pub(crate) told: RunTold,
}

impl Progress {
    /// Takes in one event.
    pub(crate) fn see(&mut self, told: &Told) {
        match told {
            Told::Reached => self.is_reached = true,
            Told::Phase { phase, seconds, rows } => {
                (self.phase, self.phase_s) = (phase.clone(), *seconds);
                (self.rows, self.rows_of) = (None, *rows);
                (self.elapsed_s, self.total_s, self.done) = (None, None, None);
                if phase == "window" {
                    (self.errors, self.last) = (0, None);
                    (self.looks, self.found) = (0, Vec::new());
                }
            }
            Told::Loaded { rows } => self.rows = Some(*rows),
            Told::Progress { elapsed_s, total_s, done, errors } => {
                (self.elapsed_s, self.total_s) = (Some(*elapsed_s), *total_s);
                (self.done, self.errors) = (Some(*done), *errors);
            }
            Told::Interval(interval) => self.last = Some(interval.as_ref().clone()),
            Told::Watched(interval) => {
                (self.watched, self.away) = (Some(interval.as_ref().clone()), None);
            }
            Told::Away { why } => self.away.clone_from(why),
            Told::Late { .. } => {}
            Told::Complete(complete) => {
                (self.looks, self.found) = (complete.looks, complete.found.clone());
            }
            Told::Paused { paused } => self.paused = *paused,
            Told::Run { id, targets } => {
                (self.run, self.targets) = (Some(id.clone()), targets.clone());
            }
            Told::Begun { id, kind, skips, .. } => {
                (self.sweep, self.sweep_kind, self.skips) = (Some(id.clone()), Some(kind.clone()), *skips);
            }
            Told::Next { step, of, all_s } => {
                (self.next, self.of, self.all_s) = (Some(seen(step)), *of, *all_s);
            }
            Told::Ended { step, run, failed } => {
                self.next = None;
                let run = run.as_deref().map(|told| RunSeen { told: told.clone() });
                if self.ended.len() < KEPT_MAX {
                    self.ended.push(StepSeen { run, failed: failed.clone(), ..seen(step) });
                }
            }
            Told::Stored(run) => {
                // A leg of a study is not over with a run of it, so its runs are told as they are stored.
                if self.sweep_kind.as_deref() == Some(SweepKind::Study.name())
                    && let Some(leg) = self.next.clone().filter(|_| self.ended.len() < KEPT_MAX)
                {
                    let run = Some(RunSeen { told: run.as_ref().clone() });
                    self.ended.push(StepSeen { run, ..leg });
                }
                if self.stored.len() < KEPT_MAX {
                    self.stored.push(RunSeen { told: run.as_ref().clone() });
                }
            }
            Told::End { exit } => {
                self.exits.push(*exit);
                (self.phase, self.is_reached, self.paused, self.next) = (String::new(), false, false, None);
            }
        }
    }
}

fn seen(step: &dyno_campaign::Step) -> StepSeen {
    StepSeen {
        number: step.number,
        settings: step.settings.clone(),
        repeat: step.repeat,
        side: step.side.clone(),
        ..StepSeen::default()
    }
}
