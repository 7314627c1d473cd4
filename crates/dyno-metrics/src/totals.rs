//! The progress of this process's runs and campaigns, from which metrics are exported.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use dyno_campaign::{CampaignEvent, RunPhase, RunProgress, RunResult};
use dyno_record::CheckStatus;
use parking_lot::{Mutex, MutexGuard};

/// The shared state: one writer applies events, many readers export. Clones share the same state.
#[derive(Debug, Clone)]
pub(crate) struct SharedProgress(Arc<(Mutex<RunProgress>, Instant)>);

impl Default for SharedProgress {
    fn default() -> Self {
        Self(Arc::new((Mutex::default(), Instant::now())))
    }
}

impl SharedProgress {
    pub(crate) fn lock(&self) -> MutexGuard<'_, RunProgress> {
        self.0.0.lock()
    }

    /// Follows an event of this process.
    pub(crate) fn hear(&self, event: &CampaignEvent) {
        self.lock().hear(event, self.0.1.elapsed().as_secs_f64());
    }
}

/// The values of the label `phase`.
pub(crate) const PHASES: [&str; 7] =
    ["idle", "loading", "connecting", "warmup", "window", "draining", "watching"];

/// The value of the label `phase`: the begin of a run belongs to connecting, and other activities are idle.
pub(crate) fn phase_label(phase: &RunPhase) -> &'static str {
    match phase {
        RunPhase::Loading(_) => "loading",
        RunPhase::Starting | RunPhase::Learning | RunPhase::AwaitingHosts(..) | RunPhase::Connecting(..) => {
            "connecting"
        }
        RunPhase::Warmup => "warmup",
        RunPhase::Window => "window",
        RunPhase::Draining => "draining",
        RunPhase::Watching => "watching",
        _ => "idle",
    }
}

/// Number of checks in a run's audit by check status.
pub(crate) fn checks_by_status(run: &RunResult) -> BTreeMap<&'static str, u64> {
    let with_status = |status| run.doubts.iter().filter(|check| check.status == status).count() as u64;
    BTreeMap::from([
        ("pass", run.passed.into()),
        ("skipped", run.skipped.into()),
        ("warn", with_status(CheckStatus::Warn)),
        ("fail", with_status(CheckStatus::Fail)),
    ])
}

#[cfg(test)]
mod tests {
    use dyno_campaign::ProgressEvent;

    use super::*;

    #[test]
    fn metrics_phase_follows_the_progress_of_a_run() {
        let mut progress = RunProgress::default();
        let labels = [
            (RunPhase::CheckingData, "idle"),
            (RunPhase::Loading("rows".into()), "loading"),
            (RunPhase::Starting, "connecting"),
            (RunPhase::Connecting(1, 4), "connecting"),
            (RunPhase::Warmup, "warmup"),
            (RunPhase::Window, "window"),
            (RunPhase::Draining, "draining"),
            (RunPhase::Storing, "idle"),
            (RunPhase::Watching, "watching"),
        ];
        for (phase, label) in labels {
            progress.apply(&ProgressEvent::phase(phase), 0.0);
            assert_eq!(phase_label(&progress.phase), label);
            assert!(PHASES.contains(&label));
        }
    }
}
