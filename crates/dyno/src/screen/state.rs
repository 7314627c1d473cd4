//! State of the screen: the progress of the campaign, and what the user chose to see.

use std::collections::VecDeque;

use dyno_analyze::bands::LatencyAxis;
use dyno_campaign::{CampaignEvent, RunPhase, RunProgress};
use dyno_drive::RunEvent;

use super::figures::{PreviousRun, ShownFigures};

/// What is shown, and in which panel.
#[derive(Debug, Default)]
pub(crate) struct ScreenState {
    pub(crate) command: &'static str,
    pub(crate) progress: RunProgress,
    pub(crate) key_requests: KeyRequests,
    pub(crate) zoom: Option<Panel>,
    pub(crate) help: bool,
    pub(crate) messages: VecDeque<String>,
    /// The axis of the latency panel, which all runs of the campaign share.
    pub(crate) axis: LatencyAxis,
    /// The run before the current one; absent before the second run.
    previous: Option<PreviousRun>,
}

/// What a user requested with keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeyRequests {
    pub(crate) stop: bool,
    pub(crate) pause: bool,
    pub(crate) skip: bool,
}

/// A panel that can be shown alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Panel {
    Throughput,
    History,
    Latency,
    Classes,
    Waits,
    Machine,
    Audit,
    Runs,
}

impl Panel {
    pub(crate) const ALL: [Self; 8] = [
        Self::Throughput,
        Self::History,
        Self::Latency,
        Self::Classes,
        Self::Waits,
        Self::Machine,
        Self::Audit,
        Self::Runs,
    ];
}

impl ScreenState {
    pub(crate) fn new(command: &'static str) -> Self {
        Self { command, ..Self::default() }
    }

    /// An event that arrived `now_s` after the screen began.
    pub(crate) fn apply_event(&mut self, event: &CampaignEvent, now_s: f64) {
        match event {
            CampaignEvent::RunBegun { .. } => {
                self.previous = PreviousRun::of(&self.progress).or_else(|| self.previous.take());
            }
            CampaignEvent::Phase(RunEvent::Complete(complete)) => self.axis.extend(&complete.point.bands),
            _ => {}
        }
        self.progress.hear(event, now_s);
        if matches!(event, CampaignEvent::Next(_) | CampaignEvent::Ended(_)) {
            self.key_requests.skip = false;
        }
    }

    /// The figures to show: those of the current run, or of the run before while it has none.
    pub(crate) fn figures(&self) -> Option<ShownFigures<'_>> {
        ShownFigures::of(&self.progress).or_else(|| self.previous.as_ref().map(PreviousRun::figures))
    }

    /// Whether the campaign has more than one run.
    pub(crate) fn is_several(&self) -> bool {
        self.progress.sweep.is_some() && !self.progress.is_soak()
    }

    /// Shows the next panel alone, or all panels again.
    pub(crate) fn zoom_on(&mut self) {
        let next = match self.zoom {
            None => 0,
            Some(panel) => Panel::ALL.iter().position(|one| *one == panel).unwrap_or(0) + 1,
        };
        self.zoom = Panel::ALL.get(next).copied().filter(|panel| *panel != Panel::Runs || self.is_several());
    }
}

/// An activity outside a run's own phases in words; absent if the screen shows the phase in another form.
pub(crate) fn activity_words(phase: &RunPhase) -> Option<String> {
    Some(match phase {
        RunPhase::Preparing | RunPhase::Starting => "preparing".to_owned(),
        RunPhase::CheckingData => "inspecting the data".to_owned(),
        RunPhase::WaitingForData => "waiting until all targets see the data".to_owned(),
        RunPhase::DroppingData => "dropping data of another block size".to_owned(),
        RunPhase::Learning => "measuring the cost of each transaction on one session".to_owned(),
        RunPhase::CheckingInvariants => "checking the invariants".to_owned(),
        RunPhase::Hook(name) => format!("the plan's command {name} runs"),
        RunPhase::AwaitingHosts(there, of) => format!("waiting for driver hosts: {there} of {of}"),
        RunPhase::Storing => "auditing and storing".to_owned(),
        RunPhase::Tidying => "stored; removing the rows that it inserted".to_owned(),
        RunPhase::BetweenRuns => "between runs".to_owned(),
        RunPhase::Skipped => "skipped".to_owned(),
        RunPhase::Other(name) => name.clone(),
        _ => return None,
    })
}
