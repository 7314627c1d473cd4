//! Keeps the totals of a process's campaign events, from which metrics are exported.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyno_campaign::CampaignEvent;
use dyno_drive::{CoarseLatencies, CompletedInterval, LiveProgress, RunningTotals};
use dyno_record::{CheckStatus, RunRecord};

use crate::watched::WatchedMetrics;

/// The shared state: one writer applies events, many readers export. Clones share the same state.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedMetricsState(Arc<Mutex<MetricsState>>);

impl SharedMetricsState {
    pub(crate) fn lock(&self) -> MutexGuard<'_, MetricsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
pub(crate) struct MetricsState {
    /// The run in progress, or the last one: its name and its targets.
    pub(crate) run: Option<(String, String)>,
    /// The campaign's name and kind; absent for a single run.
    pub(crate) campaign: Option<(String, &'static str)>,
    pub(crate) phase: MetricsPhase,
    pub(crate) sessions: Option<u32>,
    pub(crate) live: Option<LiveProgress>,
    pub(crate) complete: Option<Box<CompletedInterval>>,
    /// The database that `dyno watch` observes without running load.
    pub(crate) watched: Option<WatchedMetrics>,
    /// Totals of all finished runs.
    finished: MetricsTotals,
    /// Totals of the run in progress, up to its last complete interval.
    current: MetricsTotals,
    /// Number of stored runs by status.
    pub(crate) runs: BTreeMap<&'static str, u64>,
    /// Number of checks in the last run's audit by check status.
    pub(crate) checks: BTreeMap<&'static str, u64>,
}

/// The phase of the run in progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum MetricsPhase {
    #[default]
    Idle,
    Loading,
    Connecting,
    Warmup,
    Window,
    Draining,
    Watching,
}

impl MetricsPhase {
    pub(crate) const ALL: [(Self, &'static str); 7] = [
        (Self::Idle, "idle"),
        (Self::Loading, "loading"),
        (Self::Connecting, "connecting"),
        (Self::Warmup, "warmup"),
        (Self::Window, "window"),
        (Self::Draining, "draining"),
        (Self::Watching, "watching"),
    ];
}

/// Totals over the windows of one or more runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct MetricsTotals {
    pub(crate) errors: u64,
    pub(crate) classes: BTreeMap<String, u64>,
    pub(crate) latency: CoarseLatencies,
    pub(crate) loaded: (u64, u64),
}

impl MetricsTotals {
    fn of(so_far: &RunningTotals) -> Self {
        let (errors, latency) = (so_far.errors, so_far.latency.clone());
        Self { errors, classes: so_far.classes.iter().cloned().collect(), latency, loaded: (0, 0) }
    }

    fn add(&mut self, other: &Self) {
        self.errors += other.errors;
        for (class, ops) in &other.classes {
            *self.classes.entry(class.clone()).or_default() += ops;
        }
        self.latency.add(&other.latency);
        self.loaded = (self.loaded.0 + other.loaded.0, self.loaded.1 + other.loaded.1);
    }
}

impl MetricsState {
    /// Totals of all runs of this process, the one in progress included.
    pub(crate) fn sums(&self) -> MetricsTotals {
        let mut all = self.finished.clone();
        all.add(&self.current);
        all
    }

    /// Updates the state from one campaign event.
    pub(crate) fn apply_event(&mut self, event: &CampaignEvent) {
        match event {
            CampaignEvent::Begun(begun) => {
                self.campaign = Some((begun.id.clone(), begun.kind.name()));
            }
            CampaignEvent::RunBegun { id, targets, .. } => {
                self.run = Some((id.clone(), targets.clone()));
                self.close();
                (self.phase, self.live, self.complete) = (MetricsPhase::Connecting, None, None);
            }
            CampaignEvent::Load(dyno_campaign::LoadEvent::Phase(..)) => self.phase = MetricsPhase::Loading,
            CampaignEvent::Load(dyno_campaign::LoadEvent::Advance(rows, bytes)) => {
                self.finished.loaded = (self.finished.loaded.0 + rows, self.finished.loaded.1 + bytes);
            }
            CampaignEvent::Load(dyno_campaign::LoadEvent::Over) => self.phase = MetricsPhase::Idle,
            CampaignEvent::Phase(event) => self.phase(event),
            CampaignEvent::Seen(seen) => {
                self.phase = MetricsPhase::Watching;
                self.watched.get_or_insert_default().apply_event(seen);
            }
            CampaignEvent::RunOver => self.phase = MetricsPhase::Idle,
            CampaignEvent::Stored(record) => self.stored(record),
            _ => {}
        }
    }

    fn phase(&mut self, event: &dyno_drive::RunEvent) {
        match event {
            dyno_drive::RunEvent::Connecting { of, .. } => {
                (self.phase, self.sessions) = (MetricsPhase::Connecting, Some(*of));
            }
            dyno_drive::RunEvent::Warmup { .. } => self.phase = MetricsPhase::Warmup,
            dyno_drive::RunEvent::Window { .. } => self.phase = MetricsPhase::Window,
            dyno_drive::RunEvent::Draining => self.phase = MetricsPhase::Draining,
            dyno_drive::RunEvent::Interval(live) => self.live = Some(*live),
            dyno_drive::RunEvent::Complete(complete) => {
                self.current = MetricsTotals::of(&complete.so_far);
                self.complete = Some(complete.clone());
            }
            dyno_drive::RunEvent::Whole(so_far) => {
                self.current = MetricsTotals::of(so_far);
                self.close();
            }
            dyno_drive::RunEvent::Awaiting { .. } | dyno_drive::RunEvent::Closing { .. } => {}
            dyno_drive::RunEvent::Final(_) | dyno_drive::RunEvent::Late(_) => {}
        }
    }

    /// Adds the current run to the finished ones. Exported counters never fall, so the totals of a run remain
    /// when the next one begins.
    fn close(&mut self) {
        let now = std::mem::take(&mut self.current);
        self.finished.add(&now);
    }

    fn stored(&mut self, record: &RunRecord) {
        *self.runs.entry(record.status.name()).or_default() += 1;
        self.checks = [CheckStatus::Pass, CheckStatus::Skipped, CheckStatus::Warn, CheckStatus::Fail]
            .into_iter()
            .map(|status| {
                let is = record.audit.iter().filter(|check| check.status == status);
                (check_name(status), is.count() as u64)
            })
            .collect();
    }
}

fn check_name(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Skipped => "skipped",
        CheckStatus::Warn => "warn",
        CheckStatus::Fail => "fail",
    }
}
