//! The figures that panels show: those of the current run, or of the run before until it has any.

use dyno_campaign::RunProgress;
use dyno_campaign::progress::{Recent, ThroughputHistory};
use dyno_drive::CompletedInterval;

/// Figures of one run, up to its last complete interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownFigures<'p> {
    pub(crate) complete: &'p CompletedInterval,
    pub(crate) recent: &'p Recent,
    pub(crate) history: &'p ThroughputHistory,
    /// Length of the window, s; absent if it is unknown.
    pub(crate) total_s: Option<f64>,
    /// Number of the earlier run that they belong to; absent for the current run.
    pub(crate) earlier_run: Option<u32>,
}

impl<'p> ShownFigures<'p> {
    /// The figures of the current run; `None` before its first complete interval.
    pub(crate) fn of(progress: &'p RunProgress) -> Option<Self> {
        Some(Self {
            complete: progress.complete.as_deref()?,
            recent: &progress.recent,
            history: &progress.history,
            total_s: total_s(progress),
            earlier_run: None,
        })
    }
}

/// The figures of the run before the current one.
#[derive(Debug, Clone)]
pub(crate) struct PreviousRun {
    complete: Box<CompletedInterval>,
    recent: Recent,
    history: ThroughputHistory,
    total_s: Option<f64>,
    number: u32,
}

impl PreviousRun {
    /// The last run of this progress, before another one begins; `None` if it had no complete interval.
    pub(crate) fn of(progress: &RunProgress) -> Option<Self> {
        Some(Self {
            complete: progress.complete.clone()?,
            recent: progress.recent.clone(),
            history: progress.history.clone(),
            total_s: total_s(progress),
            number: progress.ended.last().map_or(0, |run| run.number),
        })
    }

    pub(crate) fn figures(&self) -> ShownFigures<'_> {
        ShownFigures {
            complete: &self.complete,
            recent: &self.recent,
            history: &self.history,
            total_s: self.total_s,
            earlier_run: Some(self.number),
        }
    }
}

fn total_s(progress: &RunProgress) -> Option<f64> {
    progress.live.and_then(|(live, _)| live.total_s)
}
